#pragma once

#include <boost/multiprecision/mpfi.hpp>

#include "numeric/kind.hpp"
#include "numeric/rational.hpp"

namespace sinkproof::numeric {

/// A multi-precision enclosure over MPFI, of the precision (decimal digits) in force where it was computed.
/// The same contract as Interval: an operation that cannot be enclosed between finite ends is undecided, and
/// stays so. Kind: enclosed.
class BigInterval {
 public:
  BigInterval() : BigInterval(0) {}
  BigInterval(double point);                                           // NOLINT: exact, like Interval's
  BigInterval(int point) : BigInterval(static_cast<double>(point)) {}  // NOLINT
  BigInterval(const BigInterval&) = default;
  BigInterval(BigInterval&&) = default;
  BigInterval& operator=(const BigInterval& from) {
    // Boost 1.74 loses the value in a self-assignment, and Eigen's matrix product makes them.
    if (this != &from) value_ = from.value_;
    return *this;
  }
  BigInterval& operator=(BigInterval&&) = default;
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
  using Number = boost::multiprecision::number<boost::multiprecision::mpfi_float_backend<0>,
                                               boost::multiprecision::et_off>;
  /// Makes what is not finite undecided.
  explicit BigInterval(Number value);
  Number value_;
};

template <>
inline constexpr Kind kind_of<BigInterval> = Kind::enclosed;

inline bool is_undecided(const BigInterval& x) {
  return x.is_undecided();
}

/// The precision of every BigInterval made while the object lives. Process-wide (Boost's default precision
/// is): set it before threads start.
class BigPrecision {
 public:
  explicit BigPrecision(unsigned decimal_digits);
  ~BigPrecision();
  BigPrecision(const BigPrecision&) = delete;
  BigPrecision& operator=(const BigPrecision&) = delete;

 private:
  unsigned before_;
};

}  // namespace sinkproof::numeric
