#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sinkproof::figures {

/// A down-sampled attention map [T, S]: each cell stands for block x block weights and keeps the largest and
/// the smallest of them, so that a sink of one column, or a single hole in it, stays visible. Weights in
/// [0, 1] are coded as bytes on a square-root scale: 0 is exactly 0, 255 is 1 (or more).
struct Heatmap {
  int queries = 0, keys = 0;  ///< T, S
  int block = 1;
  /// Row after row, each only up to the diagonal's cell: see cells_in_row.
  std::vector<std::uint8_t> largest;
  std::vector<std::uint8_t> smallest;  ///< within the causal part; empty where block is 1
};

/// How many cells of cell row `row` reach down to the diagonal; query i sees keys up to i + S - T.
int cells_in_row(int queries, int keys, int block, int row);

/// The least block for which the cells of `maps` such maps, largest and smallest, take at most `bytes` bytes.
int block_within(int queries, int keys, std::size_t maps, std::size_t bytes);

/// row(i, values) fills the i-th query's S weights, i from 0. What is no number is drawn as 0.
Heatmap down_sample(int queries, int keys, int block, const std::function<void(int, std::span<double>)>& row);

}  // namespace sinkproof::figures
