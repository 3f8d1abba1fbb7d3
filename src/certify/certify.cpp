#include "certify/certify.hpp"

#include <ctime>
#include <stdexcept>

#include "certify/attack.hpp"
#include "certify/relu.hpp"
#include "certify/witness.hpp"
#include "errors.hpp"

namespace sinkproof::certify {

using attention::Normaliser;

namespace {

/// Appends the wall and CPU time since the last call (or the start).
class Stopwatch {
 public:
  explicit Stopwatch(std::vector<Timing>& timings) : timings_(timings) {}
  void lap(const char* part) {
    const auto wall = Clock::now();
    const std::clock_t cpu = std::clock();
    timings_.push_back({part, std::chrono::duration<double>(wall - wall_).count(),
                        static_cast<double>(cpu - cpu_) / CLOCKS_PER_SEC});
    wall_ = wall;
    cpu_ = cpu;
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<Timing>& timings_;
  Clock::time_point wall_ = Clock::now();
  std::clock_t cpu_ = std::clock();
};

/// The tight level need not reach below what an attack attains, nor, by less than a thousandth, down to it;
/// nor below what the other classes are bounded by.
double tight_goal(const Witness& attack, const LossBounds& bounds) {
  return std::max({attack.value.lower() * (1 + 0x1p-10), bounds.first, bounds.off_trigger});
}

void certify_softmax(const HeadMaps& head, int length, const Options& options, const Deadline& deadline,
                     Certificate& result, Stopwatch& watch) {
  const AttackOptions attack{.seed = options.seed, .threads = options.threads};
  const LeakBounds leak = bound_leak(head, length, options.threads, deadline);
  result.leak.upper = leak.upper;
  result.leak_classes = leak.classes;
  watch.lap("leak");
  result.leak_witness = attack_leak(head, length, leak.query, attack, deadline);
  watch.lap("leak attack");
  const TriggerLogits logits = trigger_logits(head, options.threads, deadline);
  result.loss_classes = bound_loss(head, leak.upper, logits);
  watch.lap("loss fast");
  result.loss_witness = attack_loss(head, Normaliser::softmax, length, attack, deadline);
  watch.lap("loss attack");
  LossBounds& loss = result.loss_classes;
  if (options.effort == Effort::tight) {
    const TightBound tight =
        tighten_at_trigger(head, length, logits, loss.at_trigger, tight_goal(result.loss_witness, loss),
                           options.threads, deadline);
    loss.at_trigger = tight.upper;
    loss.complete = tight.complete;
    watch.lap("loss tight");
  }
}

void certify_relu(const HeadMaps& head, int length, const Options& options, const Deadline& deadline,
                  Certificate& result, Stopwatch& watch) {
  const AttackOptions attack{.seed = options.seed, .threads = options.threads};
  const ReluBounds bounds = bound_relu(head, length, options.threads, deadline);
  result.leak.upper = bounds.weight;
  result.loss_classes = bounds.loss;
  watch.lap("bounds");
  result.leak_witness = attack_relu_weight(head, length, bounds.query);
  watch.lap("weight attack");
  result.loss_witness = attack_loss(head, Normaliser::relu, length, attack, deadline);
  watch.lap("loss attack");
}

void require_order(const Supremum& supremum, const char* what) {
  // An undecided upper bound is infinite; NaN must not pass.
  if (!(supremum.lower <= supremum.upper)) {
    throw std::logic_error(std::string("certify: a witness of ") + what + " attains " +
                           std::to_string(supremum.lower) + ", above the certified bound " +
                           std::to_string(supremum.upper) + ": a bug in this program");
  }
}

}  // namespace

Certificate certify_head(const attention::Weights& weights, Normaliser normaliser,
                         const task::Parameters& parameters, const Options& options) {
  if (normaliser != Normaliser::softmax && normaliser != Normaliser::relu) {
    throw InputError("attention: only softmax and relu heads are certified over their whole domain");
  }
  const Deadline deadline(options.time_limit);
  Certificate result;
  result.normaliser = normaliser;
  Stopwatch watch(result.timings);
  const HeadMaps head(weights);
  if (head.content() != parameters.content()) {
    throw InputError("content " + std::to_string(parameters.content()) +
                     " does not fit the weights' n = " + std::to_string(weights.dimension) + " = d + 3");
  }
  watch.lap("maps");
  if (normaliser == Normaliser::softmax) {
    certify_softmax(head, parameters.length(), options, deadline, result, watch);
  } else {
    certify_relu(head, parameters.length(), options, deadline, result, watch);
  }
  const auto attained = [](const Witness& witness) {
    return witness.value.is_undecided() ? 0 : std::max(witness.value.lower(), 0.0);
  };
  result.leak.lower = attained(result.leak_witness);
  result.loss.lower = attained(result.loss_witness);
  result.loss.upper = result.loss_classes.upper();
  require_order(result.leak, "the leak");
  require_order(result.loss, "the loss");
  return result;
}

}  // namespace sinkproof::certify
