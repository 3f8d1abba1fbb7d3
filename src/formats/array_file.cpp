#include "formats/array_file.hpp"

#include <algorithm>
#include <string>

#include "formats/npy.hpp"
#include "formats/npz.hpp"
#include "formats/safetensors.hpp"

namespace sinkproof::formats {
namespace {

/// The file's first bytes, as many as there are.
std::string first_bytes(const File& file) {
  std::string bytes(std::min<std::uint64_t>(file.size(), 6), '\0');
  file.read_at(0, {reinterpret_cast<unsigned char*>(bytes.data()), bytes.size()});
  return bytes;
}

}  // namespace

ArrayFile::ArrayFile(const File& file) : file_(file) {
  const std::string start = first_bytes(file);
  if (start == "\x93NUMPY") {
    stored_.arrays.push_back(locate_npy(file));
  } else if (start.starts_with("PK")) {
    zipped_ = true;
    stored_ = locate_npz(file);
  } else if (looks_like_safetensors(file)) {
    stored_ = locate_safetensors(file);
  } else {
    refuse(file.path(), "",
           start.empty() ? "is empty: save it again"
                         : "is neither .npy, .npz nor .safetensors by content (pickles such as .pt are never "
                           "loaded): save it with numpy.save or safetensors.torch.save_file");
  }
}

ByteSource ArrayFile::stream(std::size_t index) const {
  const StoredArray& array = stored_.arrays.at(index);
  return zipped_ ? open_npz(file_, array) : bytes_from(file_, array.offset);
}

}  // namespace sinkproof::formats
