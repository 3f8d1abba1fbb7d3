#include "certify/attack.hpp"

#include <doctest/doctest.h>

#include "support.hpp"

using namespace sinkproof;
using attention::Normaliser;

TEST_CASE("a function of the seed, not of the threads; a witness lies in the box and replays") {
  const auto weights = support::load("softmax_1h1d");
  const certify::HeadMaps head(weights);
  const auto attack = [&](std::uint64_t seed, int threads) {
    return certify::attack_loss(head, Normaliser::softmax, 16,
                                {.seed = seed, .threads = threads, .restarts = 2}, certify::Deadline(60));
  };
  const auto one = attack(9, 1), three = attack(9, 3);
  CHECK(one.value == three.value);
  CHECK(one.instance.content == three.instance.content);
  CHECK(one.instance.trigger == three.instance.trigger);
  CHECK(one.instance.content.cwiseAbs().maxCoeff() <= 1);
  CHECK(one.instance.content.rows() == 16);
  const auto exact = task::convert<numeric::Interval>(one.instance);
  const task::Parameters parameters(16, 13);
  const auto model = attention::model_from<numeric::Interval>(weights, Normaliser::softmax);
  const auto output = attention::forward(model, task::tokens(parameters, exact)).output;
  const auto target = task::target(parameters, exact);
  const auto replayed =
      abs(output(one.position - 1, one.coordinate) - target(one.position - 1, one.coordinate));
  CHECK(replayed.lower() <= one.value.upper());
  CHECK(one.value.lower() <= replayed.upper());
  CHECK(replayed.lower() >= 0.019);
}

TEST_CASE("finds what a dense grid finds, heads of one content coordinate") {
  std::mt19937_64 random(51);
  for (int round = 0; round < 10; ++round) {
    CAPTURE(round);
    const bool relu = round % 2;
    const auto normaliser = relu ? Normaliser::relu : Normaliser::softmax;
    const auto weights = support::good_head(1, 3, 0.3, 0.2, random);
    const task::Parameters parameters(4, 1);
    const auto model = attention::model_from<double>(weights, normaliser);
    double grid = 0;
    support::for_each_grid_instance(parameters, {-1, -0.5, 0, 0.5, 1}, [&](const auto& instance) {
      grid = std::max(grid, support::evaluate(model, normaliser, parameters, instance).loss());
    });
    const auto witness = certify::attack_loss(certify::HeadMaps(weights), normaliser, 4, {.restarts = 6},
                                              certify::Deadline(60));
    CHECK(witness.value.lower() >= 0.98 * grid);
  }
}

TEST_CASE("position 1 counts: where V e_B is large, it is the witness") {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(4, 4), v = Eigen::MatrixXd::Zero(4, 4);
  v(2, 0) = 7;
  const auto witness = certify::attack_loss(certify::HeadMaps(support::head_of(a, v)), Normaliser::softmax, 4,
                                            {}, certify::Deadline(60));
  CHECK(witness.position == 1);
  CHECK(witness.value.lower() == doctest::Approx(7));
}
