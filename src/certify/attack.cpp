#include "certify/attack.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include "certify/row_search.hpp"
#include "certify/witness.hpp"

namespace sinkproof::certify {

using attention::Normaliser;
using numeric::Interval;
using numeric::Vector;

namespace {

struct Found {
  RowGoal goal;
  double objective = -1;
  std::unique_ptr<RowSearch> search;
};

/// The best result of `restarts` searches for each goal; entry k is a function of (goals[k], seed, round)
/// alone.
std::vector<Found> search_goals(const FloatHead& head, const std::vector<RowGoal>& goals, int restarts,
                                std::uint64_t round, const AttackOptions& options, const Deadline& deadline) {
  std::vector<Found> found(goals.size());
  for_each_block(goals.size(), options.threads, [&](std::uint64_t index, int) {
    std::seed_seq seeds{options.seed, options.seed >> 32, round, index};
    std::mt19937_64 random(seeds);
    Found& best = found[index];
    best.goal = goals[index];
    RowSearch search(head, goals[index]);
    for (int k = 0; k < restarts && !(k > 0 && deadline.passed()); ++k) {
      // Half of the restarts afresh, half from the neighbourhood of the best so far.
      if (best.search && k % 2 == 1) {
        search = *best.search;
        search.perturb(random, 1 + static_cast<int>(random() % 3));
      } else {
        search.restart(random);
      }
      if (search.ascend() > best.objective) {
        best.objective = search.objective();
        best.search = std::make_unique<RowSearch>(search);
      }
    }
    return !deadline.passed();
  });
  return found;
}

/// Best first; equal ones in the order they came.
void rank(std::vector<Found>& found) {
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.objective > b.objective; });
  std::erase_if(found, [](const Found& f) { return !f.search; });
}

/// Trigger positions: all of a short sequence, a spread of a long one.
std::vector<int> trigger_positions(int length, int most) {
  std::set<int> positions;
  const double count = length - 2;
  for (int k = 0; k < most; ++k) {
    positions.insert(3 + static_cast<int>(count <= most ? std::min<double>(k, count - 1)
                                                        : (count - 1) * k / std::max(most - 1, 1)));
  }
  for (int j = 4; j < length; j *= 2) {
    if (length > most) positions.insert(j);
  }
  return {positions.begin(), positions.end()};
}

Witness prove(const HeadMaps& head, Normaliser normaliser, int length, const Found& found) {
  Witness witness{.instance = found.search->instance(length),
                  .position = found.goal.position,
                  .coordinate = found.goal.coordinate,
                  .value = {}};
  witness.value = found.goal.leak
                      ? leak_at(head, witness.instance, witness.position)
                      : error_at(head, normaliser, witness.instance, witness.position, witness.coordinate);
  return witness;
}

/// The witness whose proved lower end is largest (0 where nothing was found).
Witness best_witness(const HeadMaps& head, Normaliser normaliser, int length, std::vector<Found> found,
                     std::size_t most) {
  rank(found);
  Witness best{.instance = {3, numeric::Matrix<double>::Zero(length, head.content())},
               .position = 2,
               .coordinate = 0,
               .value = Interval(0)};
  for (std::size_t k = 0; k < std::min(most, found.size()); ++k) {
    found[k].search->polish();
    const Witness witness = prove(head, normaliser, length, found[k]);
    if (witness.value.lower() > best.value.lower()) best = witness;
  }
  return best;
}

}  // namespace

Witness attack_leak(const HeadMaps& head, int length, const Vector<double>& hint,
                    const AttackOptions& options, const Deadline& deadline) {
  if (!head.is_moderate()) return best_witness(head, Normaliser::softmax, length, {}, 0);
  const FloatHead numbers(head, Normaliser::softmax);
  std::vector<RowGoal> goals = {{.trigger = length - 1, .position = length, .leak = true},
                                {.trigger = length, .position = length - 1, .leak = true}};
  std::vector<Found> found;
  for (const RowGoal& goal : goals) {
    RowSearch search(numbers, goal);
    search.start_from(hint);
    const double objective = search.ascend();
    found.push_back({goal, objective, std::make_unique<RowSearch>(search)});
  }
  for (Found& f : search_goals(numbers, goals, options.restarts, 0, options, deadline)) {
    found.push_back(std::move(f));
  }
  return best_witness(head, Normaliser::softmax, length, std::move(found), 3);
}

Witness attack_relu_weight(const HeadMaps& head, int length, const Vector<double>& hint) {
  Witness best = best_witness(head, Normaliser::relu, length, {}, 0);
  if (!head.is_moderate()) return best;
  const FloatHead numbers(head, Normaliser::relu);
  for (const auto& [trigger, position] : {std::pair{length, 2}, {length, 3}, {3, 4}}) {
    RowSearch search(numbers, {.trigger = trigger, .position = position, .leak = true});
    search.start_from(hint);  // keys along the slope have the largest logits
    Witness witness{.instance = search.instance(length), .position = position, .coordinate = 0, .value = {}};
    witness.value = largest_weight_at(head, witness.instance, position);
    if (witness.value.lower() > best.value.lower()) best = witness;
  }
  return best;
}

Witness attack_loss(const HeadMaps& head, Normaliser normaliser, int length, const AttackOptions& options,
                    const Deadline& deadline) {
  if (!head.is_moderate()) return best_witness(head, normaliser, length, {}, 0);
  const FloatHead numbers(head, normaliser);
  const int n = head.ordinary() + 1;
  std::vector<RowGoal> goals;
  const auto add = [&](int trigger, int position) {
    for (int r = 0; r < n; ++r) {
      for (const double sign : {1.0, -1.0}) {
        goals.push_back({.trigger = trigger, .position = position, .coordinate = r, .sign = sign});
      }
    }
  };
  for (const int position : {2, 3, length - 1}) add(length, position);
  for (const int position : {4, length}) add(3, position);
  for (const int j : trigger_positions(length, 4)) add(j, j);
  std::vector<Found> found = search_goals(numbers, goals, 3, 0, options, deadline);
  rank(found);

  // The promising coordinates at every trigger position, then the most promising goals again.
  constexpr std::size_t coordinates = 12, finalists = 16;
  std::set<std::pair<int, double>> seen;
  goals.clear();
  for (const Found& f : found) {
    if (f.goal.position != f.goal.trigger || seen.size() >= coordinates) continue;
    if (!seen.insert({f.goal.coordinate, f.goal.sign}).second) continue;
    for (const int j : trigger_positions(length, 16)) {
      goals.push_back({.trigger = j, .position = j, .coordinate = f.goal.coordinate, .sign = f.goal.sign});
    }
  }
  for (std::uint64_t round = 1; round <= 2; ++round) {
    const int restarts = options.restarts * static_cast<int>(4 * round - 3);
    for (Found& f : search_goals(numbers, goals, restarts, round, options, deadline)) {
      found.push_back(std::move(f));
    }
    rank(found);
    goals.clear();
    for (const Found& f : found) {
      if (goals.size() < finalists && std::find(goals.begin(), goals.end(), f.goal) == goals.end()) {
        goals.push_back(f.goal);
      }
    }
  }
  Witness best = best_witness(head, normaliser, length, std::move(found), 4);
  for (int r = 0; r < n; ++r) {  // position 1: |V e_B| on every instance
    const Interval value = error_at(head, normaliser, best.instance, 1, r);
    if (value.lower() > best.value.lower()) {
      best.position = 1;
      best.coordinate = r;
      best.value = value;
    }
  }
  return best;
}

}  // namespace sinkproof::certify
