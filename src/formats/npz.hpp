#pragma once

#include <filesystem>
#include <span>

#include "formats/file.hpp"
#include "formats/tensor.hpp"

namespace sinkproof::formats {

/// All arrays of a NumPy .npz file (stored or deflated, zip64 or not). Arrays of other types than floats, and
/// entries that are no arrays, are skipped with the reason; object arrays and Python pickles are refused:
/// nothing is ever unpickled. Throws InputError on a damaged, truncated or encrypted archive, on two entries
/// of one name, and on sizes out of proportion to the file.
TensorFile read_npz(const File& file);
TensorFile read_npz(const std::filesystem::path& path);

/// Writes an .npz that numpy.load reads: stored, with a fixed date, so that equal tensors give equal bytes.
/// Throws InputError when a name is used twice or empty, a value is beyond its dtype, or the file cannot be
/// written.
void write_npz(const std::filesystem::path& path, std::span<const Tensor> tensors);

}  // namespace sinkproof::formats
