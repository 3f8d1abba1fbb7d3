#pragma once

#include <vector>

#include "task/instance.hpp"
#include "theory/claim.hpp"

namespace sinkproof::theory {

/// What `sinkproof verify` is asked about.
struct VerifyParameters {
  task::Parameters task;
  numeric::Rational eta{1, 200};     ///< the loss: worst case (and expected, in Theorem 1')
  numeric::Rational epsilon{1, 20};  ///< the leak wanted
  numeric::Rational delta{1, 10};    ///< the probability of exception in Theorem 1'
  int depth = 2;                     ///< D, of Theorem 2's stack
};

/// Every statement of theory.md sections 1-6 at these parameters, in this order: theorem-1, theorem-1-prime,
/// theorem-2, theorem-3, proposition-4, proposition-1s, corollary-5, b1 .. b8. Parameters outside a
/// hypothesis do not throw: that claim has `applies` false, is undecided, and says which.
///
/// The theorems are proved in theory.md (and proofs/); here their hypotheses on the parameters are checked
/// exactly and their constants computed. Constructions are built to precision eta (with the least integer q,
/// or v, whose closed form allows it) and evaluated exactly on a few instances against the closed form, where
/// L and n are at most `largest_evaluated_...`; beyond, the statement says that the closed form alone was
/// used. Throws std::logic_error where an evaluation contradicts the closed form: a bug.
std::vector<Claim> verify(const VerifyParameters& parameters);

inline constexpr int largest_evaluated_length = 64;
inline constexpr int largest_evaluated_dimension = 32;

}  // namespace sinkproof::theory
