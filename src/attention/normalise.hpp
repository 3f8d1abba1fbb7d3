#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "attention/model.hpp"
#include "errors.hpp"
#include "numeric/enclosure.hpp"

/// From one row of scores to one row of attention weights, for each kind of number.
namespace sinkproof::attention {

/// part / (part + rest) for part, rest >= 0 and not both 0. Each operand occurs once in effect, so an
/// enclosure is the exact range up to rounding, and stays within [0, 1].
template <numeric::Scalar T>
T share(const T& part, const T& rest) {
  if constexpr (numeric::Enclosed<T>) {
    if (is_undecided(part) || is_undecided(rest)) return T::undecided();
    const auto lowest = [](const T& x) {
      return T::enclosing(numeric::max(lower_end(x), numeric::Rational(0)));
    };
    const auto highest = [](const T& x) {
      return T::enclosing(numeric::max(upper_end(x), numeric::Rational(0)));
    };
    const T below = lowest(part) / (lowest(part) + highest(rest));
    const T above = highest(part) / (highest(part) + lowest(rest));
    return min(max(hull(below, above), T(0)), T(1));
  } else {
    return part / (part + rest);
  }
}

/// The softmax of one row in double intervals, with an addend sink_weight e^0 in the denominator (0 for
/// none). The same enclosure as share() gives, in fewer operations.
void softmax_row(std::span<const numeric::Interval> scores, const numeric::Interval& sink_weight,
                 std::span<numeric::Interval> weights);

/// e^(s - pivot) for each score; the pivot keeps the largest near 1, whatever the scores' size.
template <numeric::Scalar T>
struct Exponentials {
  std::vector<T> of_scores;
  T of_zero;  ///< e^(0 - pivot): what an addend 1 in the denominator becomes
};

template <numeric::Scalar T>
double approximate(const T& x) {
  if constexpr (std::is_same_v<T, double>) {
    return x;
  } else {
    return is_undecided(x) ? 0 : numeric::Rational(upper_end(x)).template convert_to<double>();
  }
}
template <>
inline double approximate(const numeric::Interval& x) {
  return x.is_undecided() ? 0 : x.upper();
}

/// q^s exactly; s must be an integer of sensible size.
numeric::Rational exact_power(const std::optional<numeric::Rational>& base, const numeric::Rational& score);

template <numeric::Scalar T>
Exponentials<T> exponentials(std::span<const T> scores, const std::optional<numeric::Rational>& base,
                             bool with_zero) {
  Exponentials<T> result;
  result.of_scores.reserve(scores.size());
  if constexpr (numeric::Exact<T>) {
    for (const T& s : scores) result.of_scores.push_back(exact_power(base, s));
    result.of_zero = 1;
  } else {
    using std::exp, std::log;
    const T unit = base ? T(log(numeric::from_rational<T>(*base))) : T(1);
    double pivot = with_zero ? 0 : -HUGE_VAL;
    for (const T& s : scores) pivot = std::max(pivot, approximate(s));
    // Any finite pivot is right; it is a number of its own, so the same one is subtracted everywhere.
    if (!std::isfinite(pivot)) pivot = 0;
    for (const T& s : scores) {
      const T shifted = s - T(pivot);
      result.of_scores.push_back(exp(base ? T(shifted * unit) : shifted));
    }
    // Without the addend this exponential is not asked for, and might overflow.
    const T shifted = with_zero ? -T(pivot) : T(0);
    result.of_zero = exp(base ? T(shifted * unit) : shifted);
  }
  return result;
}

/// Attention weights of query i from its scores for the keys 1..i.
template <numeric::Scalar T>
void normalise(const BilinearScores<T>& head, std::span<const T> scores, std::span<T> weights) {
  const auto count = scores.size();
  if (head.normaliser == Normaliser::relu) {
    const T factor = T(static_cast<double>(std::max<std::size_t>(count - 1, 1)));
    for (std::size_t k = 0; k < count; ++k) weights[k] = numeric::positive_part(scores[k]) / factor;
    return;
  }
  const bool with_sink = head.normaliser != Normaliser::softmax;
  if constexpr (std::is_same_v<T, numeric::Interval>) {
    if (!head.base) {
      softmax_row(scores, head.normaliser == Normaliser::sink_logit ? head.sink_weight : T(with_sink ? 1 : 0),
                  weights);
      return;
    }
  }
  const Exponentials<T> e = exponentials<T>(scores, head.base, with_sink);
  T sink = with_sink ? e.of_zero : T(0);
  if (head.normaliser == Normaliser::sink_logit) sink *= head.sink_weight;

  // rest = everything in the denominator but the weight's own exponential: prefix plus suffix, so that
  // nothing is subtracted.
  std::vector<T> suffix(count + 1, T(0));
  for (std::size_t k = count; k-- > 0;) suffix[k] = suffix[k + 1] + e.of_scores[k];
  T prefix = sink;
  for (std::size_t k = 0; k < count; ++k) {
    weights[k] = share<T>(e.of_scores[k], prefix + suffix[k + 1]);
    prefix += e.of_scores[k];
  }
}

}  // namespace sinkproof::attention
