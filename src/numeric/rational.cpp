#include "numeric/rational.hpp"

#include <cctype>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "errors.hpp"

namespace sinkproof::numeric {
namespace {

constexpr long max_decimal_exponent = 9999;

[[noreturn]] void refuse(std::string_view text) {
  std::string shown(text.substr(0, 40));
  throw InputError("'" + shown +
                   "' is not an exact number: write a fraction (1/200) or a decimal (0.005, 5e-3)");
}

/// Consumes [0-9]*, returning the digits.
std::string take_digits(std::string_view& rest) {
  std::string digits;
  while (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest.front()))) {
    digits.push_back(rest.front());
    rest.remove_prefix(1);
  }
  return digits;
}

bool take(std::string_view& rest, char c) {
  if (rest.empty() || rest.front() != c) return false;
  rest.remove_prefix(1);
  return true;
}

/// Decimal digits to an integer; leading zeros must not make GMP read octal.
Integer decimal_integer(const std::string& digits) {
  const auto first = digits.find_first_not_of('0');
  return first == std::string::npos ? Integer(0) : Integer(digits.substr(first));
}

}  // namespace

Rational exact(double value) {
  if (!std::isfinite(value)) {
    throw InputError(std::isnan(value) ? "NaN is not a number: it cannot be made exact"
                                       : "an infinity is not a number: it cannot be made exact");
  }
  // mpq_set_d is exact for every finite double, subnormals included.
  Rational result;
  mpq_set_d(result.backend().data(), value);
  return result;
}

Rational parse_rational(std::string_view text) {
  std::string_view rest = text;
  const bool negative = take(rest, '-');
  if (!negative) take(rest, '+');
  std::string digits = take_digits(rest);

  Rational magnitude;
  if (!digits.empty() && take(rest, '/')) {
    const std::string below = take_digits(rest);
    if (below.empty() || !rest.empty()) refuse(text);
    const Integer denominator = decimal_integer(below);
    if (denominator == 0) throw InputError("'" + std::string(text.substr(0, 40)) + "' divides by zero");
    magnitude = Rational(decimal_integer(digits), denominator);
  } else {
    long exponent = 0;
    bool any = !digits.empty();
    if (take(rest, '.')) {
      const std::string fraction = take_digits(rest);
      any = any || !fraction.empty();
      exponent = -static_cast<long>(fraction.size());
      digits += fraction;
    }
    if (!any) refuse(text);
    if (take(rest, 'e') || take(rest, 'E')) {
      const bool down = take(rest, '-');
      if (!down) take(rest, '+');
      const std::string power_digits = take_digits(rest);
      if (power_digits.empty() || power_digits.size() > 9) refuse(text);
      const long written = std::stol(power_digits);
      if (written > max_decimal_exponent) {
        throw InputError("'" + std::string(text.substr(0, 40)) + "' has an exponent beyond +-9999");
      }
      exponent += down ? -written : written;
    }
    if (!rest.empty()) refuse(text);
    magnitude = Rational(decimal_integer(digits)) * power(Rational(10), exponent);
  }
  return negative ? Rational(-magnitude) : magnitude;
}

std::string to_string(const Rational& value) {
  return value.str();
}

Rational power(const Rational& base, long exponent) {
  constexpr long largest = std::numeric_limits<unsigned>::max();
  if (exponent > largest || exponent < -largest) throw std::domain_error("a power beyond any memory");
  if (exponent < 0) {
    if (base == 0) throw std::domain_error("a negative power of zero");
    return 1 / power(base, -exponent);
  }
  // Numerator and denominator stay coprime under powers: no gcd is needed, but none is skipped either.
  const auto n = static_cast<unsigned>(exponent);
  return Rational(boost::multiprecision::pow(boost::multiprecision::numerator(base), n),
                  boost::multiprecision::pow(boost::multiprecision::denominator(base), n));
}

}  // namespace sinkproof::numeric
