#include "theory/verify.hpp"

#include <fmt/format.h>

#include "theory/corollary5.hpp"
#include "theory/theorem1.hpp"
#include "theory/theorem1_prime.hpp"
#include "theory/theorem2.hpp"
#include "theory/verify_constructions.hpp"

namespace sinkproof::theory {

using numeric::BigInterval, numeric::Rational, numeric::to_string, numeric::Verdict;

namespace {

Claim theorem1(const VerifyParameters& p) {
  const Rational constant = kappa(p.task);
  Claim claim{.id = "theorem-1",
              .title = "one head, worst case",
              .statement = "every leak at a non-trigger position i >= 2 is at most eta/(kappa_L - eta)",
              .hypothesis = fmt::format("Lambda <= eta = {} < kappa_L/2 = {}", to_string(p.eta),
                                        to_string(constant / 2)),
              .verdict = Verdict::proved,
              .quantities = {quantity("kappa_L", constant), quantity("eta", p.eta)}};
  attempt(claim, [&] {
    const Rational leak = leak_bound(p.task, p.eta);
    claim.statement = fmt::format(
        "every leak at a non-trigger position i >= 2 is at most {}, every sink weight at least {}",
        to_string(leak), to_string(1 - leak));
    claim.quantities.push_back(quantity("leak_at_most", leak));
    claim.quantities.push_back(quantity("sink_weight_at_least", Rational(1 - leak)));
  });
  attempt(claim, [&] {
    const Rational needed = loss_needed(p.task, p.epsilon);
    claim.statement += fmt::format("; Lambda <= {} forces every sink weight to be at least {}",
                                   to_string(needed), to_string(1 - p.epsilon));
    claim.quantities.push_back(quantity("epsilon", p.epsilon));
    claim.quantities.push_back(quantity("lambda_needed", needed));
  });
  return claim;
}

Claim theorem1_prime(const VerifyParameters& p) {
  Claim claim{.id = "theorem-1-prime",
              .title = "one head, expected loss",
              .statement =
                  "with probability at least 1 - delta every leak at a non-trigger i >= 2 is at most epsilon",
              .hypothesis = "R <= t min(delta, 1/((d+1)(L-2)+1)), t = epsilon/(2 U_0 (1 + epsilon))",
              .quantities = {quantity("r", length_ratio(p.task)), quantity("U_0", u_zero(p.task)),
                             quantity("epsilon", p.epsilon), quantity("delta", p.delta)}};
  attempt(claim, [&] {
    const Rational t = error_threshold(p.task, p.epsilon);
    const Rational needed = expected_loss_needed(p.task, p.epsilon, p.delta);
    claim.hypothesis = fmt::format("R <= {}", to_string(needed));
    claim.statement =
        fmt::format("with probability at least {} every leak at a non-trigger position i >= 2 is at most {}",
                    to_string(1 - p.delta), to_string(p.epsilon));
    claim.quantities.push_back(quantity("t", t));
    claim.quantities.push_back(quantity("R_needed", needed));
    claim.verdict = Verdict::proved;
    // The direct form at R <= eta says something only for small eta; that it does not is no failure.
    try {
      const Rational leak =
          probable_leak_bound(p.task, p.eta, threshold_for(p.task, p.eta, p.delta), p.delta);
      claim.statement += fmt::format("; R <= {} gives at most {}", to_string(p.eta), to_string(leak));
      claim.quantities.push_back(quantity("probable_leak_at_most", leak));
    } catch (const NotApplicable& silent) {
      claim.statement += fmt::format("; R <= {} says nothing ({})", to_string(p.eta), silent.what());
    }
  });
  return claim;
}

Claim theorem2(const VerifyParameters& p) {
  Claim claim{.id = "theorem-2",
              .title = "depth: a stack of single heads without residual",
              .statement =
                  "some layer has a sink weight of at least 1 - epsilon^(1/D), epsilon = eta/(kappa_L - eta)",
              .hypothesis = fmt::format("D = {} >= 1, Lambda <= eta = {} < kappa_L/2 = {}", p.depth,
                                        to_string(p.eta), to_string(kappa(p.task) / 2)),
              .quantities = {quantity("depth", Rational(p.depth))}};
  attempt(claim, [&] {
    const Rational epsilon = leak_bound(p.task, p.eta);
    const auto root = rational_root(epsilon, p.depth);
    const BigInterval enclosed = enclosed_root(epsilon, p.depth);
    claim.quantities.push_back(quantity("epsilon", epsilon));
    claim.quantities.push_back(root ? quantity("layer_leak_at_most", *root)
                                    : quantity("layer_leak_at_most", enclosed));
    claim.quantities.push_back(root ? quantity("layer_sink_weight_at_least", Rational(1 - *root))
                                    : quantity("layer_sink_weight_at_least", BigInterval(1) - enclosed));
    claim.statement = fmt::format(
        "on every instance and for every non-trigger i >= 2, some layer has a sink weight of at least {} at "
        "some "
        "position 2..i",
        root ? to_string(1 - *root)
             : numeric::decimal(lower_end(BigInterval(1) - enclosed), numeric::Direction::down));
    claim.verdict = Verdict::proved;
  });
  return claim;
}

Claim corollary5(const VerifyParameters& p) {
  Claim claim{
      .id = "corollary-5",
      .title = "logit growth of softmax heads",
      .statement = "s_i1 - log sum_{k=2..i} e^s_ik >= log((1-epsilon)/epsilon) at every non-trigger i >= 2",
      .hypothesis = fmt::format("softmax, Lambda <= eta = {}, 0 < eta < kappa_L/2 = {}", to_string(p.eta),
                                to_string(kappa(p.task) / 2))};
  attempt(claim, [&] {
    const BigInterval log_odds = log_odds_needed(p.task, p.eta), gap = logit_gap_needed(p.task, p.eta);
    const auto down = [](const BigInterval& x) {
      return numeric::decimal(lower_end(x), numeric::Direction::down);
    };
    claim.statement = fmt::format(
        "at every non-trigger i >= 2 the log-odds of BOS are at least {}; bilinear scores have A_NB - A_NN "
        ">= {}",
        down(log_odds), down(gap));
    claim.quantities = {quantity("odds_at_least", odds_needed(p.task, p.eta)),
                        quantity("log_odds_at_least", log_odds), quantity("logit_gap_at_least", gap)};
    claim.verdict = Verdict::proved;
  });
  return claim;
}

}  // namespace

std::vector<Claim> verify(const VerifyParameters& p) {
  return {theorem1(p),
          theorem1_prime(p),
          theorem2(p),
          verify_relu(p, "theorem-3"),
          verify_softmax(p),
          verify_sharp(p),
          corollary5(p),
          verify_by_q(p, "two-head"),
          verify_by_q(p, "softmax1"),
          verify_by_q(p, "gated"),
          verify_by_q(p, "sink-logit"),
          verify_residual(p),
          verify_relu(p, "b6"),
          verify_by_q(p, "clip"),
          verify_by_q(p, "running-mean")};
}

}  // namespace sinkproof::theory
