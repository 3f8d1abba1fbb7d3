#include "certify/loss.hpp"

#include <cmath>

#include "certify/gruess.hpp"
#include "certify/leak.hpp"
#include "certify/relaxation.hpp"

namespace sinkproof::certify {

using numeric::Interval;
using numeric::Vector;

// The query x = e_T + iota c; exponents relative to the centre x^T A e_N of the ordinary keys, which range
// over
// [-l, l], l = ||g||_1. The self key is at p(c) = x^T A (e_T - e_N) + c . g, where every square A_mm c_m^2 is
// replaced by its larger (smaller) one of 0 and A_mm: p <= p_high, p >= p_low, both affine in each
// coordinate, and p + drop_negative, p - drop_positive at a vertex. So
//   range <= max(l, p_high) + max(l, -p_low),
// and what BOS exceeds an ordinary key (the self key) by, at most x^T A (e_B - e_N) + l (x^T A (e_B - e_T) -
// c . g
// + drop_positive), are convex in each coordinate, hence maximal at a vertex.
TriggerLogits trigger_logits(const HeadMaps& head, int threads, const Deadline& deadline) {
  const int n_key = head.ordinary(), t_key = task::Parameters::trigger(), b_key = task::Parameters::bos();
  const int d = head.content();
  TriggerLogits logits{Interval::undecided(), Interval::undecided(), Interval::undecided()};
  if (!head.is_moderate()) return logits;
  const AffineFamily family = query_family(head, t_key);
  const SelfSquares squares(head, -1);
  struct Largest {
    double range = 0, bos_over_key = -HUGE_VAL, bos_over_self = -HUGE_VAL;
  };
  std::vector<Largest> workers(static_cast<std::size_t>(std::max(threads, 1)));
  const double negative = squares.negative.upper(), positive = squares.positive.upper();
  const bool complete =
      d <= enumeration_limit &&
      for_each_block(family.blocks(), threads, [&](std::uint64_t block, int thread) {
        Largest& largest = workers[static_cast<std::size_t>(thread)];
        family.sweep(block, [&](const Vector<double>& c, const Vector<double>& f) {
          const auto g = f.tail(d);
          const double l = g.cwiseAbs().sum(), self = c.dot(g), p = f[1] - f[0] + self;
          largest.range = std::max(largest.range, std::max(l, p + negative) + std::max(l, positive - p));
          largest.bos_over_key = std::max(largest.bos_over_key, l - f[0]);
          largest.bos_over_self = std::max(largest.bos_over_self, positive - f[1] - self);
        });
        return !deadline.passed();
      });
  if (complete) {
    Largest all = workers[0];
    for (const Largest& other : workers) {
      all.range = std::max(all.range, other.range);
      all.bos_over_key = std::max(all.bos_over_key, other.bos_over_key);
      all.bos_over_self = std::max(all.bos_over_self, other.bos_over_self);
    }
    const Interval error = exponent_error(family, std::max(negative, positive));
    return {Interval(all.range) + Interval(2) * error, Interval(all.bos_over_key) + error,
            Interval(all.bos_over_self) + error};
  }
  const auto largest = [&](int plus, int minus) { return maximum_of_norm(head, t_key, plus, minus); };
  const Interval norm = largest(n_key, n_key);
  return {max(norm, largest(t_key, n_key)) + max(norm, largest(n_key, t_key)), largest(b_key, n_key),
          largest(b_key, t_key)};
}

LossBounds bound_loss(const HeadMaps& head, double leak, const TriggerLogits& logits) {
  LossBounds bounds;
  if (!head.is_moderate() || !(leak <= 1)) return bounds;
  Interval first(0), off(0), at(0);
  for (int r = 0; r <= head.ordinary(); ++r) {
    const ValueRow v(head, r);
    first = max(first, abs(v.bos));
    // C3. (1 - m) b + m v is affine in m, so it suffices to look at m = 0 and m = leak.
    const Interval values = hull(v.ordinary_range(), v.trigger_range());
    const Interval largest(leak);
    off = max(off, max(abs(v.bos), abs((Interval(1) - largest) * v.bos + largest * values)));
    at = max(at, GruessRow(head, r).bound(logits.range, bos_weight(logits, 2)));
  }
  bounds.first = upper_or_infinity(first);
  bounds.off_trigger = upper_or_infinity(off);
  bounds.at_trigger = upper_or_infinity(at);
  return bounds;
}

}  // namespace sinkproof::certify
