#include "formats/tensor.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

using namespace sinkproof::formats;

namespace {

/// The value of an IEEE-style pattern by its definition.
double reference(std::uint64_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint64_t fraction = bits & ((1ull << fraction_bits) - 1);
  const int exponent = static_cast<int>(bits >> fraction_bits & ((1ull << exponent_bits) - 1));
  const double sign = bits >> (exponent_bits + fraction_bits) & 1 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  }
  const double significand =
      static_cast<double>(fraction) + (exponent ? std::ldexp(1.0, fraction_bits) : 0.0);
  return sign * std::ldexp(significand, (exponent ? exponent : 1) - bias - fraction_bits);
}

}  // namespace

TEST_CASE("all 16-bit patterns, subnormals included, decode to their exact value and encode back") {
  int wrong = 0;
  for (std::uint64_t bits = 0; bits < 65536; ++bits) {
    const auto check = [&](Dtype dtype, double expected) {
      const double value = decode(dtype, bits);
      if (std::isnan(expected)) {
        const auto back = encode(dtype, value);
        wrong += !(std::isnan(value) && back && std::isnan(decode(dtype, *back)));
      } else {
        wrong += !(value == expected && std::signbit(value) == std::signbit(expected) &&
                   encode(dtype, value) == bits);
      }
    };
    check(Dtype::f16, reference(bits, 5, 10));
    check(Dtype::bf16, reference(bits, 8, 7));
  }
  CHECK(wrong == 0);
}

TEST_CASE("float32 and float64 decode to themselves") {
  CHECK(decode(Dtype::f32, 0x3dcccccd) == static_cast<double>(0.1F));
  CHECK(decode(Dtype::f32, 1) == std::ldexp(1.0, -149));
  CHECK(decode(Dtype::f64, 0x3fb999999999999a) == 0.1);
  CHECK(decode(Dtype::f64, 1) == std::numeric_limits<double>::denorm_min());
}

TEST_CASE("a value that a type cannot hold exactly is not encoded") {
  CHECK_FALSE(encode(Dtype::f32, 0.1).has_value());
  CHECK_FALSE(encode(Dtype::f32, 1e300).has_value());
  CHECK_FALSE(encode(Dtype::f32, std::ldexp(1.0, -150)).has_value());
  CHECK_FALSE(encode(Dtype::f16, 65520).has_value());
  CHECK_FALSE(encode(Dtype::f16, 2049).has_value());
  CHECK_FALSE(encode(Dtype::f16, std::ldexp(1.0, -25)).has_value());
  CHECK_FALSE(encode(Dtype::bf16, 257).has_value());
  CHECK(encode(Dtype::f16, 65504) == 0x7bffu);
  CHECK(encode(Dtype::f16, std::ldexp(1.0, -24)) == 1u);
  CHECK(encode(Dtype::bf16, 256) == 0x4380u);
  CHECK(encode(Dtype::f16, -std::numeric_limits<double>::infinity()) == 0xfc00u);
}

TEST_CASE("entry counts do not overflow") {
  CHECK(entry_count({}) == 1u);
  CHECK(entry_count({3, 4}) == 12u);
  CHECK(entry_count({3, 0}) == 0u);
  CHECK_FALSE(entry_count({1ull << 32, 1ull << 32}).has_value());
  CHECK_FALSE(entry_count({0, 1ull << 32, 1ull << 32}).has_value());
  CHECK_FALSE(entry_count({1ull << 60}).has_value());
  CHECK(entry_count({1ull << 59}) == 1ull << 59);
}
