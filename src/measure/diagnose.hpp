#pragma once

#include <string>

#include "measure/head_measure.hpp"

namespace sinkproof::measure {

/// Why a map that measure_head cannot use is probably as it is, and what to do: one line. Reads the map
/// again.
std::string likely_cause(const MapRows& map, const Range& window, const Definitions& definitions,
                         double tolerance);

}  // namespace sinkproof::measure
