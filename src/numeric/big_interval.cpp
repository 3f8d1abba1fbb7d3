#include "numeric/big_interval.hpp"

#include "errors.hpp"

namespace sinkproof::numeric {
namespace {

constexpr mpfr_prec_t bits(unsigned decimal_digits) {
  return static_cast<mpfr_prec_t>(decimal_digits) * 10 / 3 + 2;  // log2(10) < 10/3
}

mpfr_prec_t precision = bits(50);

/// Exponents beyond 2^+-exponent_limit are out of range: a rational end would fill the memory.
constexpr mpfr_exp_t exponent_limit = 1 << 20;

bool overflows(mpfr_srcptr end) {
  return !mpfr_number_p(end) || (mpfr_regular_p(end) && mpfr_get_exp(end) > exponent_limit);
}

/// Moves an end too near 0 outward: to 0 or to +-2^-exponent_limit.
void settle_underflow(mpfr_ptr end, mpfr_rnd_t outward) {
  if (!mpfr_regular_p(end) || mpfr_get_exp(end) >= -exponent_limit) return;
  const int sign = mpfr_sgn(end);
  mpfr_set_si_2exp(end, (sign > 0) == (outward == MPFR_RNDU) ? sign : 0, -exponent_limit, outward);
}

Rational to_rational(mpfr_srcptr end) {
  if (!mpfr_number_p(end)) throw InputError("an undecided enclosure has no ends");
  Rational result;
  mpfr_get_q(result.backend().data(), end);
  return result;
}

}  // namespace

template <class Set>
BigInterval BigInterval::made_by(Set set) {
  BigInterval result;
  const mpfr_ptr left = &result.value_->left, right = &result.value_->right;
  set(result.value_);
  if (overflows(left) || overflows(right)) return undecided();
  settle_underflow(left, MPFR_RNDD);
  settle_underflow(right, MPFR_RNDU);
  return result;
}

BigInterval::BigInterval(double point) {
  mpfi_init2(value_, precision);
  mpfi_set_d(value_, point);
  if (overflows(left()) || overflows(right())) *this = undecided();
}

BigInterval::BigInterval(const BigInterval& other) {
  mpfi_init2(value_, mpfi_get_prec(other.value_));
  mpfi_set(value_, other.value_);
}

BigInterval& BigInterval::operator=(BigInterval other) noexcept {
  mpfi_swap(value_, other.value_);
  return *this;
}

BigInterval::~BigInterval() {
  mpfi_clear(value_);
}

BigInterval BigInterval::enclosing(const Rational& value) {
  return enclosing(value, value);
}

BigInterval BigInterval::enclosing(const Rational& lower, const Rational& upper) {
  return made_by([&](mpfi_ptr y) {
    mpfr_set_q(&y->left, lower.backend().data(), MPFR_RNDD);
    mpfr_set_q(&y->right, upper.backend().data(), MPFR_RNDU);
    if (lower > upper) mpfr_set_nan(&y->left);
  });
}

BigInterval BigInterval::undecided() {
  BigInterval result;
  mpfr_set_nan(&result.value_->left);
  mpfr_set_nan(&result.value_->right);
  return result;
}

bool BigInterval::is_undecided() const {
  return mpfr_nan_p(left());
}

// The domain of each operation is checked here wherever NaN might be lost, whatever MPFI makes of it.
BigInterval BigInterval::operator-() const {
  return made_by([&](mpfi_ptr y) { mpfi_neg(y, value_); });
}

BigInterval operator+(const BigInterval& a, const BigInterval& b) {
  return BigInterval::made_by([&](mpfi_ptr y) { mpfi_add(y, a.value_, b.value_); });
}

BigInterval operator-(const BigInterval& a, const BigInterval& b) {
  return BigInterval::made_by([&](mpfi_ptr y) { mpfi_sub(y, a.value_, b.value_); });
}

BigInterval operator*(const BigInterval& a, const BigInterval& b) {
  if (a.is_undecided() || b.is_undecided()) return BigInterval::undecided();
  return BigInterval::made_by([&](mpfi_ptr y) { mpfi_mul(y, a.value_, b.value_); });
}

BigInterval operator/(const BigInterval& a, const BigInterval& b) {
  if (a.is_undecided() || b.is_undecided() || mpfi_has_zero(b.value_)) return BigInterval::undecided();
  return BigInterval::made_by([&](mpfi_ptr y) { mpfi_div(y, a.value_, b.value_); });
}

bool operator==(const BigInterval& a, const BigInterval& b) {
  return mpfr_equal_p(a.left(), b.left()) && mpfr_equal_p(a.right(), b.right());
}

BigInterval sqrt(const BigInterval& x) {
  if (x.is_undecided() || mpfr_sgn(x.left()) < 0) return BigInterval::undecided();
  return BigInterval::made_by([&](mpfi_ptr y) { mpfi_sqrt(y, x.value_); });
}

BigInterval exp(const BigInterval& x) {
  return BigInterval::made_by([&](mpfi_ptr y) { mpfi_exp(y, x.value_); });
}

BigInterval log(const BigInterval& x) {
  if (x.is_undecided() || mpfr_sgn(x.left()) <= 0) return BigInterval::undecided();
  return BigInterval::made_by([&](mpfi_ptr y) { mpfi_log(y, x.value_); });
}

BigInterval abs(const BigInterval& x) {
  return BigInterval::made_by([&](mpfi_ptr y) { mpfi_abs(y, x.value_); });
}

// mpfr_max passes over a NaN.
BigInterval max(const BigInterval& a, const BigInterval& b) {
  if (a.is_undecided() || b.is_undecided()) return BigInterval::undecided();
  return BigInterval::made_by([&](mpfi_ptr y) {
    mpfr_max(&y->left, a.left(), b.left(), MPFR_RNDD);
    mpfr_max(&y->right, a.right(), b.right(), MPFR_RNDU);
  });
}

BigInterval min(const BigInterval& a, const BigInterval& b) {
  return -max(-a, -b);
}

BigInterval hull(const BigInterval& a, const BigInterval& b) {
  if (a.is_undecided() || b.is_undecided()) return BigInterval::undecided();
  return BigInterval::made_by([&](mpfi_ptr y) { mpfi_union(y, a.value_, b.value_); });
}

Rational lower_end(const BigInterval& x) {
  return to_rational(x.left());
}
Rational upper_end(const BigInterval& x) {
  return to_rational(x.right());
}

BigPrecision::BigPrecision(unsigned decimal_digits) : before_(precision) {
  precision = bits(decimal_digits);
}

BigPrecision::~BigPrecision() {
  precision = before_;
}

}  // namespace sinkproof::numeric
