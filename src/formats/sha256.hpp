#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "formats/file.hpp"

namespace sinkproof::formats {

/// SHA-256 of the file's bytes, 64 lower-case hexadecimal digits. Throws InputError when it cannot be read.
std::string sha256(const File& file);
std::string sha256(const std::filesystem::path& path);
/// Likewise. Throws InputError where a hash is claimed and the file has another.
std::string sha256(const File& file, const std::optional<std::string>& claimed);

}  // namespace sinkproof::formats
