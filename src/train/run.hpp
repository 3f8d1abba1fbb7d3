#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "attention/weights.hpp"
#include "train/settings.hpp"

namespace sinkproof::train {

/// One line of the log, about the weights after `step` updates. Kind: float; the leaks are sampled.
struct LogRecord {
  long step = 0;
  double loss = 0;  ///< mean squared error on the batch of this step
  double linf = 0;  ///< largest absolute error on that batch
  double leak_mean =
      0;  ///< of sum_{k>=2} a_ik (softmax: the leak 1 - a_i1) over the probes, all heads, and the
  double leak_max = 0;  ///< non-trigger positions i >= 2: its mean and its largest value
  double steps_per_second =
      0;  ///< since the previous record; the only field that is no function of the settings
};

/// What the attention of one head does on the probes at the non-trigger positions i >= 2.
struct HeadProbe {
  int layer = 0, head = 0;  ///< 1-based
  double sink_rate = 0;     ///< share of these (probe, position) with a_i1 > 1/2
  double sink_mean = 0;     ///< mean of a_i1
  double leak_mean = 0;     ///< mean of sum_{k>=2} a_ik
  double leak_max = 0;      ///< largest
};

enum class StopReason {
  steps_done,  ///< the steps asked for
  stop_error,  ///< one batch's largest error is below Settings::stop_error
  worst_case,  ///< Observer::worst_case is below Settings::stop_worst_case
  diverged,    ///< a loss is NaN or infinite: never an improvement; the weights are the ones it happened with
  interrupted,  ///< Observer::interrupted said so; train() may be called again
};
std::string_view to_string(StopReason reason);  ///< "steps-done", "stop-error", "worst-case", ...

/// The instruction sets that the fast path is compiled for. avx2 and avx512 (both with FMA) give the same
/// bits; baseline, without FMA, rounds differently.
enum class InstructionSet { baseline, avx2, avx512 };
std::string_view to_string(InstructionSet set);
/// The environment variable SINKPROOF_INSTRUCTIONS (baseline, avx2, avx512) or, where it is not set, the
/// fastest one here. Throws InputError on another value, or one that this processor lacks.
InstructionSet chosen_instruction_set();

/// Calls out of train(), on its thread. All may be empty.
struct Observer {
  std::function<void(const LogRecord&)> log;  ///< every Settings::log_every steps, and at the end
  std::function<bool()> interrupted;          ///< asked before every step
  /// The largest error over all instances, certified or attacked: what Settings::stop_worst_case is compared
  /// with. Asked at log records whose batch is already below that.
  std::function<double(const attention::Weights&)> worst_case;
};

struct Options {
  int threads = 1;
  InstructionSet instructions = chosen_instruction_set();
};

/// A training run: created or resumed, trained, looked at, saved. Memory: about 3 MiB at the paper's sizes.
class Run {
 public:
  /// Weights drawn by the seed, no step done. Throws InputError as validate() does.
  explicit Run(const Settings& settings, const Options& options = {});
  /// Where the checkpoint left off: the same bits follow as without the interruption. Throws InputError
  /// naming the file, the field and the mend where it is damaged, truncated or no checkpoint.
  static Run resume(const std::filesystem::path& checkpoint, const Options& options = {});
  ~Run();
  Run(Run&&) noexcept;
  Run& operator=(Run&&) noexcept;

  /// Changes Settings::steps; a run that stopped for having done them goes on. Throws InputError as
  /// validate().
  void extend(long steps);

  /// Trains until a reason to stop. What an observer throws passes through; the run stays usable.
  StopReason train(const Observer& observer = {});

  const Settings& settings() const;
  long step() const;               ///< updates done
  bool finished() const;           ///< train() would return at once: stopped, and not by an interruption
  StopReason stop_reason() const;  ///< of the last train(), or of the checkpoint's; interrupted before
  const std::vector<LogRecord>& log() const;  ///< all records, those before a resumption included
  attention::Weights weights() const;         ///< entries are float32 values, exactly
  std::vector<HeadProbe> probe() const;       ///< layer by layer

  /// Writes weights, moments, step, settings and log to one .npz, atomically: at any moment the file is a
  /// whole checkpoint, the last or the one before. The random stream has no state besides the seed and the
  /// step. May be called from Observer::log. Throws InputError when it cannot be written.
  void save(const std::filesystem::path& checkpoint) const;

 private:
  struct State;
  explicit Run(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sinkproof::train
