#pragma once

#include <memory>
#include <span>
#include <vector>

#include "attention/weights.hpp"
#include "train/crew.hpp"
#include "train/kernels.hpp"
#include "train/reference.hpp"
#include "train/run.hpp"
#include "train/settings.hpp"

namespace sinkproof::train {

const Kernels& kernels(InstructionSet set);
bool is_supported(InstructionSet set);  ///< compiled in, and by this processor

/// Floats at an address that vectors like.
class AlignedFloats {
 public:
  explicit AlignedFloats(std::size_t count);
  float* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(float* data) const;
  };
  std::unique_ptr<float, Free> data_;
};

/// The fast path: float32 training on drawn batches. A function of the settings (and of whether the
/// instruction set has fused multiply-adds): the batch is cut into a fixed number of chunks whose sums are
/// added in order, whichever thread made them.
class Fast {
 public:
  explicit Fast(const Settings& settings, const Options& options = {});

  struct Errors {
    double loss = 0;  ///< mean squared error
    double linf = 0;  ///< largest absolute error
  };
  /// Draws the batch of step() and computes its errors and the gradient. Kind: float32, the sums over
  /// instances double.
  Errors pass();
  /// Adam, with the gradient of the last pass(); step() grows by one.
  void update();

  long step() const { return step_; }
  attention::Weights weights() const;   ///< entries are float32 values, exactly
  attention::Weights gradient() const;  ///< of the last pass()

  /// Everything that the next step depends on: step, and [head][4][n * n] weights and moments.
  struct State {
    long step = 0;
    std::span<const float> parameters, first, second;
  };
  State state() const { return {step_, parameters_, first_, second_}; }
  void restore(const State& state);  ///< of equal settings

 private:
  UpdateArguments head_arguments(int head, int thread);
  void form_maps();
  attention::Weights as_weights(std::span<const float> parameters) const;

  Settings settings_;
  const Kernels& kernels_;
  KernelShape shape_;
  int heads_, square_, groups_, chunks_;
  long step_ = 0;
  std::vector<float> parameters_, first_, second_, maps_;
  std::vector<float> gradients_;  ///< [chunk][half], each as maps_
  std::vector<float> squared_errors_, largest_errors_;
  std::vector<std::vector<float>> scratch_;  ///< of each thread
  std::vector<AlignedFloats> workspaces_;    ///< of each thread
  Crew crew_;
};

/// The weights before step 0, normal with Settings::initial_deviation; entries are float32 values.
attention::Weights initial_weights(const Settings& settings);

/// The batch that the fast path draws at `step`: written plainly, for the reference. Tokens are exactly the
/// same numbers, targets those of theory.md in double precision.
Batch drawn_batch(const Settings& settings, long step);

}  // namespace sinkproof::train
