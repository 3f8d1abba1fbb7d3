#include "train/presets.hpp"

#include "errors.hpp"

namespace sinkproof::train {
namespace {

using attention::Normaliser;

std::vector<Settings> both(Settings settings) {
  Settings relu = settings;
  relu.normaliser = Normaliser::relu;
  return {settings, relu};
}

}  // namespace

// arXiv:2603.11487: L = n = 16, batch 128, Adam; the learning rate is the only setting that differs.
std::span<const Preset> presets() {
  static const std::vector<Preset> table = {
      {"fig3", "one head, one layer", both({.steps = 20'000, .learning_rate = 1e-3})},
      {"fig4-5", "2 layers x 2 heads",
       both({.layers = 2, .heads = 2, .steps = 40'000, .learning_rate = 1e-4})},
      {"fig6-8", "4 layers x 4 heads",
       both({.layers = 4, .heads = 4, .steps = 9'000, .learning_rate = 1e-4})},
  };
  return table;
}

const Preset& find_preset(std::string_view name) {
  std::string names;
  for (const Preset& preset : presets()) {
    if (preset.name == name) return preset;
    names += (names.empty() ? "" : ", ") + std::string(preset.name);
  }
  throw InputError("--preset " + std::string(name) + ": no such preset: the presets are " + names);
}

}  // namespace sinkproof::train
