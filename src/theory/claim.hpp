#pragma once

#include <string>
#include <variant>
#include <vector>

#include "numeric/enclosure.hpp"
#include "theory/hypothesis.hpp"

/// The common shape of every answer: a statement of theory.md at concrete parameters, what it needs, and what
/// it gives.
namespace sinkproof::theory {

/// A number with its nature: exact; enclosed between two ends (or one, or undecided); or sampled, a float
/// without promise.
struct Exactly {
  numeric::Rational value;
};
struct Between {
  numeric::Rational lower, upper;
};
/// Bounded from below only: attained, with no certified upper bound.
struct AtLeast {
  numeric::Rational lower;
};
struct Undecided {};
struct Sampled {
  double value;
};
struct Quantity {
  std::string name;  ///< "kappa_L", "leak_at_most": stable, used in JSON
  std::variant<Exactly, Between, AtLeast, Undecided, Sampled> value;
};

inline Quantity quantity(std::string name, const numeric::Rational& value) {
  return {std::move(name), Exactly{value}};
}
template <numeric::Enclosed T>
Quantity quantity(std::string name, const T& value) {
  if (is_undecided(value)) return {std::move(name), Undecided{}};
  return {std::move(name), Between{lower_end(value), upper_end(value)}};
}

/// One claim with its verdict. `proved` only where every hypothesis was checked rigorously and the conclusion
/// follows by the named statement of theory.md, or was evaluated exactly or in enclosures. Outside the
/// hypotheses the claim is not applicable: `applies` is false, the verdict undecided, and `reason` says which
/// hypothesis fails.
struct Claim {
  std::string id;          ///< "theorem-1", "proposition-4", "b3"
  std::string title;       ///< "one head, worst case"
  std::string statement;   ///< one line, for these parameters: "every leak is at most 3/127"
  std::string hypothesis;  ///< one line: "Lambda <= 1/200 < kappa_L/2 = 13/120"
  numeric::Verdict verdict = numeric::Verdict::undecided;
  bool applies = true;
  std::string reason = {};  ///< why undecided, disproved or not applicable; empty where proved
  std::vector<Quantity> quantities = {};
};

/// Runs fill(). A hypothesis that fails (NotApplicable) leaves the claim undecided and not applicable, with
/// the reason; what was filled in before stays.
template <class Fill>
void attempt(Claim& claim, Fill fill) {
  try {
    fill();
  } catch (const NotApplicable& failure) {
    claim.verdict = numeric::Verdict::undecided;
    claim.applies = false;
    claim.reason += (claim.reason.empty() ? "" : "; ") + std::string(failure.what());
  }
}

}  // namespace sinkproof::theory
