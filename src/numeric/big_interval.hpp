#pragma once

#include <mpfi.h>

#include "numeric/kind.hpp"
#include "numeric/rational.hpp"

namespace sinkproof::numeric {

/// A multi-precision enclosure over MPFI, of the precision in force (BigPrecision) where it was computed.
/// The same contract as Interval: an operation that cannot be enclosed between finite ends is undecided, and
/// stays so; aliased arguments are taken for independent values. Finite means below 2^(2^20), so that the
/// ends are at hand as exact numbers; ends below 2^(-2^20) move outward. Kind: enclosed.
class BigInterval {
 public:
  BigInterval() : BigInterval(0.0) {}
  /// The point interval of this very double (rounded outward below 53 bits). NaN and infinities: undecided.
  BigInterval(double point);                                           // NOLINT: exact, like Interval's
  BigInterval(int point) : BigInterval(static_cast<double>(point)) {}  // NOLINT
  BigInterval(const BigInterval& other);
  BigInterval& operator=(BigInterval other) noexcept;
  ~BigInterval();
  /// The smallest interval of the current precision that contains the rational.
  static BigInterval enclosing(const Rational& value);
  /// The smallest interval of the current precision that contains [lower, upper]; undecided if they are
  /// crossed.
  static BigInterval enclosing(const Rational& lower, const Rational& upper);
  static BigInterval undecided();

  bool is_undecided() const;
  BigInterval operator-() const;
  BigInterval& operator+=(const BigInterval& b) { return *this = *this + b; }
  BigInterval& operator-=(const BigInterval& b) { return *this = *this - b; }
  BigInterval& operator*=(const BigInterval& b) { return *this = *this * b; }
  BigInterval& operator/=(const BigInterval& b) { return *this = *this / b; }
  friend BigInterval operator+(const BigInterval& a, const BigInterval& b);
  friend BigInterval operator-(const BigInterval& a, const BigInterval& b);
  friend BigInterval operator*(const BigInterval& a, const BigInterval& b);
  friend BigInterval operator/(const BigInterval& a, const BigInterval& b);
  /// The same enclosure, which says nothing of the true values (Eigen asks this of its scalars); see equal().
  friend bool operator==(const BigInterval& a, const BigInterval& b);

  friend BigInterval sqrt(const BigInterval& x);
  friend BigInterval exp(const BigInterval& x);
  friend BigInterval log(const BigInterval& x);
  friend BigInterval abs(const BigInterval& x);
  friend BigInterval max(const BigInterval& a, const BigInterval& b);
  friend BigInterval min(const BigInterval& a, const BigInterval& b);
  friend BigInterval hull(const BigInterval& a, const BigInterval& b);
  /// The ends as exact numbers. Throws InputError if undecided.
  friend Rational lower_end(const BigInterval& x);
  friend Rational upper_end(const BigInterval& x);

 private:
  /// The interval that `set` leaves in its argument, made undecided if it is not finite.
  template <class Set>
  static BigInterval made_by(Set set);

  mpfr_srcptr left() const { return &value_->left; }
  mpfr_srcptr right() const { return &value_->right; }
  mpfi_t value_;
};

template <>
inline constexpr Kind kind_of<BigInterval> = Kind::enclosed;

inline bool is_undecided(const BigInterval& x) {
  return x.is_undecided();
}

/// The precision of every BigInterval made while the object lives (50 decimal digits where there is none).
/// Process-wide: set it before threads start.
class BigPrecision {
 public:
  explicit BigPrecision(unsigned decimal_digits);
  ~BigPrecision();
  BigPrecision(const BigPrecision&) = delete;
  BigPrecision& operator=(const BigPrecision&) = delete;

 private:
  mpfr_prec_t before_;
};

}  // namespace sinkproof::numeric
