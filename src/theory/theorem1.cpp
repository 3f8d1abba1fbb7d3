#include "theory/theorem1.hpp"

#include <fmt/format.h>

#include "theory/hypothesis.hpp"

namespace sinkproof::theory {

using numeric::Rational;

Rational kappa(const task::Parameters& parameters) {
  const int length = parameters.length();
  return Rational(length - 3, 4 * (length - 1));
}

Rational leak_bound(const task::Parameters& parameters, const Rational& eta) {
  const Rational constant = kappa(parameters);
  require(eta >= 0, fmt::format("0 <= eta fails: eta = {}", numeric::to_string(eta)));
  require(2 * eta < constant, fmt::format("eta < kappa_L/2 fails: eta = {}, kappa_L/2 = {}",
                                          numeric::to_string(eta), numeric::to_string(constant / 2)));
  return eta / (constant - eta);
}

Rational loss_needed(const task::Parameters& parameters, const Rational& epsilon) {
  require(epsilon > 0 && epsilon < 1,
          fmt::format("0 < epsilon < 1 fails: epsilon = {}", numeric::to_string(epsilon)));
  return kappa(parameters) * epsilon / (1 + epsilon);
}

}  // namespace sinkproof::theory
