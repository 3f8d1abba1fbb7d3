#pragma once

#include <array>
#include <cstdint>

#include "numeric/rational.hpp"

namespace sinkproof::measure {

/// The exact sum of finite doubles, as a fixed-point number wide enough for all of them: every term is a
/// multiple of 2^-1074 below 2^1024. At most 2^30 terms. Kind: exact.
class ExactSum {
 public:
  void add(double term);  ///< NaN and infinities are the caller's error (std::invalid_argument)
  numeric::Rational value() const;

 private:
  static constexpr int limb_bits = 32;
  // A limb counts multiples of 2^(32 i - 1074); carries wait until value().
  std::array<std::int64_t, 67> limbs_{};
};

}  // namespace sinkproof::measure
