#include "theory/verify_constructions.hpp"

#include <fmt/format.h>

#include "theory/boundary.hpp"
#include "theory/constructions.hpp"
#include "theory/proposition1s.hpp"
#include "theory/proposition4.hpp"
#include "theory/theorem1.hpp"
#include "theory/theorem3.hpp"

namespace sinkproof::theory {

using numeric::BigInterval, numeric::Integer, numeric::Rational, numeric::to_string, numeric::Verdict;

namespace {

constexpr std::uint64_t seed = 1;
constexpr int random_instances = 1;

Integer ceiling(const Rational& x) {
  const Integer below = numerator(x) / denominator(x);  // towards 0, so the floor or the ceiling
  return below < x ? Integer(below + 1) : below;
}

/// The least integer x >= 2 where a condition that stays true holds.
template <class Condition>
Integer least_integer(Condition holds) {
  Integer high = 2;
  while (!holds(Rational(high))) high *= 2;
  Integer low = high == 2 ? Integer(1) : Integer(high / 2);
  while (high - low > 1) {
    const Integer middle = (low + high) / 2;
    (holds(Rational(middle)) ? high : low) = middle;
  }
  return high;
}

/// Evaluates exactly on a handful of instances (throws on a mismatch) and says so in the claim.
void evaluate_into(Claim& claim, const Construction<Rational>& construction) {
  const task::Parameters& parameters = construction.parameters;
  if (parameters.length() > largest_evaluated_length ||
      parameters.dimension() > largest_evaluated_dimension) {
    claim.statement += fmt::format("; closed form only (L > {} or n > {})", largest_evaluated_length,
                                   largest_evaluated_dimension);
    claim.quantities.push_back(quantity("instances_evaluated", Rational(0)));
    return;
  }
  const auto seen = evaluate(construction, sample_instances<Rational>(parameters, random_instances, seed));
  claim.statement += fmt::format("; evaluated exactly on {} instances", seen.instances);
  claim.quantities.push_back(quantity("instances_evaluated", Rational(seen.instances)));
  claim.quantities.push_back(quantity("largest_error_seen", seen.largest_error));
}

/// The largest BOS weight at a non-trigger position i >= 2: at i = 2, whose token competes with BOS alone.
Rational largest_bos_weight(const Construction<Rational>& construction) {
  const auto second = construction.at(2, {.trigger = 3, .content = {}});
  return *std::max_element(second.bos_weights.begin(), second.bos_weights.end());
}

void require_positive(const Rational& eta) {
  require(eta > 0, "0 < eta fails: eta = " + to_string(eta));
}

}  // namespace

Claim verify_relu(const VerifyParameters& p, const std::string& id) {
  const auto construction = relu<Rational>(p.task);
  Claim claim{.id = id,
              .title = id == "b6" ? "boundary: no normalisation (the ReLU head)" : "ReLU: exact, no sink",
              .statement = construction.claim,
              .hypothesis = "A = e_T (e_T + e_N)^T, V the identity on W",
              .quantities = {quantity("loss", Rational(0)), quantity("bos_weight_at_most", Rational(0))}};
  evaluate_into(claim, construction);
  claim.verdict = Verdict::proved;
  return claim;
}

Claim verify_softmax(const VerifyParameters& p) {
  Claim claim{.id = "proposition-4",
              .title = "softmax: the sink construction",
              .statement = "a softmax head solves the task to precision eta by means of a sink",
              .hypothesis = fmt::format("0 < eta = {} < 1", to_string(p.eta))};
  attempt(claim, [&] {
    const Rational needed = least_q(p.task, p.eta);
    const Rational q = numeric::max(Rational(ceiling(needed)), Rational(2));
    const auto construction = softmax<Rational>(p.task, {.q = q});
    claim.statement = fmt::format(
        "Lambda <= {} iff q = e^K >= {}; at q = {} Lambda = {} and every sink weight is at "
        "least {}",
        to_string(p.eta), to_string(needed), to_string(q), to_string(construction.loss),
        to_string(least_sink_weight(p.task, q)));
    claim.quantities = {quantity("q_needed", needed),
                        quantity("K_needed", log(BigInterval::enclosing(needed))), quantity("q", q),
                        quantity("loss", construction.loss),
                        quantity("sink_weight_at_least", least_sink_weight(p.task, q))};
    evaluate_into(claim, construction);
    claim.verdict = construction.loss <= p.eta ? Verdict::proved : Verdict::undecided;
  });
  return claim;
}

Claim verify_sharp(const VerifyParameters& p) {
  Claim claim{.id = "proposition-1s",
              .title = "Theorem 1 is nearly sharp",
              .statement = "some head with Lambda = eta leaks 4 eta/(1 + 2 eta)",
              .hypothesis = fmt::format("0 < eta = {} < 1/2", to_string(p.eta))};
  attempt(claim, [&] {
    const Rational leak = sharp_leak(p.eta);
    claim.statement = fmt::format(
        "some head with Lambda = {} leaks {} at a non-trigger position, some {} before the "
        "trigger",
        to_string(p.eta), to_string(leak), to_string(sharp_leak_before_trigger(p.eta)));
    claim.quantities = {quantity("leak", leak),
                        quantity("leak_before_trigger", sharp_leak_before_trigger(p.eta))};
    if (2 * p.eta < kappa(p.task)) {
      claim.quantities.push_back(
          quantity("theorem_1_bound_over_leak", Rational(leak_bound(p.task, p.eta) / leak)));
    }
    evaluate_into(claim, sharp<Rational>(p.task, {.eta = p.eta}));
    claim.verdict = Verdict::proved;
  });
  return claim;
}

Claim verify_by_q(const VerifyParameters& p, const std::string& name) {
  const auto at = [&](const Rational& q) { return construct<Rational>(name, p.task, {.q = q}); };
  const auto any = at(2);
  Claim claim{.id = any.id,
              .title = "boundary: " + name,
              .statement = any.claim,
              .hypothesis = fmt::format("0 < eta = {}, some q = e^K > 1", to_string(p.eta))};
  attempt(claim, [&] {
    require_positive(p.eta);
    const Rational q = least_integer([&](const Rational& x) { return at(x).loss <= p.eta; });
    const auto construction = at(q);
    const Rational bos_weight = largest_bos_weight(construction);
    claim.statement = fmt::format(
        "{}; at q = {} Lambda {} {} and no BOS weight at a non-trigger position i >= 2 "
        "exceeds {}",
        construction.claim, to_string(q), construction.attained ? "=" : "<=", to_string(construction.loss),
        to_string(bos_weight));
    claim.quantities = {quantity("q", q), quantity("K", log(BigInterval::enclosing(q))),
                        quantity("loss_at_most", construction.loss),
                        quantity("bos_weight_at_most", bos_weight)};
    evaluate_into(claim, construction);
    claim.verdict = construction.loss <= p.eta ? Verdict::proved : Verdict::undecided;
  });
  return claim;
}

Claim verify_residual(const VerifyParameters& p) {
  Claim claim{.id = "b5",
              .title = "boundary: residual",
              .statement = "two residual layers solve x + y exactly without a sink",
              .hypothesis = fmt::format("0 < eta = {}, some gain v >= 1", to_string(p.eta))};
  attempt(claim, [&] {
    require_positive(p.eta);
    const Rational v = ceiling(1 / p.eta);  // then 1/v, the BOS weight at the trigger, is at most eta
    const auto construction = residual<Rational>(p.task, {.v = v});
    claim.statement = fmt::format(
        "{}; at v = {} the BOS weight is 0 at every non-trigger position i >= 2 and {} at the trigger",
        construction.claim, to_string(v), to_string(1 / v));
    claim.quantities = {quantity("v", v), quantity("loss", Rational(0)),
                        quantity("bos_weight_at_most", Rational(0)),
                        quantity("bos_weight_at_trigger", Rational(1 / v))};
    evaluate_into(claim, construction);
    claim.verdict = Verdict::proved;
  });
  return claim;
}

}  // namespace sinkproof::theory
