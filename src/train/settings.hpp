#pragma once

#include <cstdint>
#include <string>

#include "attention/model.hpp"
#include "task/instance.hpp"

/// Training on the trigger task, in floating point: nothing here is rigorous, and no proof rests on it.
namespace sinkproof::train {

/// What a run is: equal settings give equal weights, whatever the number of threads. The defaults are the
/// paper's for one head. Residual stacks (more than one layer or head) are trained to the target x + y.
struct Settings {
  attention::Normaliser normaliser = attention::Normaliser::softmax;  ///< softmax or relu
  long length = 16;                                                   ///< L >= 4
  long dimension = 16;                                                ///< n = d + 3 >= 3
  long layers = 1;                                                    ///< D >= 1
  long heads = 1;              ///< H >= 1 in each layer, of full width n
  long batch = 128;            ///< instances a step
  bool fixed_batch = false;    ///< every step sees the batch of step 0: no sampling noise
  long steps = 20'000;         ///< at most
  double stop_error = 5e-3;    ///< stop when one batch's largest error is below; 0: never
  double stop_worst_case = 0;  ///< stop when Observer::worst_case is below; 0: never
  bool certified =
      false;  ///< that worst case is certified (single heads only), not attacked: for the observer
  double learning_rate = 1e-3;  ///< of Adam
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double initial_deviation = 0.02;  ///< weights start normal with this standard deviation
  std::uint64_t seed = 1;           ///< of the initial weights, the batches and the probes
  long log_every = 100;             ///< steps between log records
  long probes = 64;                 ///< instances of the fixed set on which leaks are logged

  bool residual() const { return layers * heads > 1; }
  task::Parameters parameters() const { return {length, dimension - 3}; }
  std::string name() const;  ///< "softmax_2h4d": heads, then layers, as the files in data/weights are named

  friend bool operator==(const Settings&, const Settings&) = default;
};

/// Throws InputError naming the setting (as the flag of the same name), its range and the mend.
void validate(const Settings& settings);

}  // namespace sinkproof::train
