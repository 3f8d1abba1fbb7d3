#pragma once

#include <bit>
#include <cstdint>

#include "numeric/rounding.hpp"

namespace sinkproof::numeric {

/// exp(x) for |x| <= 708 with relative error at most 4 eps, eps = 2^-52, under faithful rounding of any mode.
///
/// k = trunc(x log2(e) +- 1/2), r = x - k ln 2, exp(x) = 2^k exp(r).
///   Truncation does not depend on the rounding mode; x log2(e) is off by less than 2^-41, so |r| <= 0.34658.
///   ln2_high has 42 bits, so k ln2_high is exact (|k| <= 1022 has 10). x - k ln2_high is exact as well: it
///   is a multiple of min(ulp(x), 2^-42) and smaller than 1/2; where k != 0, |x| > 0.34 and ulp(x) >= 2^-54.
///   k ln2_low <= 2^10 2^-42 is off by less than 2^-83. Rounding r: at most 0.35 eps.           |  0.35 eps
/// exp(r) = 1 + (r + r^2 q(r)), q the Taylor polynomial up to r^13/13!; the remainder is
///   0.3466^14/14! * e^0.35 < 6e-18.                                                              |  0.03 eps
///   q in [0.44, 0.57]: Horner on decreasing terms (each factor |r| < 0.35, coefficients correctly rounded)
///   is off by less than 3 eps * 0.57; r^2 <= 0.1202, rounding r^2 and r^2 q twice: r^2 q off by
///   0.1202 * 0.57 * 5 eps < 0.35 eps.                                                           |  0.35 eps
///   r + r^2 q: magnitude < 0.42, rounding at most 0.42 eps (eps/2 ulp is less; not used).      |  0.42 eps
///   1 + (...): relative to the result at most 1 eps.                                             |  1 eps
/// The first four are absolute errors in exp(r) >= 0.707 (the first is relative): together below
///   0.35 + (0.03 + 0.35 + 0.42)/0.707 + 1 < 2.5 eps, second-order terms included: stated as 4 eps.
/// 2^k exp(r) is exact: the result is a normal number, 2^-1021 0.707 > 2^-1022 and 2^1022 1.42 < 2^1024.
inline double exp_kernel(double x) noexcept {
  constexpr double log2_e = 0x1.71547652b82fep+0;
  constexpr double ln2_high = 0x1.62e42fefa38p-1;   // 42 bits
  constexpr double ln2_low = 0x1.ef35793c7673p-45;  // ln 2 - ln2_high, to 53 bits
  const double scaled = x * log2_e;
  const auto k = static_cast<std::int32_t>(scaled + (x < 0 ? -0.5 : 0.5));
  const double kd = k;
  const double r = (x - kd * ln2_high) - kd * ln2_low;
  double q = 1.0 / 6227020800;  // 1/13!
  q = q * r + 1.0 / 479001600;
  q = q * r + 1.0 / 39916800;
  q = q * r + 1.0 / 3628800;
  q = q * r + 1.0 / 362880;
  q = q * r + 1.0 / 40320;
  q = q * r + 1.0 / 5040;
  q = q * r + 1.0 / 720;
  q = q * r + 1.0 / 120;
  q = q * r + 1.0 / 24;
  q = q * r + 1.0 / 6;
  q = q * r + 0.5;
  const double significand = 1 + (r + r * r * q);
  const double scale = std::bit_cast<double>(static_cast<std::int64_t>(k + 1023) << 52);
  return significand * scale;
}

}  // namespace sinkproof::numeric
