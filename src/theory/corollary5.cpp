#include "theory/corollary5.hpp"

#include "theory/hypothesis.hpp"
#include "theory/theorem1.hpp"

namespace sinkproof::theory {

using numeric::BigInterval, numeric::Rational;

Rational odds_needed(const task::Parameters& parameters, const Rational& eta) {
  const Rational epsilon = leak_bound(parameters, eta);
  require(epsilon > 0, "0 < eta fails: eta = 0, and no softmax head has loss 0");
  return (1 - epsilon) / epsilon;
}

BigInterval log_odds_needed(const task::Parameters& parameters, const Rational& eta) {
  return log(BigInterval::enclosing(odds_needed(parameters, eta)));
}

BigInterval logit_gap_needed(const task::Parameters& parameters, const Rational& eta) {
  return log(BigInterval::enclosing((parameters.length() - 2) * odds_needed(parameters, eta)));
}

}  // namespace sinkproof::theory
