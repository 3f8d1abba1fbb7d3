#include "formats/sha256.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>
#include <openssl/evp.h>

#include "errors.hpp"

namespace sinkproof::formats {

std::string sha256(const File& file) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned length = 0;
  bool good = context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  std::array<unsigned char, 65536> buffer;
  for (std::uint64_t done = 0; good && done < file.size();) {
    const auto bytes = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), file.size() - done));
    file.read_at(done, bytes);
    good = EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1;
    done += bytes.size();
  }
  good = good && EVP_DigestFinal_ex(context.get(), digest.data(), &length) == 1;
  if (!good) throw std::runtime_error("libcrypto has no SHA-256");

  std::string hex;
  for (unsigned i = 0; i < length; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

std::string sha256(const std::filesystem::path& path) {
  return sha256(File(path));
}

std::string sha256(const File& file, const std::optional<std::string>& claimed) {
  const std::string hash = sha256(file);
  if (claimed && *claimed != hash) {
    throw InputError(
        fmt::format("{}: sha256: the file hashes to {}, not to {}: it is not the file that was claimed for",
                    file.path().string(), hash, *claimed));
  }
  return hash;
}

}  // namespace sinkproof::formats
