#include "app/train_runs.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "app/report.hpp"
#include "certify/attack.hpp"
#include "certify/certify.hpp"
#include "certify/stack_attack.hpp"
#include "certify/vertices.hpp"
#include "errors.hpp"
#include "formats/file.hpp"
#include "formats/weights_file.hpp"
#include "train/reference.hpp"

namespace sinkproof::app {
namespace {

using attention::Weights;
using numeric::Interval;
using train::LogRecord;
using train::Run;
using train::Settings;
using train::StopReason;
using Clock = std::chrono::steady_clock;

constexpr double checkpoint_seconds = 5;
constexpr double progress_seconds = 0.1;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// ---- Interruption.

std::atomic<bool> signalled = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int number) {
  signalled = true;
  std::signal(number, SIG_DFL);  // the second one kills
}

/// Catches SIGINT and SIGTERM while it lives; a signal that was ignored stays so.
class SignalsCaught {
 public:
  SignalsCaught() {
    signalled = false;
    for (std::size_t k = 0; k < 2; ++k) {
      previous_[k] = std::signal(numbers[k], on_signal);
      if (previous_[k] == SIG_IGN) std::signal(numbers[k], SIG_IGN);
    }
  }
  ~SignalsCaught() {
    for (std::size_t k = 0; k < 2; ++k) std::signal(numbers[k], previous_[k]);
  }
  SignalsCaught(const SignalsCaught&) = delete;
  SignalsCaught& operator=(const SignalsCaught&) = delete;

 private:
  static constexpr int numbers[] = {SIGINT, SIGTERM};
  void (*previous_[2])(int) = {};
};

// ---- Files.

constexpr const char* csv_header = "step,loss,linf,leak_mean,leak_max,steps_per_second\n";

std::string csv_line(const LogRecord& r) {
  return fmt::format("{},{},{},{},{},{:.1f}\n", r.step, r.loss, r.linf, r.leak_mean, r.leak_max,
                     r.steps_per_second);
}

std::string json_line(const LogRecord& r) {
  const auto number = [](double x) {
    return std::isfinite(x) ? fmt::format("{}", x) : std::string(R"({"undecided": true})");
  };
  return fmt::format(
      R"({{"step": {}, "loss": {}, "linf": {}, "leak_mean": {}, "leak_max": {}, "steps_per_second": {:.1f}}})"
      "\n",
      r.step, number(r.loss), number(r.linf), number(r.leak_mean), number(r.leak_max), r.steps_per_second);
}

/// A text file that grows line by line; each line is with the system before the next step.
class LogFile {
 public:
  /// `content` replaces what was there.
  LogFile(std::filesystem::path path, const std::string& content) : path_(std::move(path)) {
    formats::write_atomically(path_, content);
    file_.reset(std::fopen(path_.c_str(), "ae"));
    if (!file_) fail();
  }
  void append(const std::string& line) {
    if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() || std::fflush(file_.get()) != 0)
      fail();
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  [[noreturn]] void fail() const {
    const std::string reason = std::generic_category().message(errno);
    formats::refuse(path_, "", "cannot be written: " + reason + "; make room, then go on with --resume");
  }

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// The files of one run.
class RunFiles {
 public:
  explicit RunFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path checkpoint() const { return folder_ / "checkpoint.npz"; }

  void begin(const Run& run) {
    std::string csv = csv_header, json;
    for (const LogRecord& record : run.log()) {
      csv += csv_line(record);
      json += json_line(record);
    }
    csv_.emplace(folder_ / "log.csv", csv);
    json_.emplace(folder_ / "log.jsonl", json);
    saved_ = Clock::now();
  }
  void append(const Run& run, const LogRecord& record) {
    // A record of the step that an interruption repeats is there already.
    if (record.step > last_step_) {
      csv_->append(csv_line(record));
      json_->append(json_line(record));
      last_step_ = record.step;
    }
    if (seconds_since(saved_) > checkpoint_seconds) save(run);
  }
  void resume_after(long step) { last_step_ = step; }
  void save(const Run& run) {
    run.save(checkpoint());
    saved_ = Clock::now();
  }
  /// Whether the weights are finite, and were written.
  bool finish(const Run& run) {
    save(run);
    const Weights weights = run.weights();
    const auto all = train::matrices(weights);
    if (!std::ranges::all_of(all, [](const Eigen::MatrixXd* m) { return m->allFinite(); })) return false;
    formats::write_weights(folder_ / "weights.npz", weights);
    formats::write_weights(folder_ / "weights.safetensors", weights);
    return true;
  }

 private:
  std::filesystem::path folder_;
  std::optional<LogFile> csv_, json_;
  Clock::time_point saved_;
  long last_step_ = -1;
};

// ---- The worst case, for the stop rule.

double worst_case(const Settings& settings, const Weights& weights, int threads) {
  const task::Parameters parameters = settings.parameters();
  if (settings.certified) {
    return certify::certify_head(weights, settings.normaliser, parameters,
                                 {.effort = certify::Effort::tight, .threads = threads})
        .loss.upper;
  }
  if (!settings.residual()) {
    return certify::attack_loss(certify::HeadMaps(weights), settings.normaliser, parameters.length(),
                                {.threads = threads}, certify::Deadline(1e9))
        .value.upper();
  }
  constexpr int restarts = 4;
  return certify::attack_stack(attention::model_from<double>(weights, settings.normaliser),
                               attention::model_from<Interval>(weights, settings.normaliser), parameters, 1,
                               restarts, threads, certify::Deadline(1e9))
      .loss.value.upper();
}

// ---- Progress, shared by the runs.

class Progress {
 public:
  Progress(bool shown, std::size_t runs) : shown_(shown), runs_(runs) {}
  ~Progress() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void report(const std::string& name, const Settings& settings, const LogRecord& record) {
    if (!shown_) return;
    const std::lock_guard lock(mutex_);
    if (seconds_since(last_) < progress_seconds) return;
    last_ = Clock::now();
    constexpr int width = 24;
    const double done = static_cast<double>(record.step) / static_cast<double>(std::max(settings.steps, 1L));
    const int filled = static_cast<int>(done * width);
    std::string line = fmt::format("\r\x1b[K{} [{:#<{}}{:.<{}}] {}/{}  largest error {:.2g}  {:.0f} steps/s",
                                   name, "", filled, "", width - filled, record.step, settings.steps,
                                   record.linf, record.steps_per_second);
    if (record.steps_per_second > 0) {
      const double left = static_cast<double>(settings.steps - record.step) / record.steps_per_second;
      line +=
          fmt::format("  at most {}:{:02} left", static_cast<long>(left) / 60, static_cast<long>(left) % 60);
    }
    if (runs_ > 1) line += fmt::format("  ({} of {} runs done)", finished_, runs_);
    std::fputs(line.c_str(), stderr);
  }
  void finish_one() {
    const std::lock_guard lock(mutex_);
    ++finished_;
  }

 private:
  bool shown_;
  std::size_t runs_, finished_ = 0;
  std::mutex mutex_;
  Clock::time_point last_;
};

FinishedRun carry_out_one(const PlannedRun& planned, int threads, const std::atomic<bool>& failed,
                          Progress& progress) {
  std::optional<RunFiles> files;
  if (!planned.folder.empty()) files.emplace(planned.folder);
  // The checkpoint was checked, and written where the run is new, before the first run began.
  Run run = files ? Run::resume(files->checkpoint(), {.threads = threads})
                  : Run(planned.settings, {.threads = threads});
  if (planned.steps >= 0) run.extend(planned.steps);
  if (files) {
    files->begin(run);
    if (!run.log().empty()) files->resume_after(run.log().back().step);
  }

  train::Observer observer;
  observer.interrupted = [&] { return signalled || failed; };
  observer.log = [&](const LogRecord& record) {
    if (files) files->append(run, record);
    progress.report(planned.name, run.settings(), record);
  };
  observer.worst_case = [&](const Weights& weights) { return worst_case(run.settings(), weights, threads); };
  const auto start = Clock::now();
  const StopReason stop = run.train(observer);
  FinishedRun finished{.name = planned.name,
                       .folder = planned.folder,
                       .settings = run.settings(),
                       .stop = stop,
                       .step = run.step(),
                       .seconds = seconds_since(start),
                       .log = run.log(),
                       .heads = run.probe()};
  if (files) finished.weights_written = files->finish(run);
  progress.finish_one();
  return finished;
}

}  // namespace

std::vector<FinishedRun> carry_out(const std::vector<PlannedRun>& plan, const RunOptions& options) {
  // Nothing trains before everything that can be refused was looked at. A run that never gets its turn leaves
  // a checkpoint to resume from.
  for (const PlannedRun& planned : plan) {
    if (planned.resumed) {
      train::Run run = train::Run::resume(planned.folder / "checkpoint.npz");
      if (planned.steps >= 0) run.extend(planned.steps);
    } else {
      const train::Run run(planned.settings);
      if (planned.folder.empty()) continue;
      make_folder(planned.folder);
      run.save(planned.folder / "checkpoint.npz");
    }
  }

  const SignalsCaught caught;
  Progress progress(options.progress, plan.size());
  std::vector<FinishedRun> finished(plan.size());
  std::atomic<bool> failed = false;  // of one run: the others stop, each with a checkpoint
  const int at_once =
      static_cast<int>(std::min(plan.size(), static_cast<std::size_t>(std::max(options.threads, 1))));
  const int threads_each = std::max(1, options.threads / std::max(at_once, 1));
  certify::for_each_block(plan.size(), at_once, [&](std::uint64_t k, int) {
    try {
      finished[k] = carry_out_one(plan[k], threads_each, failed, progress);
    } catch (...) {
      failed = true;
      throw;
    }
    return true;
  });
  return finished;
}

}  // namespace sinkproof::app
