#include "train/run.hpp"

#include <chrono>
#include <cmath>

#include "attention/forward.hpp"
#include "errors.hpp"
#include "task/sampler.hpp"
#include "train/checkpoint.hpp"
#include "train/fast.hpp"

namespace sinkproof::train {
namespace {

using Clock = std::chrono::steady_clock;

/// The fixed probes: another stream than the batches'.
std::vector<task::Instance<double>> draw_probes(const Settings& settings) {
  task::Sampler sampler(settings.parameters(), settings.seed);
  std::vector<task::Instance<double>> probes;
  for (long p = 0; p < settings.probes; ++p) probes.push_back(sampler.uniform());
  return probes;
}

}  // namespace

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::steps_done:
      return "steps-done";
    case StopReason::stop_error:
      return "stop-error";
    case StopReason::worst_case:
      return "worst-case";
    case StopReason::diverged:
      return "diverged";
    case StopReason::interrupted:
      return "interrupted";
  }
  return "";
}

struct Run::State {
  State(const Settings& s, const Options& options) : settings(s), fast(s, options), probes(draw_probes(s)) {}

  LogRecord record(const Fast::Errors& errors) const;
  std::vector<HeadProbe> probe() const;

  Settings settings;
  Fast fast;
  std::vector<task::Instance<double>> probes;
  StopReason reason = StopReason::interrupted;
  std::vector<LogRecord> log;
};

std::vector<HeadProbe> Run::State::probe() const {
  const task::Parameters parameters = settings.parameters();
  const auto model = attention::model_from<double>(fast.weights(), settings.normaliser);
  std::vector<HeadProbe> heads;
  for (int layer = 1; layer <= settings.layers; ++layer) {
    for (int head = 1; head <= settings.heads; ++head) heads.push_back({.layer = layer, .head = head});
  }
  double positions = 0;
  for (const task::Instance<double>& instance : probes) {
    const auto trace = attention::forward(model, task::tokens(parameters, instance));
    for (int i = 1; i < parameters.length(); ++i) {
      if (i == instance.trigger - 1) continue;
      ++positions;
      for (HeadProbe& h : heads) {
        const auto& a =
            trace.attention[static_cast<std::size_t>(h.layer - 1)][static_cast<std::size_t>(h.head - 1)];
        const double off = a.row(i).segment(1, i).sum();
        h.sink_rate += a(i, 0) > 0.5;
        h.sink_mean += a(i, 0);
        h.leak_mean += off;
        h.leak_max = off <= h.leak_max ? h.leak_max : off;  // NaN shows
      }
    }
  }
  for (HeadProbe& h : heads) {
    h.sink_rate /= positions;
    h.sink_mean /= positions;
    h.leak_mean /= positions;
  }
  return heads;
}

LogRecord Run::State::record(const Fast::Errors& errors) const {
  LogRecord record{.step = fast.step(), .loss = errors.loss, .linf = errors.linf};
  const auto heads = probe();
  for (const HeadProbe& h : heads) {
    record.leak_mean += h.leak_mean / static_cast<double>(heads.size());
    record.leak_max = h.leak_max <= record.leak_max ? record.leak_max : h.leak_max;
  }
  return record;
}

Run::Run(const Settings& settings, const Options& options)
    : state_(std::make_unique<State>(settings, options)) {}
Run::Run(std::unique_ptr<State> state) : state_(std::move(state)) {}
Run::~Run() = default;
Run::Run(Run&&) noexcept = default;
Run& Run::operator=(Run&&) noexcept = default;

Run Run::resume(const std::filesystem::path& checkpoint, const Options& options) {
  const Checkpoint c = read_checkpoint(checkpoint);
  auto state = std::make_unique<State>(c.settings, options);
  state->fast.restore({c.step, c.parameters, c.first, c.second});
  state->reason = c.reason;
  state->log = c.log;
  return Run(std::move(state));
}

void Run::save(const std::filesystem::path& checkpoint) const {
  const Fast::State s = state_->fast.state();
  write_checkpoint(checkpoint, {.settings = state_->settings,
                                .step = s.step,
                                .reason = state_->reason,
                                .parameters = {s.parameters.begin(), s.parameters.end()},
                                .first = {s.first.begin(), s.first.end()},
                                .second = {s.second.begin(), s.second.end()},
                                .log = state_->log});
}

void Run::extend(long steps) {
  Settings longer = state_->settings;
  longer.steps = steps;
  validate(longer);
  if (steps < step()) {
    throw InputError("--steps " + std::to_string(steps) + ": " + std::to_string(step()) +
                     " are already done: ask for more");
  }
  if (state_->reason == StopReason::steps_done && steps > step()) state_->reason = StopReason::interrupted;
  state_->settings = longer;
}

StopReason Run::train(const Observer& observer) {
  State& s = *state_;
  const Settings& settings = s.settings;
  if (finished()) return s.reason;
  auto last_time = Clock::now();
  long last_step = step();
  for (;;) {
    if (observer.interrupted && observer.interrupted()) return s.reason;
    const Fast::Errors errors = s.fast.pass();
    std::optional<StopReason> stop;
    // An error that overflowed is no error that is small: only a finite loss may meet a stop rule.
    if (!std::isfinite(errors.loss)) {
      stop = StopReason::diverged;
    } else if (errors.linf < settings.stop_error) {
      stop = StopReason::stop_error;
    } else if (step() >= settings.steps) {
      stop = StopReason::steps_done;
    }
    if (stop || step() % settings.log_every == 0) {
      const bool small = !stop && errors.linf < settings.stop_worst_case && observer.worst_case;
      if (small && observer.worst_case(weights()) < settings.stop_worst_case) stop = StopReason::worst_case;
      LogRecord record = s.record(errors);
      const auto now = Clock::now();
      const double seconds = std::chrono::duration<double>(now - last_time).count();
      if (step() > last_step && seconds > 0) {
        record.steps_per_second = static_cast<double>(step() - last_step) / seconds;
      }
      last_time = now;
      last_step = step();
      // After an interruption of the step that logged, the same record comes again.
      if (!s.log.empty() && s.log.back().step == record.step) s.log.pop_back();
      s.log.push_back(record);
      if (stop) s.reason = *stop;
      if (observer.log) observer.log(record);
      if (stop) return s.reason;
    }
    s.fast.update();
  }
}

const Settings& Run::settings() const {
  return state_->settings;
}
long Run::step() const {
  return state_->fast.step();
}
bool Run::finished() const {
  return state_->reason != StopReason::interrupted;
}
StopReason Run::stop_reason() const {
  return state_->reason;
}
const std::vector<LogRecord>& Run::log() const {
  return state_->log;
}
attention::Weights Run::weights() const {
  return state_->fast.weights();
}
std::vector<HeadProbe> Run::probe() const {
  return state_->probe();
}

}  // namespace sinkproof::train
