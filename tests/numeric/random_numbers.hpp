#pragma once

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <utility>

/// Inputs for the soundness tests, biased to corners: where enclosures go wrong.
namespace sinkproof::test {

/// The number of random inputs an operation gets: `base` times SINKPROOF_TEST_SCALE (1 where unset).
inline long trials(long base = 1'000'000) {
  const char* scale = std::getenv("SINKPROOF_TEST_SCALE");
  return scale ? std::lround(static_cast<double>(base) * std::atof(scale)) : base;
}

/// Leaves the processor in another rounding mode while it lives.
class RoundingMode {
 public:
  static constexpr int all[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
  static constexpr const char* names[] = {"to nearest", "downward", "upward", "toward zero"};

  explicit RoundingMode(int mode) { std::fesetround(mode); }
  ~RoundingMode() { std::fesetround(FE_TONEAREST); }
  RoundingMode(const RoundingMode&) = delete;
  RoundingMode& operator=(const RoundingMode&) = delete;
};

/// Hides a value from the optimiser, which may not move arithmetic on it across.
template <class T>
void hide(T& value) {
  asm volatile("" : "+m"(value) : : "memory");
}

/// The same numbers from the same seed on every platform (no std::..._distribution).
class RandomNumbers {
 public:
  explicit RandomNumbers(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  /// In [0, 1).
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double uniform(double lower, double upper) { return lower + (upper - lower) * unit(); }
  double sign() { return engine_() & 1 ? 1 : -1; }
  template <class T, std::size_t n>
  T one_of(const T (&choices)[n]) {
    return choices[below(n)];
  }

  /// A finite double: corners, powers of two and their neighbours, decimals, all bit patterns, moderate
  /// values.
  double number() {
    switch (below(8)) {
      case 0:
        return sign() * one_of(corners);
      case 1:
        return sign() * neighbour(std::ldexp(1.0, static_cast<int>(below(2098)) - 1074));
      case 2:
        return sign() * neighbour(one_of(corners));
      case 3:
        return sign() * static_cast<double>(below(1000)) / one_of({1.0, 10.0, 100.0, 1000.0});
      case 4:
        return any_bits();
      case 5:
        return sign() * neighbour(std::ldexp(1.0, static_cast<int>(below(21)) - 10));
      default:
        return uniform(-2, 2) * one_of({1.0, 10.0, 1e3, 1e-3});
    }
  }

  /// [first, second], a point half of the time, otherwise a few units in the last place, thin, or thick.
  std::pair<double, double> ends() { return ends_from(number()); }
  std::pair<double, double> ends_from(double x) {
    double y = x;
    switch (below(8)) {
      case 0:
        y = neighbour(x);
        break;
      case 1:
        y = x + x * uniform(-1, 1) * one_of({1e-3, 1e-10, 1e-15});
        break;
      case 2:
        y = number();
        break;
      case 3:
        y = -x;
        break;
      default:
        break;
    }
    if (!std::isfinite(y)) y = x;
    return {std::min(x, y), std::max(x, y)};
  }

  /// Any finite bit pattern, all exponents alike.
  double any_bits() {
    for (;;) {
      const auto x = std::bit_cast<double>(engine_());
      if (std::isfinite(x)) return x;
    }
  }

 private:
  static constexpr double largest = std::numeric_limits<double>::max();
  static constexpr double least_normal = std::numeric_limits<double>::min();
  static constexpr double least = std::numeric_limits<double>::denorm_min();
  static constexpr double corners[] = {0,
                                       least,
                                       2 * least,
                                       3 * least,
                                       least_normal - least,
                                       0x1p-537,
                                       least_normal,
                                       0x1p-52,
                                       0x1p-53,
                                       0.1,
                                       0.5,
                                       1,
                                       2,
                                       3,
                                       41,
                                       0x1p53,
                                       0x1p512,
                                       1e300,
                                       1e-300,
                                       largest / 2,
                                       largest};

  /// At most two doubles away, finite.
  double neighbour(double x) {
    for (auto steps = below(3); steps > 0; --steps) {
      const double next = std::nextafter(x, engine_() & 1 ? HUGE_VAL : -HUGE_VAL);
      if (std::isfinite(next)) x = next;
    }
    return x;
  }

  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }

  std::mt19937_64 engine_;
};

}  // namespace sinkproof::test
