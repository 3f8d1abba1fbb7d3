#pragma once

#include <string>

namespace support {

/// How often `word` stands in `text`, overlaps included.
inline int occurrences(const std::string& text, const std::string& word) {
  int count = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

}  // namespace support
