#pragma once

#include "theory/construction.hpp"

/// Proposition 1s (theory.md section 1): how sharp Theorem 1 is. Exact.
namespace sinkproof::theory {

/// The leak that some head with Lambda = eta has at a non-trigger position: 4 eta/(1 + 2 eta).
/// Domain: 0 < eta < 1/2, else NotApplicable.
numeric::Rational sharp_leak(const numeric::Rational& eta);

/// The same for a position before the trigger: 2 eta/(1 + eta). Domain: 0 < eta < 1/2, else NotApplicable.
numeric::Rational sharp_leak_before_trigger(const numeric::Rational& eta);

/// The head: V is the identity on W and V e_B = -eta (e_N + e_T); trigger rows are uniform on 2..j; every
/// other row rests on BOS, but on the instance with content 0 and j = 3 row 4 puts half of m =
/// sharp_leak(eta) on the ordinary token 2 and half on the trigger. Its error is eta at every non-trigger
/// position of every instance and 0 at the trigger. `sharp`.
template <numeric::Rigorous T>
Construction<T> sharp(const task::Parameters& parameters, const Choice& choice);

/// The variant before the trigger: V e_B = -eta e_N; on the instance with content 0 and j = L row 2 puts
/// m = sharp_leak_before_trigger(eta) on its own, ordinary token.
template <numeric::Rigorous T>
Construction<T> sharp_before_trigger(const task::Parameters& parameters, const Choice& choice);

}  // namespace sinkproof::theory
