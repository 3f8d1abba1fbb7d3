#pragma once

#include <algorithm>
#include <cmath>

#include "certify/head.hpp"
#include "certify/supremum.hpp"

/// Lambda of a single softmax head, certified over every instance: statements C3 and C4 of theory.md.
namespace sinkproof::certify {

enum class Effort { fast, tight };

/// Certified upper bounds of |o_i - y_i|, by the position's class.
struct LossBounds {
  double first = HUGE_VAL;        ///< i = 1: |V e_B|
  double off_trigger = HUGE_VAL;  ///< i >= 2, i != j
  double at_trigger = HUGE_VAL;   ///< i = j
  /// Whether the tight level has treated every query (else the time ran out, or d is too large for it).
  bool complete = false;

  double upper() const { return std::max({first, off_trigger, at_trigger}); }
};

/// How the logits of a trigger query x_j = e_T + iota c_j spread, over all contents. Kind: upper bounds.
struct TriggerLogits {
  numeric::Interval range;         ///< of the logits of the keys 2..j
  numeric::Interval bos_over_key;  ///< the BOS logit minus that of any ordinary key
  numeric::Interval bos_over_self;
};
TriggerLogits trigger_logits(const HeadMaps& head, int threads, const Deadline& deadline);

/// Effort::fast: C3 with `leak` (a certified bound of the leak at every non-trigger position), and Gruess'
/// bound at the trigger. Everything is undecided (infinite) where head.is_moderate() fails.
LossBounds bound_loss(const HeadMaps& head, double leak, const TriggerLogits& logits);

/// Effort::tight, at the trigger only: `goal` is what suffices (a little more than an attack attains; 0 for
/// as low as it gets). Returns a certified bound that is at most `fast`: `goal` if everything could be proved
/// to be at most that, else what could. `complete` as in LossBounds.
struct TightBound {
  double upper = HUGE_VAL;
  bool complete = false;
};
TightBound tighten_at_trigger(const HeadMaps& head, int length, const TriggerLogits& logits, double fast,
                              double goal, int threads, const Deadline& deadline);

inline constexpr int tight_limit = 22;

}  // namespace sinkproof::certify
