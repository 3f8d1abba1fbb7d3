#pragma once

#include <filesystem>
#include <span>

#include "formats/decode.hpp"
#include "formats/file.hpp"
#include "formats/tensor.hpp"

namespace sinkproof::formats {

/// All arrays of a NumPy .npz file (stored or deflated, zip64 or not). Arrays of other types than floats, and
/// entries that are no arrays, are skipped with the reason; object arrays and Python pickles are refused:
/// nothing is ever unpickled. Throws InputError on a damaged, truncated or encrypted archive, on two entries
/// of one name, and on sizes out of proportion to the file.
TensorFile read_npz(const File& file);
TensorFile read_npz(const std::filesystem::path& path);

/// Where its float arrays are; checks all that read_npz checks except the data's CRCs.
StoredFile locate_npz(const File& file);

/// The data of a located array as a stream, decompressed on the way: nothing of its size is allocated. The
/// last byte comes only if the entry's CRC is right.
ByteSource open_npz(const File& file, const StoredArray& array);

/// Writes an .npz that numpy.load reads: stored, with a fixed date, so that equal tensors give equal bytes.
/// Throws InputError when a name is used twice or empty, a value is beyond its dtype, or the file cannot be
/// written.
void write_npz(const std::filesystem::path& path, std::span<const Tensor> tensors);

}  // namespace sinkproof::formats
