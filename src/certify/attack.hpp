#pragma once

#include <cstdint>

#include "attention/model.hpp"
#include "certify/head.hpp"
#include "certify/supremum.hpp"

/// The search for bad instances: multi-restart sign ascent over contents, polished, in floating point. What
/// it returns is proved: each witness is evaluated rigorously, and the lower end of its value is attained. A
/// function of the arguments alone, not of `threads` (unless the deadline cuts it short).
namespace sinkproof::certify {

struct AttackOptions {
  std::uint64_t seed = 1;
  int threads = 1;
  int restarts = 12;  ///< of each goal that looks promising
};

/// A softmax head's leak at i = L, j = L - 1 (the worst class, see leak.hpp), or i < j = L where that is
/// larger; `hint` [d] is one of the starting points.
Witness attack_leak(const HeadMaps& head, int length, const numeric::Vector<double>& hint,
                    const AttackOptions& options, const Deadline& deadline);

/// A ReLU head's largest weight a_ik, k >= 2, off the trigger: at i = 2, 3 and 4, with the query at `hint`
/// [d].
Witness attack_relu_weight(const HeadMaps& head, int length, const numeric::Vector<double>& hint);

/// |o_i - y_i| over all positions and coordinates.
Witness attack_loss(const HeadMaps& head, attention::Normaliser normaliser, int length,
                    const AttackOptions& options, const Deadline& deadline);

}  // namespace sinkproof::certify
