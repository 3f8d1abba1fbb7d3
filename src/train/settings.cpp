#include "train/settings.hpp"

#include <cmath>

#include <fmt/format.h>

#include "errors.hpp"

namespace sinkproof::train {
namespace {

using attention::Normaliser;

void demand(bool holds, std::string_view setting, double value, std::string_view range) {
  if (!holds) throw InputError(fmt::format("--{} {}: must be {}", setting, value, range));
}

void demand_between(long value, long least, long most, std::string_view setting) {
  if (value < least || value > most) {
    throw InputError(fmt::format("--{} {}: must be between {} and {}", setting, value, least, most));
  }
}

}  // namespace

std::string Settings::name() const {
  return fmt::format("{}_{}h{}d", normaliser == Normaliser::relu ? "relu" : "softmax", heads, layers);
}

void validate(const Settings& s) {
  if (s.normaliser != Normaliser::softmax && s.normaliser != Normaliser::relu) {
    throw InputError("--attention: only softmax and relu are trained");
  }
  demand_between(s.length, 4, 1024, "length");
  demand_between(s.dimension, 3, 1024, "dimension");
  demand_between(s.layers, 1, 64, "layers");
  demand_between(s.heads, 1, 64, "heads");
  demand_between(s.batch, 1, 1 << 20, "batch");
  demand_between(s.steps, 0, 1L << 40, "steps");
  demand_between(s.log_every, 1, 1L << 40, "log-every");
  demand_between(s.probes, 1, 1 << 16, "probes");
  // Written so that NaN fails.
  demand(s.stop_error >= 0 && std::isfinite(s.stop_error), "stop-error", s.stop_error,
         "a number >= 0 (0: never)");
  demand(s.stop_worst_case >= 0 && std::isfinite(s.stop_worst_case), "stop-worst-case", s.stop_worst_case,
         "a number >= 0 (0: never)");
  if (s.certified && s.residual()) {
    throw InputError(
        "--stop-certified: nothing is certified of stacks yet: use --stop-attacked, or one head");
  }
  demand(s.learning_rate > 0 && s.learning_rate <= 1e6, "learning-rate", s.learning_rate,
         "above 0 and at most 1e6");
  demand(s.beta1 >= 0 && s.beta1 < 1, "beta1", s.beta1, "at least 0 and below 1");
  demand(s.beta2 >= 0 && s.beta2 < 1, "beta2", s.beta2, "at least 0 and below 1");
  demand(s.epsilon > 0 && s.epsilon <= 1, "adam-epsilon", s.epsilon, "above 0 and at most 1");
  demand(s.initial_deviation > 0 && s.initial_deviation <= 100, "initial-deviation", s.initial_deviation,
         "above 0 and at most 100");
}

}  // namespace sinkproof::train
