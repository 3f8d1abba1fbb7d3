#pragma once

#include "numeric/rational.hpp"
#include "task/instance.hpp"

/// Theorem 1 (theory.md section 1): one head with normalised causal attention, worst-case loss Lambda.
/// Everything here is exact.
namespace sinkproof::theory {

/// kappa_L = (L-3) / (4 (L-1)).
numeric::Rational kappa(const task::Parameters& parameters);

/// If Lambda <= eta, every leak at a non-trigger position i >= 2 is at most eta / (kappa_L - eta).
/// Domain: 0 <= eta < kappa_L / 2, else NotApplicable.
numeric::Rational leak_bound(const task::Parameters& parameters, const numeric::Rational& eta);

/// The Lambda that forces every non-trigger sink weight up to 1 - epsilon: kappa_L epsilon / (1 + epsilon).
/// Domain: 0 < epsilon < 1, else NotApplicable.
numeric::Rational loss_needed(const task::Parameters& parameters, const numeric::Rational& epsilon);

}  // namespace sinkproof::theory
