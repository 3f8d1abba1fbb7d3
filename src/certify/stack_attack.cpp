#include "certify/stack_attack.hpp"

#include <algorithm>
#include <random>

#include "attention/forward.hpp"
#include "certify/vertices.hpp"
#include "task/sampler.hpp"

namespace sinkproof::certify {
namespace {

using numeric::Interval;
using numeric::Matrix;

constexpr int sample_size = 256;
constexpr int sweeps = 3;

/// One quantity to be driven up: sign * (BOS weight of a head), or the error.
struct Goal {
  bool loss = false;
  std::size_t layer = 0, head = 0;
  double sign = 1;
};

/// Where an instance has a goal's largest value.
struct Place {
  double value = -HUGE_VAL;
  int position = 0, coordinate = 0;
};

template <class T>
Matrix<T> target(const attention::Model<T>& model, const task::Parameters& parameters,
                 const task::Instance<T>& instance) {
  return model.residual ? task::residual_target(parameters, instance) : task::target(parameters, instance);
}

Place look(const Goal& goal, const attention::Trace<double>& trace, const Matrix<double>& wanted,
           int trigger) {
  Place best;
  const auto see = [&](double value, Eigen::Index row, Eigen::Index coordinate) {
    if (value > best.value)
      best = {
          .value = value, .position = static_cast<int>(row + 1), .coordinate = static_cast<int>(coordinate)};
  };
  if (goal.loss) {
    for (Eigen::Index i = 0; i < wanted.rows(); ++i)
      for (Eigen::Index r = 0; r < wanted.cols(); ++r)
        see(std::fabs(trace.output(i, r) - wanted(i, r)), i, r);
  } else {
    const Matrix<double>& weights = trace.attention[goal.layer][goal.head];
    for (Eigen::Index i = 1; i < weights.rows(); ++i)
      if (i + 1 != trigger) see(goal.sign * weights(i, 0), i, 0);
  }
  return best;
}

/// An ascent of one goal. Heads of early layers are evaluated without the layers above them.
class Ascent {
 public:
  Ascent(const Goal& goal, const attention::Model<double>& model, const task::Parameters& parameters)
      : goal_(goal), model_(model), parameters_(parameters) {
    if (!goal.loss) model_.layers.resize(goal.layer + 1);
  }

  Place evaluate(const task::Instance<double>& instance) const {
    const attention::Trace<double> trace = attention::forward(model_, task::tokens(parameters_, instance));
    return look(goal_, trace, goal_.loss ? target(model_, parameters_, instance) : Matrix<double>(),
                instance.trigger);
  }

  /// Flips signs, in random order, while that raises the goal; then tries the other trigger positions.
  Place climb(task::Instance<double>& instance, std::mt19937_64& bits, const Deadline& deadline) const {
    Place best = evaluate(instance);
    const auto d = static_cast<std::uint64_t>(parameters_.content());
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      const double before = best.value;
      if (deadline.passed()) return best;
      std::vector<std::uint64_t> order(d * static_cast<std::uint64_t>(parameters_.length() - 1));
      for (std::size_t k = 0; k < order.size(); ++k) {
        const std::size_t other = bits() % (k + 1);
        order[k] = order[other];
        order[other] = k;
      }
      for (const std::uint64_t flip : order) {
        const auto row = static_cast<Eigen::Index>(1 + flip / d),
                   column = static_cast<Eigen::Index>(flip % d);
        if (row >= best.position) continue;  // later tokens do not reach the position
        double& content = instance.content(row, column);
        const double old = content;
        content = old > 0 ? -1 : 1;
        const Place place = evaluate(instance);
        if (place.value > best.value)
          best = place;
        else
          content = old;
      }
      for (int trigger = 3; trigger <= parameters_.length(); ++trigger) {
        const int old = instance.trigger;
        instance.trigger = trigger;
        const Place place = evaluate(instance);
        if (place.value > best.value)
          best = place;
        else
          instance.trigger = old;
      }
      if (!(best.value > before)) break;
    }
    return best;
  }

 private:
  Goal goal_;
  attention::Model<double> model_;
  task::Parameters parameters_;
};

StackWitness proved(const Goal& goal, const attention::Model<Interval>& model,
                    const task::Parameters& parameters, const task::Instance<double>& instance,
                    const Place& place) {
  const auto exact = task::convert<Interval>(instance);
  const attention::Trace<Interval> trace = attention::forward(model, task::tokens(parameters, exact));
  StackWitness witness{.instance = instance, .position = place.position, .coordinate = place.coordinate};
  const Eigen::Index row = place.position - 1;
  if (place.position == 0) return witness;
  witness.value =
      goal.loss
          ? abs(trace.output(row, place.coordinate) - target(model, parameters, exact)(row, place.coordinate))
          : trace.attention[goal.layer][goal.head](row, 0);
  return witness;
}

}  // namespace

StackWitnesses attack_stack(const attention::Model<double>& model, const attention::Model<Interval>& enclosed,
                            const task::Parameters& parameters, std::uint64_t seed, int restarts, int threads,
                            const Deadline& deadline) {
  std::vector<Goal> goals{{.loss = true}};
  for (std::size_t layer = 0; layer < model.layers.size(); ++layer)
    for (std::size_t head = 0; head < model.layers[layer].heads.size(); ++head)
      for (const double sign : {-1.0, 1.0}) goals.push_back({.layer = layer, .head = head, .sign = sign});

  // One sample serves all goals: each starts from the instances that are best for it.
  task::Sampler sampler(parameters, seed);
  std::vector<task::Instance<double>> sample;
  std::vector<std::vector<Place>> seen(goals.size());
  for (int k = 0; k < sample_size; ++k) {
    if (k > 0 && deadline.passed()) break;
    sample.push_back(sampler.vertex());
    const auto trace = attention::forward(model, task::tokens(parameters, sample.back()));
    const Matrix<double> wanted = target(model, parameters, sample.back());
    for (std::size_t g = 0; g < goals.size(); ++g)
      seen[g].push_back(look(goals[g], trace, wanted, sample.back().trigger));
  }

  std::vector<StackWitness> found(goals.size());
  for_each_block(goals.size(), threads, [&](std::uint64_t g, int) {
    std::mt19937_64 bits(seed + 0x9e3779b97f4a7c15 * (g + 1));
    const Ascent ascent(goals[g], model, parameters);
    std::vector<std::size_t> order(sample.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return seen[g][a].value > seen[g][b].value; });
    task::Instance<double> best_instance = sample[order[0]];
    Place best = seen[g][order[0]];
    // The error has more local maxima than the weights: it gets more starts.
    const auto starts = static_cast<std::size_t>(goals[g].loss ? 4 * restarts : restarts);
    for (std::size_t k = 0; k < std::min(order.size(), starts); ++k) {
      task::Instance<double> instance = sample[order[k]];
      const Place place = ascent.climb(instance, bits, deadline);
      if (place.value > best.value) {
        best = place;
        best_instance = instance;
      }
    }
    found[g] = proved(goals[g], enclosed, parameters, best_instance, best);
    return true;
  });

  StackWitnesses witnesses;
  for (std::size_t g = 0; g < goals.size(); ++g) {
    if (goals[g].loss)
      witnesses.loss = found[g];
    else
      (goals[g].sign < 0 ? witnesses.least_sink_weight : witnesses.largest_sink_weight).push_back(found[g]);
  }
  return witnesses;
}

}  // namespace sinkproof::certify
