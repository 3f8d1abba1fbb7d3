#include "app/weights_check.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "errors.hpp"
#include "formats/sha256.hpp"
#include "theory/corollary5.hpp"
#include "theory/theorem1.hpp"

namespace sinkproof::app {
namespace {

using attention::Normaliser;
using numeric::Interval;
using numeric::Rational;
using numeric::Verdict;

constexpr int longest_sampled = 256;

certify::Witness as_witness(const certify::StackWitness& found) {
  return {found.instance, found.position, found.coordinate, found.value};
}

/// Certifies a stack. Its leak is that of the head with the least BOS weight; ReLU stacks have none.
void certify_the_stack(WeightsChecked& checked, Normaliser normaliser, const WeightsRequest& request) {
  checked.stack = certify::certify_stack(checked.weights, normaliser, checked.parameters,
                                         {.seed = request.certify.seed,
                                          .threads = request.certify.threads,
                                          .time_limit = request.certify.time_limit});
  if (checked.stack->is_contradiction()) {
    std::string found = "a stack's witness lies beyond a certified bound:";
    const auto add = [&](const std::string& what, const certify::StackExtreme& extreme) {
      if (extreme.is_contradiction())
        found +=
            fmt::format("\n{}: lower {}, upper {}, on\n{}", what, extreme.lower, extreme.upper,
                        task::to_text(checked.parameters, task::convert<Rational>(extreme.witness.instance)));
    };
    add("loss", checked.stack->loss);
    for (const auto& head : checked.stack->heads) {
      add(fmt::format("least BOS weight of layer {} head {}", head.layer, head.head), head.least_sink_weight);
      add(fmt::format("largest BOS weight of layer {} head {}", head.layer, head.head),
          head.largest_sink_weight);
    }
    throw std::logic_error(found);
  }
  const certify::StackExtreme& loss = checked.stack->loss;
  if (std::isfinite(loss.upper)) checked.loss.certified = numeric::exact(loss.upper);
  if (!loss.witness.value.is_undecided()) {
    checked.loss.attained = numeric::exact(loss.lower);
    checked.loss.witness = as_witness(loss.witness);
  }
  if (!checked.normalised) return;
  Rational least = 1;
  for (const auto& head : checked.stack->heads) {
    least = std::min(least, numeric::exact(head.least_sink_weight.lower));
    const certify::StackWitness& witness = head.least_sink_weight.witness;
    if (witness.value.is_undecided()) continue;
    const Rational attained = 1 - upper_end(witness.value);
    if (!checked.leak.witness || attained > checked.leak.attained) {
      checked.leak.attained = attained;
      checked.leak.witness = as_witness(witness);
    }
  }
  checked.leak.certified = 1 - least;
}

certify::Witness witness_of(const certify::Seen& seen, const std::vector<task::Instance<double>>& instances) {
  return {instances[seen.instance], seen.position, seen.coordinate, seen.value};
}

/// Takes a value seen on an instance into the bound: a larger one is attained; above what is certified, it is
/// a bug.
void take(Bound& bound, const certify::Seen& seen, const std::vector<task::Instance<double>>& instances,
          const std::string& what) {
  if (seen.value.is_undecided()) return;
  const Rational lower = lower_end(seen.value);
  if (bound.certified && lower > *bound.certified) {
    throw std::logic_error(
        fmt::format("{}: an evaluated instance attains {}, above the certified bound {}:\n{}", what,
                    numeric::to_string(lower), numeric::to_string(*bound.certified),
                    task::to_text({static_cast<long>(instances[seen.instance].content.rows()),
                                   static_cast<long>(instances[seen.instance].content.cols())},
                                  task::convert<Rational>(instances[seen.instance]))));
  }
  if (!bound.witness || lower > bound.attained) {
    bound.attained = lower;
    bound.witness = witness_of(seen, instances);
  }
}

const certify::Seen& largest(const certify::SampleReport& report, certify::Seen certify::HeadSeen::*member) {
  const certify::Seen* best = &(report.heads.front().*member);
  for (const auto& head : report.heads) {
    if ((head.*member).value.is_undecided()) return head.*member;
    if ((head.*member).value.lower() > best->value.lower()) best = &(head.*member);
  }
  return *best;
}

/// C5: what the theorem gives from the certified Lambda must not fall below what the head was seen to do.
std::optional<TheoremCheck> cross_check(const WeightsChecked& checked) {
  if (!checked.certificate || !checked.normalised || !checked.loss.certified) return std::nullopt;
  const Rational& lambda = *checked.loss.certified;
  if (lambda <= 0 || lambda >= theory::kappa(checked.parameters) / 2) return std::nullopt;
  const auto model = attention::model_from<Interval>(checked.weights, Normaliser::softmax);
  const auto& scores =
      std::get<attention::BilinearScores<Interval>>(model.layers[0].heads[0].attention).matrix;
  const int n = checked.parameters.ordinary();
  TheoremCheck check{.leak_at_most = theory::leak_bound(checked.parameters, lambda),
                     .logit_gap_needed = theory::logit_gap_needed(checked.parameters, lambda),
                     .logit_gap = scores(n, task::Parameters::bos()) - scores(n, n)};
  if (checked.leak.attained > check.leak_at_most) {
    throw std::logic_error(
        fmt::format("Theorem 1 bounds the leak by {} from Lambda <= {}, yet a leak of {} is attained",
                    numeric::to_string(check.leak_at_most), numeric::to_string(lambda),
                    numeric::to_string(checked.leak.attained)));
  }
  if (less_than(check.logit_gap, check.logit_gap_needed) == Verdict::proved) {
    throw std::logic_error("Corollary 5 asks for a larger logit gap than the head has: " +
                           numeric::to_string(check.logit_gap_needed) + " against " +
                           numeric::to_string(check.logit_gap));
  }
  return check;
}

theory::Claim claim(const std::string& id, const std::string& statement, const Bound& bound, Verdict verdict,
                    const Rational& limit) {
  theory::Claim result;
  result.id = id;
  result.title = id;
  result.statement = statement;
  result.hypothesis = "all instances of this length";
  result.verdict = verdict;
  if (verdict == Verdict::disproved) {
    result.reason = "a witness violates it";
    if (bound.witness) {
      result.reason +=
          fmt::format(", at i = {}, j = {}", bound.witness->position, bound.witness->instance.trigger);
    }
  } else if (verdict == Verdict::undecided) {
    result.reason = bound.certified
                        ? "the truth lies between the attained and the certified value, which are on both "
                          "sides of the limit"
                        : "no witness violates it, and nothing is certified over all instances";
  }
  result.quantities = {theory::quantity("limit", limit), bound.quantity("supremum")};
  return result;
}

/// supremum <= limit?
Verdict at_most(const Bound& bound, const Rational& limit) {
  if (bound.attained > limit) return Verdict::disproved;
  return bound.certified && *bound.certified <= limit ? Verdict::proved : Verdict::undecided;
}

}  // namespace

Bound bound_of(const certify::Supremum& supremum) {
  Bound bound{.attained = numeric::exact(supremum.lower)};
  if (!supremum.is_undecided()) bound.certified = numeric::exact(supremum.upper);
  return bound;
}

theory::Quantity Bound::quantity(std::string name) const {
  if (certified) return {std::move(name), theory::Between{attained, *certified}};
  return {std::move(name), theory::AtLeast{attained}};
}

std::vector<theory::Claim> claims_of(const WeightsRequest& request, const Bound& leak, const Bound& loss) {
  std::vector<theory::Claim> claims;
  if (request.leak_at_most) {
    claims.push_back(claim(
        "leak-at-most",
        "every leak at a non-trigger position i >= 2 is at most " + numeric::to_string(*request.leak_at_most),
        leak, at_most(leak, *request.leak_at_most), *request.leak_at_most));
  }
  if (request.sink_at_least) {
    const Rational limit = 1 - *request.sink_at_least;
    claims.push_back(claim("sink-at-least",
                           "every sink weight at a non-trigger position i >= 2 is at least " +
                               numeric::to_string(*request.sink_at_least) + ": every leak at most " +
                               numeric::to_string(limit),
                           leak, at_most(leak, limit), limit));
  }
  if (request.loss_at_most) {
    claims.push_back(claim(
        "loss-at-most", "the worst-case loss Lambda is at most " + numeric::to_string(*request.loss_at_most),
        loss, at_most(loss, *request.loss_at_most), *request.loss_at_most));
  }
  return claims;
}

std::string coordinate_name(const task::Parameters& parameters, int coordinate) {
  if (coordinate == task::Parameters::bos()) return "B";
  if (coordinate == task::Parameters::trigger()) return "T";
  if (coordinate == parameters.ordinary()) return "N";
  return "content " + std::to_string(coordinate - 1);
}

void evaluate_instances(WeightsChecked& checked, const WeightsRequest& request) {
  if (checked.instances.empty()) return;
  const auto model = attention::model_from<Interval>(
      checked.weights, checked.normalised ? Normaliser::softmax : Normaliser::relu);
  checked.sampled = certify::evaluate(model, checked.parameters, checked.instances, request.certify.threads);
  take(checked.leak,
       largest(checked.sampled, checked.normalised ? &certify::HeadSeen::largest_off_bos
                                                   : &certify::HeadSeen::largest_weight_off_bos),
       checked.instances, "leak");
  take(checked.loss, checked.sampled.loss, checked.instances, "loss");
}

WeightsChecked load_weights(const WeightsRequest& request) {
  const bool normalised = request.attention == "softmax";
  if (!normalised && (request.leak_at_most || request.sink_at_least)) {
    throw InputError(
        request.path +
        ": the leak 1 - a_i1 is defined for rows that sum to 1, not for ReLU attention: claim the loss");
  }
  // One open file: what is hashed is what is read.
  const formats::File file(request.path);
  const std::string sha256 = formats::sha256(file, request.sha256);
  attention::Weights weights = formats::read_weights(file, request.options);
  const task::Parameters parameters(request.length, weights.dimension - 3);
  return {
      .weights = std::move(weights), .sha256 = sha256, .parameters = parameters, .normalised = normalised};
}

WeightsChecked check_weights(const WeightsRequest& request) {
  WeightsChecked checked = load_weights(request);
  const task::Parameters& parameters = checked.parameters;
  const Normaliser normaliser = checked.normalised ? Normaliser::softmax : Normaliser::relu;
  const bool single = checked.weights.layers.size() == 1 && checked.weights.layers[0].heads.size() == 1 &&
                      !checked.weights.residual;
  if (single) {
    checked.certificate = certify::certify_head(checked.weights, normaliser, parameters, request.certify);
    checked.leak = bound_of(checked.certificate->leak);
    checked.leak.witness = checked.certificate->leak_witness;
    checked.loss = bound_of(checked.certificate->loss);
    checked.loss.witness = checked.certificate->loss_witness;
  } else {
    certify_the_stack(checked, normaliser, request);
  }
  checked.float32 = certify::bound_float32(checked.weights, normaliser, parameters);
  // A sampled instance takes L^2 memory and time; the certificate does not.
  if (parameters.length() <= longest_sampled) {
    checked.instances =
        certify::sample_instances(parameters, request.samples, request.vertices, request.certify.seed);
  }
  evaluate_instances(checked, request);
  checked.theorem = cross_check(checked);
  checked.claims = claims_of(request, checked.leak, checked.loss);
  return checked;
}

}  // namespace sinkproof::app
