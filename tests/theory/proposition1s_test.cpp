#include "theory/proposition1s.hpp"

#include <doctest/doctest.h>

#include "theory/hypothesis.hpp"
#include "theory/theorem1.hpp"

using namespace sinkproof;
using namespace theory;
using numeric::Rational;
using task::Parameters;

namespace {

template <class Head>
Rational leak_seen(const Head& head, int trigger, int position) {
  const auto instance = task::zero_instance<Rational>(head.parameters, trigger);
  return 1 - head.at(position, instance).bos_weights.at(0);
}

}  // namespace

TEST_CASE("the sharp heads have loss eta exactly and the stated leak") {
  for (const auto& [length, content] : {std::pair{4, 0}, {4, 2}, {5, 1}, {9, 3}}) {
    const Parameters p(length, content);
    for (const Rational& eta : {Rational(1, 1000), Rational(1, 30), Rational(1, 4), Rational(49, 100)}) {
      for (const auto& head :
           {sharp<Rational>(p, {.eta = eta}), sharp_before_trigger<Rational>(p, {.eta = eta})}) {
        auto instances = sample_instances<Rational>(p, 2, 1);
        instances.push_back(task::zero_instance<Rational>(p, length));
        // evaluate() checks weights and errors against the closed form at every position.
        CHECK(evaluate(head, instances).largest_error == eta);
      }
      CHECK(leak_seen(sharp<Rational>(p, {.eta = eta}), 3, 4) == 4 * eta / (1 + 2 * eta));
      CHECK(leak_seen(sharp_before_trigger<Rational>(p, {.eta = eta}), length, 2) == 2 * eta / (1 + eta));
    }
  }
  CHECK_THROWS_WITH_AS(sharp_leak(Rational(1, 2)), "0 < eta < 1/2 fails: eta = 1/2", NotApplicable);
  CHECK_THROWS_AS(sharp_leak(0), NotApplicable);
}

TEST_CASE("the sharp head respects Theorem 1 and is within (L-1)/(L-3) + O(eta) of it") {
  for (const int length : {4, 5, 16, 1000}) {
    const Parameters p(length, 1);
    const Rational ratio(length - 1, length - 3);
    for (const int fraction : {3, 10, 100, 100000}) {
      const Rational eta = kappa(p) / fraction;
      const Rational bound = leak_bound(p, eta);
      CHECK(sharp_leak(eta) <= bound);
      CHECK(sharp_leak_before_trigger(eta) < sharp_leak(eta));
      // The ratio is (1 + 2 eta)/(4 (kappa - eta)), which is r (1 + 2 eta)/(1 - eta/kappa).
      CHECK(bound / sharp_leak(eta) == ratio * (1 + 2 * eta) / (1 - Rational(1, fraction)));
    }
  }
}

TEST_CASE("a constant beyond 1/4 + 3 eta/2 is contradicted by the sharp head: the test above can fail") {
  for (const Rational& eta : {Rational(1, 1000), Rational(1, 100), Rational(1, 20)}) {
    const Rational leak = sharp_leak(eta), limit = Rational(1, 4) + 3 * eta / 2;
    const auto refuted = [&](const Rational& constant) {
      return 2 * eta < constant && leak > eta / (constant - eta);
    };
    CHECK_FALSE(refuted(limit));
    CHECK(refuted(limit + Rational(1, 1000000)));
    for (const int length : {4, 16, 1 << 20}) CHECK_FALSE(refuted(kappa({length, 0})));
  }
}
