#include "formats/encode.hpp"

#include <set>

#include <fmt/format.h>

#include "formats/file.hpp"

namespace sinkproof::formats {

void refuse_unwritable(std::span<const Tensor> tensors, const std::filesystem::path& path) {
  std::set<std::string_view> names;
  for (const Tensor& tensor : tensors) {
    if (tensor.name.empty() || tensor.name.find('\0') != std::string::npos) {
      refuse(path, tensor.name, "a tensor's name is empty or holds a NUL: give it a name");
    }
    if (!names.insert(tensor.name).second)
      refuse(path, tensor.name, "two tensors have this name: rename one");
    if (entry_count(tensor.shape) != tensor.values.size()) {
      refuse(path, tensor.name,
             fmt::format("shape {} does not fit {} values", to_string(tensor.shape), tensor.values.size()));
    }
  }
}

void append_values(std::string& bytes, const Tensor& tensor, const std::filesystem::path& path) {
  const std::size_t width = entry_bytes(tensor.dtype);
  bytes.reserve(bytes.size() + width * tensor.values.size());
  for (const double value : tensor.values) {
    const auto bits = encode(tensor.dtype, value);
    if (!bits) {
      refuse(path, tensor.name,
             fmt::format("{} is not exactly a {}: write it as float64", value, to_string(tensor.dtype)));
    }
    for (std::size_t i = 0; i < width; ++i) bytes += static_cast<char>(*bits >> (8 * i) & 0xff);
  }
}

}  // namespace sinkproof::formats
