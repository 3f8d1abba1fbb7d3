#pragma once

#include <bit>
#include <cstdint>

#include "numeric/rounding.hpp"

namespace sinkproof::numeric {

inline constexpr double exp_fast_range = 708;
inline constexpr double exp_relative_error = 1.75 * machine_epsilon;

/// exp(x) for |x| <= exp_fast_range with relative error at most exp_relative_error, under faithful rounding
/// of any mode. eps = 2^-52; a rounded result in [2^e, 2^(e+1)) is off by at most 2^e eps.
///
/// k = trunc(x log2(e) +- 1/2), r = x - k ln 2, exp(x) = 2^k exp(r).
///   Truncation does not depend on the rounding mode; x log2(e) +- 1/2 is off by less than 2^-40, so
///   |r| <= 0.3466. ln2_high has 42 bits, so k ln2_high is exact (|k| <= 1022 has 10). x - k ln2_high is
///   exact as well: it is a multiple of min(ulp(x), 2^-42) and smaller than 1/2; where k != 0, |x| > 0.34 and
///   ulp(x) >= 2^-54. k ln2_low < 2^-34 is off by less than 2^-83. Rounding r < 1/2: exp(r) is off by 0.25
///   eps relatively.
/// exp(r) = 1 + (r + r^2 q(r)), q the Taylor polynomial up to r^13/13!; absolute errors:
///   the remainder is 0.3466^14/14! * e^0.35 < 6e-18 < 0.03 eps.
///   Horner, from the outside in: q in [0.44, 0.57] is off by 0.35 e1 + 1/16 eps (product < 0.07) + 1/2 eps,
///   where the coefficient of r^3, in [0.14, 0.19], is off by e1 <= 0.35 e2 + 1/64 eps + 1/8 eps (sum)
///   + 1/8 eps (1/6 rounded), and likewise e2 <= 0.1 eps: so e1 < 0.31 eps, and q is off by less than 0.68
///   eps. r^2 q: 0.121 * 0.68 eps + 1/16 eps * 0.57 (rounding r^2 < 1/8) + 1/16 eps (product < 1/8) < 0.19
///   eps. r + r^2 q < 1/2 is rounded by 1/4 eps. Together 0.03 + 0.19 + 0.25 = 0.47 eps. 1 + (...) is rounded
///   by 1 eps where exp(r) >= 1, and by 1/2 eps where exp(r) < 1 (then exp(r) > 0.707).
/// Relative error: 0.25 + 0.47 + 1 = 1.72 eps, or 0.25 + (0.47 + 0.5) / 0.707 < 1.63 eps; second-order terms
/// are below 0.01 eps. 2^k exp(r) is exact: the result is a normal number, 2^-1021 0.707 > 2^-1022 and
/// 2^1022 1.42 < 2^1024.
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
