#include "certify/leak.hpp"

#include <doctest/doctest.h>

#include "certify/attack.hpp"
#include "certify/relaxation.hpp"
#include "numeric/big_interval.hpp"
#include "numeric/enclosure.hpp"
#include "support.hpp"

using namespace sinkproof;
using attention::Normaliser;

namespace {

certify::LeakBounds bound(const attention::Weights& weights, int length) {
  return certify::bound_leak(certify::HeadMaps(weights), length, 1, certify::Deadline(60));
}

double of_class(const certify::LeakBounds& bounds, certify::Side side, int position) {
  for (const auto& c : bounds.classes) {
    if (c.side == side && c.position == position) return c.upper;
  }
  return -1;
}

}  // namespace

TEST_CASE("every class bounds a dense grid, heads of one content coordinate") {
  std::mt19937_64 random(11);
  const task::Parameters parameters(4, 1);
  std::vector<double> points;
  for (int k = -8; k <= 8; ++k) points.push_back(k / 8.0);
  for (int round = 0; round < 12; ++round) {
    const auto weights = support::head_of(support::random_matrix(4, round % 2 ? 4 : 1, random),
                                          Eigen::MatrixXd::Identity(4, 4));
    const auto bounds = bound(weights, 4);
    const auto model = attention::model_from<double>(weights, Normaliser::softmax);
    support::for_each_grid_instance(parameters, points, [&](const auto& instance) {
      const auto a = attention::forward(model, task::tokens(parameters, instance)).attention[0][0];
      for (int i = 2; i <= 4; ++i) {
        if (i == instance.trigger) continue;
        const auto side = i < instance.trigger ? certify::Side::before : certify::Side::after;
        REQUIRE(1 - a(i - 1, 0) <= support::with_room(of_class(bounds, side, i)));
      }
    });
  }
}

TEST_CASE("exact where no square is dropped: certified and attained meet") {
  std::mt19937_64 random(12);
  for (int round = 0; round < 10; ++round) {
    const int d = 1 + round % 6, n = d + 3;
    Eigen::MatrixXd a = support::random_matrix(n, 0.5, random);
    for (int m = 0; m < d; ++m) a(2 + m, 2 + m) = std::fabs(a(2 + m, 2 + m));
    const certify::HeadMaps head(support::head_of(a, Eigen::MatrixXd::Identity(n, n)));
    const auto bounds = certify::bound_leak(head, 8, 1, certify::Deadline(60));
    const auto witness = certify::attack_leak(head, 8, bounds.query, {}, certify::Deadline(60));
    CAPTURE(round);
    CHECK(witness.value.lower() <= bounds.upper);
    CHECK(bounds.upper <= witness.value.lower() * (1 + 1e-9));
  }
}

TEST_CASE("the last digits count: 40-digit evaluations at the worst vertex stay below the bound") {
  // Small leaks, so that the bound keeps its relative precision; large logits, so that rounding shows.
  std::mt19937_64 random(13);
  constexpr int d = 11, n = d + 3;
  const numeric::BigPrecision precision(40);
  double closest = 1;
  for (int round = 0; round < 40; ++round) {
    Eigen::MatrixXd a = support::random_matrix(n, 20, random);
    for (int m = 0; m < d; ++m) a(2 + m, 2 + m) = std::fabs(a(2 + m, 2 + m));
    const certify::HeadMaps open(support::head_of(a, Eigen::MatrixXd::Identity(n, n)));
    a(n - 1, 0) += certify::maximum_of_norm(open, n - 1, n - 1, 0).upper() + 20;
    const auto weights = support::head_of(a, Eigen::MatrixXd::Identity(n, n));
    const auto bounds = bound(weights, 4);
    REQUIRE(bounds.complete);
    auto instance = task::zero_instance<double>(task::Parameters(4, d), 3);
    const Eigen::VectorXd slope =
        a.block(2, 2, d, d).transpose() * bounds.query + a.row(n - 1).segment(2, d).transpose();
    for (int m = 0; m < d; ++m) {
      instance.content(3, m) = bounds.query[m];
      instance.content(1, m) = instance.content(2, m) = slope[m] < 0 ? -1 : 1;
    }
    using numeric::BigInterval;
    const auto model = attention::model_from<BigInterval>(weights, Normaliser::softmax);
    const auto trace =
        attention::forward(model, task::tokens(task::Parameters(4, d), task::convert<BigInterval>(instance)));
    BigInterval leak(0);
    for (int k = 1; k < 4; ++k) leak += trace.attention[0][0](3, k);
    const auto ratio = upper_end(leak) / numeric::exact(bounds.upper);
    CHECK(ratio <= 1);
    closest = std::min(closest, 1 - ratio.convert_to<double>());
  }
  CHECK(closest < 1e-9);
}

TEST_CASE("an interior maximum of the self term is bounded: the dropped squares matter") {
  // Alone at position 2, the query's own logit is -10 + 3 c - 4 c^2: largest at c = 3/8, not at a vertex; the
  // keys along c reach -10 + 3 + |...|, so that the alternative bound does not hide the drop.
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(4, 4);
  a(3, 3) = -10;
  a(3, 2) = 3;
  a(2, 2) = -4;
  const auto weights = support::head_of(a, Eigen::MatrixXd::Identity(4, 4));
  const auto bounds = bound(weights, 4);
  const task::Parameters parameters(4, 1);
  auto instance = task::zero_instance<double>(parameters, 3);
  instance.content(1, 0) = 0.375;
  const auto model = attention::model_from<double>(weights, Normaliser::softmax);
  const double leak = 1 - attention::forward(model, task::tokens(parameters, instance)).attention[0][0](1, 0);
  const double at_vertex = std::exp(-10 + 3 - 4.0);
  CHECK(leak > 2 * at_vertex);
  CHECK(leak <= support::with_room(of_class(bounds, certify::Side::before, 2)));
}

TEST_CASE(
    "monotone in the position and in the length, and cheap in both; relaxations are looser, never tighter") {
  const auto weights = support::load("softmax_1h1d");
  const auto short_one = bound(weights, 16), long_one = bound(weights, 1000000);
  for (const auto* bounds : {&short_one, &long_one}) {
    for (std::size_t k = 1; k < bounds->classes.size(); ++k) {
      const auto &a = bounds->classes[k - 1], &b = bounds->classes[k];
      if (a.side == b.side) CHECK(a.upper <= b.upper);
    }
    CHECK(bounds->upper == bounds->classes.back().upper);
  }
  CHECK(of_class(long_one, certify::Side::after, 16) == short_one.upper);
  const auto relaxed = certify::bound_leak(certify::HeadMaps(weights), 16, 1, certify::Deadline(0));
  CHECK_FALSE(relaxed.complete);
  CHECK(relaxed.upper >= short_one.upper);
  CHECK(relaxed.upper <= 1.05 * short_one.upper);
}

TEST_CASE("threads do not matter; multiplying the content rows up only raises the bound") {
  auto weights = support::load("softmax_1h1d");
  const certify::HeadMaps head(weights);
  const auto one = certify::bound_leak(head, 16, 1, certify::Deadline(60));
  const auto three = certify::bound_leak(head, 16, 3, certify::Deadline(60));
  CHECK(one.upper == three.upper);
  CHECK(one.query == three.query);
  double before = 0;
  for (const double factor : {0.0, 0.5, 1.0, 2.0}) {
    auto scaled = weights;
    scaled.layers[0].heads[0].query.middleCols(2, 13) *= factor;  // a smaller box of query contents
    const double upper = bound(scaled, 16).upper;
    CHECK(upper >= before);
    before = upper;
  }
}
