#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/weights_check.hpp"
#include "attention/statistics.hpp"
#include "train/presets.hpp"
#include "train/run.hpp"

namespace sinkproof::app {

inline constexpr int shown_trigger = 8;  ///< the figures' examples have the trigger here
inline constexpr int shown_examples = 1000;

/// What one head does on examples drawn by the sampling law. Kind: float, sampled.
struct HeadShown {
  int layer = 0, head = 0;  ///< 1-based
  double sink_mean = 0;     ///< mean of a_i1 over the non-trigger positions i >= 2
  double sink_rate = 0;     ///< share of them with a_i1 > 1/2
  double at_trigger = 0;    ///< mean of a_j1
};

/// A model on its way: the bounds of the weights after `step` updates, over every instance.
struct Waypoint {
  long step = 0;
  Bound loss, leak;
};

struct Training {
  std::vector<train::LogRecord> log;
  train::StopReason reason = train::StopReason::interrupted;
  long steps = 0;
  double seconds = 0;
  std::vector<Waypoint> way = {};  ///< of a single softmax head
};

/// One model of the paper: trained or read, certified as far as it goes, and looked at.
struct ModelShown {
  train::Settings settings;
  std::string preset;  ///< "fig3"
  std::string path;    ///< of its weights
  std::optional<Training> training = {};
  WeightsChecked checked;
  std::optional<double> relu_sink_at_most = {};  ///< certified: the largest a_i1 of a single ReLU head
  std::vector<std::vector<attention::AttentionStatistics>> maps = {};  ///< [layer][head], trigger at 8
  std::vector<HeadShown> heads = {};

  bool softmax() const { return settings.normaliser == attention::Normaliser::softmax; }
  bool single() const { return settings.layers * settings.heads == 1; }
  int sinking_heads() const;  ///< with sink_rate above 1/2
};

struct ReproductionRequest {
  std::string out;           ///< weights are written to out/weights
  std::string from_weights;  ///< a folder with weights instead of training; empty: train
  std::uint64_t seed = 1;
  int threads = 1;
  long most_steps = 0;  ///< 0: as many as the presets say
};

struct Reproduction {
  std::vector<ModelShown> models;
  std::vector<std::string> missing;  ///< models that there is nothing of, and why
  double training_seconds = 0, seconds = 0;
};

/// Called now and then while models train, from one thread at a time: which, and how far.
using Progress = std::function<void(const std::string& name, long step, long steps)>;

/// Trains (or reads) all models of the presets, certifies and evaluates them. A function of the request but
/// for the seconds, whatever `threads` is. Throws InputError where weights cannot be read or written, and
/// where there is no model at all.
Reproduction reproduce(const ReproductionRequest& request, const Progress& progress);

/// What the figures claim, decided: "softmax-1h1d-sink-at-least", "softmax-4h4d-not-all-heads-sink" ...
std::vector<theory::Claim> claims_of(const ModelShown& model);

/// "softmax, 2 layers x 2 heads".
std::string title_of(const train::Settings& settings);

}  // namespace sinkproof::app
