#pragma once

#include <bit>
#include <cstdint>

namespace sinkproof::measure {

/// ln x for a normal x > 0. x = 2^k m with m in [sqrt(1/2), sqrt(2)), s = (m - 1) / (m + 1), |s| < 0.1716,
/// ln m = 2 s (1 + s^2/3 + ... + s^16/17): the remainder is below 0.0295^9/19/(1 - 0.0295) < 9e-16 of 2 s,
/// and the dozen roundings that matter below 1e-15. Where k != 0, |ln x| > 0.34 and k ln 2 is off by two
/// roundings of it. Together far below log_relative_error = 1e-14; the test compares with MPFR.
inline double log_kernel(double x) {
  constexpr std::uint64_t sqrt_half = 0x3fe6a09e667f3bcd;
  constexpr std::uint64_t one = 0x3ff0000000000000;
  const std::uint64_t moved = std::bit_cast<std::uint64_t>(x) + (one - sqrt_half);
  const double m = std::bit_cast<double>((moved & 0xfffffffffffff) + sqrt_half);
  // The exponent field as a double, without an integer conversion that SSE2 lacks: 2^52 + field - (2^52 +
  // 1023).
  const double k = std::bit_cast<double>(moved >> 52 | 0x4330000000000000) - (0x1p52 + 1023);
  const double s = (m - 1) / (m + 1);
  const double t = s * s;
  double q = 1.0 / 17;
  q = q * t + 1.0 / 15;
  q = q * t + 1.0 / 13;
  q = q * t + 1.0 / 11;
  q = q * t + 1.0 / 9;
  q = q * t + 1.0 / 7;
  q = q * t + 1.0 / 5;
  q = q * t + 1.0 / 3;
  return k * 0x1.62e42fefa39efp-1 + (2 * s + 2 * s * (t * q));
}

}  // namespace sinkproof::measure
