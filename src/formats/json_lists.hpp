#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/file.hpp"

namespace sinkproof::formats {

/// Token texts of one sequence or of several, from JSON: ["<s>", "The", ...] or [["<s>", ...], ...], maybe as
/// the one field of an object: {"tokens": ...}. Throws InputError on anything else, empty lists included.
std::vector<std::vector<std::string>> read_token_lists(const File& file);

/// Whole numbers from JSON in the same forms: a flat list [3, 0] is given back as one list.
std::vector<std::vector<std::int64_t>> read_number_lists(const File& file);

}  // namespace sinkproof::formats
