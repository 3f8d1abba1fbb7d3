#include "certify/certify.hpp"

#include <chrono>

#include <doctest/doctest.h>

#include "errors.hpp"
#include "support.hpp"

using namespace sinkproof;
using attention::Normaliser;
using certify::Effort;

namespace {

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

attention::Weights with_entry(double value, int which) {
  auto weights = support::load("softmax_1h1d");
  auto& head = weights.layers[0].heads[0];
  (which == 0 ? head.query : which == 1 ? head.key : which == 2 ? head.value : head.output)(3, 5) = value;
  return weights;
}

}  // namespace

TEST_CASE("NaN, infinities and overflow: undecided or vacuous, never an error, and quickly") {
  const task::Parameters parameters(16, 13);
  // Sanitizers, under which the scale is small, are slow.
  const double room = 1 / std::min(support::scale(), 1.0);
  for (const auto normaliser : {Normaliser::softmax, Normaliser::relu}) {
    for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      for (int which = 0; which < 4; ++which) {
        certify::Certificate certificate;
        CHECK(seconds([&] {
                certificate = certify::certify_head(with_entry(bad, which), normaliser, parameters,
                                                    {.effort = Effort::tight});
              }) < room);
        CHECK(certificate.leak.is_undecided());
        CHECK(certificate.loss.is_undecided());
        CHECK(certificate.leak.lower == 0);
        CHECK(certificate.loss.lower == 0);
      }
    }
  }
  // 1e30 and 1e200 are numbers; products near 1e400 are not enclosed. 5e-324 is a number like any other.
  for (const double extreme : {1e30, 1e200, 1e308, 5e-324}) {
    for (int which = 0; which < (room > 1 ? 1 : 4); ++which) {
      certify::Certificate certificate;
      CHECK(seconds([&] {
              certificate = certify::certify_head(with_entry(extreme, which), Normaliser::softmax, parameters,
                                                  {.effort = Effort::fast});
            }) < 10 * room);
      CHECK(certificate.leak.upper >= certificate.leak.lower);
      CHECK(certificate.loss.upper >= certificate.loss.lower);
    }
  }
}

TEST_CASE("what is not a single head, or does not fit, is refused") {
  auto two = support::load("softmax_1h1d");
  two.layers[0].heads.push_back(two.layers[0].heads[0]);
  auto residual = support::load("softmax_1h1d");
  residual.residual = true;
  const task::Parameters parameters(16, 13);
  CHECK_THROWS_AS(certify::certify_head(two, Normaliser::softmax, parameters), InputError);
  CHECK_THROWS_AS(certify::certify_head(residual, Normaliser::softmax, parameters), InputError);
  CHECK_THROWS_AS(certify::certify_head(support::load("softmax_4h4d"), Normaliser::softmax, parameters),
                  InputError);
  CHECK_THROWS_AS(
      certify::certify_head(support::load("softmax_1h1d"), Normaliser::softmax, task::Parameters(16, 12)),
      InputError);
  CHECK_THROWS_AS(
      certify::certify_head(support::load("softmax_1h1d"), Normaliser::softmax_off_by_one, parameters),
      InputError);
}

TEST_CASE("a time limit ends with valid bounds; effort never loosens; the seed decides the result") {
  const task::Parameters parameters(16, 13);
  const auto weights = support::load("softmax_1h1d");
  for (const double limit : {0.0, 0.05}) {
    const auto certificate = certify::certify_head(weights, Normaliser::softmax, parameters,
                                                   {.effort = Effort::tight, .time_limit = limit});
    CHECK(certificate.leak.upper >= 2.06287e-4);
    CHECK(certificate.leak.upper <= 2.2e-4);
    CHECK(certificate.loss.upper >= 0.0191291);
    CHECK(certificate.loss.upper <= 0.1);
  }
  const auto one =
      certify::certify_head(weights, Normaliser::softmax, parameters, {.effort = Effort::tight, .seed = 4});
  const auto two = certify::certify_head(weights, Normaliser::softmax, parameters,
                                         {.effort = Effort::tight, .threads = 2, .seed = 4});
  CHECK(one.loss.upper == two.loss.upper);
  CHECK(one.loss.lower == two.loss.lower);
  CHECK(one.leak.upper == two.leak.upper);
  CHECK(one.leak.lower == two.leak.lower);
}

TEST_CASE("many content coordinates: a sound bound, quickly, with its ratio") {
  std::mt19937_64 random(61);
  const auto weights = support::good_head(125, 12, 0.004, 0.001, random);
  certify::Certificate certificate;
  CHECK(seconds([&] {
          certificate = certify::certify_head(weights, Normaliser::softmax, task::Parameters(16, 125),
                                              {.effort = Effort::tight, .time_limit = 20});
        }) < 60);
  CHECK(certificate.leak.lower > 0);
  CHECK(certificate.leak.upper < 5 * certificate.leak.lower);
  const auto model = attention::model_from<double>(weights, Normaliser::softmax);
  const task::Parameters parameters(16, 125);
  task::Sampler sampler(parameters, 3);
  for (int k = 0; k < 200; ++k) {
    const auto seen = support::evaluate(model, Normaliser::softmax, parameters, sampler.vertex());
    REQUIRE(seen.leak <= support::with_room(certificate.leak.upper));
    REQUIRE(seen.loss() <= support::with_room(certificate.loss.upper));
  }
}

TEST_CASE("Theorem 1 holds of the certified numbers: the certified Lambda's leak bound is not below a leak") {
  const auto certificate = certify::certify_head(support::load("softmax_1h1d"), Normaliser::softmax,
                                                 task::Parameters(16, 13), {.effort = Effort::tight});
  const double kappa = 13.0 / 60;
  CHECK(certificate.leak.lower <= certificate.loss.upper / (kappa - certificate.loss.upper));
}
