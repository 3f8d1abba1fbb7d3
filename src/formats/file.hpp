#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace sinkproof::formats {

/// Text of foreign origin (a path, a tensor's name) made fit for one line of a message: control characters
/// are escaped, long text is cut.
std::string shown(std::string_view text);

/// Throws InputError "PATH: 'FIELD': MESSAGE", or "PATH: MESSAGE" when there is no field to name.
[[noreturn]] void refuse(const std::filesystem::path& path, std::string_view field, std::string_view message);

/// A regular file opened once for reading, so that every reader and the hash see the same file even if the
/// name is given to another. Throws InputError when it is missing, unreadable, or no regular file.
class File {
 public:
  explicit File(std::filesystem::path path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }  ///< bytes, when it was opened

  /// Fills `bytes` from `offset`; InputError when the file ends before.
  void read_at(std::uint64_t offset, std::span<unsigned char> bytes) const;

  /// A descriptor of the same open file, which the caller closes.
  int duplicate_descriptor() const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// The whole file as text, for files that people write. Throws InputError as File does, and beyond 64 MiB.
std::string read_text(const std::filesystem::path& path);

/// Writes `bytes` beside `path` and renames: the file is there whole or not at all. Throws InputError naming
/// the path; refuses to replace what is no regular file (a device, a folder).
void write_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace sinkproof::formats
