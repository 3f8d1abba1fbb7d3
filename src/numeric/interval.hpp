#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "numeric/exp_kernel.hpp"
#include "numeric/kind.hpp"
#include "numeric/rational.hpp"
#include "numeric/rounding.hpp"

namespace sinkproof::numeric {

/// A double-precision enclosure [lower, upper] of a real number, or *undecided*: no promise at all.
///
/// Every operation returns an interval that contains the true result for every choice of values in its
/// operands, whatever the rounding mode (see rounding.hpp). What cannot be enclosed between finite ends -
/// overflow, division by an interval that contains 0, sqrt or log of what may be negative, NaN - is
/// undecided, and so is all that is computed from it. Kind: enclosed.
class Interval {
 public:
  constexpr Interval() = default;
  /// The point interval of this very double (not of the decimal that was typed). NaN and infinities:
  /// undecided.
  constexpr Interval(double point) : Interval(point, point) {}  // NOLINT: scalars convert, Eigen needs it
  /// [lower, upper]; undecided if the ends are crossed or not finite.
  constexpr Interval(double lower, double upper) : lower_(lower), upper_(upper) {
    if (!(lower <= upper && lower >= -DBL_MAX && upper <= DBL_MAX)) *this = undecided();
  }
  static constexpr Interval undecided() {
    Interval result;
    result.lower_ = result.upper_ = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  /// The smallest interval that contains the rational (undecided beyond the range of double).
  static Interval enclosing(const Rational& value);

  constexpr double lower() const { return lower_; }
  constexpr double upper() const { return upper_; }
  constexpr bool is_undecided() const { return !(lower_ <= upper_); }
  constexpr bool is_point() const { return lower_ == upper_; }

  constexpr Interval operator-() const { return Interval(-upper_, -lower_); }
  Interval& operator+=(const Interval& b) { return *this = *this + b; }
  Interval& operator-=(const Interval& b) { return *this = *this - b; }
  Interval& operator*=(const Interval& b) { return *this = *this * b; }
  Interval& operator/=(const Interval& b) { return *this = *this / b; }

  friend Interval operator+(const Interval& a, const Interval& b) {
    return {sum_down(a.lower_, b.lower_), -sum_down(-a.upper_, -b.upper_)};
  }
  friend Interval operator-(const Interval& a, const Interval& b) { return a + (-b); }
  friend Interval operator*(const Interval& a, const Interval& b);
  friend Interval operator/(const Interval& a, const Interval& b);
  /// The same enclosure, which says nothing of the true values (Eigen asks this of its scalars); see equal().
  friend constexpr bool operator==(const Interval& a, const Interval& b) = default;

 private:
  /// A lower bound of a + b. Sums with 0, and sums that cancel to 0, are exact.
  static double sum_down(double a, double b) {
    const double sum = a + b;
    return sum == 0 || a == 0 || b == 0 ? sum : below(sum);
  }

  double lower_ = 0;
  double upper_ = 0;
};

template <>
inline constexpr Kind kind_of<Interval> = Kind::enclosed;

Interval sqrt(const Interval& x);
/// Each end off by at most 5.75 machine epsilons for |x| <= exp_fast_range; beyond that as MPFR rounds.
Interval exp(const Interval& x);
/// y[i] = exp(x[i]). A thin x[i] (each half below 2^-10, within +-699) takes one exponential: each end is off
/// by at most 5.75 machine epsilons and the square of the width, relatively. Otherwise y[i] is exp(x[i])
/// itself. y may be x.
void exp_all(std::span<const Interval> x, Interval* y);
/// As MPFR rounds: the smallest interval.
Interval log(const Interval& x);
Interval abs(const Interval& x);
/// Encloses max(a, b).
Interval max(const Interval& a, const Interval& b);
/// Encloses min(a, b).
Interval min(const Interval& a, const Interval& b);
/// The smallest interval that contains both.
Interval hull(const Interval& a, const Interval& b);

/// The ends as exact numbers. Throws InputError if undecided.
inline Rational lower_end(const Interval& x) {
  return exact(x.lower());
}
inline Rational upper_end(const Interval& x) {
  return exact(x.upper());
}
constexpr bool is_undecided(const Interval& x) {
  return x.is_undecided();
}

/// y[i] = exp(x[i]) within a relative error of `exp_relative_error`, for |x[i]| <= exp_fast_range; elsewhere
/// y[i] is a number without meaning. Branch-free, so that compilers vectorise it. y may be x.
void exp_approximate(const double* x, double* y, long count) noexcept;

}  // namespace sinkproof::numeric
