#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "attention/forward.hpp"
#include "task/instance.hpp"

/// Rigorous evaluation of trained weights on chosen instances. Each number encloses its true value on those
/// instances; over the whole domain it is only a sample: a lower end is a bound that Lambda or the leak
/// attains.
namespace sinkproof::certify {

/// The extreme value over the evaluated instances, and where it was seen.
struct Seen {
  numeric::Interval value = {};
  std::size_t instance = 0;  ///< index into the evaluated instances
  int trigger = 0;           ///< j
  int position = 0;          ///< i, 1-based
  int coordinate = 0;        ///< of R^n, 0-based; for errors only
};

/// What one head's attention did at the non-trigger positions i >= 2.
struct HeadSeen {
  int layer = 0, head = 0;      ///< 1-based
  Seen least_sink_weight;       ///< min a_i1
  Seen largest_sink_weight;     ///< max a_i1
  Seen largest_off_bos;         ///< max sum_{k>=2} a_ik: the leak where rows sum to 1
  Seen largest_weight_off_bos;  ///< max a_ik over k >= 2
};

struct SampleReport {
  std::size_t instances = 0;
  Seen loss;  ///< max |o_i - y_i| over all positions and coordinates
  std::vector<HeadSeen> heads;
};

/// Evaluates `model` (softmax or ReLU, with or without residual) on every instance, in enclosures, on
/// `threads` threads; the result does not depend on their number.
SampleReport evaluate(const attention::Model<numeric::Interval>& model, const task::Parameters& parameters,
                      const std::vector<task::Instance<double>>& instances, int threads);

/// `uniform` instances by the sampling law, then `vertex` instances with contents -1 and 1; a function of the
/// seed.
std::vector<task::Instance<double>> sample_instances(const task::Parameters& parameters, std::size_t uniform,
                                                     std::size_t vertex, std::uint64_t seed);

}  // namespace sinkproof::certify
