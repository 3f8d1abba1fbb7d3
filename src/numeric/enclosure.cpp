#include "numeric/enclosure.hpp"

#include <stdexcept>

namespace sinkproof::numeric {
namespace {

/// The number of decimal digits of x > 0, or one more.
long decimal_length(const Integer& x) {
  return static_cast<long>(mpz_sizeinbase(x.backend().data(), 10));
}

/// The p with 10^(p-1) <= magnitude < 10^p.
long decimal_point(const Rational& magnitude) {
  long point = decimal_length(numerator(magnitude)) - decimal_length(denominator(magnitude)) + 2;
  while (magnitude < power(Rational(10), point - 1)) --point;
  return point;
}

/// The integer next to |value| 10^shift on the wanted side.
Integer scaled(const Rational& magnitude, long shift, bool away_from_zero) {
  const Rational moved = magnitude * power(Rational(10), shift);
  const Integer above = numerator(moved) + (away_from_zero ? Integer(denominator(moved) - 1) : Integer(0));
  return above / denominator(moved);
}

}  // namespace

std::string decimal(const Rational& value, Direction direction, int digits) {
  if (digits < 1) throw std::domain_error("decimal: digits must be positive");
  if (value == 0) return "0";
  const bool negative = value < 0;
  const Rational magnitude = negative ? Rational(-value) : value;
  const bool away_from_zero = negative == (direction == Direction::down);

  // magnitude is about 0.TEXT times 10^point; rounding up may have carried it to the next power of ten.
  long point = decimal_point(magnitude);
  std::string text = scaled(magnitude, digits - point, away_from_zero).str();
  point += static_cast<long>(text.size()) - digits;

  text.erase(text.find_last_not_of('0') + 1);
  const std::string sign = negative ? "-" : "";
  const auto length = static_cast<long>(text.size());
  if (point > digits + 3 || point < -2) {
    std::string mantissa = text.substr(0, 1);
    if (length > 1) mantissa += "." + text.substr(1);
    return sign + mantissa + "e" + std::to_string(point - 1);
  }
  if (point <= 0) return sign + "0." + std::string(static_cast<size_t>(-point), '0') + text;
  if (point >= length) return sign + text + std::string(static_cast<size_t>(point - length), '0');
  return sign + text.substr(0, static_cast<size_t>(point)) + "." + text.substr(static_cast<size_t>(point));
}

}  // namespace sinkproof::numeric
