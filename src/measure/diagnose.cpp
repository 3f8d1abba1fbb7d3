#include "measure/diagnose.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace sinkproof::measure {
namespace {

constexpr const char* keep_causal =
    "save the weights of a causal (decoder) model, after its mask: these metrics are defined for those";

/// What the whole map looks like. Rows: those of the window that are not all NaN and not all 0.
struct Look {
  double least = 0, largest = 0;  ///< entries
  long nan = 0, infinite = 0;     ///< entries, in rows that are not all NaN
  int rows = 0, rows_at_1 = 0;
  double least_sum = 0, largest_sum = 0, total = 0;
  int columns = 0, columns_at_1 = 0;         ///< of keys that some query may see
  double above = 0, below = 0, padding = 0;  ///< weight above and below the diagonal; before the window
  int first_above = 0;                       ///< the first query with weight above the diagonal
  int last_above = 0;
  int zeros = 0;     ///< within the causal part
  int unpadded = 0;  ///< the first key that a later query gives weight to
};

Look look_at(const MapRows& map, const Range& window, double tolerance) {
  Look look;
  std::vector<double> row(static_cast<std::size_t>(map.keys));
  std::vector<double> columns(row.size());
  std::vector<int> first_weight;
  const long offset = map.keys - map.queries;
  bool first = true;
  for (long i = std::max<long>(0, window.first - 1 - offset);
       i + offset < std::min<long>(window.last, map.keys); ++i) {
    map.row(static_cast<int>(i), row);
    const auto is_nan = [](double x) { return std::isnan(x); };
    if (std::all_of(row.begin(), row.end(), is_nan)) continue;
    if (std::all_of(row.begin(), row.end(), [](double x) { return x == 0; })) continue;
    const auto diagonal = static_cast<std::size_t>(i + offset);
    double sum = 0, above = 0;
    int weight_at = 0;
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double x = row[k];
      if (std::isnan(x)) {
        ++look.nan;
        continue;
      }
      if (std::isinf(x)) ++look.infinite;
      look.least = std::min(look.least, x);
      look.largest = std::max(look.largest, x);
      columns[k] += x;
      sum += x;
      if (k > diagonal) above += x;
      if (k < diagonal) look.below += x;
      if (k + 1 < static_cast<std::size_t>(window.first)) look.padding += x;
      if (k <= diagonal && x == 0) ++look.zeros;
      if (x != 0 && weight_at == 0) weight_at = static_cast<int>(k) + 1;
    }
    if (above != 0) {
      look.last_above = static_cast<int>(diagonal) + 1;
      if (look.first_above == 0) look.first_above = look.last_above;
    }
    look.above += above;
    ++look.rows;
    look.total += sum;
    if (std::abs(sum - 1) <= tolerance) ++look.rows_at_1;
    look.least_sum = first ? sum : std::min(look.least_sum, sum);
    look.largest_sum = first ? sum : std::max(look.largest_sum, sum);
    first = false;
    first_weight.push_back(weight_at);
  }
  look.unpadded = first_weight.empty() ? 1 : first_weight.back();
  for (const double column : columns) {
    if (column == 0) continue;
    ++look.columns;
    if (std::abs(column - 1) <= tolerance) ++look.columns_at_1;
  }
  return look;
}

std::string sums_of(const Look& look) {
  if (look.largest_sum - look.least_sum <= 1e-3 * std::abs(look.largest_sum)) {
    return fmt::format("rows sum to {:.4g}", look.largest_sum);
  }
  return fmt::format("rows sum to between {:.4g} and {:.4g}", look.least_sum, look.largest_sum);
}

}  // namespace

std::string likely_cause(const MapRows& map, const Range& window, const Definitions& definitions,
                         double tolerance) {
  const Look look = look_at(map, window, tolerance);
  if (look.nan > 0) {
    return fmt::format(
        "{} NaN entries in rows that also hold numbers: probably scores that overflowed; compute the "
        "attention "
        "in float32 and save it again",
        look.nan);
  }
  if (look.infinite > 0) {
    return "infinite entries: probably masked scores (logits); save the attention weights, after the softmax";
  }
  if (look.least < 0) {
    return fmt::format(
        "entries from {:.4g} to {:.4g}: negative ones are scores (logits), not weights; save the attention "
        "weights, after the softmax",
        look.least, look.largest);
  }
  if (!definitions.normalised) {
    if (look.padding > 0) {
      return fmt::format("weight {:.4g} on keys before the window: check --bos-column or --pad",
                         look.padding);
    }
    if (look.below == 0 && look.above > 0) {
      return "all weight is above the diagonal: probably transposed; name the axes with k before q (--axes)";
    }
    return fmt::format("weight {:.4g} above the diagonal: the causal mask was lost; {}", look.above,
                       keep_causal);
  }
  if (look.rows_at_1 < look.rows && look.columns > 0 && look.columns_at_1 == look.columns) {
    return "columns sum to 1 and rows do not: the map is transposed; name the axes with k before q (--axes)";
  }
  if (look.rows_at_1 < look.rows) {
    const std::string sums = sums_of(look);
    const double mean = look.total / look.rows;
    const double near = std::round(mean);
    if (look.largest_sum > 1 + tolerance && (look.largest_sum < 1.9 || (look.zeros > 0 && mean < 1.5))) {
      return sums +
             ", some above 1: probably attention dropout was active (0.1 scales weights by 1.11); call "
             "model.eval() and save the maps again";
    }
    if (look.largest_sum > 1 + tolerance) {
      const bool whole = near >= 2 && look.largest_sum - look.least_sum <= 0.02 * near &&
                         std::abs(mean - near) <= 0.01 * near;
      return sums +
             (whole ? fmt::format(", not 1: probably {:.0f} maps were added up; save each one, or their mean",
                                  near)
                    : std::string(", not 1: these are no softmax weights; save the attention weights after "
                                  "the softmax, or give --normaliser none for ReLU or sigmoid attention"));
    }
    if (look.padding > 0) {
      return fmt::format("{}: weight {:.4g} lies on keys before the window: check --bos-column or --pad",
                         sums, look.padding);
    }
    const double lost = 1 - look.least_sum;
    if (lost < 0.02) {
      return fmt::format(
          "{}, beyond rounding ({:.2g} for these values): probably a mean of half-precision maps; save the "
          "maps "
          "in float32, or allow it with --row-tolerance",
          sums, tolerance);
    }
    return sums +
           ", below 1: probably the column of a learned sink (sink logit, softmax-off-by-one) or some keys "
           "were "
           "dropped; save that column as the first key, or give --normaliser none";
  }
  const double share = 100 * look.above / look.rows;
  if (look.padding > 0) {
    return fmt::format("weight {:.4g} lies on keys before the window: check --bos-column or --pad",
                       look.padding);
  }
  if (look.first_above > 0 && look.last_above < look.unpadded) {
    return fmt::format(
        "queries {} to {} have weight above the diagonal and no later query sees them: left padding; give "
        "--bos-column auto, or --bos-column {}, or --pad FILE",
        look.first_above, look.last_above, look.unpadded);
  }
  if (look.below == 0 && look.above > 0) {
    return "all weight is on or above the diagonal: probably transposed; name the axes with k before q "
           "(--axes)";
  }
  return fmt::format("{:.3g} % of the weight is above the diagonal: the causal mask was lost; {}", share,
                     keep_causal);
}

}  // namespace sinkproof::measure
