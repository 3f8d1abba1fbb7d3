#pragma once

#include <filesystem>
#include <span>

#include "formats/decode.hpp"
#include "formats/file.hpp"
#include "formats/tensor.hpp"

namespace sinkproof::formats {

/// All tensors of a .safetensors file, in the order of their data: F16, BF16, F32, F64. Tensors of the other
/// known types (integers, booleans, 8-bit floats...) are skipped with the reason. Throws InputError on a
/// header that is too long, no JSON, nested deeper than the format is, or has a key twice; on unknown types;
/// and on data offsets that overlap, leave a hole, run outside the file, or disagree with the shape.
TensorFile read_safetensors(const File& file);
TensorFile read_safetensors(const std::filesystem::path& path);

/// Where its float tensors are; checks all that read_safetensors checks.
StoredFile locate_safetensors(const File& file);

/// Whether the file begins as a .safetensors does: the length of a header that fits into the file, then '{'.
bool looks_like_safetensors(const File& file);

/// Writes a .safetensors file, equal tensors as equal bytes. Throws InputError when a name is used twice or
/// is not allowed, a value is beyond its dtype, or the file cannot be written.
void write_safetensors(const std::filesystem::path& path, std::span<const Tensor> tensors);

}  // namespace sinkproof::formats
