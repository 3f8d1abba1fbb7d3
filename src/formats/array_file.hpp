#pragma once

#include <functional>
#include <vector>

#include "formats/decode.hpp"
#include "formats/file.hpp"

namespace sinkproof::formats {

/// The float arrays of an .npy, .npz or .safetensors file (told apart by content), read as streams: what is
/// resident is what the caller asks for, however large the file is. Everything that the readers of whole
/// files refuse is refused here too.
class ArrayFile {
 public:
  explicit ArrayFile(const File& file);  ///< `file` must live as long as this and its streams

  const File& file() const { return file_; }
  const std::vector<StoredArray>& arrays() const { return stored_.arrays; }
  const std::vector<Skipped>& skipped() const { return stored_.skipped; }

  /// The data of arrays()[index] from its first byte on, as stored (see StoredArray::encoding).
  ByteSource stream(std::size_t index) const;

 private:
  const File& file_;
  bool zipped_ = false;
  StoredFile stored_;
};

}  // namespace sinkproof::formats
