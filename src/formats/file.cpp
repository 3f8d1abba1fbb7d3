#include "formats/file.hpp"

#include <atomic>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "errors.hpp"

namespace sinkproof::formats {
namespace {

constexpr std::size_t longest_shown = 400;

std::string system_message(int error) {
  return std::generic_category().message(error);
}

}  // namespace

std::string shown(std::string_view text) {
  std::string line;
  for (const char c : text.substr(0, longest_shown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += c;
    }
  }
  if (text.size() > longest_shown) line += "...";
  return line;
}

void refuse(const std::filesystem::path& path, std::string_view field, std::string_view message) {
  const std::string file = shown(path.string());
  throw InputError(field.empty() ? fmt::format("{}: {}", file, message)
                                 : fmt::format("{}: '{}': {}", file, shown(field), message));
}

File::File(std::filesystem::path path) : path_(std::move(path)) {
  // O_NONBLOCK: opening a pipe must end in a refusal, not in waiting for its writer.
  const int descriptor = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const int error = errno;
    if (error == ENOENT) refuse(path_, "", "no such file: check the path");
    if (error == EACCES) refuse(path_, "", "permission denied: make the file readable (chmod +r)");
    refuse(path_, "", system_message(error) + ": check the path");
  }
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    refuse(path_, "",
           S_ISDIR(status.st_mode) ? "is a directory: give the path of a file"
                                   : "is not a regular file: save it to one first");
  }
  descriptor_ = descriptor;
  size_ = static_cast<std::uint64_t>(status.st_size);
}

File::~File() {
  ::close(descriptor_);
}

void File::read_at(std::uint64_t offset, std::span<unsigned char> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path_, "", "cannot be read: " + system_message(errno));
    if (got == 0)
      refuse(path_, "", "ends too early: it is truncated or changed while it was read; save it again");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

int File::duplicate_descriptor() const {
  const int copy = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) refuse(path_, "", "cannot be read: " + system_message(errno));
  return copy;
}

std::string read_text(const std::filesystem::path& path) {
  const File file(path);
  if (file.size() > (std::uint64_t{1} << 26))
    refuse(path, "", "is larger than 64 MiB: not a file that people write");
  std::string text(file.size(), '\0');
  file.read_at(0, {reinterpret_cast<unsigned char*>(text.data()), text.size()});
  return text;
}

void write_atomically(const std::filesystem::path& path, std::string_view bytes) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    refuse(path, "", "is there and is not a regular file: choose another name");
  }
  static std::atomic<unsigned> counter = 0;
  std::filesystem::path temporary;
  int descriptor = -1;
  do {
    temporary = path;
    temporary += fmt::format(".{}-{}.tmp", ::getpid(), counter++);
    descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor < 0 && errno == EEXIST);
  if (descriptor < 0) {
    refuse(path, "",
           "cannot be written: " + system_message(errno) + "; check that its folder exists and is writable");
  }

  int error = 0;
  while (error == 0 && !bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (error == 0 && ::fsync(descriptor) != 0) error = errno;
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    refuse(path, "", "cannot be written: " + system_message(error) + "; check the folder and the free space");
  }
}

}  // namespace sinkproof::formats
