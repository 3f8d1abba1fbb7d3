#pragma once

#include <string>
#include <vector>

#include "app/maps_check.hpp"
#include "measure/threshold.hpp"

/// The words in which measurements are shown, in text and on the page.
namespace sinkproof::app {

inline constexpr measure::Metric all_metrics[] = {measure::Metric::sink_rate,   measure::Metric::sink_weight,
                                                  measure::Metric::second_half, measure::Metric::dormant_rate,
                                                  measure::Metric::mean_leak,   measure::Metric::worst_leak,
                                                  measure::Metric::entropy};

/// To four decimals, rounded ("-" where there is none); the exact value stands in the JSON report.
std::string shown(const std::optional<measure::Value>& value);
/// Likewise, rates in percent.
std::string shown(measure::Metric metric, const measure::Tally& tally);
/// "1 '<s>' (12 of 16)": the key that is strongest in most of the maps, counted from the sink key.
std::string strongest_text(const MapsChecked& checked, const measure::Tally& tally);
/// "0.0312 at i = 5".
std::string worst_text(const measure::Measurement& measurement, const measure::Tally& tally);
/// "key 1".
std::string sink_key_text(const measure::Measurement& measurement);
/// The arrays, their type, axes and sizes.
std::string maps_text(const measure::MapsLayout& layout);
/// What rows sum to, which were included and which excluded.
std::string rows_text(const measure::Measurement& measurement, const measure::Tally& all);
/// How far a row's sum may be from 1. Float.
double tolerance_of(const measure::Measurement& measurement, const measure::Tally& all);
/// Traps that these maps may have fallen into, one line each.
std::vector<std::string> notes_of(const MapsChecked& checked);

}  // namespace sinkproof::app
