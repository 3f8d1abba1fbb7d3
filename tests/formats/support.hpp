#pragma once

// Byte-level builders for the tests of this folder: the files are made here, not by the writers under test.

#include <atomic>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <doctest/doctest.h>

#include "errors.hpp"

namespace sinkproof::test {

/// A new empty folder, removed with all in it at the end.
class Folder {
 public:
  Folder() {
    static std::atomic<int> counter = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("sinkproof-" + std::to_string(::getpid()) + "-" + std::to_string(counter++));
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

  std::filesystem::path file(std::string_view name, std::string_view bytes) const {
    std::ofstream(path_ / name, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The call must throw InputError with one line that has the file's path and all the words.
template <class Call>
void check_refused(Call call, const std::filesystem::path& path, const std::vector<std::string>& words) {
  std::string message;
  try {
    call();
  } catch (const InputError& error) {
    message = error.what();
  }
  CAPTURE(message);
  REQUIRE_FALSE(message.empty());
  CHECK(message.find(path.string() + ": ") == 0);
  CHECK(message.find('\n') == std::string::npos);
  for (const std::string& word : words) {
    CAPTURE(word);
    CHECK(message.find(word) != std::string::npos);
  }
}

inline std::string little(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += i < 8 ? static_cast<char>(number >> (8 * i) & 0xff) : '\0';
  return text;
}

inline std::string big(std::uint64_t number, int bytes) {
  const std::string text = little(number, bytes);
  return {text.rbegin(), text.rend()};
}

inline std::string f32(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) bytes += little(std::bit_cast<std::uint32_t>(value), 4);
  return bytes;
}

inline std::string f64(const std::vector<double>& values) {
  std::string bytes;
  for (const double value : values) bytes += little(std::bit_cast<std::uint64_t>(value), 8);
  return bytes;
}

/// An .npy of the given version around a header text and data.
inline std::string npy(std::string_view header, std::string_view data, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  bytes += little(header.size(), version == 1 ? 2 : 4);
  bytes += header;
  bytes += data;
  return bytes;
}

inline std::string npy_f4(std::string_view shape, const std::vector<float>& values) {
  return npy("{'descr': '<f4', 'fortran_order': False, 'shape': " + std::string(shape) + ", }\n",
             f32(values));
}

inline std::string safetensors(std::string_view header, std::string_view data) {
  return little(header.size(), 8).append(header).append(data);
}

inline std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

/// A zip written field by field, so that single fields can lie.
struct ZipEntry {
  std::string name;
  std::string data;        ///< as stored in the file (compressed when method is 8)
  unsigned method = 0;     ///< 0 stored, 8 deflated
  std::uint64_t size = 0;  ///< uncompressed; 0 means that of data
  std::uint32_t crc = 0;   ///< 0 means the right one for stored data
  bool zip64 = false;      ///< sizes and offset in the zip64 extra field
  unsigned flags = 0;
};

inline std::string zip_bytes(const std::vector<ZipEntry>& entries) {
  std::string bytes, directory;
  for (const ZipEntry& entry : entries) {
    const std::uint64_t size = entry.size ? entry.size : entry.data.size();
    const std::uint32_t crc = entry.crc ? entry.crc : crc32(entry.data);
    const std::uint64_t offset = bytes.size();
    const auto sizes = [&](int width) { return little(entry.data.size(), width) + little(size, width); };
    const std::string fixed = little(entry.zip64 ? 45 : 20, 2) + little(entry.flags, 2) +
                              little(entry.method, 2) + little(0, 2) + little(33, 2) + little(crc, 4) +
                              (entry.zip64 ? little(~0ull, 8) : sizes(4)) + little(entry.name.size(), 2);
    const std::string both = little(size, 8) + little(entry.data.size(), 8);
    const std::string local_extra = entry.zip64 ? little(1, 2) + little(16, 2) + both : "";
    const std::string extra = entry.zip64 ? little(1, 2) + little(24, 2) + both + little(offset, 8) : "";
    bytes += "PK\x03\x04" + fixed + little(local_extra.size(), 2) + entry.name + local_extra + entry.data;
    directory += "PK\x01\x02" + little(entry.zip64 ? 45 : 20, 2) + fixed + little(extra.size(), 2) +
                 little(0, 10) + little(entry.zip64 ? ~0ull : offset, 4) + entry.name + extra;
  }
  const std::uint64_t start = bytes.size();
  bytes += directory;
  if (!entries.empty() && entries[0].zip64) {
    const std::uint64_t record = bytes.size();
    bytes += "PK\x06\x06" + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 8) +
             little(entries.size(), 8) + little(entries.size(), 8) + little(directory.size(), 8) +
             little(start, 8);
    bytes += "PK\x06\x07" + little(0, 4) + little(record, 8) + little(1, 4);
    bytes += "PK\x05\x06" + little(0, 4) + little(~0ull, 4) + little(~0ull, 8) + little(0, 2);
    return bytes;
  }
  return bytes + "PK\x05\x06" + little(0, 4) + little(entries.size(), 2) + little(entries.size(), 2) +
         little(directory.size(), 4) + little(start, 4) + little(0, 2);
}

/// A deflate stream of one stored block: valid, and as long as it looks.
inline std::string deflated(std::string_view data) {
  return "\x01" + little(data.size(), 2) + little(~data.size(), 2) + std::string(data);
}

}  // namespace sinkproof::test
