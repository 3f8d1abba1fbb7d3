#include "numeric/big_interval.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "errors.hpp"

namespace sinkproof::numeric {
namespace {

mpfr_srcptr left(mpfi_srcptr x) {
  return &x->left;
}
mpfr_srcptr right(mpfi_srcptr x) {
  return &x->right;
}

bool is_finite(mpfi_srcptr x) {
  return mpfr_number_p(left(x)) && mpfr_number_p(right(x)) && mpfr_lessequal_p(left(x), right(x));
}

Rational to_rational(mpfr_srcptr end) {
  if (!mpfr_number_p(end)) throw InputError("an undecided enclosure has no ends");
  Rational result;
  mpfr_get_q(result.backend().data(), end);
  return result;
}

}  // namespace

BigInterval::BigInterval(double point) : value_(point) {
  // Below 53 bits MPFI rounds the point outward; NaN and infinities are undecided.
  if (!std::isfinite(point)) *this = undecided();
}

BigInterval::BigInterval(Number value) : value_(std::move(value)) {
  if (!is_finite(value_.backend().data())) *this = undecided();
}

BigInterval BigInterval::enclosing(const Rational& value) {
  return enclosing(value, value);
}

BigInterval BigInterval::enclosing(const Rational& lower, const Rational& upper) {
  if (lower > upper) return undecided();
  BigInterval result;
  mpfr_set_q(&result.value_.backend().data()->left, lower.backend().data(), MPFR_RNDD);
  mpfr_set_q(&result.value_.backend().data()->right, upper.backend().data(), MPFR_RNDU);
  return result;
}

BigInterval BigInterval::undecided() {
  BigInterval result;
  mpfr_set_nan(&result.value_.backend().data()->left);
  mpfr_set_nan(&result.value_.backend().data()->right);
  return result;
}

bool BigInterval::is_undecided() const {
  return !is_finite(value_.backend().data());
}

BigInterval BigInterval::operator-() const {
  return BigInterval(Number(-value_));
}

// MPFI carries NaN ends through every operation, so undecided stays undecided.
BigInterval operator+(const BigInterval& a, const BigInterval& b) {
  return BigInterval(a.value_ + b.value_);
}
BigInterval operator-(const BigInterval& a, const BigInterval& b) {
  return BigInterval(a.value_ - b.value_);
}

BigInterval operator*(const BigInterval& a, const BigInterval& b) {
  // Not so for 0 * NaN, which MPFI takes for 0.
  if (a.is_undecided() || b.is_undecided()) return BigInterval::undecided();
  return BigInterval(a.value_ * b.value_);
}

BigInterval operator/(const BigInterval& a, const BigInterval& b) {
  if (a.is_undecided() || b.is_undecided() || mpfi_has_zero(b.value_.backend().data())) {
    return BigInterval::undecided();
  }
  return BigInterval(a.value_ / b.value_);
}

bool operator==(const BigInterval& a, const BigInterval& b) {
  const auto *x = a.value_.backend().data(), *y = b.value_.backend().data();
  return mpfr_equal_p(left(x), left(y)) && mpfr_equal_p(right(x), right(y));
}

BigInterval sqrt(const BigInterval& x) {
  if (x.is_undecided() || mpfr_sgn(left(x.value_.backend().data())) < 0) return BigInterval::undecided();
  return BigInterval(BigInterval::Number(sqrt(x.value_)));
}

BigInterval exp(const BigInterval& x) {
  if (x.is_undecided()) return x;
  return BigInterval(BigInterval::Number(exp(x.value_)));
}

BigInterval log(const BigInterval& x) {
  if (x.is_undecided() || mpfr_sgn(left(x.value_.backend().data())) <= 0) return BigInterval::undecided();
  return BigInterval(BigInterval::Number(log(x.value_)));
}

BigInterval abs(const BigInterval& x) {
  return max(x, -x);
}

BigInterval max(const BigInterval& a, const BigInterval& b) {
  if (a.is_undecided() || b.is_undecided()) return BigInterval::undecided();
  return BigInterval::enclosing(std::max(lower_end(a), lower_end(b)), std::max(upper_end(a), upper_end(b)));
}

BigInterval min(const BigInterval& a, const BigInterval& b) {
  return -max(-a, -b);
}

BigInterval hull(const BigInterval& a, const BigInterval& b) {
  if (a.is_undecided() || b.is_undecided()) return BigInterval::undecided();
  return BigInterval::enclosing(std::min(lower_end(a), lower_end(b)), std::max(upper_end(a), upper_end(b)));
}

Rational lower_end(const BigInterval& x) {
  return to_rational(left(x.value_.backend().data()));
}
Rational upper_end(const BigInterval& x) {
  return to_rational(right(x.value_.backend().data()));
}

BigPrecision::BigPrecision(unsigned decimal_digits)
    : before_(
          boost::multiprecision::number<boost::multiprecision::mpfi_float_backend<0>>::default_precision()) {
  boost::multiprecision::number<boost::multiprecision::mpfi_float_backend<0>>::default_precision(
      decimal_digits);
}

BigPrecision::~BigPrecision() {
  boost::multiprecision::number<boost::multiprecision::mpfi_float_backend<0>>::default_precision(before_);
}

}  // namespace sinkproof::numeric
