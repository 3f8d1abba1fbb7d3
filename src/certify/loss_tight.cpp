#include <algorithm>
#include <memory>
#include <vector>

#include "certify/dual.hpp"
#include "certify/leak.hpp"
#include "certify/loss.hpp"

namespace sinkproof::certify {

using numeric::Interval;
using numeric::Vector;

namespace {

/// The values of J = j - 1 in [fewest, most], treated together.
struct Counts {
  int fewest, most;
};
/// 2..3, 4..7, 8..15, ..., up to `last`: the curvature slack shrinks with J, so that each has its own.
std::vector<Counts> count_ranges(int last) {
  std::vector<Counts> ranges;
  for (long first = 2; first <= last; first *= 2) {
    ranges.push_back({static_cast<int>(first), static_cast<int>(std::min<long>(2 * first - 1, last))});
  }
  return ranges;
}

/// A query that Gruess' bound does not settle.
struct Open {
  double bound;
  std::uint64_t vertex;  ///< bit m set: c_m = 1
};

Vector<double> content_of(std::uint64_t vertex, int d) {
  Vector<double> c(d);
  for (int m = 0; m < d; ++m) c[m] = vertex >> m & 1 ? 1 : -1;
  return c;
}
std::uint64_t vertex_of(const Vector<double>& c) {
  std::uint64_t vertex = 0;
  for (int m = 0; m < c.size(); ++m) vertex |= static_cast<std::uint64_t>(c[m] > 0) << m;
  return vertex;
}

}  // namespace

TightBound tighten_at_trigger(const HeadMaps& head, int length, const TriggerLogits& logits, double fast,
                              double goal, int threads, const Deadline& deadline) {
  TightBound result{.upper = fast};
  const int d = head.content();
  if (!head.is_moderate() || logits.range.is_undecided() || d > tight_limit) return result;
  constexpr int fewest = 2;
  const std::vector<Counts> ranges = count_ranges(length - 1);
  const AffineFamily family = query_family(head, task::Parameters::trigger());
  std::vector<TriggerDual> duals;
  std::vector<std::vector<Interval>> slacks;  // [r][range], nonincreasing in the range
  for (int r = 0; r <= head.ordinary(); ++r) {
    duals.emplace_back(head, logits, r);
    slacks.emplace_back();
    for (const Counts& range : ranges) slacks.back().push_back(duals.back().curvature_slack(range.fewest));
    if (slacks.back().front().is_undecided()) return result;
  }
  // Where the slacks alone lead beyond the fast bound, there is nothing to gain.
  double hope = goal;
  for (std::size_t r = 0; r < duals.size(); ++r) {
    const double gruess = upper_or_infinity(
        GruessRow(head, static_cast<int>(r)).bound(logits.range, bos_weight(logits, fewest)));
    hope = std::max(hope, std::min(gruess, goal + slacks[r].front().upper()));
  }
  if (!(hope < fast)) return result;
  const auto settled_by_gruess = [&](const TriggerQuery& query, std::size_t r) {
    return upper_or_infinity(duals[r].gruess(query, fewest) + slacks[r].front());
  };

  // What Gruess' bound settles for good, and what is left.
  const auto workers = static_cast<std::size_t>(std::max(threads, 1));
  std::vector<std::vector<Open>> open(workers);
  const bool swept = for_each_block(family.blocks(), threads, [&](std::uint64_t block, int thread) {
    family.sweep(block, [&](const Vector<double>& c, const Vector<double>& f) {
      const TriggerQuery query(family, c, f);
      double largest = 0;
      for (std::size_t r = 0; r < duals.size(); ++r) {
        largest = std::max(largest, settled_by_gruess(query, r));
      }
      if (largest > goal) open[static_cast<std::size_t>(thread)].push_back({largest, vertex_of(c)});
    });
    return !deadline.passed();
  });
  if (!swept) return result;
  std::vector<Open> queue;
  for (const auto& part : open) queue.insert(queue.end(), part.begin(), part.end());
  std::sort(queue.begin(), queue.end(), [](const Open& a, const Open& b) {
    return a.bound != b.bound ? a.bound > b.bound : a.vertex < b.vertex;
  });

  // The dual, worst queries first, in growing chunks: what a chunk needs to reach is what is known before it,
  // so that the result does not depend on the threads.
  double proved = goal;
  std::size_t chunk = 1;
  std::size_t done = 0;
  while (done < queue.size() && queue[done].bound > proved) {
    const std::size_t count = std::min(chunk, queue.size() - done);
    std::vector<double> bounds(count, 0);
    const bool finished = for_each_block(count, threads, [&](std::uint64_t k, int) {
      const Vector<double> c = content_of(queue[done + k].vertex, d);
      const TriggerQuery query(family, c, family.at(c));
      for (std::size_t r = 0; r < duals.size(); ++r) {
        const double settled = settled_by_gruess(query, r);
        if (settled <= proved) continue;
        if (deadline.passed()) return false;
        for (std::size_t k_range = 0; k_range < ranges.size(); ++k_range) {
          const Interval& slack = slacks[r][k_range];
          for (const double sign : {1.0, -1.0}) {
            const double target = (Interval(std::max(proved, bounds[k])) - slack).lower();
            const double bound =
                duals[r].bound(query, sign, ranges[k_range].fewest, ranges[k_range].most, target);
            bounds[k] = std::max(bounds[k], std::min(upper_or_infinity(Interval(bound) + slack), settled));
          }
        }
      }
      return !deadline.passed();
    });
    if (!finished) break;
    for (const double bound : bounds) proved = std::max(proved, bound);
    done += count;
    chunk = std::min<std::size_t>(2 * chunk, 64);
  }
  result.complete = done >= queue.size() || queue[done].bound <= proved;
  result.upper = std::min(fast, result.complete ? proved : std::max(proved, queue[done].bound));
  return result;
}

}  // namespace sinkproof::certify
