#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "train/run.hpp"

namespace sinkproof::app {

/// A training run and the folder of its files; an empty folder: none are written.
struct PlannedRun {
  std::string name;  ///< "softmax_1h1d", "softmax_1h1d seed 7"
  std::filesystem::path folder;
  train::Settings settings;
  bool resumed = false;  ///< from folder / "checkpoint.npz"
  long steps = -1;       ///< of a resumed run: train until there; -1 as its checkpoint says
};

struct FinishedRun {
  std::string name;
  std::filesystem::path folder;
  train::Settings settings;
  train::StopReason stop = train::StopReason::interrupted;
  long step = 0;
  double seconds = 0;  ///< of training, in this program run
  std::vector<train::LogRecord> log;
  std::vector<train::HeadProbe> heads;
  bool weights_written = false;
};

struct RunOptions {
  int threads = 1;
  bool progress = false;  ///< a bar on stderr
};

/// Carries out the runs, several at once where there are several and threads for them; results do not depend
/// on that. Each run with a folder leaves there `log.csv` and `log.jsonl` (line by line as it goes),
/// `checkpoint.npz` (before the first step, every few seconds, and at the end), and at the end `weights.npz`
/// and `weights.safetensors`, unless a weight is not finite. SIGINT and SIGTERM end all runs after their
/// step, as interrupted; a second one kills. Throws InputError where a file cannot be read or written: what
/// was written before stays.
std::vector<FinishedRun> carry_out(const std::vector<PlannedRun>& plan, const RunOptions& options);

}  // namespace sinkproof::app
