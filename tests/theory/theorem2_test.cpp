#include "theory/theorem2.hpp"

#include <doctest/doctest.h>

#include "numeric/enclosure.hpp"
#include "random_heads.hpp"
#include "theory/hypothesis.hpp"
#include "theory/theorem1.hpp"

using namespace sinkproof;
using namespace theory;
using namespace theory::testing;
using numeric::power;

namespace {

/// The conclusion: some layer has a weight of at least 1 - x at some position 2..i, where x^D = epsilon.
bool some_layer_sinks(const std::vector<Matrix<Rational>>& layers, int position, const Rational& epsilon) {
  for (const auto& a : layers) {
    for (int k = 2; k <= position; ++k) {
      if (power(1 - a(k - 1, 0), static_cast<long>(layers.size())) <= epsilon) return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("roots are exact where they are rational, and enclosed always") {
  CHECK(rational_root(Rational(3, 127), 1) == Rational(3, 127));
  CHECK(rational_root(Rational(4, 9), 2) == Rational(2, 3));
  CHECK(rational_root(Rational(1, 1024), 10) == Rational(1, 2));
  CHECK(rational_root(0, 7) == Rational(0));
  CHECK_FALSE(rational_root(Rational(1, 2), 2).has_value());
  CHECK_FALSE(rational_root(Rational(4, 7), 2).has_value());
  CHECK_THROWS_AS(rational_root(1, 0), NotApplicable);
  CHECK_THROWS_AS(enclosed_root(1, -1), NotApplicable);
  CHECK_THROWS_AS(enclosed_root(-1, 2), NotApplicable);
  for (const Rational& x : {Rational(3, 127), Rational(4, 9), Rational(1, 1000000007), Rational(999, 1000)}) {
    for (const int degree : {1, 2, 3, 12}) {
      const auto root = enclosed_root(x, degree);
      REQUIRE_FALSE(root.is_undecided());
      CHECK(power(lower_end(root), degree) <= x);
      CHECK(power(upper_end(root), degree) >= x);
      CHECK(upper_end(root) - lower_end(root) < Rational(1, 1000000000000000));
      if (const auto exact = rational_root(x, degree)) CHECK(contains(root, *exact));
    }
  }
  CHECK(upper_end(enclosed_root(0, 3)) == 0);
}

TEST_CASE("a random stack is one head with the product attention, and its leaks obey the product bound") {
  Dice dice(3);
  int strict = 0;
  for (int round = 0; round < 40; ++round) {
    const Parameters p(dice.integer(4, 6), dice.integer(0, 2));
    const int depth = dice.integer(1, 4);
    attention::Model<Rational> stack;
    std::vector<Matrix<Rational>> layers;
    Matrix<Rational> value = Matrix<Rational>::Identity(p.dimension(), p.dimension());
    for (int l = 0; l < depth; ++l) {
      layers.push_back(random_attention(p, dice));
      const Matrix<Rational> v = wild_head(p, dice).value;
      value = v * value;
      stack.layers.push_back(
          {{{.attention = attention::GivenAttention<Rational>{layers.back()}, .value = v}}});
    }
    const Matrix<Rational> composed = composed_attention(layers);
    auto x = task::zero_instance<Rational>(p, dice.integer(3, p.length()));
    for (Eigen::Index k = 0; k < x.content.size(); ++k) x.content.data()[k] = dice.signed_unit();
    const auto tokens = task::tokens(p, x);
    CHECK(attention::forward(stack, tokens).output ==
          attention::forward(model(composed, value), tokens).output);
    for (int i = 1; i <= p.length(); ++i) {
      CHECK(composed.row(i - 1).sum() == 1);
      if (i == 1) continue;
      const Rational leak = 1 - composed(i - 1, 0), product = least_leak_product(layers, i);
      CHECK(product <= leak);
      strict += product < leak;
      if (i == 2) CHECK(product == leak);  // one non-BOS token: an equality
    }
  }
  CHECK(strict > 0);
}

TEST_CASE("a stack may spread its sink over the layers, but not do without") {
  // Layer 1 takes the mean at the trigger, the others keep it; elsewhere layer l keeps a share of each token
  // and rests on BOS with the remainder, so that the loss is the product of the shares.
  Dice dice(9);
  int met = 0;
  const Rational shares[] = {1, Rational(1, 2), Rational(1, 4), Rational(1, 10), Rational(1, 100)};
  for (int round = 0; round < 60; ++round) {
    const Parameters p(dice.integer(4, 6), dice.integer(0, 2));
    const int depth = dice.integer(1, 4);
    std::vector<Rational> kept;
    for (int l = 0; l < depth; ++l) kept.push_back(shares[dice.integer(0, 4)]);
    Head head{{}, Matrix<Rational>::Identity(p.dimension(), p.dimension())};
    head.value(0, 0) = 0;
    std::vector<std::vector<Matrix<Rational>>> stacks;
    for (int j = 3; j <= p.length(); ++j) {
      auto& layers = stacks.emplace_back();
      for (int l = 0; l < depth; ++l) {
        Matrix<Rational> a = Matrix<Rational>::Constant(p.length(), p.length(), Rational(0));
        for (int i = 1; i <= p.length(); ++i) {
          const Rational mass = i == 1   ? Rational(0)
                                : i == j ? Rational(1)
                                         : kept[static_cast<std::size_t>(l)];
          a(i - 1, i - 1) = mass;
          a(i - 1, 0) += 1 - mass;
        }
        for (int k = 2; l == 0 && k <= j; ++k) a(j - 1, k - 1) = Rational(1, j - 1);
        layers.push_back(a);
      }
      head.attention.push_back(composed_attention(layers));
    }
    const Rational eta = loss(p, head);
    Rational product = 1;
    for (const Rational& share : kept) product *= share;
    CHECK(eta == product);
    if (2 * eta >= kappa(p)) continue;
    ++met;
    const Rational epsilon = leak_bound(p, eta);
    for (int j = 3; j <= p.length(); ++j) {
      const auto& layers = stacks[static_cast<std::size_t>(j - 3)];
      for (int i = 2; i <= p.length(); ++i) {
        if (i == j) continue;
        CHECK(least_leak_product(layers, i) <= epsilon);
        CHECK(some_layer_sinks(layers, i, epsilon));
      }
    }
  }
  CHECK(met > 20);
}
