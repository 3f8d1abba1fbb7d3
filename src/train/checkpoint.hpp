#pragma once

#include <filesystem>
#include <vector>

#include "train/run.hpp"

namespace sinkproof::train {

/// What a checkpoint file holds. The random stream is a function of the seed and the step.
struct Checkpoint {
  Settings settings;
  long step = 0;
  StopReason reason = StopReason::interrupted;
  std::vector<float> parameters, first, second;  ///< [head][4][n * n], as Fast::State
  std::vector<LogRecord> log;
};

/// Throws InputError when it cannot be written.
void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);

/// Throws InputError naming the file, the field and the mend on everything that write_checkpoint cannot have
/// written.
Checkpoint read_checkpoint(const std::filesystem::path& path);

}  // namespace sinkproof::train
