#include "formats/tensor.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include <Eigen/Core>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sinkproof::formats {

std::string_view to_string(Dtype dtype) {
  switch (dtype) {
    case Dtype::f16:
      return "float16";
    case Dtype::bf16:
      return "bfloat16";
    case Dtype::f32:
      return "float32";
    case Dtype::f64:
      return "float64";
  }
  return "";
}

std::size_t entry_bytes(Dtype dtype) {
  switch (dtype) {
    case Dtype::f16:
    case Dtype::bf16:
      return 2;
    case Dtype::f32:
      return 4;
    case Dtype::f64:
      return 8;
  }
  return 0;
}

double decode(Dtype dtype, std::uint64_t bits) {
  const auto low16 = static_cast<std::uint16_t>(bits);
  switch (dtype) {
    case Dtype::f16:
      return static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(low16));
    case Dtype::bf16:
      return static_cast<float>(Eigen::numext::bit_cast<Eigen::bfloat16>(low16));
    case Dtype::f32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case Dtype::f64:
      return std::bit_cast<double>(bits);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

std::optional<std::uint64_t> encode(Dtype dtype, double value) {
  if (dtype == Dtype::f64) return std::bit_cast<std::uint64_t>(value);
  // A double beyond float32 is beyond all three; converting it would be undefined.
  constexpr double largest = std::numeric_limits<float>::max();
  if (std::isfinite(value) && std::abs(value) > largest) return std::nullopt;
  const auto single = static_cast<float>(value);
  std::uint64_t bits = 0;
  switch (dtype) {
    case Dtype::f16:
      bits = Eigen::numext::bit_cast<std::uint16_t>(Eigen::half(single));
      break;
    case Dtype::bf16:
      bits = Eigen::numext::bit_cast<std::uint16_t>(Eigen::bfloat16(single));
      break;
    default:
      bits = std::bit_cast<std::uint32_t>(single);
  }
  const double back = decode(dtype, bits);
  const bool same = std::isnan(value) ? std::isnan(back) : back == value;
  return same ? std::optional(bits) : std::nullopt;
}

std::string to_string(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::optional<std::uint64_t> entry_count(const Shape& shape) {
  std::uint64_t bytes = sizeof(double);
  bool empty = false;
  for (const std::uint64_t extent : shape) {
    empty = empty || extent == 0;
    if (__builtin_mul_overflow(bytes, extent == 0 ? 1 : extent, &bytes)) return std::nullopt;
  }
  if (bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
  return empty ? 0 : bytes / sizeof(double);
}

}  // namespace sinkproof::formats
