#pragma once

#include "numeric/rational.hpp"
#include "task/instance.hpp"

/// Theorem 1' (theory.md section 2): one head with normalised causal attention, expected loss R under the
/// sampling law. Everything here is exact.
namespace sinkproof::theory {

/// r = (L-1) / (L-3).
numeric::Rational length_ratio(const task::Parameters& parameters);

/// U_0 = 2 d + 2 r (1 + 4 d).
numeric::Rational u_zero(const task::Parameters& parameters);

/// The direct form: if R <= eta then, with probability at least 1 - delta, every leak at a non-trigger
/// position i >= 2 is at most 2 U_0 t / (1 - 2 U_0 t). Domain: 0 <= eta <= t, 0 <= delta <= 1,
/// (i) eta <= delta t, (ii) (d+1)(L-2) eta < t, (iii) 4 U_0 t < 1; else NotApplicable, naming which.
numeric::Rational probable_leak_bound(const task::Parameters& parameters, const numeric::Rational& eta,
                                      const numeric::Rational& t, const numeric::Rational& delta);

/// The t of the epsilon form: epsilon / (2 U_0 (1 + epsilon)). Domain: 0 < epsilon < 1.
numeric::Rational error_threshold(const task::Parameters& parameters, const numeric::Rational& epsilon);

/// The epsilon form: the R that forces every non-trigger leak down to epsilon with probability at least
/// 1 - delta: t min(delta, 1/((d+1)(L-2)+1)). Domain: 0 < epsilon < 1, 0 < delta <= 1; else NotApplicable.
numeric::Rational expected_loss_needed(const task::Parameters& parameters, const numeric::Rational& epsilon,
                                       const numeric::Rational& delta);

/// A t that meets (i) and (ii) for the given R <= eta, the one that inverts the epsilon form:
/// eta max(1/delta, (d+1)(L-2)+1). Domain: 0 < delta <= 1.
numeric::Rational threshold_for(const task::Parameters& parameters, const numeric::Rational& eta,
                                const numeric::Rational& delta);

}  // namespace sinkproof::theory
