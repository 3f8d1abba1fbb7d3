#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "train/settings.hpp"

namespace sinkproof::train {

/// A figure of the paper and the models that it shows, in the paper's order (softmax, then ReLU).
struct Preset {
  std::string_view name;   ///< "fig3", "fig4-5", "fig6-8"
  std::string_view shows;  ///< one line
  std::vector<Settings> models;
};

std::span<const Preset> presets();

/// Throws InputError that lists the names.
const Preset& find_preset(std::string_view name);

}  // namespace sinkproof::train
