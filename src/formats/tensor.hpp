#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinkproof::formats {

/// The floating-point types a weight may be stored in. Each value of each is exactly a double.
enum class Dtype { f16, bf16, f32, f64 };

std::string_view to_string(Dtype dtype);  ///< "float16", "bfloat16", "float32", "float64"
std::size_t entry_bytes(Dtype dtype);     ///< 2, 2, 4, 8

/// The value that the low bits of `bits` stand for: exact; NaN and infinities stay what they are.
double decode(Dtype dtype, std::uint64_t bits);

/// The bits that stand for `value`, or nothing when the type cannot hold it exactly. Every NaN is held, as
/// one NaN.
std::optional<std::uint64_t> encode(Dtype dtype, double value);

using Shape = std::vector<std::uint64_t>;

std::string to_string(const Shape& shape);  ///< "[16, 16]"

/// The number of entries, or nothing when as many doubles are beyond 2^63 bytes (zero extents count as one
/// for this check, so that the order of the extents does not matter).
std::optional<std::uint64_t> entry_count(const Shape& shape);

/// A named array as a file holds it. `values` are the stored floats themselves (exact), in row-major order,
/// entry_count(shape) of them; they may be NaN or infinite: what that means is for the user of the tensor to
/// say.
struct Tensor {
  std::string name;
  Dtype dtype = Dtype::f64;
  Shape shape;
  std::vector<double> values;
};

/// An entry that was not loaded since it holds no floats (integers, bools, text...).
struct Skipped {
  std::string name;
  std::string reason;
};

/// All entries of a file, in the file's order.
struct TensorFile {
  std::vector<Tensor> tensors;
  std::vector<Skipped> skipped;
};

}  // namespace sinkproof::formats
