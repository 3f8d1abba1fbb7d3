#include "theory/corollary5.hpp"

#include <doctest/doctest.h>

#include "numeric/enclosure.hpp"
#include "theory/hypothesis.hpp"
#include "theory/proposition4.hpp"
#include "theory/theorem1.hpp"

using namespace sinkproof;
using namespace theory;
using numeric::BigInterval, numeric::Rational;
using task::Parameters;

TEST_CASE("the odds are exact and their logarithms enclosed") {
  const Parameters p(16, 13);
  const Rational eta(1, 200);
  CHECK(odds_needed(p, eta) == Rational(124, 3));
  // log(124/3) = 3.721669276934..., log(14 * 124/3) = 6.360726606550...
  CHECK(contains(exp(log_odds_needed(p, eta)), Rational(124, 3)));
  CHECK(contains(exp(logit_gap_needed(p, eta)), Rational(14 * 124, 3)));
  CHECK(lower_end(log_odds_needed(p, eta)) > Rational(3721669276, 1000000000));
  CHECK(upper_end(log_odds_needed(p, eta)) < Rational(3721669277, 1000000000));
  CHECK(lower_end(logit_gap_needed(p, eta)) > Rational(6360726606, 1000000000));
  CHECK(upper_end(logit_gap_needed(p, eta)) < Rational(6360726607, 1000000000));
}

TEST_CASE("no finite logit for loss 0, nothing beyond the hypothesis") {
  const Parameters p(16, 13);
  CHECK_THROWS_AS(odds_needed(p, 0), NotApplicable);
  CHECK_THROWS_AS(log_odds_needed(p, Rational(13, 120)), NotApplicable);
  CHECK_NOTHROW(log_odds_needed(p, Rational(12, 120)));
}

TEST_CASE("the softmax construction obeys the corollary") {
  // Its log-odds of BOS at non-trigger i are log(q/(i-1)), and A_NB - A_NN = log q.
  for (const auto& [length, content] : {std::pair{4, 0}, {4, 2}, {16, 13}, {1000, 1}}) {
    const Parameters p(length, content);
    for (const int fraction : {3, 10, 1000}) {
      const Rational eta = kappa(p) / fraction, q = least_q(p, eta), odds = odds_needed(p, eta);
      CHECK(q / (length - 1) >= odds);
      CHECK(q >= (length - 2) * odds);
    }
  }
}
