#pragma once

#include <string>
#include <string_view>

#include <boost/multiprecision/gmp.hpp>

#include "numeric/kind.hpp"

namespace sinkproof::numeric {

/// Exact rational over GMP. Expression templates are off, so that `auto` and Eigen see plain values.
using Rational =
    boost::multiprecision::number<boost::multiprecision::gmp_rational, boost::multiprecision::et_off>;
using Integer = boost::multiprecision::number<boost::multiprecision::gmp_int, boost::multiprecision::et_off>;

template <>
inline constexpr Kind kind_of<Rational> = Kind::exact;

/// The one door from binary floating point to exact numbers: the dyadic rational that `value` is, lossless.
/// float32 passes through its exact double. Throws InputError on NaN and infinities, which are not numbers.
Rational exact(double value);

/// Reads "13/60", "-7", "0.005", "5e-3" exactly. Throws InputError on anything else, on a zero denominator,
/// and on exponents beyond +-9999 (a typing error that would fill the memory).
Rational parse_rational(std::string_view text);

/// "13/60" or "7": lowest terms, denominator positive, read back exactly by parse_rational.
std::string to_string(const Rational& value);

/// The exact integer power. Throws std::domain_error if `base` is 0 and `exponent` negative, or if
/// |exponent| >= 2^32.
Rational power(const Rational& base, long exponent);

}  // namespace sinkproof::numeric
