#pragma once

#include "certify/loss.hpp"

/// A single ReLU head, a_ik = max(0, x_i^T A x_k) / max(i - 1, 1), over every instance. Nothing couples the
/// keys, so for a given query each contributes its own maximum.
namespace sinkproof::certify {

struct ReluBounds {
  double weight = HUGE_VAL;       ///< the largest a_ik with k >= 2, over non-trigger i >= 2
  double sink_weight = HUGE_VAL;  ///< the largest a_i1, over non-trigger i >= 2
  LossBounds loss;                ///< as for softmax heads
  numeric::Vector<double> query;  ///< a vertex of the query x_2 where `weight` is to be looked for
};

/// Certified upper bounds; infinite unless head.is_moderate(). Cost 2^d d n; products of maxima beyond
/// `relu_enumeration_limit` or past the deadline (loss.complete false).
ReluBounds bound_relu(const HeadMaps& head, int length, int threads, const Deadline& deadline);

inline constexpr int relu_enumeration_limit = 20;

}  // namespace sinkproof::certify
