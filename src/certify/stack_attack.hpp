#pragma once

#include <cstdint>
#include <vector>

#include "attention/model.hpp"
#include "certify/stack_bounds.hpp"

/// The search for instances on which a stack is at its worst.
namespace sinkproof::certify {

/// An instance on which a quantity was evaluated rigorously: `value` encloses it.
struct StackWitness {
  task::Instance<double> instance;
  int position = 0;    ///< i, 1-based
  int coordinate = 0;  ///< of R^n, 0-based; for errors only
  numeric::Interval value = numeric::Interval::undecided();
};

struct StackWitnesses {
  /// For each head, layer by layer: least and largest BOS weight at a non-trigger position i >= 2.
  std::vector<StackWitness> least_sink_weight, largest_sink_weight;
  StackWitness loss;  ///< largest |o_i - y_i|
};

/// Sign ascent in floating point over contents at vertices, from the best of a sample, `restarts` times for
/// each quantity; what it finds is evaluated rigorously. A function of the seed (and not of `threads`) unless
/// the deadline stops the sweeps. `model` and `enclosed` are the same weights.
StackWitnesses attack_stack(const attention::Model<double>& model,
                            const attention::Model<numeric::Interval>& enclosed,
                            const task::Parameters& parameters, std::uint64_t seed, int restarts, int threads,
                            const Deadline& deadline);

}  // namespace sinkproof::certify
