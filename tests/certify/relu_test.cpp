#include "certify/relu.hpp"

#include <doctest/doctest.h>

#include "certify/attack.hpp"
#include "support.hpp"

using namespace sinkproof;
using attention::Normaliser;

namespace {

/// A = e_T (e_T + e_N)^T times 3 and noise, V = 1/3 on W and noise: logits stay positive at the trigger.
attention::Weights good_relu(int d, double noise, std::mt19937_64& random) {
  const int n = d + 3;
  Eigen::MatrixXd a = support::random_matrix(n, noise, random), v = support::random_matrix(n, noise, random);
  a(1, 1) += 3, a(1, n - 1) += 3, a(1, 0) += 1;
  v += Eigen::MatrixXd::Identity(n, n) / 3;
  return support::head_of(a, v);
}

double check_head(const attention::Weights& weights, int length, std::uint64_t seed) {
  const task::Parameters parameters(length, weights.dimension - 3);
  const certify::HeadMaps head(weights);
  const auto bounds = certify::bound_relu(head, length, 1, certify::Deadline(60));
  const auto relaxed = certify::bound_relu(head, length, 1, certify::Deadline(0));
  CHECK_FALSE(relaxed.loss.complete);
  const auto model = attention::model_from<double>(weights, Normaliser::relu);
  const auto visit = [&](const auto& instance) {
    const auto seen = support::evaluate(model, Normaliser::relu, parameters, instance);
    for (const auto* b : {&bounds, &relaxed}) {
      REQUIRE(seen.leak <= support::with_room(b->weight));
      REQUIRE(seen.first <= support::with_room(b->loss.first));
      REQUIRE(seen.off_trigger <= support::with_room(b->loss.off_trigger));
      REQUIRE(seen.at_trigger <= support::with_room(b->loss.at_trigger));
    }
    const auto a = attention::forward(model, task::tokens(parameters, instance)).attention[0][0];
    for (int i = 1; i < length; ++i) {
      if (i + 1 != instance.trigger) REQUIRE(a(i, 0) <= support::with_room(bounds.sink_weight));
    }
  };
  if (parameters.content() == 1 && length == 4) {
    support::for_each_grid_instance(parameters, {-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1}, visit);
  }
  task::Sampler sampler(parameters, seed);
  for (int k = 0; k < 200; ++k) visit(k % 2 ? sampler.vertex() : sampler.uniform());
  const auto witness = certify::attack_loss(head, Normaliser::relu, length, {.seed = seed, .restarts = 4},
                                            certify::Deadline(60));
  REQUIRE(witness.value.lower() <= bounds.loss.upper());
  const auto weight = certify::attack_relu_weight(head, length, bounds.query);
  REQUIRE(weight.value.lower() <= bounds.weight);
  return bounds.loss.upper() / witness.value.lower();
}

}  // namespace

TEST_CASE("heads that nearly solve the task: every instance below the bounds, which are nearly attained") {
  std::mt19937_64 random(41);
  double worst = 0;
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    const int d = 1 + round % 3;
    worst = std::max(worst, check_head(good_relu(d, round % 2 ? 0.02 : 0.1, random), d == 1 ? 4 : 6,
                                       static_cast<std::uint64_t>(round)));
  }
  CHECK(worst < 1.3);
}

TEST_CASE("any heads: logits of both signs, zero and huge maps") {
  std::mt19937_64 random(42);
  for (int round = 0; round < 16; ++round) {
    CAPTURE(round);
    const int d = round % 4, n = d + 3;
    check_head(support::head_of(support::random_matrix(n, round % 2 ? 1 : 30, random),
                                support::random_matrix(n, 1, random)),
               4, static_cast<std::uint64_t>(round));
  }
  check_head(good_relu(1, 0.9, random), 4, 1);  // some logits change their sign
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(4, 4);
  a(1, 1) = a(1, 3) = 3;
  a(1, 0) = 1;
  a(2, 2) = -2;  // interior maximum of the query's own logit, and a value that turns with it
  Eigen::MatrixXd v = Eigen::MatrixXd::Identity(4, 4) / 3;
  v(1, 2) = 0.2;
  check_head(support::head_of(a, v), 4, 2);
}

TEST_CASE("an optimum inside the box, one for each slack") {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(4, 4), v = Eigen::MatrixXd::Identity(4, 4) / 3;
  a(1, 1) = a(1, 3) = 3;
  SUBCASE("a key's own coordinate: 0.9 + 0.3 t - t^2 / 3") {
    a(1, 2) = 1;
    v(2, 1) = v(2, 3) = -0.3;
  }
  SUBCASE("the self key's square: 1.2 (3 - 2 c^2) - 1") {
    a(2, 2) = -2;
    v(1, 1) = 1.2;
  }
  SUBCASE("the self key's value turns against its logit: (3 + c) (1 - c / 2) - 1") {
    a(2, 1) = 1;
    v(1, 1) = 1;
    v(1, 2) = -0.5;
  }
  SUBCASE("BOS's logit changes its sign: 2 + c - max(0, 2 c)") {
    a(2, 0) = 2;
    a(2, 1) = 1;
    v(1, 1) = 1;
    v(1, 0) = -1;
  }
  check_head(support::head_of(a, v), 4, 3);
}

TEST_CASE("the same slack where the output coordinate is one of two contents") {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(5, 5), v = Eigen::MatrixXd::Zero(5, 5);
  a(1, 1) = a(1, 4) = 3;
  a(3, 1) = 1;
  v(2, 1) = 1;
  v(2, 3) = -0.5;
  const task::Parameters parameters(4, 2);
  const auto weights = support::head_of(a, v);
  const auto bounds = certify::bound_relu(certify::HeadMaps(weights), 4, 1, certify::Deadline(60));
  auto instance = task::zero_instance<double>(parameters, 3);
  instance.content.col(0).setConstant(-1);
  instance.content(1, 1) = -1;
  instance.content(2, 1) = -0.5;
  const auto model = attention::model_from<double>(weights, Normaliser::relu);
  const auto seen = support::evaluate(model, Normaliser::relu, parameters, instance);
  CHECK(seen.at_trigger == doctest::Approx((3.125 + 1 + 1.5 + 1) / 2));
  CHECK(seen.at_trigger <= support::with_room(bounds.loss.at_trigger));
}
