#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/weights.hpp"
#include "certify/leak.hpp"
#include "certify/loss.hpp"
#include "certify/supremum.hpp"

/// A trained head, certified over the whole input domain of the task: theory.md section 7.
namespace sinkproof::certify {

struct Options {
  Effort effort = Effort::fast;
  int threads = 1;
  std::uint64_t seed = 1;   ///< of the attack
  double time_limit = 1e9;  ///< seconds; then the best bounds so far
};

/// Seconds spent on one part.
struct Timing {
  std::string part;
  double wall = 0, cpu = 0;
};

struct Certificate {
  attention::Normaliser normaliser = attention::Normaliser::softmax;
  /// Softmax: the leak m_i over all instances and non-trigger positions i >= 2. ReLU, which has no leak: the
  /// largest single weight a_ik, k >= 2, over the same.
  Supremum leak;
  Witness leak_witness;                 ///< proves leak.lower
  std::vector<LeakClass> leak_classes;  ///< softmax only: by side of the trigger and position
  Supremum loss;                        ///< Lambda
  Witness loss_witness;                 ///< proves loss.lower
  LossBounds loss_classes;
  std::vector<Timing> timings;
};

/// Certifies a single head (one layer, one head, no residual) under Normaliser::softmax or relu. Upper bounds
/// hold for every instance; lower bounds are attained by the witnesses. Weights that are NaN, infinite or
/// overflow give infinite upper bounds (undecided) at once. Throws InputError for other weights, other
/// normalisers, or parameters whose content does not fit the weights; std::logic_error if a witness exceeds a
/// certified bound: a bug.
Certificate certify_head(const attention::Weights& weights, attention::Normaliser normaliser,
                         const task::Parameters& parameters, const Options& options = {});

}  // namespace sinkproof::certify
