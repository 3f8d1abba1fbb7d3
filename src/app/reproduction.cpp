#include "app/reproduction.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <utility>

#include <fmt/core.h>

#include "app/report.hpp"
#include "certify/relu.hpp"
#include "certify/vertices.hpp"
#include "errors.hpp"
#include "task/sampler.hpp"

namespace sinkproof::app {
namespace {

using attention::Normaliser;
using numeric::Rational;
using numeric::Verdict;
using Clock = std::chrono::steady_clock;

const Rational sink_wanted(99, 100), off_trigger_wanted(1, 100), loss_wanted(1, 200), half(1, 2);

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// --- training

/// Trains one model; a single softmax head stops on its way to be certified.
Training trained(train::Run& run, const ReproductionRequest& request, const Progress& progress,
                 std::mutex& progress_mutex) {
  const train::Settings& settings = run.settings();
  const bool certified = settings.normaliser == Normaliser::softmax && !settings.residual();
  Training training;
  double wanted = 0.7;  // the largest error of a batch at which the next certificate is due
  bool due = false;
  train::Observer observer;
  observer.interrupted = [&] { return std::exchange(due, false); };
  observer.log = [&](const train::LogRecord& record) {
    if (certified && record.linf < wanted) {
      due = true;
      wanted = 0.6 * record.linf;
    }
    const std::lock_guard lock(progress_mutex);
    progress(settings.name(), record.step, settings.steps);
  };
  for (;;) {
    const auto start = Clock::now();
    training.reason = run.train(observer);
    training.seconds += seconds_since(start);
    if (training.reason != train::StopReason::interrupted) break;
    const auto certificate = certify::certify_head(run.weights(), settings.normaliser, settings.parameters(),
                                                   {.seed = request.seed});
    training.way.push_back({run.step(), bound_of(certificate.loss), bound_of(certificate.leak)});
  }
  training.log = run.log();
  training.steps = run.step();
  return training;
}

struct Trained {
  Training training;
  attention::Weights weights;
};

/// Several models at a time, the large ones first; each is a function of its settings alone.
std::vector<Trained> train_all(const std::vector<train::Settings>& models, const ReproductionRequest& request,
                               const Progress& progress) {
  std::vector<Trained> results(models.size());
  std::vector<std::size_t> order(models.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return models[a].layers * models[a].heads > models[b].layers * models[b].heads;
  });
  const auto workers = std::min<std::size_t>(static_cast<std::size_t>(request.threads), models.size());
  const int threads_each = std::max(1, request.threads / static_cast<int>(workers));
  std::mutex mutex;
  certify::for_each_block(order.size(), static_cast<int>(workers), [&](std::uint64_t i, int) {
    train::Run run(models[order[i]], {.threads = threads_each});
    Training training = trained(run, request, progress, mutex);
    results[order[i]] = {std::move(training), run.weights()};
    return true;
  });
  return results;
}

// --- looking at a model

void look_at(ModelShown& model, std::uint64_t seed) {
  const task::Parameters& parameters = model.checked.parameters;
  const auto floats = attention::model_from<double>(model.checked.weights, model.settings.normaliser);
  task::Sampler sampler(parameters, seed);
  std::vector<numeric::Matrix<double>> shown;
  double positions = 0;
  for (int example = 0; example < shown_examples; ++example) {
    task::Instance<double> instance = sampler.uniform();
    const auto trace = forward(floats, task::tokens(parameters, instance));
    if (model.heads.empty()) {
      for (std::size_t l = 0; l < trace.attention.size(); ++l) {
        for (std::size_t h = 0; h < trace.attention[l].size(); ++h) {
          model.heads.push_back({static_cast<int>(l) + 1, static_cast<int>(h) + 1});
        }
      }
    }
    for (HeadShown& head : model.heads) {
      const auto& weights =
          trace.attention[static_cast<std::size_t>(head.layer - 1)][static_cast<std::size_t>(head.head - 1)];
      for (int i = 2; i <= parameters.length(); ++i) {
        if (i == instance.trigger) {
          head.at_trigger += weights(i - 1, 0);
        } else {
          head.sink_mean += weights(i - 1, 0);
          head.sink_rate += weights(i - 1, 0) > 0.5;
        }
      }
    }
    positions += parameters.length() - 2;
    instance.trigger = std::min(shown_trigger, parameters.length());
    shown.push_back(task::tokens(parameters, instance));
  }
  for (HeadShown& head : model.heads) {
    head.sink_mean /= positions;
    head.sink_rate /= positions;
    head.at_trigger /= shown_examples;
  }
  model.maps = attention::attention_statistics(floats, shown);
}

/// The weights read must be the model that the preset names.
void demand_shape(const ModelShown& model) {
  const auto& layers = model.checked.weights.layers;
  const auto heads = static_cast<long>(layers.front().heads.size());
  if (static_cast<long>(layers.size()) != model.settings.layers || heads != model.settings.heads) {
    throw InputError(fmt::format("{}: has {} layer(s) x {} head(s), and its name says {} x {}: rename it",
                                 model.path, layers.size(), heads, model.settings.layers,
                                 model.settings.heads));
  }
}

ModelShown shown(const train::Settings& settings, const std::string& preset, const std::string& path,
                 const ReproductionRequest& request) {
  const bool softmax = settings.normaliser == Normaliser::softmax;
  WeightsRequest check;
  check.path = path;
  check.attention = softmax ? "softmax" : "relu";
  check.length = settings.length;
  check.certify = {.effort = certify::Effort::tight, .threads = request.threads, .seed = request.seed};
  if (softmax && !settings.residual()) check.sink_at_least = sink_wanted;
  check.loss_at_most = loss_wanted;
  ModelShown model{.settings = settings, .preset = preset, .path = path, .checked = check_weights(check)};
  demand_shape(model);
  if (!softmax && model.single()) {
    const double most =
        certify::bound_relu(certify::HeadMaps(model.checked.weights), model.checked.parameters.length(),
                            request.threads, certify::Deadline(check.certify.time_limit))
            .sink_weight;
    if (std::isfinite(most)) model.relu_sink_at_most = most;
  }
  look_at(model, request.seed);
  return model;
}

/// Whether the weights at non-trigger positions of a single ReLU head are small on every instance.
theory::Claim off_trigger_claim(const ModelShown& model) {
  theory::Claim claim;
  claim.title = "off-trigger-at-most";
  claim.statement = "every weight at a non-trigger position i >= 2 is at most " +
                    numeric::to_string(off_trigger_wanted) + ", on BOS and off it";
  claim.hypothesis = "all instances of this length";
  const Bound& off_bos = model.checked.leak;
  Rational attained = off_bos.attained;
  for (const auto& head : model.checked.sampled.heads) {
    if (head.largest_sink_weight.value.is_undecided()) continue;
    attained = std::max<Rational>(attained, lower_end(head.largest_sink_weight.value));
  }
  Bound both{.attained = attained};
  if (off_bos.certified && model.relu_sink_at_most) {
    both.certified = std::max<Rational>(*off_bos.certified, numeric::exact(*model.relu_sink_at_most));
  }
  if (both.attained > off_trigger_wanted) {
    claim.verdict = Verdict::disproved;
    claim.reason = "an evaluated instance violates it";
  } else if (both.certified && *both.certified <= off_trigger_wanted) {
    claim.verdict = Verdict::proved;
  } else {
    claim.reason = "no instance is known to violate it, and what is certified is not small enough";
  }
  claim.quantities = {theory::quantity("limit", off_trigger_wanted), both.quantity("supremum")};
  return claim;
}

/// Whether some head of a stack has a BOS weight below 1/2 at a non-trigger position: one instance proves it;
/// the heads' certified least weights may disprove it.
theory::Claim not_all_sink_claim(const ModelShown& model) {
  theory::Claim claim;
  claim.title = "not-all-heads-sink";
  claim.statement = "some head has a BOS weight below 1/2 at a non-trigger position i >= 2";
  claim.hypothesis = "one instance is enough";
  const auto& heads = model.checked.stack->heads;
  int below = 0;
  const certify::StackHeadCertificate* least = &heads.front();
  Rational certified = 1;
  for (const auto& head : heads) {
    below += head.least_sink_weight.upper < 0.5;
    certified = std::min(certified, numeric::exact(head.least_sink_weight.lower));
    if (head.least_sink_weight.upper < least->least_sink_weight.upper) least = &head;
  }
  if (below > 0) {
    claim.verdict = Verdict::proved;
  } else if (certified >= half) {
    claim.verdict = Verdict::disproved;
    claim.reason = "every BOS weight there is certified to be at least " +
                   numeric::decimal(certified, numeric::Direction::down, 4);
  } else {
    claim.reason = "no instance is known that shows it, and what is certified of the weights is below 1/2";
  }
  const certify::StackExtreme& weight = least->least_sink_weight;
  claim.statement += fmt::format(
      " ({} of {} heads are shown to; least in layer {}, head {}, at i = {}, j = {})", below, heads.size(),
      least->layer, least->head, weight.witness.position, weight.witness.instance.trigger);
  claim.quantities = {theory::quantity("heads_below_half", Rational(below)),
                      {"least_sink_weight", theory::Between{certified, numeric::exact(weight.upper)}}};
  return claim;
}

}  // namespace

int ModelShown::sinking_heads() const {
  return static_cast<int>(
      std::count_if(heads.begin(), heads.end(), [](const HeadShown& head) { return head.sink_rate > 0.5; }));
}

std::string title_of(const train::Settings& settings) {
  const std::string kind = settings.normaliser == Normaliser::softmax ? "softmax" : "ReLU";
  if (settings.layers * settings.heads == 1) return kind + ", one head";
  return fmt::format("{}, {} layers x {} heads", kind, settings.layers, settings.heads);
}

std::vector<theory::Claim> claims_of(const ModelShown& model) {
  std::vector<theory::Claim> claims = model.checked.claims;
  if (model.softmax() && !model.single()) claims.push_back(not_all_sink_claim(model));
  if (!model.softmax() && model.single()) claims.push_back(off_trigger_claim(model));
  for (theory::Claim& claim : claims) {
    std::string name = model.settings.name();
    std::replace(name.begin(), name.end(), '_', '-');
    claim.id = name + "-" + claim.title;
    claim.title = title_of(model.settings);
  }
  return claims;
}

Reproduction reproduce(const ReproductionRequest& request, const Progress& progress) {
  const auto start = Clock::now();
  Reproduction result;
  std::vector<train::Settings> models;
  std::vector<std::string> presets;
  for (const train::Preset& preset : train::presets()) {
    for (train::Settings settings : preset.models) {
      settings.seed = request.seed;
      settings.log_every = settings.residual() ? 100 : 10;
      if (request.most_steps > 0) settings.steps = std::min(settings.steps, request.most_steps);
      models.push_back(settings);
      presets.emplace_back(preset.name);
    }
  }
  std::vector<Trained> trained;
  if (request.from_weights.empty()) trained = train_all(models, request, progress);
  result.training_seconds = seconds_since(start);

  for (std::size_t i = 0; i < models.size(); ++i) {
    const std::string file = models[i].name() + ".npz";
    std::string path;
    if (!request.from_weights.empty()) {
      path = (std::filesystem::path(request.from_weights) / file).string();
      if (!std::filesystem::exists(path)) {
        result.missing.push_back(fmt::format("{}: there is no {}", title_of(models[i]), path));
        continue;
      }
    } else {
      if (trained[i].training.reason == train::StopReason::diverged) {
        result.missing.push_back(
            fmt::format("{}: training diverged at step {}", title_of(models[i]), trained[i].training.steps));
        continue;
      }
      path = (std::filesystem::path(request.out) / "weights" / file).string();
      formats::write_weights(path, trained[i].weights);
    }
    ModelShown model = shown(models[i], presets[i], path, request);
    if (!trained.empty()) model.training = std::move(trained[i].training);
    result.models.push_back(std::move(model));
  }
  if (result.models.empty()) {
    throw InputError(request.from_weights.empty()
                         ? "every training run diverged"
                         : "--from-weights " + request.from_weights +
                               ": has none of softmax_1h1d.npz, relu_1h1d.npz, softmax_2h2d.npz ...");
  }
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace sinkproof::app
