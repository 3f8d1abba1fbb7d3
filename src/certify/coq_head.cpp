#include "certify/coq_head.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "errors.hpp"

namespace sinkproof::certify {

using numeric::Integer;
using numeric::Rational;

namespace {

DyadicMatrix dyadic(const Eigen::MatrixXd& matrix) {
  // A double is mantissa * 2^exponent with an odd mantissa of at most 53 bits, or zero.
  const auto exponent_of = [](double x) {
    int exponent = 0;
    const auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
    return exponent - 53 + std::countr_zero(static_cast<std::uint64_t>(mantissa));
  };
  constexpr int none = std::numeric_limits<int>::max();
  int least = none;
  for (Eigen::Index k = 0; k < matrix.size(); ++k) {
    const double x = matrix.data()[k];
    if (!std::isfinite(x)) throw InputError("weights: NaN and infinities are not numbers: no certificate");
    if (x != 0) least = std::min(least, exponent_of(x));
  }
  DyadicMatrix result{.mantissas = IntegerMatrix(static_cast<std::size_t>(matrix.rows())),
                      .exponent = least == none ? 0 : least};
  for (Eigen::Index r = 0; r < matrix.rows(); ++r) {
    for (Eigen::Index s = 0; s < matrix.cols(); ++s) {
      const Rational mantissa = numeric::exact(matrix(r, s)) * numeric::power(2, -result.exponent);
      result.mantissas[static_cast<std::size_t>(r)].push_back(boost::multiprecision::numerator(mantissa));
    }
  }
  return result;
}

Rational rational_scale(const attention::ScoreScale& scale, Eigen::Index head_dimension) {
  if (!scale.inverse_sqrt_head_dimension) return scale.factor;
  Integer remainder;
  const Integer root = sqrt(Integer(head_dimension), remainder);
  if (remainder != 0) {
    throw InputError("--scale: 1/sqrt(" + std::to_string(head_dimension) +
                     ") is irrational, and a certificate names rational numbers: give a rational --scale");
  }
  return scale.factor / Rational(root);
}

Integer power_of_two(long exponent) {
  return boost::multiprecision::pow(Integer(2), static_cast<unsigned>(std::max(exponent, 0L)));
}

/// factor * sum_t left(t, r) right(t, s).
IntegerMatrix products(const Integer& factor, const IntegerMatrix& left, const IntegerMatrix& right) {
  const std::size_t n = left.front().size();
  IntegerMatrix result(n, std::vector<Integer>(n));
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t s = 0; s < n; ++s) {
      for (std::size_t t = 0; t < left.size(); ++t) result[r][s] += left[t][r] * right[t][s];
      result[r][s] *= factor;
    }
  }
  return result;
}

IntegerMatrix transposed(const IntegerMatrix& matrix) {
  IntegerMatrix result(matrix.front().size());
  for (const auto& row : matrix) {
    for (std::size_t s = 0; s < row.size(); ++s) result[s].push_back(row[s]);
  }
  return result;
}

}  // namespace

Integer divided_down(const Integer& a, const Integer& b) {
  Integer result;
  mpz_fdiv_q(result.backend().data(), a.backend().data(), b.backend().data());
  return result;
}

CoqHead coq_head(const attention::Weights& weights) {
  if (weights.layers.size() != 1 || weights.layers[0].heads.size() != 1 || weights.residual) {
    throw InputError("weights: only a single head without residual (one layer, one head) has a certificate");
  }
  const attention::HeadWeights& head = weights.layers[0].heads[0];
  return {.query = dyadic(head.query),
          .key = dyadic(head.key),
          .value = dyadic(head.value),
          .output = dyadic(head.output),
          .scale = rational_scale(weights.scale, head.query.rows()),
          .content = weights.dimension - 3};
}

IntegerMap score_map(const CoqHead& head) {
  const long exponent = head.query.exponent + head.key.exponent;
  return {products(boost::multiprecision::numerator(head.scale) * power_of_two(exponent),
                   head.query.mantissas, head.key.mantissas),
          boost::multiprecision::denominator(head.scale) * power_of_two(-exponent)};
}

IntegerMap value_map(const CoqHead& head) {
  const long exponent = head.output.exponent + head.value.exponent;
  return {products(power_of_two(exponent), transposed(head.output.mantissas), head.value.mantissas),
          power_of_two(-exponent)};
}

}  // namespace sinkproof::certify
