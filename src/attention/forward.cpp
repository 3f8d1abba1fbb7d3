#include "attention/forward.hpp"

#include <stdexcept>
#include <utility>

#include "attention/normalise.hpp"

namespace sinkproof::attention {

using numeric::Matrix;
using numeric::Rational;
using numeric::Scalar;

Rational exact_power(const std::optional<Rational>& base, const Rational& score) {
  constexpr long largest = 1L << 20;
  if (!base) {
    throw InputError("exact softmax needs a rational base q (e^K = q): give q, or evaluate in intervals");
  }
  if (denominator(score) != 1 || abs(score) > largest) {
    throw InputError("exact softmax needs integer scores in units of log q; " + numeric::to_string(score) +
                     " is not one: evaluate in intervals");
  }
  return numeric::power(*base, numerator(score).convert_to<long>());
}

namespace {

template <Scalar T>
void require_shape(const Matrix<T>& matrix, Eigen::Index rows, Eigen::Index cols, const char* name) {
  if (matrix.rows() != rows || matrix.cols() != cols) {
    throw std::invalid_argument(std::string("forward: ") + name + " must be " + std::to_string(rows) +
                                " by " + std::to_string(cols));
  }
}

/// 1 / (1 + e^-s) at each query.
template <Scalar T>
numeric::Vector<T> gate_values(const OutputGate<T>& gate, const Matrix<T>& x) {
  numeric::Vector<T> values(x.rows());
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const T score = numeric::dot<T>(x.row(i).transpose(), gate.direction);
    const T both[] = {score, T(0)};
    const Exponentials<T> e = exponentials<T>(both, gate.base, false);
    values[i] = share<T>(e.of_scores[0], e.of_scores[1]);
  }
  return values;
}

template <Scalar T>
Matrix<T> clip(const ClipReadOut<T>& read_out, const Matrix<T>& z) {
  using std::max, std::min;
  Matrix<T> result = z;
  for (Eigen::Index i = 0; i < z.rows(); ++i) {
    const T bound = read_out.slope * z(i, read_out.coordinate);
    for (Eigen::Index r = 0; r < z.cols(); ++r) result(i, r) = min(T(max(z(i, r), T(-bound))), bound);
  }
  return result;
}

}  // namespace

template <Scalar T>
Matrix<T> attention_weights(const Head<T>& head, const Matrix<T>& x) {
  if (const auto* given = std::get_if<GivenAttention<T>>(&head.attention)) {
    require_shape(given->weights, x.rows(), x.rows(), "the given attention");
    return given->weights;
  }
  const auto& bilinear = std::get<BilinearScores<T>>(head.attention);
  require_shape(bilinear.matrix, x.cols(), x.cols(), "the score matrix A");
  const Matrix<T> scores = numeric::product<T>(numeric::product<T>(x, bilinear.matrix), x.transpose());
  Matrix<T> weights = Matrix<T>::Constant(x.rows(), x.rows(), T(0));
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const auto count = static_cast<std::size_t>(i + 1);
    normalise<T>(bilinear, {&scores(i, 0), count}, {&weights(i, 0), count});
  }
  return weights;
}

template <Scalar T>
Trace<T> forward(const Model<T>& model, const Matrix<T>& x) {
  Trace<T> trace;
  Matrix<T> stream = x;
  for (const Layer<T>& layer : model.layers) {
    if (layer.heads.empty()) throw std::invalid_argument("forward: a layer needs at least one head");
    auto& attention = trace.attention.emplace_back();
    Matrix<T> added;
    for (const Head<T>& head : layer.heads) {
      require_shape(head.value, x.cols(), x.cols(), "the value map V");
      attention.push_back(attention_weights(head, stream));
      Matrix<T> output =
          numeric::product<T>(attention.back(), numeric::product<T>(stream, head.value.transpose()));
      if (head.gate) {
        const numeric::Vector<T> gate = gate_values(*head.gate, stream);
        for (Eigen::Index i = 0; i < output.rows(); ++i) output.row(i) *= gate[i];
      }
      if (added.size() == 0) {
        added = std::move(output);
      } else {
        added += output;
      }
    }
    if (model.residual) {
      stream += added;
    } else {
      stream = std::move(added);
    }
  }
  trace.output = model.read_out ? clip(*model.read_out, stream) : std::move(stream);
  return trace;
}

template Matrix<double> attention_weights(const Head<double>&, const Matrix<double>&);
template Matrix<Rational> attention_weights(const Head<Rational>&, const Matrix<Rational>&);
template Matrix<numeric::Interval> attention_weights(const Head<numeric::Interval>&,
                                                     const Matrix<numeric::Interval>&);
template Matrix<numeric::BigInterval> attention_weights(const Head<numeric::BigInterval>&,
                                                        const Matrix<numeric::BigInterval>&);
template Trace<double> forward(const Model<double>&, const Matrix<double>&);
template Trace<Rational> forward(const Model<Rational>&, const Matrix<Rational>&);
template Trace<numeric::Interval> forward(const Model<numeric::Interval>&, const Matrix<numeric::Interval>&);
template Trace<numeric::BigInterval> forward(const Model<numeric::BigInterval>&,
                                             const Matrix<numeric::BigInterval>&);

}  // namespace sinkproof::attention
