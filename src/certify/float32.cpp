#include "certify/float32.hpp"

#include <algorithm>
#include <array>

#include "errors.hpp"

namespace sinkproof::certify {
namespace {

using attention::HeadWeights;
using attention::Normaliser;
using Eigen::Index;
using Eigen::MatrixXd;
using numeric::Interval;
using numeric::Matrix;
using numeric::Vector;

constexpr double u = 0x1p-24;
constexpr double eta = 0x1p-149;
constexpr double largest_executed = 0x1p126;

/// gamma_k; undecided for k u > 1/4.
Interval gamma(double k) {
  if (!(k * u <= 0.25)) return Interval::undecided();
  const Interval ku = Interval(k) * Interval(u);
  return ku / (Interval(1) - ku);
}

/// Of one token class: magnitudes of the real stream and of the executed one's error. Kind: the upper ends
/// bound.
struct Bounded {
  Vector<Interval> magnitude, error;
};
/// What a linear map makes of the executed stream: magnitudes, and the rounding of this map alone.
struct Mapped {
  Vector<Interval> executed, rounding;
};
struct BoundedScore {
  Interval magnitude, error;
};

Vector<Interval> zeros(Index size) {
  return Vector<Interval>::Constant(size, Interval(0));
}

/// |M| x, for x >= 0.
template <class T>
Vector<Interval> absolute_product(const T& matrix, const Vector<Interval>& x) {
  Vector<Interval> y = zeros(matrix.rows());
  for (Index a = 0; a < matrix.rows(); ++a)
    for (Index b = 0; b < matrix.cols(); ++b) y[a] += abs(Interval(matrix(a, b))) * x[b];
  return y;
}

/// NaN and what could overflow poison everything that is computed from it.
Interval executable(const Interval& error, const Interval& executed) {
  return executed.upper() <= largest_executed ? error : Interval::undecided();
}

/// F1: the error of a sum of `count` products whose absolute values sum to `size`.
Interval sum_error(double count, const Interval& size) {
  const Interval error = gamma(count) * size + Interval(2 * count) * Interval(eta);
  return executable(error, size + error);
}

/// F2.
Mapped map(const MatrixXd& w, const Bounded& x) {
  const Vector<Interval> size = x.magnitude + x.error;
  Mapped y{absolute_product(w, size), zeros(w.rows())};
  for (Index a = 0; a < w.rows(); ++a) {
    double count = 0;
    for (Index b = 0; b < w.cols(); ++b)
      if (w(a, b) != 0 && !(size[b].upper() == 0)) ++count;
    y.rounding[a] = sum_error(count, y.executed[a]);
    y.executed[a] += y.rounding[a];
  }
  return y;
}

/// F3: the query of class x against the key of class y; `form` is the exact A, unscaled.
BoundedScore score(const Matrix<Interval>& form, const Bounded& x, const Mapped& q, const Bounded& y,
                   const Mapped& k, const attention::ScoreScale& scale) {
  const Vector<Interval> to_real = absolute_product(form, y.magnitude),
                         to_error = absolute_product(form, y.error);
  BoundedScore s{
      numeric::dot(x.magnitude, to_real),
      numeric::dot(x.error, to_real) + numeric::dot(Vector<Interval>(x.magnitude + x.error), to_error)};
  const auto count = static_cast<double>(q.executed.size());
  s.error += numeric::dot(q.rounding, k.executed) + numeric::dot(q.executed, k.rounding) +
             sum_error(count, numeric::dot(q.executed, k.executed));
  if (scale.factor == 1 && !scale.inverse_sqrt_head_dimension) return s;
  Interval factor = abs(Interval::enclosing(scale.factor));
  if (scale.inverse_sqrt_head_dimension) factor /= sqrt(Interval(count));
  const Interval size = factor * (s.magnitude + s.error);
  s.magnitude *= factor;
  s.error = factor * s.error + executable(gamma(4) * size + Interval(eta), Interval(2) * size);
  return s;
}

BoundedScore largest(const BoundedScore& a, const BoundedScore& b) {
  return {max(a.magnitude, b.magnitude), max(a.error, b.error)};
}
Vector<Interval> largest(const Vector<Interval>& a, const Vector<Interval>& b) {
  return a.binaryExpr(b, [](const Interval& x, const Interval& y) { return max(x, y); });
}

/// What the keys of one kind offer: V x and its inherited error [n], executed W_V x and its rounding
/// [d_head].
struct Value {
  Vector<Interval> real, inherited, executed, rounding;
};
Value largest(const Value& a, const Value& b) {
  return {largest(a.real, b.real), largest(a.inherited, b.inherited), largest(a.executed, b.executed),
          largest(a.rounding, b.rounding)};
}

/// A head's part of the output: |o|, its error but for the last sum, and the executed |z| that goes into it.
struct Output {
  Vector<Interval> real, error, executed;
};

constexpr std::size_t bos = 0, classes = 3;  // BOS, ordinary, trigger
using Stream = std::array<Bounded, classes>;

Stream tokens(const task::Parameters& parameters) {
  const Vector<Interval> zero = zeros(parameters.dimension());
  Stream stream;
  stream.fill({zero, zero});
  stream[bos].magnitude[task::Parameters::bos()] = Interval(1);
  for (const std::size_t row : {1, 2}) {
    stream[row]
        .magnitude.segment(task::Parameters::content_begin(), parameters.content())
        .setConstant(Interval(1));
    stream[row].magnitude[row == 1 ? parameters.ordinary() : task::Parameters::trigger()] = Interval(1);
  }
  return stream;
}

/// A bound as it is reported.
double upper(const Interval& x) {
  return x.is_undecided() ? HUGE_VAL : x.upper();
}

/// F5 and F6: the sum of z = sum_k a_k W_V x_k, where the weights of these keys add up to `mass`, executed.
void add_values(const MatrixXd& output, const Value& v, const Interval& mass, double length, Output& result) {
  Vector<Interval> error = v.rounding, size = v.executed;
  for (Index a = 0; a < size.size(); ++a) {
    size[a] *= mass;
    error[a] = mass * v.rounding[a] + sum_error(length, size[a]);
    size[a] += sum_error(length, size[a]);
  }
  result.executed += size;
  result.error += absolute_product(output, error);
}

/// F4 and F5: a query with scores within `s` of its worst key. Raises `bounds`.
Output softmax(const MatrixXd& output, const BoundedScore& s, const Value& v, double length,
               Float32HeadBounds& bounds) {
  const Interval rho = s.error + Interval(2 * u) * (s.magnitude + s.error) + Interval(8.02) * Interval(u);
  const Interval alpha = gamma(2 * length) + Interval(8 * length) * Interval(eta);
  const Interval beta = Interval(8) * Interval(eta), betas = Interval(length) * beta;
  const Interval capped = min(rho, Interval(2)), mass = Interval(1) + alpha + betas;
  bounds.attention_weight = std::max(bounds.attention_weight, upper(capped * Interval(0.5) + alpha + beta));
  bounds.log_odds = std::max(bounds.log_odds, upper(Interval(2) * rho));
  bounds.relative = std::max(bounds.relative, upper(alpha));
  bounds.absolute = std::max(bounds.absolute, upper(betas));
  Output y{v.real, zeros(v.real.size()), zeros(output.cols())};
  for (Index r = 0; r < v.real.size(); ++r)
    y.error[r] = mass * v.inherited[r] + (alpha + betas + capped) * v.real[r];
  add_values(output, v, mass, length, y);
  return y;
}

/// F6: keys of one kind (BOS, or all others).
void add_relu(const MatrixXd& output, const BoundedScore& s, const Value& v, double length,
              Float32HeadBounds& bounds, Output& y) {
  const Interval error = s.error + gamma(2) * (s.magnitude + s.error) + Interval(length * eta);
  bounds.attention_weight = std::max(bounds.attention_weight, upper(error));
  for (Index r = 0; r < v.real.size(); ++r) {
    y.real[r] += s.magnitude * v.real[r];
    y.error[r] += s.magnitude * v.inherited[r] + error * (v.real[r] + v.inherited[r]);
  }
  add_values(output, v, s.magnitude + error, length, y);
}

/// One head's output for each class of query.
std::array<Output, classes> head_output(const HeadWeights& w, const attention::ScoreScale& scale,
                                        const Stream& x, Normaliser normaliser, double length,
                                        Float32HeadBounds& bounds) {
  const auto enclosed = [](const MatrixXd& matrix) {
    return numeric::convert<Interval, double>(Matrix<double>(matrix));
  };
  const Matrix<Interval> form = numeric::product<Interval>(enclosed(w.query.transpose()), enclosed(w.key));
  const Matrix<Interval> value = numeric::product<Interval>(enclosed(w.output), enclosed(w.value));
  std::array<Mapped, classes> q, k;
  std::array<Value, classes> v;
  std::array<Output, classes> y;
  for (std::size_t row = 0; row < classes; ++row) {
    q[row] = map(w.query, x[row]);
    k[row] = map(w.key, x[row]);
    const Mapped mapped = map(w.value, x[row]);
    v[row] = {absolute_product(value, x[row].magnitude), absolute_product(value, x[row].error),
              mapped.executed, mapped.rounding};
  }
  const Value others = largest(v[1], v[2]);
  const bool is_softmax = normaliser == Normaliser::softmax;
  bounds.attention_weight = 0;
  if (is_softmax) bounds.log_odds = bounds.relative = bounds.absolute = 0;
  for (std::size_t row = 0; row < classes; ++row) {
    const auto to = [&](std::size_t key) { return score(form, x[row], q[row], x[key], k[key], scale); };
    const BoundedScore to_bos = to(bos), to_others = largest(to(1), to(2));
    y[row] = {zeros(value.rows()), zeros(value.rows()), zeros(w.output.cols())};
    if (is_softmax) {
      y[row] = row == bos
                   ? softmax(w.output, to_bos, v[bos], length, bounds)
                   : softmax(w.output, largest(to_bos, to_others), largest(v[bos], others), length, bounds);
    } else {
      add_relu(w.output, to_bos, v[bos], length, bounds, y[row]);
      if (row != bos) add_relu(w.output, to_others, others, length, bounds, y[row]);
    }
  }
  return y;
}

bool is_float32(const MatrixXd& matrix) {
  return std::all_of(matrix.reshaped().begin(), matrix.reshaped().end(), [](double x) {
    return std::fabs(x) <= FLT_MAX && static_cast<double>(static_cast<float>(x)) == x;
  });
}

}  // namespace

// F4: the leak moves by at most m (exp(log_odds) - 1), log_odds / 4 and 1, then relatively and absolutely.
double Float32HeadBounds::leak(double leak_upper) const {
  if (!(log_odds < HUGE_VAL)) return HUGE_VAL;
  const Interval m(leak_upper);
  Interval change = min(Interval(log_odds) * Interval(0.25), Interval(1));
  if (log_odds <= 1) change = min(change, m * (exp(Interval(log_odds)) - Interval(1)));
  return upper(change + Interval(relative) * min(m + change, Interval(1)) + Interval(absolute));
}

double Float32Bounds::executed_loss(double real_loss_upper) const {
  return upper(Interval(real_loss_upper) + Interval(output));
}

Float32Bounds bound_float32(const attention::Weights& weights, Normaliser normaliser,
                            const task::Parameters& parameters) {
  if (normaliser != Normaliser::softmax && normaliser != Normaliser::relu)
    throw InputError("float32 bounds are for softmax and relu attention only");
  if (weights.dimension != parameters.dimension())
    throw InputError("the weights have model dimension " + std::to_string(weights.dimension) +
                     ", not d + 3 = " + std::to_string(parameters.dimension()) +
                     ": give the matching --content");
  const auto length = static_cast<double>(parameters.length());
  Float32Bounds bounds;
  Stream x = tokens(parameters);
  bool representable = true;
  for (std::size_t l = 0; l < weights.layers.size(); ++l) {
    const auto& heads = weights.layers[l].heads;
    const Vector<Interval> zero = zeros(parameters.dimension());
    Stream y;
    y.fill({zero, zero});
    std::array<Vector<Interval>, classes> last_sum{zero, zero, zero};
    double products = 0;
    for (std::size_t h = 0; h < heads.size(); ++h) {
      auto& entry = bounds.heads.emplace_back();
      entry.layer = static_cast<int>(l + 1);
      entry.head = static_cast<int>(h + 1);
      representable = representable && is_float32(heads[h].query) && is_float32(heads[h].key) &&
                      is_float32(heads[h].value) && is_float32(heads[h].output);
      if (!representable) continue;
      const auto out = head_output(heads[h], weights.scale, x, normaliser, length, entry);
      products += static_cast<double>(heads[h].output.cols());
      for (std::size_t row = 0; row < classes; ++row) {
        y[row].magnitude += out[row].real;
        y[row].error += out[row].error;
        last_sum[row] += absolute_product(heads[h].output, out[row].executed);
      }
    }
    if (!representable) continue;
    for (std::size_t row = 0; row < classes; ++row) {
      for (Index r = 0; r < zero.size(); ++r) {
        Interval& error = y[row].error[r];
        error += sum_error(products, last_sum[row][r]);
        if (!weights.residual) continue;
        const Interval size = x[row].magnitude[r] + x[row].error[r] + y[row].magnitude[r] + error;
        error += x[row].error[r] + executable(Interval(u) * size, Interval(2) * size);
        y[row].magnitude[r] += x[row].magnitude[r];
      }
    }
    x = y;
  }
  if (!representable) return bounds;
  bounds.output = 0;
  for (const Bounded& row : x)
    for (const Interval& error : row.error) bounds.output = std::max(bounds.output, upper(error));
  return bounds;
}

}  // namespace sinkproof::certify
