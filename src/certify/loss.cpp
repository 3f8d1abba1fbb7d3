#include "certify/loss.hpp"

#include <cmath>
#include <optional>

#include "certify/gruess.hpp"
#include "certify/leak.hpp"
#include "certify/relaxation.hpp"

namespace sinkproof::certify {

using numeric::Interval;
using numeric::Vector;

namespace {

/// Beyond enumeration: on each part of a cover of the queries, with the relaxed maxima of l, of x^T A (e_T -
/// e_N)
/// + l and its negative, and of what BOS exceeds the others by. The self key's range is that of any trigger
/// key.
TriggerLogits branch_on_queries(const HeadMaps& head, const AffineFamily& family, const Deadline& deadline) {
  const int n_key = head.ordinary(), t_key = task::Parameters::trigger(), b_key = task::Parameters::bos();
  const auto range = [](double norm, double above, double below) {
    return std::max(norm, above) + std::max(norm, below);
  };
  const auto at = [&](const Vector<double>& c) {
    const Vector<double> f = family.at(c);
    const double norm = f.tail(head.content()).cwiseAbs().sum();
    return range(norm, f[1] - f[0] + norm, f[0] - f[1] + norm);
  };
  const std::vector<PartBounds> parts =
      cover(branching_order(head),
            {.bound =
                 [&](const Part& part) {
                   const auto largest = [&](int plus, int minus) {
                     return upper_or_infinity(maximum_of_norm(head, t_key, plus, minus, part));
                   };
                   return PartBounds{largest(n_key, n_key), largest(t_key, n_key), largest(n_key, t_key),
                                     largest(b_key, n_key), largest(b_key, t_key)};
                 },
             .worth = [&](const PartBounds& bounds) { return range(bounds[0], bounds[1], bounds[2]); },
             .goal = at(ascend(head.content(), at)) * (1 + 0x1p-10),
             .most = most_parts(head.content())},
            deadline);
  const auto enclosed = [](double x) { return std::isfinite(x) ? Interval(x) : Interval::undecided(); };
  std::optional<TriggerLogits> logits;
  for (const PartBounds& part : parts) {
    const TriggerLogits here{
        max(enclosed(part[0]), enclosed(part[1])) + max(enclosed(part[0]), enclosed(part[2])),
        enclosed(part[3]), enclosed(part[4])};
    logits = logits
                 ? TriggerLogits{max(logits->range, here.range), max(logits->bos_over_key, here.bos_over_key),
                                 max(logits->bos_over_self, here.bos_over_self)}
                 : here;
  }
  return *logits;
}

}  // namespace

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
  const int d = head.content();
  TriggerLogits logits{Interval::undecided(), Interval::undecided(), Interval::undecided()};
  if (!head.is_moderate()) return logits;
  const AffineFamily family = query_family(head, task::Parameters::trigger());
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
  return branch_on_queries(head, family, deadline);
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
