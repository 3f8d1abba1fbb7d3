#include "theory/boundary.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "attention/forward.hpp"
#include "random_heads.hpp"
#include "theory/constructions.hpp"
#include "theory/theorem1.hpp"

using namespace sinkproof;
using namespace theory;
using namespace theory::testing;

namespace {

const std::vector<std::string> rows{"two-head", "softmax1", "gated", "sink-logit",
                                    "residual", "relu",     "clip",  "running-mean"};

Rational error_at(const Construction<Rational>& c, const Matrix<Rational>& output,
                  const Matrix<Rational>& target, int position) {
  Rational largest = 0;
  for (int r = 0; r < c.parameters.dimension(); ++r) {
    largest =
        numeric::max(largest, Rational(abs(Rational(output(position - 1, r) - target(position - 1, r)))));
  }
  return largest;
}

}  // namespace

TEST_CASE("at each position the stated loss is the supremum over all vertices, and Lambda the largest") {
  for (const Parameters& p :
       {Parameters(4, 0), Parameters(6, 0), Parameters(4, 1), Parameters(6, 1), Parameters(4, 2)}) {
    const int length = p.length(), content = p.content();
    for (const Rational& q : {Rational(11, 10), Rational(2), Rational(40)}) {
      for (const std::string& name : rows) {
        CAPTURE(name);
        const auto c = construct<Rational>(name, p, {.q = q, .sink_weight = 3});
        Rational lambda = 0;
        for (int j = 3; j <= length; ++j) {
          std::vector<Rational> largest(static_cast<std::size_t>(length), Rational(0));
          for_each_vertex(p, j, [&](const Instance<Rational>& x) {
            const auto output = attention::forward(c.model(x), task::tokens(p, x)).output;
            const auto target = c.target(p, x);
            for (int i = 1; i <= length; ++i) {
              auto& at_i = largest[static_cast<std::size_t>(i - 1)];
              at_i = numeric::max(at_i, error_at(c, output, target, i));
            }
          });
          for (int i = 1; i <= length; ++i) {
            CHECK(largest[static_cast<std::size_t>(i - 1)] ==
                  c.at(i, task::zero_instance<Rational>(p, j)).loss);
          }
          lambda = numeric::max(lambda, *std::max_element(largest.begin(), largest.end()));
        }
        if (c.attained) {
          CHECK(lambda == c.loss);
        } else {
          CHECK(lambda <= c.loss);
        }
        // Off d = 0 only a clip that is not yet active leaves the bound loose.
        if (content >= 1 && name != "clip") CHECK(c.attained);
        if (content >= 1 && name == "clip") CHECK(c.attained == (2 * q >= length - 1));
      }
    }
  }
}

TEST_CASE("no row's loss grows with q") {
  const Parameters p(7, 2);
  for (const std::string& name : rows) {
    CAPTURE(name);
    Rational before = 1000;
    for (const Rational& q : {Rational(11, 10), Rational(3, 2), Rational(2), Rational(5), Rational(80)}) {
      const Rational loss = construct<Rational>(name, p, {.q = q}).loss;
      CHECK(loss <= before);
      before = loss;
    }
  }
}

TEST_CASE("each row escapes the theorem: precise without a sink") {
  // Theorem 1 would force every sink weight up to 124/127 at this loss.
  const Parameters p(16, 2);
  const Rational eta(1, 200);
  for (const std::string& name : rows) {
    CAPTURE(name);
    const auto c = construct<Rational>(name, p, {.q = 3000, .v = 200});
    CHECK(c.loss <= eta);
    const auto seen = evaluate(c, sample_instances<Rational>(p, 2, 4));
    CHECK(seen.largest_error <= eta);
    CHECK(seen.largest_bos_weight <= Rational(1, 2));
    // i = 2 has the largest BOS weight (verify() relies on it).
    const auto second = c.at(2, {.trigger = 3, .content = {}}).bos_weights;
    for (int j = 3; j <= 16; ++j) {
      for (int i = 2; i <= 16; ++i) {
        if (i == j) continue;
        const auto weights = c.at(i, {.trigger = j, .content = {}}).bos_weights;
        CHECK(*std::max_element(weights.begin(), weights.end()) <=
              *std::max_element(second.begin(), second.end()));
      }
    }
  }
  CHECK(1 - leak_bound(p, eta) == Rational(124, 127));
}

TEST_CASE("each row drops the hypothesis it says, and keeps the others") {
  const Parameters p(6, 1);
  for (const std::string& name : rows) {
    CAPTURE(name);
    const auto c = construct<Rational>(name, p, {.q = 10, .v = 3});
    const auto x = sample_instances<Rational>(p, 1, 8).back();
    const auto model = c.model(x);
    const auto trace = attention::forward(model, task::tokens(p, x));
    bool normalised = true, causal = true;
    for (const auto& layer : trace.attention) {
      for (const auto& a : layer) {
        for (int i = 0; i < p.length(); ++i) {
          normalised = normalised && a.row(i).sum() == 1;
          for (int k = 0; k < p.length(); ++k) causal = causal && a(i, k) >= 0 && (k <= i || a(i, k) == 0);
        }
      }
    }
    CHECK(causal);
    CHECK(normalised == !(name == "softmax1" || name == "sink-logit" || name == "relu"));
    CHECK((model.layers[0].heads.size() > 1) == (name == "two-head"));
    CHECK(model.layers[0].heads[0].gate.has_value() == (name == "gated"));
    CHECK(model.residual == (name == "residual"));
    CHECK(model.read_out.has_value() == (name == "clip"));
    CHECK((c.target(p, x) != task::target(p, x)) == (name == "running-mean" || name == "residual"));
  }
}
