#include "theory/proposition4.hpp"

#include <doctest/doctest.h>

#include "attention/forward.hpp"
#include "random_heads.hpp"
#include "theory/hypothesis.hpp"

using namespace sinkproof;
using namespace theory;
using namespace theory::testing;

TEST_CASE("Lambda <= eta iff q is at least the stated number") {
  CHECK(least_q({16, 13}, Rational(1, 200)) == 2985);
  CHECK(least_q({16, 0}, Rational(1, 200)) == 14 * 199);
  for (const auto& [length, content] : {std::pair{4, 0}, {4, 1}, {16, 13}, {100, 2}}) {
    const Parameters p(length, content);
    for (const Rational& eta : {Rational(1, 1000), Rational(1, 7), Rational(1, 2), Rational(9, 10)}) {
      const Rational q = least_q(p, eta);
      CHECK(softmax_loss(p, q) == eta);
      CHECK(softmax_loss(p, q * Rational(999, 1000)) > eta);
    }
  }
  CHECK_THROWS_AS(least_q({4, 1}, 0), NotApplicable);
  CHECK_THROWS_AS(least_q({4, 1}, 1), NotApplicable);
}

TEST_CASE("Lambda is the largest error over all vertices, exactly") {
  for (const auto& [length, content] : {std::pair{4, 0}, {5, 0}, {6, 0}, {4, 1}, {5, 1}, {4, 2}}) {
    const Parameters p(length, content);
    for (const Rational& q : {Rational(21, 20), Rational(2), Rational(50)}) {
      const auto head = softmax<Rational>(p, {.q = q});
      Rational largest = 0;
      for (int j = 3; j <= length; ++j) {
        for_each_vertex(p, j, [&](const Instance<Rational>& x) {
          largest = numeric::max(largest, error(p, head.model(x), x));
        });
      }
      CHECK(largest == softmax_loss(p, q));
      CHECK(head.loss == softmax_loss(p, q));
    }
  }
}

TEST_CASE("sink weights: q/(q+i-1) off the trigger, the other weights equal") {
  const Parameters p(7, 2);
  const Rational q(5, 2);
  const auto head = softmax<Rational>(p, {.q = q});
  for (int j = 3; j <= 7; ++j) {
    auto x = task::zero_instance<Rational>(p, j);
    x.content.setConstant(Rational(-1, 3));
    const auto a = attention::forward(head.model(x), task::tokens(p, x)).attention.at(0).at(0);
    Rational least = 1;
    for (int i = 2; i <= 7; ++i) {
      const Rational sink = i == j ? Rational(1 / (1 + (j - 1) * q)) : Rational(q / (q + i - 1));
      CHECK(a(i - 1, 0) == sink);
      for (int k = 2; k <= i; ++k) CHECK(a(i - 1, k - 1) == (1 - sink) / (i - 1));
      if (i != j) least = numeric::min(least, sink);
    }
    if (j < 7) CHECK(least == least_sink_weight(p, q));
  }
}
