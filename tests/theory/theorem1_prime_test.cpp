#include "theory/theorem1_prime.hpp"

#include <doctest/doctest.h>

#include "random_heads.hpp"
#include "theory/hypothesis.hpp"

using namespace sinkproof;
using namespace theory;
using namespace theory::testing;

TEST_CASE("the constants of theory.md come out as exact fractions") {
  const Parameters p(16, 13);
  CHECK(length_ratio(p) == Rational(15, 13));
  CHECK(u_zero(p) == Rational(1928, 13));
  CHECK(error_threshold(p, Rational(1, 20)) == Rational(13, 2 * 1928 * 21));
  CHECK(expected_loss_needed(p, Rational(1, 20), Rational(1, 10)) == Rational(13) / (2 * 1928 * 21) / 197);
  // For a rare enough exception delta is what binds.
  CHECK(expected_loss_needed(p, Rational(1, 20), Rational(1, 1000)) == Rational(13) / (2 * 1928 * 21) / 1000);
  CHECK(u_zero({4, 0}) == 6);
}

TEST_CASE("the epsilon form is the direct form at its t") {
  for (const auto& [length, content] : {std::pair{4, 0}, {5, 2}, {16, 13}, {1000, 500}}) {
    const Parameters p(length, content);
    for (const Rational& delta : {Rational(1, 100000), Rational(1, 10), Rational(1)}) {
      for (const Rational& epsilon : {Rational(1, 1000), Rational(1, 2), Rational(99, 100)}) {
        const Rational needed = expected_loss_needed(p, epsilon, delta), t = error_threshold(p, epsilon);
        CHECK(threshold_for(p, needed, delta) == t);
        CHECK(probable_leak_bound(p, needed, t, delta) == epsilon);
      }
    }
  }
}

TEST_CASE("each hypothesis is checked and named") {
  const Parameters p(4, 1);  // r = 3, U_0 = 32, (d+1)(L-2) = 4
  const Rational t(1, 200), eta(1, 1000), delta(1, 2);
  CHECK(probable_leak_bound(p, eta, t, delta) == Rational(64) / 200 / (1 - Rational(64, 200)));
  CHECK_THROWS_WITH_AS(probable_leak_bound(p, eta, t, Rational(1, 10)),
                       "(i) eta <= delta t fails: eta = 1/1000, delta t = 1/2000", NotApplicable);
  CHECK_THROWS_WITH_AS(probable_leak_bound(p, Rational(1, 800), t, delta),
                       "(ii) (d+1)(L-2) eta < t fails: (d+1)(L-2) eta = 1/200, t = 1/200", NotApplicable);
  CHECK_THROWS_WITH_AS(probable_leak_bound(p, eta, Rational(1, 128), delta),
                       "(iii) 4 U_0 t < 1 fails: 4 U_0 t = 1", NotApplicable);
  CHECK_THROWS_AS(probable_leak_bound(p, t, eta, delta), NotApplicable);
  CHECK_THROWS_AS(probable_leak_bound(p, -eta, t, delta), NotApplicable);
  CHECK_THROWS_AS(probable_leak_bound(p, eta, t, 2), NotApplicable);
  CHECK_THROWS_AS(expected_loss_needed(p, Rational(1, 2), 0), NotApplicable);
  CHECK_THROWS_AS(expected_loss_needed(p, 1, Rational(1, 2)), NotApplicable);
  CHECK_THROWS_AS(expected_loss_needed(p, 0, Rational(1, 2)), NotApplicable);
}

TEST_CASE("random heads without content never contradict the theorem") {
  // For d = 0 an instance is its trigger, so R and every probability are exact averages over j.
  Dice dice(5);
  int met = 0, trials = 0;
  for (int round = 0; round < 60; ++round) {
    for (int length = 4; length <= 6; ++length) {
      const Parameters p(length, 0);
      const Head head = near_optimal_head(p, dice, Rational(1, dice.integer(200, 2000)));
      Rational expected = 0;
      for (int j = 3; j <= length; ++j) expected += loss(p, head, j) / (length - 2);
      for (const Rational& delta : {Rational(1, 10), Rational(1, 3), Rational(1)}) {
        ++trials;
        const Rational t = threshold_for(p, expected, delta);
        if (4 * u_zero(p) * t >= 1 || expected == 0) continue;
        ++met;
        const Rational bound = probable_leak_bound(p, expected, t, delta);
        Rational exceptions = 0;
        for (int j = 3; j <= length; ++j) {
          if (largest_leak(p, head.at(j), j) > bound) exceptions += Rational(1, length - 2);
        }
        CHECK(exceptions <= delta);
      }
    }
  }
  CHECK(3 * met > trials);
}
