#pragma once

#include <chrono>
#include <limits>
#include <optional>

#include "numeric/interval.hpp"
#include "task/instance.hpp"

/// What a certificate says of a supremum over the whole domain, and what a search for witnesses leaves.
namespace sinkproof::certify {

/// A claim "lower <= supremum <= upper": `lower` is attained (proved by a witness, or 0), `upper` is
/// certified over the whole domain; infinite where nothing is certified (undecided).
struct Supremum {
  double lower = 0;
  double upper = std::numeric_limits<double>::infinity();

  bool is_undecided() const { return !(upper < std::numeric_limits<double>::infinity()); }
};

/// An instance on which a quantity was evaluated rigorously: `value` encloses it.
struct Witness {
  task::Instance<double> instance;
  int position = 0;    ///< i, 1-based
  int coordinate = 0;  ///< r of R^n, 0-based; for errors only
  numeric::Interval value;
};

/// A moment after which anytime algorithms return their best bounds so far.
class Deadline {
 public:
  explicit Deadline(double seconds) : end_(Clock::now()), unlimited_(!(seconds < 1e9)) {
    if (!unlimited_)
      end_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
  bool passed() const { return !unlimited_ && Clock::now() >= end_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
  bool unlimited_;
};

}  // namespace sinkproof::certify
