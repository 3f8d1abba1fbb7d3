#include "certify/witness.hpp"

#include <doctest/doctest.h>

#include "numeric/enclosure.hpp"
#include "support.hpp"

using namespace sinkproof;
using numeric::Interval;

TEST_CASE("one row, evaluated alone, overlaps with the whole forward pass") {
  for (const bool relu : {false, true}) {
    const auto normaliser = relu ? attention::Normaliser::relu : attention::Normaliser::softmax;
    const auto weights = support::load(relu ? "relu_1h1d" : "softmax_1h1d");
    const certify::HeadMaps head(weights);
    const auto model = attention::model_from<Interval>(weights, normaliser);
    const task::Parameters parameters(9, 13);
    task::Sampler sampler(parameters, 5);
    for (int round = 0; round < 6; ++round) {
      const auto instance = round % 2 ? sampler.vertex() : sampler.uniform();
      const auto exact = task::convert<Interval>(instance);
      const auto trace = attention::forward(model, task::tokens(parameters, exact));
      const numeric::Matrix<Interval> error = trace.output - task::target(parameters, exact);
      const auto& a = trace.attention[0][0];
      const auto overlap = [](const Interval& x, const Interval& y) {
        return x.lower() <= y.upper() && y.lower() <= x.upper() && x.upper() - x.lower() < 1e-11;
      };
      for (int i = 0; i < 9; ++i) {
        for (int r = 0; r < 16; ++r) {
          REQUIRE(overlap(certify::error_at(head, normaliser, instance, i + 1, r), abs(error(i, r))));
        }
        if (i == 0) continue;
        if (relu) {
          Interval largest(0);
          for (int k = 1; k <= i; ++k) largest = max(largest, a(i, k));
          REQUIRE(overlap(certify::largest_weight_at(head, instance, i + 1), largest));
        } else {
          REQUIRE(overlap(certify::leak_at(head, instance, i + 1), Interval(1) - a(i, 0)));
        }
      }
    }
  }
}

TEST_CASE("A and V are enclosed: the exact products lie in every entry, at most an ulp wide") {
  const auto weights = support::load("softmax_1h1d");
  const certify::HeadMaps head(weights);
  const auto exact = attention::model_from<numeric::Rational>(weights, attention::Normaliser::softmax);
  const auto& exact_head = exact.layers[0].heads[0];
  const auto& scores = std::get<attention::BilinearScores<numeric::Rational>>(exact_head.attention).matrix;
  for (int i = 0; i < 16; ++i) {
    for (int k = 0; k < 16; ++k) {
      CHECK(numeric::contains(head.scores(i, k), scores(i, k)));
      CHECK(numeric::contains(head.value(i, k), exact_head.value(i, k)));
      CHECK(head.scores(i, k).upper() <= numeric::above(head.scores(i, k).lower()));
    }
  }
}
