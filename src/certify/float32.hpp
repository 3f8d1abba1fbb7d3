#pragma once

#include <cmath>
#include <vector>

#include "attention/weights.hpp"
#include "task/instance.hpp"

/// How far the network as executed in float32 can be from its real-number twin, over the whole input domain.
/// The derivation, step by step, is in float32.md beside this file.
namespace sinkproof::certify {

/// What a softmax head's executed weights â_ik can differ from the real a_ik. All numbers are upper bounds
/// over every instance and position; infinite where nothing is known.
struct Float32HeadBounds {
  int layer = 0, head = 0;  ///< 1-based
  /// |â_ik - a_ik| (ReLU heads too).
  double attention_weight = HUGE_VAL;
  /// Softmax: a_ik changes by a factor within exp(-+log_odds) in odds, then by `relative` a_ik + `absolute`.
  double log_odds = HUGE_VAL, relative = HUGE_VAL, absolute = HUGE_VAL;

  /// |sum_{k>=2} â_ik - m_i| for a softmax head whose real leak m_i is at most `leak` (1 if unknown).
  double leak(double leak_upper = 1) const;
};

struct Float32Bounds {
  std::vector<Float32HeadBounds> heads;  ///< layer by layer
  double output = HUGE_VAL;              ///< |ô_ir - o_ir|

  /// A bound of |ô - y| from one of |o - y|: Lambda of the executed network.
  double executed_loss(double real_loss_upper) const;
};

/// Holds for IEEE binary32 arithmetic, rounded to nearest, with subnormals (or any more precise arithmetic
/// whose results are rounded to binary32); for every order and association of the sums, with or without fused
/// multiply-adds; for q = W_Q x, k = W_K x, s = q.k (a scale, if any, multiplies or divides s), softmax by
/// subtraction of the row's largest score, an exp of at most 4 ulp error that is never negative, division by
/// (or multiplication by the reciprocal of) the sum; z = sum_k a_k (W_V x_k); y = W_O z, heads concatenated
/// or added; then the residual sum. ReLU scores are divided by (or multiplied by the reciprocal of) max(i -
/// 1, 1). Contents are float32 numbers in [-1, 1]. Not covered: TF32, bfloat16 or float16 products,
/// flush-to-zero, W_Q^T W_K or W_O W_V multiplied out beforehand, online softmax that rescales. Undecided
/// (infinite) where a weight is not a float32 number, an executed number could reach 2^126, or a sum has more
/// than 2^21 terms.
Float32Bounds bound_float32(const attention::Weights& weights, attention::Normaliser normaliser,
                            const task::Parameters& parameters);

}  // namespace sinkproof::certify
