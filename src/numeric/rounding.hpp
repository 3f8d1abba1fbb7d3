#pragma once

#include <bit>
#include <cfloat>
#include <cstdint>
#include <limits>

#ifdef __FAST_MATH__
#error "sinkproof: -ffast-math breaks the rounding that every enclosure rests on"
#endif

/// What is assumed of the machine, and no more:
///   - binary64 evaluated in binary64 (FLT_EVAL_METHOD 0), with subnormals (no flush-to-zero, no
///   denormals-are-zero);
///   - each + - * / sqrt (and a fused multiply-add, where the compiler contracts) is *faithful*: its result
///     is the true value where that is a double, and otherwise one of the two doubles next to it. A true
///     value beyond the largest double becomes that double or infinity, as the rounding mode has it.
/// The rounding mode is *not* assumed: all four modes are faithful, and so is a constant that the compiler
/// folded in round-to-nearest. A true value lies therefore strictly between `below(r)` and `above(r)` of the
/// computed r. An argument with error bounds, instead, must rule overflow out: it may stop at the largest
/// double, and pass unseen.
static_assert(std::numeric_limits<double>::is_iec559 && FLT_EVAL_METHOD == 0);

namespace sinkproof::numeric {

/// 2^-52: with faithful rounding |fl(x) - x| <= machine_epsilon |x| (in the absence of underflow).
inline constexpr double machine_epsilon = 0x1p-52;

/// The least positive double, 2^-1074.
inline constexpr double least_positive = std::numeric_limits<double>::denorm_min();

/// The largest double below x; -inf and NaN stay as they are. below(+inf) is the largest finite double: what
/// overflowed lies above it.
constexpr double below(double x) noexcept {
  if (x == 0) return -least_positive;
  if (!(x >= -DBL_MAX)) return x;
  const auto bits = std::bit_cast<std::int64_t>(x);
  return std::bit_cast<double>(bits + (bits < 0 ? 1 : -1));
}

/// The least double above x; +inf and NaN stay as they are.
constexpr double above(double x) noexcept {
  return -below(-x);
}

/// Whether this thread's floating-point unit keeps subnormals, as the enclosures assume (the program and the
/// tests refuse to run otherwise). Tests arithmetic and comparison on values the compiler cannot see.
bool subnormals_are_kept() noexcept;

}  // namespace sinkproof::numeric
