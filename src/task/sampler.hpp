#pragma once

#include <cstdint>
#include <random>

#include "task/instance.hpp"

namespace sinkproof::task {

/// Draws instances by the sampling law of theory.md section 0 (or vertices of its content box). The stream is
/// a function of the seed alone, on every platform: only std::mt19937_64, which the standard fixes bit by
/// bit. Kind: each content is an exact double, a multiple of 2^-52.
class Sampler {
 public:
  Sampler(const Parameters& parameters, std::uint64_t seed) : parameters_(parameters), bits_(seed) {}

  /// j uniform on {3..L}; each content coordinate uniform on the multiples of 2^-52 in [-1, 1).
  Instance<double> uniform();
  /// j uniform on {3..L}; each content coordinate -1 or 1.
  Instance<double> vertex();

 private:
  int trigger();
  Parameters parameters_;
  std::mt19937_64 bits_;
};

}  // namespace sinkproof::task
