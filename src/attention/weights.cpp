#include "attention/weights.hpp"

#include <cmath>

#include "errors.hpp"
#include "numeric/enclosure.hpp"

namespace sinkproof::attention {
namespace {

template <numeric::Scalar T>
T score_factor(const ScoreScale& scale, Eigen::Index head_dimension) {
  T factor = numeric::from_rational<T>(scale.factor);
  if (!scale.inverse_sqrt_head_dimension) return factor;
  if constexpr (numeric::Exact<T>) {
    numeric::Integer remainder;
    const numeric::Integer root = sqrt(numeric::Integer(head_dimension), remainder);
    if (remainder != 0) {
      throw InputError("scale sqrt: 1/sqrt(" + std::to_string(head_dimension) +
                       ") is irrational: evaluate in intervals, or give a rational --scale");
    }
    return factor / T(root);
  } else {
    using std::sqrt;
    return factor / sqrt(T(static_cast<double>(head_dimension)));
  }
}

template <numeric::Scalar T>
numeric::Matrix<T> converted(const Eigen::MatrixXd& matrix) {
  return numeric::convert<T, double>(matrix);
}

}  // namespace

template <numeric::Scalar T>
Model<T> model_from(const Weights& weights, Normaliser normaliser) {
  Model<T> model{.layers = {}, .residual = weights.residual};
  for (const LayerWeights& layer : weights.layers) {
    Layer<T>& added = model.layers.emplace_back();
    for (const HeadWeights& head : layer.heads) {
      const T factor = score_factor<T>(weights.scale, head.query.rows());
      numeric::Matrix<T> scores =
          numeric::product<T>(converted<T>(head.query.transpose()), converted<T>(head.key));
      if (weights.scale.factor != 1 || weights.scale.inverse_sqrt_head_dimension) scores *= factor;
      added.heads.push_back(
          {.attention = BilinearScores<T>{.matrix = scores, .normaliser = normaliser},
           .value = numeric::product<T>(converted<T>(head.output), converted<T>(head.value))});
    }
  }
  return model;
}

template Model<double> model_from(const Weights&, Normaliser);
template Model<numeric::Rational> model_from(const Weights&, Normaliser);
template Model<numeric::Interval> model_from(const Weights&, Normaliser);
template Model<numeric::BigInterval> model_from(const Weights&, Normaliser);

}  // namespace sinkproof::attention
