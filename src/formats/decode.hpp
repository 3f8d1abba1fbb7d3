#pragma once

// Shared by the readers of this folder: from bytes to exact doubles, with memory bounded by the file's real
// size.

#include <bit>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/file.hpp"
#include "formats/tensor.hpp"

namespace sinkproof::formats {

/// Fills the given bytes with the next ones of a stream; throws InputError when there are not as many.
using ByteSource = std::function<void(std::span<unsigned char>)>;

/// A ByteSource over `file` from `offset` on.
ByteSource bytes_from(const File& file, std::uint64_t offset);

struct Encoding {
  Dtype dtype = Dtype::f64;
  std::endian order = std::endian::little;
  bool column_major = false;  ///< Fortran order in the stream
};

/// The values of `bytes` in their order, entry by entry: exact. There must be as many bytes as the values
/// need.
void decode_entries(const Encoding& encoding, std::span<const unsigned char> bytes, std::span<double> values);

/// One float array within a file: how its entries are stored, and where its data begin (in the file, or in
/// the decompressed entry of an .npz).
struct StoredArray {
  std::string name;
  Encoding encoding;
  Shape shape;
  std::uint64_t offset = 0;  ///< bytes
};

/// All arrays of a file, found but not read.
struct StoredFile {
  std::vector<StoredArray> arrays;
  std::vector<Skipped> skipped;
};

/// entry_count(shape) exact values in row-major order. The caller has checked the count against the bytes
/// that are really there (and asked the AllocationBudget): this allocates them at once, and nothing else of
/// their size.
std::vector<double> decode_values(const Encoding& encoding, const Shape& shape, const ByteSource& next);

/// What the values of one file may occupy as doubles: four times the file (float16 needs that) and 64 MiB.
/// Only compressed, overlapping or lying entries reach it.
class AllocationBudget {
 public:
  explicit AllocationBudget(const File& file);
  /// Throws InputError naming the file and the field when `entries` more doubles do not fit.
  void take(std::uint64_t entries, std::string_view field);

 private:
  const File& file_;
  std::uint64_t remaining_;  ///< bytes
};

}  // namespace sinkproof::formats
