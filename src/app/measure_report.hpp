#pragma once

#include <string>

#include "app/maps_check.hpp"
#include "app/report.hpp"

/// What `measure` says of attention maps: text, JSON (JSON.md) and CSV.
namespace sinkproof::app {

std::string measure_text(const MapsRequest& request, const MapsChecked& checked);
Report measure_report(const MapsRequest& request, const MapsChecked& checked);
std::string measure_csv(const measure::Measurement& measurement);

}  // namespace sinkproof::app
