#pragma once

#include "theory/construction.hpp"

/// Proposition 4 (theory.md section 5): softmax with A_K = K (e_N - e_T) e_B^T and V the identity on W,
/// V e_B = 0 solves the task to any precision by means of a sink. q = e^K. Functions of q are exact, and hold
/// for every q > 0.
namespace sinkproof::theory {

/// The smallest non-trigger sink weight, q/(q + L - 1), at i = L.
numeric::Rational least_sink_weight(const task::Parameters& parameters, const numeric::Rational& q);

/// Lambda, exactly: (L-1)/(q + L - 1) for d >= 1, (L-2)/(q + L - 2) for d = 0.
numeric::Rational softmax_loss(const task::Parameters& parameters, const numeric::Rational& q);

/// Lambda <= eta iff q >= this: (L-1)(1-eta)/eta for d >= 1, (L-2)(1-eta)/eta for d = 0. K is its logarithm.
/// Domain: 0 < eta < 1, else NotApplicable.
numeric::Rational least_q(const task::Parameters& parameters, const numeric::Rational& eta);

/// The head itself. `softmax`.
template <numeric::Rigorous T>
Construction<T> softmax(const task::Parameters& parameters, const Choice& choice);

}  // namespace sinkproof::theory
