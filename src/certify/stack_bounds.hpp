#pragma once

#include <cmath>
#include <vector>

#include "attention/model.hpp"
#include "certify/supremum.hpp"
#include "task/instance.hpp"

/// Certified bounds of a stack over every content, for one trigger position.
namespace sinkproof::certify {

struct StackBounds {
  /// Encloses a_i1 at every non-trigger position i >= 2, for each head, layer by layer; undecided where
  /// nothing is known (softmax: [0, 1]).
  std::vector<numeric::Interval> sink_weight;
  /// Upper bound of |o_i - y_i| (residual stacks: of the error against x_i + y_i) over all i; infinite where
  /// nothing is known.
  double loss = HUGE_VAL;
  bool complete = true;  ///< false if the deadline cut it short
};

/// Nothing known, for every head of the model.
StackBounds trivial_bounds(const attention::Model<numeric::Interval>& model);

/// Interval arithmetic on the box of contents.
StackBounds interval_bounds(const attention::Model<numeric::Interval>& model,
                            const task::Parameters& parameters, int trigger);

/// Affine forms with a symbol for each content coordinate of each token, intersected layer by layer with
/// interval arithmetic. Stops between layers once the deadline has passed; what it has until then is sound.
StackBounds affine_bounds(const attention::Model<numeric::Interval>& model,
                          const task::Parameters& parameters, int trigger, const Deadline& deadline);

}  // namespace sinkproof::certify
