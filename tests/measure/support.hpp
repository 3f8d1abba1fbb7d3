#pragma once

// Small attention maps, written down row by row.

#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "errors.hpp"
#include "measure/head_measure.hpp"

namespace sinkproof::test {

using Rows = std::vector<std::vector<double>>;

inline measure::MapRows map_of(const Rows& rows) {
  return {static_cast<int>(rows.size()), static_cast<int>(rows[0].size()),
          [&rows](int i, std::span<double> values) {
            std::copy(rows[static_cast<std::size_t>(i)].begin(), rows[static_cast<std::size_t>(i)].end(),
                      values.begin());
          }};
}

/// T rows given by weight(i, k), 1-based, k <= i; 0 above.
inline Rows causal(int length, const std::function<double(int, int)>& weight) {
  Rows rows(static_cast<std::size_t>(length), std::vector<double>(static_cast<std::size_t>(length)));
  for (int i = 1; i <= length; ++i) {
    for (int k = 1; k <= i; ++k)
      rows[static_cast<std::size_t>(i - 1)][static_cast<std::size_t>(k - 1)] = weight(i, k);
  }
  return rows;
}

/// A[i,1] = first(i), the rest on the diagonal.
inline Rows first_and_diagonal(int length, const std::function<double(int)>& first) {
  return causal(length, [&](int i, int k) {
    if (i == 1) return 1.0;
    return k == 1 ? first(i) : k == i ? 1 - first(i) : 0.0;
  });
}

inline measure::HeadMeasure measured(const Rows& rows, const measure::Definitions& definitions = {},
                                     const measure::Range& window = {}) {
  return measure::measure_head(map_of(rows), window, definitions);
}

/// The message with which the map is refused: it has all the words and is one line.
inline void check_cause(const Rows& rows, const std::vector<std::string>& words,
                        const measure::Definitions& definitions = {}, const measure::Range& window = {}) {
  std::string message;
  try {
    measured(rows, definitions, window);
  } catch (const InputError& error) {
    message = error.what();
  }
  CAPTURE(message);
  CHECK(message.find('\n') == std::string::npos);
  for (const std::string& word : words) {
    CAPTURE(word);
    CHECK(message.find(word) != std::string::npos);
  }
}

}  // namespace sinkproof::test
