#pragma once

#include "numeric/big_interval.hpp"
#include "numeric/rational.hpp"
#include "task/instance.hpp"

/// Corollary 5 (theory.md section 5): Theorem 1 in log-odds, for softmax heads with Lambda <= eta.
/// Domain of both: 0 < eta < kappa_L / 2, else NotApplicable. (A softmax weight is never 1, so no softmax
/// head has Lambda = 0.) With epsilon = eta/(kappa_L - eta):
namespace sinkproof::theory {

/// At every non-trigger i >= 2, s_i1 - log sum_{k=2..i} e^s_ik is at least log((1 - epsilon)/epsilon).
/// Enclosed.
numeric::BigInterval log_odds_needed(const task::Parameters& parameters, const numeric::Rational& eta);

/// For bilinear scores, A_NB - A_NN is at least log((L-2)(1 - epsilon)/epsilon). Enclosed.
numeric::BigInterval logit_gap_needed(const task::Parameters& parameters, const numeric::Rational& eta);

/// (1 - epsilon)/epsilon, exact: the odds behind both.
numeric::Rational odds_needed(const task::Parameters& parameters, const numeric::Rational& eta);

}  // namespace sinkproof::theory
