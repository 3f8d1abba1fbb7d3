#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "measure/measurement.hpp"
#include "theory/claim.hpp"

namespace sinkproof::measure {

/// What a threshold may be put on; every one is over all maps of the chosen layers.
enum class Metric {
  sink_rate,     ///< Gu et al.: share of maps with alpha_1 > epsilon
  sink_weight,   ///< Gu et al.: mean of alpha_1
  second_half,   ///< Ran-Milo et al.: mean of A[i,1] over i > n/2
  dormant_rate,  ///< share of maps whose mean A[i,1] exceeds tau
  mean_leak,     ///< mean of 1 - A[i,1]
  worst_leak,    ///< largest 1 - A[i,1]
  entropy        ///< mean entropy of a row, nats
};
std::string_view to_string(Metric metric);  ///< "sink-rate", "worst-leak": as in claims
std::optional<Metric> parse_metric(std::string_view name);

/// A claim about a measurement: `metric` is at most (or at least) `limit` in the layers.
struct Threshold {
  std::string id = "threshold";
  Metric metric = Metric::sink_rate;
  bool at_most = true;
  Rational limit;
  Range layers = {};  ///< from 1; up to the last layer unless stated
};

/// Reads "sink-rate <= 1/4", "worst-leak <= 0.05 in layers 3..8", "sink-weight >= 0.5 in layer 2". Throws
/// InputError naming `source` (the flag or file and field).
Threshold parse_threshold(std::string_view text, const std::string& source);

/// The metric's value over the maps of the layers; nothing where no query is included or the definition does
/// not apply.
std::optional<Value> value_of(Metric metric, const Tally& tally);

/// Evaluates the claim. Proved or disproved where the value (exact, or enclosed) lies on one side of the
/// limit; undecided where it has no value or its enclosure reaches over the limit. Throws InputError where a
/// layer is not there.
theory::Claim evaluate(const Threshold& threshold, const Measurement& measurement);

/// The definition a metric follows and the queries it includes, one line.
std::string definition_of(Metric metric, const Definitions& definitions);

/// "3..8" or "5"; throws InputError naming `source`.
Range parse_range(std::string_view text, const std::string& source);

}  // namespace sinkproof::measure
