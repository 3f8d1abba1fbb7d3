#include "certify/sample.hpp"

#include <algorithm>

#include "certify/vertices.hpp"
#include "numeric/enclosure.hpp"
#include "task/sampler.hpp"

namespace sinkproof::certify {

using numeric::Interval;
using numeric::Matrix;

namespace {

enum class Extreme { least, largest };

/// Whether `candidate` is the more extreme witness: undecided first (nothing bounds it), then by the end that
/// a claim would be refuted with. Ties keep the earlier one, so that the order of evaluation does not matter.
bool more_extreme(const Interval& candidate, const Interval& best, Extreme extreme) {
  if (best.is_undecided()) return false;
  if (candidate.is_undecided()) return true;
  return extreme == Extreme::largest ? candidate.lower() > best.lower() : candidate.upper() < best.upper();
}

/// Takes `candidate` into `best`: the value encloses the extreme over all instances so far, the place is
/// where the best witness was seen.
void take(Seen& best, bool& empty, const Seen& candidate, Extreme extreme) {
  if (empty) {
    best = candidate;
    empty = false;
    return;
  }
  const Interval value =
      extreme == Extreme::largest ? max(best.value, candidate.value) : min(best.value, candidate.value);
  if (more_extreme(candidate.value, best.value, extreme)) best = candidate;
  best.value = value;
}

class Collector {
 public:
  void see(const attention::Model<Interval>& model, const task::Parameters& parameters,
           const task::Instance<double>& instance, std::size_t index) {
    const auto exact_instance = task::convert<Interval>(instance);
    const Matrix<Interval> x = task::tokens(parameters, exact_instance);
    const Matrix<Interval> y = model.residual ? task::residual_target(parameters, exact_instance)
                                              : task::target(parameters, exact_instance);
    const attention::Trace<Interval> trace = attention::forward(model, x);
    Seen seen{.instance = index, .trigger = instance.trigger};
    for (int i = 0; i < x.rows(); ++i) {
      seen.position = i + 1;
      for (int r = 0; r < x.cols(); ++r) {
        seen.coordinate = r;
        seen.value = abs(trace.output(i, r) - y(i, r));
        take(report_.loss, no_loss_, seen, Extreme::largest);
      }
    }
    see_heads(trace, seen);
    ++report_.instances;
  }

  /// Takes a later collector into this one.
  void absorb(const Collector& later) {
    if (later.report_.instances == 0) return;
    if (report_.instances == 0) {
      *this = later;
      return;
    }
    take(report_.loss, no_loss_, later.report_.loss, Extreme::largest);
    for (std::size_t h = 0; h < report_.heads.size(); ++h)
      take_head(report_.heads[h], false, later.report_.heads[h]);
    report_.instances += later.report_.instances;
  }

  const SampleReport& report() const { return report_; }

 private:
  static void take_head(HeadSeen& best, bool empty, const HeadSeen& candidate) {
    const auto take_one = [&](Seen HeadSeen::*member, Extreme extreme) {
      bool no_value = empty;
      take(best.*member, no_value, candidate.*member, extreme);
    };
    take_one(&HeadSeen::least_sink_weight, Extreme::least);
    take_one(&HeadSeen::largest_sink_weight, Extreme::largest);
    take_one(&HeadSeen::largest_off_bos, Extreme::largest);
    take_one(&HeadSeen::largest_weight_off_bos, Extreme::largest);
  }

  void see_heads(const attention::Trace<Interval>& trace, Seen seen) {
    std::size_t index = 0;
    for (std::size_t layer = 0; layer < trace.attention.size(); ++layer) {
      for (std::size_t head = 0; head < trace.attention[layer].size(); ++head, ++index) {
        const Matrix<Interval>& weights = trace.attention[layer][head];
        const bool first = report_.heads.size() <= index;
        if (first)
          report_.heads.push_back({static_cast<int>(layer + 1), static_cast<int>(head + 1), {}, {}, {}, {}});
        bool empty = first;
        for (int i = 1; i < weights.rows(); ++i) {
          if (i + 1 == seen.trigger) continue;
          seen.position = i + 1;
          HeadSeen candidate;
          Interval off_bos(0), largest(0);
          for (int k = 1; k <= i; ++k) {
            off_bos += weights(i, k);
            largest = max(largest, weights(i, k));
          }
          const auto with = [&](const Interval& value) {
            Seen place = seen;
            place.value = value;
            return place;
          };
          candidate.least_sink_weight = candidate.largest_sink_weight = with(weights(i, 0));
          candidate.largest_off_bos = with(off_bos);
          candidate.largest_weight_off_bos = with(largest);
          take_head(report_.heads[index], empty, candidate);
          empty = false;
        }
      }
    }
  }

  SampleReport report_;
  bool no_loss_ = true;
};

}  // namespace

SampleReport evaluate(const attention::Model<Interval>& model, const task::Parameters& parameters,
                      const std::vector<task::Instance<double>>& instances, int threads) {
  const std::size_t workers = std::clamp<std::size_t>(static_cast<std::size_t>(std::max(threads, 1)), 1,
                                                      std::max<std::size_t>(instances.size(), 1));
  std::vector<Collector> collectors(workers);
  for_each_block(workers, static_cast<int>(workers), [&](std::uint64_t worker, int) {
    const std::size_t begin = instances.size() * worker / workers;
    const std::size_t end = instances.size() * (worker + 1) / workers;
    for (std::size_t k = begin; k < end; ++k) collectors[worker].see(model, parameters, instances[k], k);
    return true;
  });
  Collector all;
  for (const Collector& collector : collectors) all.absorb(collector);
  return all.report();
}

std::vector<task::Instance<double>> sample_instances(const task::Parameters& parameters, std::size_t uniform,
                                                     std::size_t vertex, std::uint64_t seed) {
  task::Sampler sampler(parameters, seed);
  std::vector<task::Instance<double>> instances;
  instances.reserve(uniform + vertex);
  for (std::size_t k = 0; k < uniform; ++k) instances.push_back(sampler.uniform());
  for (std::size_t k = 0; k < vertex; ++k) instances.push_back(sampler.vertex());
  return instances;
}

}  // namespace sinkproof::certify
