#include "theory/theorem1.hpp"

#include <doctest/doctest.h>

#include "random_heads.hpp"
#include "theory/hypothesis.hpp"
#include "theory/proposition1s.hpp"

using namespace sinkproof;
using namespace theory;
using namespace theory::testing;

namespace {

/// The theorem as stated, with its constant as a parameter: a head of loss eta and leak m contradicts it if
/// the hypothesis holds and m exceeds the bound.
bool contradicts(const Rational& constant, const Rational& eta, const Rational& leak) {
  return 2 * eta < constant && leak > eta / (constant - eta);
}

}  // namespace

TEST_CASE("the constants of theory.md come out as exact fractions") {
  CHECK(kappa({4, 1}) == Rational(1, 12));
  CHECK(kappa({16, 13}) == Rational(13, 60));
  CHECK(leak_bound({16, 13}, Rational(1, 200)) == Rational(3, 127));
  CHECK(loss_needed({16, 13}, Rational(1, 20)) == Rational(13, 1260));
  CHECK(leak_bound({4, 0}, 0) == 0);
}

TEST_CASE("the two directions are inverse to each other") {
  for (const int length : {4, 5, 16, 100, 1 << 20}) {
    const Parameters p(length, 2);
    CHECK(kappa(p) < Rational(1, 4));
    for (const Rational& epsilon :
         {Rational(1, 1000000), Rational(1, 20), Rational(1, 2), Rational(99, 100)}) {
      CHECK(leak_bound(p, loss_needed(p, epsilon)) == epsilon);
    }
  }
}

TEST_CASE("outside its hypotheses the theorem says which one fails, with the numbers") {
  const Parameters p(16, 13);
  CHECK_THROWS_WITH_AS(leak_bound(p, Rational(13, 120)),
                       "eta < kappa_L/2 fails: eta = 13/120, kappa_L/2 = 13/120", NotApplicable);
  CHECK_NOTHROW(leak_bound(p, Rational(13, 120) - Rational(1, 1000000)));
  CHECK_THROWS_WITH_AS(leak_bound(p, Rational(-1, 9)), "0 <= eta fails: eta = -1/9", NotApplicable);
  for (const Rational& epsilon : {Rational(0), Rational(1), Rational(-1, 2), Rational(3)}) {
    CHECK_THROWS_AS(loss_needed(p, epsilon), NotApplicable);
  }
}

TEST_CASE("the exact loss of a head is the largest error over the vertices") {
  Dice dice(11);
  for (const auto& [length, content] : {std::pair{4, 0}, {4, 1}, {4, 2}, {5, 1}, {6, 1}, {4, 3}}) {
    const Parameters p(length, content);
    for (int trial = 0; trial < 2; ++trial) {
      const Head head = trial == 0 ? wild_head(p, dice) : near_optimal_head(p, dice, Rational(1, 50));
      Rational largest = 0;
      for (int j = 3; j <= length; ++j) {
        if (content == 3 && j == 4) continue;
        Rational at_j = 0;
        for_each_vertex(p, j, [&](const Instance<Rational>& x) {
          at_j = numeric::max(at_j, error(p, model(head.at(j), head.value), x));
        });
        CHECK(at_j == loss(p, head, j));
      }
    }
  }
}

TEST_CASE("random heads never contradict the theorem, and often meet its hypothesis") {
  constexpr std::uint64_t seed = 20240601;
  CAPTURE(seed);
  Dice dice(seed);
  int wild_met = 0, met = 0, trials = 0, contradict_one_third = 0;
  for (int round = 0; round < 40; ++round) {
    for (int length = 4; length <= 6; ++length) {
      for (int content = 0; content <= 3; ++content) {
        const Parameters p(length, content);
        const Head wild = wild_head(p, dice);
        const Rational wild_loss = loss(p, wild);
        wild_met += 2 * wild_loss < kappa(p);
        CHECK_FALSE(contradicts(kappa(p), wild_loss, largest_leak(p, wild)));

        Head head = near_optimal_head(p, dice, Rational(1, dice.integer(40, 400)));
        const Rational eta = loss(p, head);
        const Rational leak = largest_leak(p, head);
        ++trials;
        met += 2 * eta < kappa(p);
        CHECK_FALSE(contradicts(kappa(p), eta, leak));
        contradict_one_third += contradicts(Rational(1, 3), eta, leak);
      }
    }
  }
  MESSAGE("hypothesis met by " << met << " of " << trials << " near-optimal and " << wild_met
                               << " wild heads; 1/3 in place of kappa_L contradicted by "
                               << contradict_one_third);
  CHECK(3 * met > trials);
  CHECK(contradict_one_third > 0);
}

TEST_CASE("nor do heads whose attention reads the content") {
  // A head that changes its mind on the single instance with content 0 and j = 3: its loss is at most the
  // larger of the base head's and the error on that instance (equal for d >= 1, by continuity).
  Dice dice(7);
  int met = 0, trials = 0, contradict_one_third = 0;
  for (int round = 0; round < 30; ++round) {
    for (int length = 4; length <= 6; ++length) {
      for (int content = 1; content <= 3; ++content) {
        const Parameters p(length, content);
        const Rational s(1, dice.integer(60, 600));
        Head head = near_optimal_head(p, dice, s / 4);
        for (const int r : {p.ordinary(), p.trigger()}) head.value(r, 0) = -s;
        Matrix<Rational> changed = head.at(3);
        const Rational m = sharp_leak(s) * Rational(dice.integer(50, 110), 100);
        changed.row(3).setConstant(Rational(0));
        changed(3, 0) = 1 - m;
        changed(3, dice.integer(0, 1) == 0 ? 1 : 3) = changed(3, 2) = m / 2;
        const Rational eta = numeric::max(
            loss(p, head), error(p, model(changed, head.value), task::zero_instance<Rational>(p, 3)));
        const Rational leak = numeric::max(largest_leak(p, head), largest_leak(p, changed, 3));
        ++trials;
        met += 2 * eta < kappa(p);
        CHECK_FALSE(contradicts(kappa(p), eta, leak));
        contradict_one_third += contradicts(Rational(1, 3), eta, leak);
      }
    }
  }
  CHECK(2 * met > trials);
  CHECK(contradict_one_third > trials / 20);
}
