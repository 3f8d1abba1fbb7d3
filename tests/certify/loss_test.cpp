#include "certify/loss.hpp"

#include <doctest/doctest.h>

#include "certify/attack.hpp"
#include "support.hpp"

using namespace sinkproof;
using attention::Normaliser;
using certify::Effort;

namespace {

struct Bounds {
  certify::LossBounds fast;
  double tight = 0;  ///< at the trigger, with goal 0
  double loss() const { return std::max({fast.first, fast.off_trigger, tight}); }
};
Bounds bounds_of(const attention::Weights& weights, int length) {
  const certify::HeadMaps head(weights);
  const certify::Deadline deadline(60);
  const auto logits = certify::trigger_logits(head, 1, deadline);
  const auto leak = certify::bound_leak(head, length, 1, deadline);
  Bounds bounds{.fast = certify::bound_loss(head, leak.upper, logits)};
  bounds.tight =
      certify::tighten_at_trigger(head, length, logits, bounds.fast.at_trigger, 0, 1, deadline).upper;
  return bounds;
}

void check_instance(const Bounds& bounds, const support::Attained& seen) {
  REQUIRE(seen.first <= support::with_room(bounds.fast.first));
  REQUIRE(seen.off_trigger <= support::with_room(bounds.fast.off_trigger));
  REQUIRE(seen.at_trigger <= support::with_room(bounds.fast.at_trigger));
  REQUIRE(seen.at_trigger <= support::with_room(bounds.tight));
}

/// A dense grid of instances where the parameters are small, random ones and an attack in any case.
void check_head(const attention::Weights& weights, int length, std::uint64_t seed) {
  const task::Parameters parameters(length, weights.dimension - 3);
  const auto bounds = bounds_of(weights, length);
  REQUIRE(bounds.tight <= bounds.fast.at_trigger);  // more effort never loosens
  const auto model = attention::model_from<double>(weights, Normaliser::softmax);
  const auto visit = [&](const auto& instance) {
    check_instance(bounds, support::evaluate(model, Normaliser::softmax, parameters, instance));
  };
  if (parameters.content() == 1 && length == 4) {
    support::for_each_grid_instance(parameters, {-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1}, visit);
  }
  task::Sampler sampler(parameters, seed);
  for (int k = 0; k < 200; ++k) visit(k % 2 ? sampler.vertex() : sampler.uniform());
  const auto witness = certify::attack_loss(certify::HeadMaps(weights), Normaliser::softmax, length,
                                            {.seed = seed, .restarts = 2}, certify::Deadline(60));
  REQUIRE(witness.value.lower() <= bounds.loss());
}

Eigen::MatrixXd zero(int n) {
  return Eigen::MatrixXd::Zero(n, n);
}
Eigen::MatrixXd identity(int n) {
  return Eigen::MatrixXd::Identity(n, n);
}

}  // namespace

TEST_CASE("random heads: dense grids, samples and attacks stay below every bound") {
  std::mt19937_64 random(31);
  for (int round = 0; round < 24; ++round) {
    CAPTURE(round);
    const int d = round % 4;
    const auto weights = round % 3 == 0 ? support::head_of(support::random_matrix(d + 3, 2, random),
                                                           support::random_matrix(d + 3, 1, random))
                                        : support::good_head(d, 3, round % 3 == 1 ? 0.1 : 0.6, 0.1, random);
    check_head(weights, d == 1 ? 4 : 4 + round % 5, static_cast<std::uint64_t>(round));
  }
}

TEST_CASE("nasty heads") {
  std::mt19937_64 random(32);
  const int n = 4;
  SUBCASE("huge logits") {
    check_head(support::head_of(support::random_matrix(n, 500, random), identity(n)), 4, 1);
  }
  SUBCASE("equal logits") {
    check_head(support::head_of(zero(n), identity(n)), 4, 2);
  }
  SUBCASE("zero V") {
    check_head(support::head_of(support::random_matrix(n, 1, random), zero(n)), 4, 3);
  }
  SUBCASE("sign ties: every slope 0 at some vertex") {
    Eigen::MatrixXd a = zero(5);
    a(1, 2) = 0.5, a(2, 2) = 0.5, a(3, 2) = -0.25, a(4, 2) = 0.25;
    check_head(support::head_of(a, identity(5)), 5, 4);
  }
  SUBCASE("one coordinate dominates") {
    Eigen::MatrixXd a = support::random_matrix(6, 0.01, random), v = identity(6);
    a(1, 3) = 2, v(2, 3) = 3;
    check_head(support::head_of(a, v), 4, 5);
  }
  SUBCASE("rank-deficient") {
    const Eigen::MatrixXd a = support::random_matrix(n, 1, random);
    check_head(support::head_of(a.col(0) * a.row(1), a.col(2) * a.row(3)), 4, 6);
  }
  SUBCASE("content-independent") {
    Eigen::MatrixXd a = support::random_matrix(n, 2, random);
    a.row(2).setZero(), a.col(2).setZero();
    check_head(support::head_of(a, identity(n)), 4, 7);
  }
  SUBCASE("interior maximum of the self term, at the trigger") {
    Eigen::MatrixXd a = zero(n);
    a(1, 0) = -3, a(2, 2) = -1.5, a(1, 2) = 0.4;
    check_head(support::head_of(a, identity(n)), 4, 8);
  }
  SUBCASE("squares of both signs") {
    Eigen::MatrixXd a = support::random_matrix(5, 0.1, random);
    a(2, 2) = -0.8, a(3, 3) = 0.8;
    check_head(support::head_of(a, identity(5)), 4, 9);
  }
  SUBCASE("BOS has a large value and turns with the query") {
    Eigen::MatrixXd a = zero(n), v = identity(n);
    a(2, 0) = 1.5, v(2, 0) = 2;
    check_head(support::head_of(a, v), 4, 10);
  }
  SUBCASE("V moves content between coordinates") {
    check_head(support::head_of(support::random_matrix(5, 0.3, random), support::random_matrix(5, 1, random)),
               4, 11);
  }
  SUBCASE("subnormal entries") {
    check_head(support::head_of(support::random_matrix(n, 1e-310, random), identity(n)), 4, 12);
  }
}

TEST_CASE(
    "the logits' spread covers every query of a grid, where the self key decides and its square is largest "
    "inside") {
  std::mt19937_64 random(34);
  for (int round = 0; round < 40; ++round) {
    Eigen::MatrixXd a = support::random_matrix(5, 0.2, random);
    a(1, 1) += round % 2 ? 3 : -3;  // the self key leads or trails
    a(2, 2) = round % 4 < 2 ? -1.5 : 1.5, a(3, 3) = round % 8 < 4 ? -1 : 1;
    const certify::HeadMaps head(support::head_of(a, identity(5)));
    const auto logits = certify::trigger_logits(head, 1, certify::Deadline(60));
    const auto relaxed = certify::trigger_logits(head, 1, certify::Deadline(0));
    double range = 0, over_key = -1e9, over_self = -1e9;
    for (int s = 0; s <= 20; ++s) {
      for (int t = 0; t <= 20; ++t) {
        Eigen::VectorXd x(5);
        x << 0, 1, s / 10.0 - 1, t / 10.0 - 1, 0;
        const Eigen::VectorXd row = a.transpose() * x;
        const double norm = std::fabs(row[2]) + std::fabs(row[3]), self = row.dot(x);
        range = std::max(range, std::max(row[4] + norm, self) - std::min(row[4] - norm, self));
        over_key = std::max(over_key, row[0] - (row[4] - norm));
        over_self = std::max(over_self, row[0] - self);
      }
    }
    for (const auto* bound : {&logits, &relaxed}) {
      CHECK(range <= support::with_room(bound->range.upper()));
      CHECK(over_key <= bound->bos_over_key.upper() + 1e-12);
      CHECK(over_self <= bound->bos_over_self.upper() + 1e-12);
    }
  }
}

TEST_CASE("no content at all: the bound is nearly attained") {
  std::mt19937_64 random(33);
  for (int round = 0; round < 10; ++round) {
    const auto weights = support::good_head(0, 2, 0.2, 0.1, random);
    const auto bounds = bounds_of(weights, 6);
    const task::Parameters parameters(6, 0);
    const auto model = attention::model_from<double>(weights, Normaliser::softmax);
    double attained = 0;
    for (int j = 3; j <= 6; ++j) {
      const auto seen = support::evaluate(model, Normaliser::softmax, parameters,
                                          task::zero_instance<double>(parameters, j));
      attained = std::max(attained, seen.at_trigger);
    }
    CHECK(attained <= bounds.tight);
    CHECK(bounds.tight <= 1.01 * attained + 1e-9);
  }
}

TEST_CASE("a larger content box, a longer sequence: bounds only grow; a goal changes only what is below it") {
  auto weights = support::load("softmax_1h1d");
  const certify::HeadMaps head(weights);
  const certify::Deadline deadline(60);
  const auto logits = certify::trigger_logits(head, 2, deadline);
  const auto fast = certify::bound_loss(head, certify::bound_leak(head, 16, 1, deadline).upper, logits);
  CHECK(certify::trigger_logits(head, 1, deadline).range == logits.range);
  const auto tight = [&](double goal, int threads) {
    return certify::tighten_at_trigger(head, 16, logits, fast.at_trigger, goal, threads, deadline).upper;
  };
  CHECK(tight(0.02, 1) == 0.02);
  CHECK(tight(1, 1) == fast.at_trigger);
  CHECK(tight(0.0192, 1) == tight(0.0192, 2));
  const certify::Deadline past(0);
  const auto cut = certify::tighten_at_trigger(head, 16, logits, fast.at_trigger, 0.0192, 1, past);
  CHECK_FALSE(cut.complete);
  CHECK(cut.upper <= fast.at_trigger);
  const auto relaxed = certify::trigger_logits(head, 1, past);
  CHECK(relaxed.range.upper() >= logits.range.upper());
  CHECK(relaxed.bos_over_key.upper() >= logits.bos_over_key.upper());
  CHECK(relaxed.bos_over_self.upper() >= logits.bos_over_self.upper());
  double before = 0;
  for (const double factor : {0.0, 0.5, 1.0, 2.0}) {
    auto scaled = weights;
    scaled.layers[0].heads[0].query.middleCols(2, 13) *= factor;
    scaled.layers[0].heads[0].key.middleCols(2, 13) *= factor;
    const certify::HeadMaps maps(scaled);
    const double upper =
        certify::bound_loss(maps, 0.001, certify::trigger_logits(maps, 1, deadline)).at_trigger;
    CHECK(upper >= before);
    before = upper;
  }
}

TEST_CASE(
    "whenever the deadline comes, the bound is one: never below what an attack attains, never above fast") {
  const certify::HeadMaps head(support::load("softmax_1h1d"));
  const certify::Deadline none(60);
  const auto logits = certify::trigger_logits(head, 1, none);
  const auto leak = certify::bound_leak(head, 16, 1, none);
  const double fast = certify::bound_loss(head, leak.upper, logits).at_trigger;
  bool cut_short = false;
  for (const double seconds : {0.0, 1e-3, 0.02, 0.1, 0.3, 1.0, 2.0}) {
    CAPTURE(seconds);
    // With goal 0 only the queries that were treated can have lowered it.
    const auto tight = certify::tighten_at_trigger(head, 16, logits, fast, 0, 1, certify::Deadline(seconds));
    CHECK(tight.upper >= 0.019129);
    CHECK(tight.upper <= fast);
    cut_short = cut_short || !tight.complete;
  }
  CHECK(cut_short);
}
