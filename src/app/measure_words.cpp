#include "app/measure_words.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "formats/file.hpp"

namespace sinkproof::app {

using measure::Measurement;
using measure::Metric;
using measure::Range;
using measure::Tally;
using measure::Value;
using numeric::Rational;

namespace {

bool is_rate(Metric metric) {
  return metric == Metric::sink_rate || metric == Metric::dormant_rate;
}

std::string token_at(const MapsChecked& checked, std::size_t sequence, long position) {
  if (checked.tokens.empty() || position < 1 || position > checked.measurement.layout.keys) return "";
  const auto& list = checked.tokens[checked.tokens.size() == 1 ? 0 : sequence];
  return list[static_cast<std::size_t>(position - 1)];
}

}  // namespace

std::string shown(const std::optional<Value>& value) {
  if (!value) return "-";
  return fmt::format("{:.4f}", Rational((value->lower + value->upper) / 2).convert_to<double>());
}

std::string shown(Metric metric, const Tally& tally) {
  const auto value = measure::value_of(metric, tally);
  if (!value || !is_rate(metric)) return shown(value);
  return fmt::format("{:.2f} %", Rational(100 * value->lower).convert_to<double>());
}

std::string strongest_text(const MapsChecked& checked, const Tally& tally) {
  const auto [key, count] = tally.strongest();
  if (key == 0) return "-";
  std::string text = std::to_string(key);
  const std::string token = token_at(checked, 0, checked.measurement.windows[0].first + key - 1);
  if (!token.empty()) text += " '" + formats::shown(token) + "'";
  return count == tally.maps ? text : text + fmt::format(" ({} of {})", count, tally.maps);
}

std::string worst_text(const Measurement& measurement, const Tally& tally) {
  if (!tally.worst_leak) return "-";
  std::string text = shown(tally.worst_leak) + fmt::format(" at i = {}", tally.worst_query);
  return measurement.layout.sequences > 1 ? text + fmt::format(" of sequence {}", tally.worst_sequence)
                                          : text;
}

std::string sink_key_text(const Measurement& measurement) {
  const auto& windows = measurement.windows;
  long least = windows[0].first, largest = least;
  for (const Range& window : windows) {
    least = std::min(least, window.first);
    largest = std::max(largest, window.first);
  }
  return least == largest ? fmt::format("key {}", least)
                          : fmt::format("keys {} to {}, by sequence (left padding)", least, largest);
}

std::string maps_text(const measure::MapsLayout& layout) {
  const std::string arrays = layout.arrays.size() == 1 ? "'" + formats::shown(layout.arrays[0]) + "'"
                                                       : fmt::format("'{}' .. '{}' (a layer each)",
                                                                     formats::shown(layout.arrays.front()),
                                                                     formats::shown(layout.arrays.back()));
  return fmt::format("{}, {}, axes {}: {} sequence(s), {} layer(s) x {} head(s), {} queries on {} keys",
                     arrays, to_string(layout.dtype), layout.axes, layout.sequences, layout.layers,
                     layout.heads, layout.queries, layout.keys);
}

double tolerance_of(const Measurement& measurement, const Tally& all) {
  const auto& given = measurement.definitions.row_tolerance;
  return given ? given->convert_to<double>() : measure::row_tolerance(all.precision, measurement.layout.keys);
}

std::string rows_text(const Measurement& measurement, const Tally& all) {
  if (all.queries == 0) return "all are fully masked (NaN or 0) and excluded";
  std::string text = fmt::format("sum to {:.6g} .. {:.6g}", all.least_row_sum, all.largest_row_sum);
  if (measurement.definitions.normalised) {
    text += fmt::format(" ({} values: tolerance {:.2g})", to_string(all.precision),
                        tolerance_of(measurement, all));
  } else {
    text += " (--normaliser none: no sum is demanded)";
  }
  text += fmt::format("; {} included", all.queries);
  if (all.nan_rows > 0) text += fmt::format(", {} of NaN excluded", all.nan_rows);
  if (all.zero_rows > 0) {
    text += fmt::format(", {} all zero {}", all.zero_rows,
                        measurement.definitions.normalised ? "excluded (fully masked)" : "(included)");
  }
  return text;
}

std::vector<std::string> notes_of(const MapsChecked& checked) {
  std::vector<std::string> notes;
  const Measurement& measurement = checked.measurement;
  const Tally& all = checked.all;
  const auto& windows = measurement.windows;
  const long length = windows[0].last - windows[0].first + 1;
  if (measurement.layout.queries == measurement.layout.keys && length <= 1000) {
    Rational uniform = 0;
    for (long i = 1; i <= length; ++i) uniform += Rational(1, i);
    uniform /= length;
    if (uniform > measurement.definitions.epsilon) {
      notes.push_back(fmt::format(
          "at T = {} uniform causal attention alone has alpha_1 = H_T/T = {:.4f} > epsilon: the sink "
          "rate does not tell a sink from no preference; use longer sequences",
          length, uniform.convert_to<double>()));
    }
  }
  if (all.near_epsilon > 0) {
    notes.push_back(fmt::format(
        "in {} map(s) alpha_1 is as close to epsilon as the stored numbers are rounded (0.2 is not 1/5 in "
        "binary): the comparison is exact for what is stored, whatever was meant",
        all.near_epsilon));
  }
  for (std::size_t b = 0; b < windows.size(); ++b) {
    const std::string first = token_at(checked, b, windows[b].first);
    if (first.empty() || first != token_at(checked, b, windows[b].first + 1)) continue;
    notes.push_back(fmt::format(
        "double BOS in sequence {}: keys {} and {} are both '{}', and may share the sink (a head's mean "
        "weight on the "
        "second is up to {:.4f}); tokenise once with add_special_tokens",
        b + 1, windows[b].first, windows[b].first + 1, formats::shown(first), all.largest_second_key));
    break;
  }
  const auto [key, count] = all.strongest();
  if (key > 1 && 2 * count > all.maps) {
    notes.push_back(
        fmt::format("key {} (from the sink key as 1) receives most in {} of {} maps: if the sink is there, "
                    "give --bos-column {}",
                    key, count, all.maps, windows[0].first + key - 1));
  }
  return notes;
}

}  // namespace sinkproof::app
