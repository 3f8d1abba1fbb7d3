#pragma once

#include <string>

#include "app/report.hpp"
#include "app/weights_check.hpp"

/// What `check` says of the weights, as JSON and as text.
namespace sinkproof::app {

struct CheckFlags {
  CommonFlags common;
  WeightsRequest request;
  std::string layout, scale, effort = "tight";
  int heads = 0;
  std::string replay, certificate;
  std::string leak_at_most, loss_at_most, sink_at_least;
};

/// Fields (JSON.md) and claims of the report.
Report check_report(const CheckFlags& flags, const WeightsChecked& checked);
std::string check_text(const CheckFlags& flags, const WeightsChecked& checked);

}  // namespace sinkproof::app
