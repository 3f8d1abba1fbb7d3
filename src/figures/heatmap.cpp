#include "figures/heatmap.hpp"

#include <algorithm>
#include <cmath>

namespace sinkproof::figures {
namespace {

/// Monotone, so that the code of the largest is the largest code.
std::uint8_t code_of(double weight) {
  if (!(weight > 0)) return 0;
  return static_cast<std::uint8_t>(std::clamp(std::lround(255 * std::sqrt(std::min(weight, 1.0))), 1L, 255L));
}

int cell_rows(int queries, int block) {
  return (queries - 1) / block + 1;
}

std::size_t cells(int queries, int keys, int block) {
  std::size_t count = 0;
  for (int row = 0; row < cell_rows(queries, block); ++row) {
    count += static_cast<std::size_t>(cells_in_row(queries, keys, block, row));
  }
  return block == 1 ? count : 2 * count;
}

}  // namespace

int cells_in_row(int queries, int keys, int block, int row) {
  const int last_query = std::min((row + 1) * block, queries) - 1;
  return (last_query + keys - queries) / block + 1;
}

int block_within(int queries, int keys, std::size_t maps, std::size_t bytes) {
  int block = 1;
  while (block < keys && cells(queries, keys, block) * maps > bytes) ++block;
  return block;
}

Heatmap down_sample(int queries, int keys, int block,
                    const std::function<void(int, std::span<double>)>& row) {
  Heatmap map{.queries = queries, .keys = keys, .block = block, .largest = {}, .smallest = {}};
  std::vector<double> values(static_cast<std::size_t>(keys));
  std::vector<double> largest, smallest;
  for (int cell_row = 0; cell_row < cell_rows(queries, block); ++cell_row) {
    const auto count = static_cast<std::size_t>(cells_in_row(queries, keys, block, cell_row));
    largest.assign(count, 0);
    smallest.assign(count, 1);
    for (int i = cell_row * block; i < std::min((cell_row + 1) * block, queries); ++i) {
      row(i, values);
      for (int k = 0; k <= i + keys - queries; ++k) {
        const auto cell = static_cast<std::size_t>(k / block);
        const double weight = values[static_cast<std::size_t>(k)];
        largest[cell] = std::max(largest[cell], weight);
        smallest[cell] = weight >= smallest[cell] ? smallest[cell] : weight;
      }
    }
    for (const double weight : largest) map.largest.push_back(code_of(weight));
    if (block == 1) continue;
    for (const double weight : smallest) map.smallest.push_back(code_of(weight));
  }
  return map;
}

}  // namespace sinkproof::figures
