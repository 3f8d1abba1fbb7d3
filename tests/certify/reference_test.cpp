// The reference figures of theory.md section 7, pinned from both sides, for the weights of the paper's own
// code.
#include <doctest/doctest.h>

#include "support.hpp"

using namespace sinkproof;
using attention::Normaliser;
using certify::Effort;

namespace {

double cpu_of(const certify::Certificate& certificate, const std::string& part) {
  for (const auto& timing : certificate.timings) {
    if (timing.part == part) return timing.cpu;
  }
  return -1;
}

certify::Certificate certificate(const char* name, Normaliser normaliser, Effort effort) {
  return certify::certify_head(support::load(name), normaliser, task::Parameters(16, 13), {.effort = effort});
}

/// No random or vertex instance may attain more than what is certified of its class.
void sample(const certify::Certificate& certified, const char* name, long count, std::uint64_t seed) {
  const task::Parameters parameters(16, 13);
  const auto model = attention::model_from<double>(support::load(name), certified.normaliser);
  task::Sampler sampler(parameters, seed);
  for (long k = 0; k < count; ++k) {
    const auto seen = support::evaluate(model, certified.normaliser, parameters,
                                        k % 2 ? sampler.vertex() : sampler.uniform());
    REQUIRE(seen.leak <= support::with_room(certified.leak.upper));
    REQUIRE(seen.first <= support::with_room(certified.loss_classes.first));
    REQUIRE(seen.off_trigger <= support::with_room(certified.loss_classes.off_trigger));
    REQUIRE(seen.at_trigger <= support::with_room(certified.loss_classes.at_trigger));
  }
}

}  // namespace

TEST_CASE("softmax_1h1d: leak and loss, fast and tight") {
  const auto fast = certificate("softmax_1h1d", Normaliser::softmax, Effort::fast);
  const auto tight = certificate("softmax_1h1d", Normaliser::softmax, Effort::tight);
  for (const auto* c : {&fast, &tight}) {
    CHECK(c->leak.lower >= 2.06287e-4);
    CHECK(c->leak.upper <= 2.06400e-4);
    CHECK(c->leak.upper >= 2.06399e-4);
    CHECK(c->loss.lower >= 0.0191291);
    CHECK(c->loss.lower <= 0.0191293);
    CHECK(c->leak.upper <= 1.001 * c->leak.lower);
    CHECK(c->leak_witness.position == 16);
    CHECK(c->leak_witness.instance.trigger == 15);
    CHECK(c->loss_witness.position == 15);
    CHECK(c->loss_witness.coordinate == 2);  // the first content coordinate
  }
  CHECK(fast.loss.upper <= 1.3 * fast.loss.lower);
  CHECK(fast.loss.upper >= 0.0243);
  CHECK(tight.loss.upper <= 1.01 * tight.loss.lower);
  CHECK(tight.loss.upper <= fast.loss.upper);
  CHECK(tight.loss_classes.complete);
  sample(tight, "softmax_1h1d", support::scaled(500000), 101);
  // Loose ceilings on CPU time, an order above what they take: only a change of complexity trips them.
  CHECK(cpu_of(tight, "leak") < 0.1);
  CHECK(cpu_of(tight, "loss fast") < 0.05);
  CHECK(cpu_of(tight, "loss tight") < 10);
}

TEST_CASE("relu_1h1d: no attention off the trigger on the whole domain, and a tight Lambda") {
  const auto certified = certificate("relu_1h1d", Normaliser::relu, Effort::tight);
  CHECK(certified.leak.upper == 0);
  CHECK(certified.loss_classes.first == 0);
  CHECK(certified.loss_classes.off_trigger == 0);
  CHECK(certified.loss.lower >= 0.0470501);
  CHECK(certified.loss.upper <= 0.0470545);
  CHECK(certified.loss.upper <= 1.05 * certified.loss.lower);
  sample(certified, "relu_1h1d", support::scaled(500000), 102);
}
