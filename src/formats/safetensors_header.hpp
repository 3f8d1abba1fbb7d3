#pragma once

#include <string>
#include <vector>

#include "formats/file.hpp"
#include "formats/tensor.hpp"

namespace sinkproof::formats {

/// One tensor as the header of a .safetensors file describes it: bytes [begin, end) of the data.
struct SafetensorsEntry {
  std::string name;
  std::string dtype;
  Shape shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Reads the JSON header without building a document of it. `file` is for the messages. Throws InputError on
/// all that the format does not have, repeated keys above all: which of two is meant is open.
std::vector<SafetensorsEntry> parse_safetensors_header(const std::string& json, const File& file);

}  // namespace sinkproof::formats
