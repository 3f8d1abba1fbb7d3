#include <string>

#include "app/report.hpp"

namespace sinkproof::app {
namespace {

constexpr const char* replacement = "\xEF\xBF\xBD";  // U+FFFD

/// The length of the valid UTF-8 sequence at `at` that encodes a character XML 1.0 allows, or 0.
std::size_t xml_character(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const unsigned first = byte(at);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  if (length == 0 || first > 0xF4) return 0;
  unsigned code = first & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(at + i) & 0x3F);
  }
  const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code >= least[length] && code <= 0x10FFFF && !surrogate && code != 0xFFFE && code != 0xFFFF ? length
                                                                                                     : 0;
}

}  // namespace

std::string printable(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = xml_character(text, at);
    result += length ? text.substr(at, length) : replacement;
    at += length ? length : 1;
  }
  return result;
}

}  // namespace sinkproof::app
