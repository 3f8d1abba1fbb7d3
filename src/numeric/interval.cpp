#include "numeric/interval.hpp"

#include <mpfr.h>

#include "numeric/exp_kernel.hpp"

namespace sinkproof::numeric {
namespace {

/// An MPFR number of double precision whose directed rounding does not depend on the processor's rounding
/// mode.
class MpfrDouble {
 public:
  MpfrDouble() { mpfr_init2(value_, 53); }
  ~MpfrDouble() { mpfr_clear(value_); }
  MpfrDouble(const MpfrDouble&) = delete;
  MpfrDouble& operator=(const MpfrDouble&) = delete;
  mpfr_ptr get() { return value_; }
  /// mpfr_get_d rounds once more only where the exponent leaves double's range: in the same direction.
  double rounded(mpfr_rnd_t direction) { return mpfr_get_d(value_, direction); }

 private:
  mpfr_t value_;
};

template <class Function>
double mpfr_bound(Function function, double x, mpfr_rnd_t direction) {
  MpfrDouble number;
  mpfr_set_d(number.get(), x, MPFR_RNDN);  // exact: 53 bits, and MPFR's exponent range is wider
  function(number.get(), number.get(), direction);
  return number.rounded(direction);
}

/// A lower bound of the product a * b. Exact where a factor is 0; never below 0 where the signs agree.
double product_down(double a, double b) {
  const double product = a * b;
  if (product == 0) return a == 0 || b == 0 || (a < 0) == (b < 0) ? 0 : -least_positive;
  return below(product);
}
double product_up(double a, double b) {
  return -product_down(-a, b);
}

/// A lower bound of the quotient a / b, b != 0.
double quotient_down(double a, double b) {
  const double quotient = a / b;
  if (quotient == 0) return a == 0 || (a < 0) == (b < 0) ? 0 : -least_positive;
  return below(quotient);
}
double quotient_up(double a, double b) {
  return -quotient_down(-a, b);
}

/// Room for the relative error of exp_kernel, for one more rounding, and for what is of second order.
constexpr double exp_slack = exp_relative_error + 1.25 * machine_epsilon;

}  // namespace

Interval Interval::enclosing(const Rational& value) {
  MpfrDouble number;
  mpfr_set_q(number.get(), value.backend().data(), MPFR_RNDD);
  const double lower = number.rounded(MPFR_RNDD);
  mpfr_set_q(number.get(), value.backend().data(), MPFR_RNDU);
  return {lower, number.rounded(MPFR_RNDU)};
}

Interval operator*(const Interval& a, const Interval& b) {
  if (a.is_undecided() || b.is_undecided()) return Interval::undecided();
  const double al = a.lower_, au = a.upper_, bl = b.lower_, bu = b.upper_;
  if (al >= 0 && bl >= 0) return {product_down(al, bl), product_up(au, bu)};
  return {std::min({product_down(al, bl), product_down(al, bu), product_down(au, bl), product_down(au, bu)}),
          std::max({product_up(al, bl), product_up(al, bu), product_up(au, bl), product_up(au, bu)})};
}

Interval operator/(const Interval& a, const Interval& b) {
  if (a.is_undecided() || !(b.lower_ > 0 || b.upper_ < 0)) return Interval::undecided();
  const double al = a.lower_, au = a.upper_, bl = b.lower_, bu = b.upper_;
  return {
      std::min({quotient_down(al, bl), quotient_down(al, bu), quotient_down(au, bl), quotient_down(au, bu)}),
      std::max({quotient_up(al, bl), quotient_up(al, bu), quotient_up(au, bl), quotient_up(au, bu)})};
}

Interval sqrt(const Interval& x) {
  if (!(x.lower() >= 0)) return Interval::undecided();
  const double lower = std::sqrt(x.lower());
  const double upper = std::sqrt(x.upper());
  return {lower == 0 ? 0 : below(lower), upper == 0 ? 0 : above(upper)};
}

Interval exp(const Interval& x) {
  if (x.is_undecided()) return x;
  const auto in_range = [](double end) { return std::fabs(end) <= exp_fast_range; };
  const double lower = in_range(x.lower()) ? exp_kernel(x.lower()) * (1 - exp_slack)
                                           : mpfr_bound(mpfr_exp, x.lower(), MPFR_RNDD);
  const double upper = in_range(x.upper()) ? exp_kernel(x.upper()) * (1 + exp_slack)
                                           : mpfr_bound(mpfr_exp, x.upper(), MPFR_RNDU);
  return {lower, upper};
}

Interval log(const Interval& x) {
  if (!(x.lower() > 0)) return Interval::undecided();
  return {mpfr_bound(mpfr_log, x.lower(), MPFR_RNDD), mpfr_bound(mpfr_log, x.upper(), MPFR_RNDU)};
}

Interval abs(const Interval& x) {
  if (x.lower() >= 0 || x.is_undecided()) return x;
  if (x.upper() <= 0) return -x;
  return {0, std::max(-x.lower(), x.upper())};
}

Interval max(const Interval& a, const Interval& b) {
  if (a.is_undecided() || b.is_undecided()) return Interval::undecided();
  return {std::max(a.lower(), b.lower()), std::max(a.upper(), b.upper())};
}

Interval min(const Interval& a, const Interval& b) {
  return -max(-a, -b);
}

Interval hull(const Interval& a, const Interval& b) {
  if (a.is_undecided() || b.is_undecided()) return Interval::undecided();
  return {std::min(a.lower(), b.lower()), std::max(a.upper(), b.upper())};
}

void exp_approximate(const double* x, double* y, long count) noexcept {
  // Two loops, as GCC does not vectorise them in one. NaN fails the comparison.
  for (long i = 0; i < count; ++i) y[i] = std::fabs(x[i]) <= exp_fast_range ? x[i] : 0;
  for (long i = 0; i < count; ++i) y[i] = exp_kernel(y[i]);
}

// exp([m - d, m + u]) lies in e^m [1 - d, 1 + u + u^2] for 0 <= d, u <= 1. With E the computed e^m, the ends
// are E -+ E t, t = d + 3 eps or u + u^2 + 3 eps. The terms of t and E t are rounded by less than 2^-8 eps E
// altogether (d and u by one eps of themselves, exact where subnormal; E t is far from underflow for
// |m| <= 699), and the last sum by at most one eps: exp_slack covers these and the error of E.
void exp_all(std::span<const Interval> x, Interval* y) {
  constexpr size_t block = 64;
  double mid[block], down[block], up[block], exp_mid[block];
  for (; !x.empty(); x = x.subspan(std::min(block, x.size())), y += block) {
    const size_t count = std::min(block, x.size());
    for (size_t i = 0; i < count; ++i) {
      const double lower = x[i].lower(), upper = x[i].upper();
      mid[i] = lower + (upper - lower) * 0.5;
      down[i] = mid[i] - lower;
      up[i] = upper - mid[i];
    }
    exp_approximate(mid, exp_mid, static_cast<long>(count));
    for (size_t i = 0; i < count; ++i) {
      const double d = down[i], u = up[i], e = exp_mid[i];
      const bool thin = std::fabs(mid[i]) <= 699 && d <= 0x1p-10 && u <= 0x1p-10;  // false for NaN
      y[i] = thin ? Interval(e - e * (d + exp_slack), e + e * (u + (u * u + exp_slack))) : exp(x[i]);
    }
  }
}

}  // namespace sinkproof::numeric
