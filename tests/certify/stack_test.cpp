#include "certify/stack.hpp"

#include <chrono>
#include <random>

#include <doctest/doctest.h>

#include "attention/forward.hpp"
#include "certify/sample.hpp"
#include "errors.hpp"
#include "formats/weights_file.hpp"

using namespace sinkproof;
using attention::Normaliser;
using attention::Weights;
using certify::certify_stack;
using numeric::Interval;

namespace {

Weights random_stack(std::mt19937_64& bits, int n, int layers, int heads, double size, bool residual) {
  Weights weights{.layers = {}, .dimension = n, .residual = residual, .scale = {}, .layout = "paper"};
  const auto entry = [&](double) { return size * (static_cast<double>(bits() >> 11) * 0x1p-52 - 1); };
  for (int l = 0; l < layers; ++l) {
    auto& layer = weights.layers.emplace_back();
    for (int h = 0; h < heads; ++h) {
      auto& head = layer.heads.emplace_back();
      for (Eigen::MatrixXd* w : {&head.query, &head.key, &head.value, &head.output})
        *w = Eigen::MatrixXd::Zero(n, n).unaryExpr(entry);
    }
  }
  return weights;
}

/// Every number seen on the instances lies within the certificate; so do the witnesses.
void check(const certify::StackCertificate& certificate, const Weights& weights, Normaliser normaliser,
           const task::Parameters& parameters, const std::vector<task::Instance<double>>& instances) {
  const auto model = attention::model_from<Interval>(weights, normaliser);
  const auto seen = certify::evaluate(model, parameters, instances, 1);
  REQUIRE(!certificate.is_contradiction());
  REQUIRE(seen.heads.size() == certificate.heads.size());
  REQUIRE(!(seen.loss.value.lower() > certificate.loss.upper));
  for (std::size_t h = 0; h < seen.heads.size(); ++h) {
    const auto& head = certificate.heads[h];
    REQUIRE(!(seen.heads[h].least_sink_weight.value.upper() < head.least_sink_weight.lower));
    REQUIRE(!(seen.heads[h].largest_sink_weight.value.lower() > head.largest_sink_weight.upper));
    for (const auto* extreme : {&head.least_sink_weight, &head.largest_sink_weight}) {
      const auto& witness = extreme->witness;
      REQUIRE(witness.position >= 2);
      REQUIRE(witness.position != witness.instance.trigger);
      const auto trace =
          attention::forward(model, task::tokens(parameters, task::convert<Interval>(witness.instance)));
      REQUIRE(
          trace.attention[static_cast<std::size_t>(head.layer - 1)][static_cast<std::size_t>(head.head - 1)](
              witness.position - 1, 0) == witness.value);
    }
  }
}

/// Every instance with contents on a grid of `steps` points a coordinate.
std::vector<task::Instance<double>> grid(const task::Parameters& parameters, int steps) {
  std::vector<task::Instance<double>> instances;
  const Eigen::Index count = (parameters.length() - 1) * static_cast<Eigen::Index>(parameters.content());
  for (int trigger = 3; trigger <= parameters.length(); ++trigger) {
    std::vector<int> digit(static_cast<std::size_t>(count), 0);
    for (bool more = true; more;) {
      auto instance = task::zero_instance<double>(parameters, trigger);
      for (Eigen::Index k = 0; k < count; ++k)
        instance.content(1 + k / parameters.content(), k % parameters.content()) =
            2.0 * digit[static_cast<std::size_t>(k)] / (steps - 1) - 1;
      instances.push_back(instance);
      more = false;
      for (int& value : digit) {
        value = (value + 1) % steps;
        if (value > 0) {
          more = true;
          break;
        }
      }
    }
  }
  return instances;
}

}  // namespace

TEST_CASE("trained stacks: certificates hold on samples, and are of use") {
  const task::Parameters parameters(16, 13);
  struct Row {
    const char* name;
    double loss, least;
  };
  for (const Row row : {Row{"softmax_1h1d", 0.05, 0.9997}, Row{"relu_1h1d", 0.1, 0},
                        Row{"softmax_2h2d", 0.8, 0.7}, Row{"relu_2h2d", 0.8, 0}}) {
    CAPTURE(row.name);
    const Weights weights =
        formats::read_weights(SINKPROOF_DATA_DIR "/weights/" + std::string(row.name) + ".npz");
    const auto normaliser = row.name[0] == 's' ? Normaliser::softmax : Normaliser::relu;
    const auto certificate = certify_stack(weights, normaliser, parameters, {.seed = 2, .restarts = 1});
    check(certificate, weights, normaliser, parameters, certify::sample_instances(parameters, 200, 200, 7));
    CHECK(certificate.complete);
    CHECK(certificate.loss.upper < row.loss);
    CHECK(certificate.loss.lower > 0.015);
    CHECK(certificate.loss.method == certify::StackMethod::affine);
    for (const auto& head : certificate.heads) CHECK(head.least_sink_weight.lower >= row.least);
  }
}

TEST_CASE("small random stacks against dense grids") {
  std::mt19937_64 bits(21);
  for (int trial = 0; trial < 60; ++trial) {
    CAPTURE(trial);
    const bool flat = trial % 3 != 0;
    const task::Parameters parameters(flat ? 4 + trial % 2 : 4, flat ? 1 : 2);
    const auto normaliser = trial % 4 == 3 ? Normaliser::relu : Normaliser::softmax;
    const double size = 0.25 * (1 << trial % 4);
    const Weights weights =
        random_stack(bits, parameters.dimension(), 1 + trial % 3, 1 + trial % 2, size, trial % 5 != 0);
    const auto certificate = certify_stack(weights, normaliser, parameters, {.seed = 3, .restarts = 1});
    check(certificate, weights, normaliser, parameters,
          grid(parameters, flat ? (parameters.length() == 4 ? 7 : 5) : 2));
  }
}

TEST_CASE("content-free stacks are certified tightly") {
  // d = 0 leaves only the trigger position to choose: certified and attained meet up to rounding.
  std::mt19937_64 bits(22);
  const task::Parameters parameters(6, 0);
  for (int trial = 0; trial < 20; ++trial) {
    const auto normaliser = trial % 2 == 0 ? Normaliser::softmax : Normaliser::relu;
    const Weights weights = random_stack(bits, 3, 2, 2, 1, true);
    const auto certificate = certify_stack(weights, normaliser, parameters, {});
    check(certificate, weights, normaliser, parameters, grid(parameters, 2));
    CHECK(certificate.loss.upper - certificate.loss.lower < 1e-9 * (1 + certificate.loss.upper));
    for (const auto& head : certificate.heads) {
      CHECK(head.least_sink_weight.upper - head.least_sink_weight.lower <
            1e-9 * (1 + head.least_sink_weight.upper));
      CHECK(head.largest_sink_weight.upper - head.largest_sink_weight.lower <
            1e-9 * (1 + head.largest_sink_weight.upper));
    }
  }
}

TEST_CASE("linear stacks: every coordinate of every token has a symbol of its own") {
  // Queries 0 make attention uniform and the error linear in the contents, with coefficients of both signs:
  // its supremum is the sum of their sizes, and contents that shared a symbol would cancel.
  std::mt19937_64 bits(26);
  const task::Parameters parameters(6, 2);
  for (int trial = 0; trial < 20; ++trial) {
    CAPTURE(trial);
    Weights weights = random_stack(bits, 5, 2, 1, 1, true);
    for (auto& layer : weights.layers)
      for (auto& head : layer.heads) head.query.setZero();
    const auto model = attention::model_from<double>(weights, Normaliser::softmax);
    double supremum = 0;
    for (int trigger = 3; trigger <= parameters.length(); ++trigger) {
      const auto error = [&](int row, int column, double content) {
        auto instance = task::zero_instance<double>(parameters, trigger);
        if (row > 0) instance.content(row, column) = content;
        return Eigen::MatrixXd(attention::forward(model, task::tokens(parameters, instance)).output -
                               task::residual_target(parameters, instance));
      };
      const Eigen::MatrixXd centre = error(0, 0, 0);
      Eigen::MatrixXd sum = centre.cwiseAbs();
      for (int row = 1; row < parameters.length(); ++row)
        for (int m = 0; m < parameters.content(); ++m) sum += (error(row, m, 1) - centre).cwiseAbs();
      supremum = std::max(supremum, sum.maxCoeff());
    }
    const auto certificate = certify_stack(weights, Normaliser::softmax, parameters, {.seed = 4});
    CHECK(certificate.loss.upper >= supremum * (1 - 1e-12));
    CHECK(certificate.loss.upper < supremum * (1 + 1e-9));
    CHECK(certificate.loss.lower > 0.9 * supremum);
  }
}

TEST_CASE("nasty stacks") {
  std::mt19937_64 bits(23);
  const task::Parameters parameters(5, 1);
  const auto instances = grid(parameters, 3);
  for (const auto normaliser : {Normaliser::softmax, Normaliser::relu}) {
    for (const double size : {0x1p-600, 1e-12, 40.0, 1e6}) {
      CAPTURE(size);
      const Weights weights = random_stack(bits, 4, 2, 2, size, true);
      check(certify_stack(weights, normaliser, parameters, {}), weights, normaliser, parameters, instances);
    }
    Weights equal_logits = random_stack(bits, 4, 2, 2, 1, true);
    for (auto& layer : equal_logits.layers)
      for (auto& head : layer.heads) head.query.setZero();
    const auto equal = certify_stack(equal_logits, normaliser, parameters, {});
    check(equal, equal_logits, normaliser, parameters, instances);
    if (normaliser == Normaliser::softmax) {
      CHECK(equal.heads[3].least_sink_weight.lower > 0.2 - 1e-9);
      CHECK(equal.heads[3].largest_sink_weight.upper < 0.5 + 1e-9);
    }
    Weights no_values = random_stack(bits, 4, 2, 2, 1, true);
    for (auto& layer : no_values.layers)
      for (auto& head : layer.heads) head.value.setZero();
    const auto silent = certify_stack(no_values, normaliser, parameters, {});
    check(silent, no_values, normaliser, parameters, instances);
    CHECK(silent.loss.upper < 1 + 1e-9);
  }
}

TEST_CASE("NaN, infinite and huge weights: nothing is known, quickly") {
  const task::Parameters parameters(16, 13);
  std::mt19937_64 bits(24);
  for (const auto normaliser : {Normaliser::softmax, Normaliser::relu}) {
    for (const double value : {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL, 1e30, 1e300}) {
      Weights weights = random_stack(bits, 16, 2, 2, 1, true);
      for (Eigen::MatrixXd* w : {&weights.layers[1].heads[0].query, &weights.layers[1].heads[0].key})
        (*w)(2, 3) = value;
      const auto start = std::chrono::steady_clock::now();
      const auto certificate = certify_stack(weights, normaliser, parameters, {.restarts = 1});
      CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
      CHECK(!certificate.is_contradiction());
      const auto& head = certificate.heads[2].least_sink_weight;
      CHECK(head.lower == 0);
      CHECK(certificate.heads[2].largest_sink_weight.upper >= (normaliser == Normaliser::softmax ? 1 : 1e29));
    }
  }
}

TEST_CASE("a time limit leaves sound bounds; threads change nothing; other inputs are refused") {
  const task::Parameters parameters(6, 2);
  std::mt19937_64 bits(25);
  const Weights weights = random_stack(bits, 5, 2, 2, 0.5, true);
  const auto late = certify_stack(weights, Normaliser::softmax, parameters, {.time_limit = 0});
  CHECK(!late.complete);
  CHECK(late.loss.upper == HUGE_VAL);
  CHECK(late.loss.method == certify::StackMethod::none);
  CHECK(late.heads[3].least_sink_weight.lower == 0);
  CHECK(late.heads[3].largest_sink_weight.upper == 1);
  check(late, weights, Normaliser::softmax, parameters, grid(parameters, 2));
  const auto one = certify_stack(weights, Normaliser::softmax, parameters, {.seed = 5});
  const auto two = certify_stack(weights, Normaliser::softmax, parameters, {.seed = 5, .threads = 2});
  CHECK(one.loss.lower == two.loss.lower);
  CHECK(one.loss.upper == two.loss.upper);
  CHECK(one.loss.witness.instance.content == two.loss.witness.instance.content);
  for (std::size_t h = 0; h < 4; ++h) {
    CHECK(one.heads[h].least_sink_weight.upper == two.heads[h].least_sink_weight.upper);
    CHECK(one.heads[h].largest_sink_weight.lower == two.heads[h].largest_sink_weight.lower);
  }
  const auto too_long = certify_stack(weights, Normaliser::softmax, task::Parameters(1L << 16, 2));
  CHECK(!too_long.complete);
  CHECK(too_long.loss.upper == HUGE_VAL);
  CHECK_THROWS_AS(certify_stack(weights, Normaliser::softmax_off_by_one, parameters), InputError);
  CHECK_THROWS_AS(certify_stack(weights, Normaliser::softmax, task::Parameters(6, 3)), InputError);
}
