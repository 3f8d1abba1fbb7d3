#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "formats/decode.hpp"
#include "formats/file.hpp"
#include "formats/tensor.hpp"

namespace sinkproof::formats {

/// One array of NumPy's .npy format, versions 1.0, 2.0 and 3.0: float16, float32 or float64, either byte
/// order, C or Fortran order (made row-major). The tensor's name is the file's stem. Throws InputError on
/// anything else, on object arrays (pickles are never loaded), and when the data are not exactly as long as
/// the header says.
Tensor read_npy(const File& file);
Tensor read_npy(const std::filesystem::path& path);

/// Where the floats of an .npy array are, from a stream of its `length` bytes within `file`, of which only
/// the header is taken; checks all that read_npy checks.
std::variant<StoredArray, Skipped> locate_npy(const ByteSource& next, std::uint64_t length, const File& file,
                                              const std::string& name);
StoredArray locate_npy(const File& file);

/// read_npy from a stream of `length` bytes within `file` (an entry of an .npz), named `name`; an array of
/// another type than these floats is skipped with the reason. Object arrays are refused all the same.
std::variant<Tensor, Skipped> read_npy(const ByteSource& next, std::uint64_t length, const File& file,
                                       const std::string& name, AllocationBudget& budget);

/// The .npy bytes (version 1.0, little-endian, C order) of a tensor whose values its dtype holds. bfloat16,
/// which NumPy lacks, is refused; so are values that the dtype cannot hold. `path` is for the message.
std::string npy_bytes(const Tensor& tensor, const std::filesystem::path& path);

}  // namespace sinkproof::formats
