#include "theory/theorem1_prime.hpp"

#include <fmt/format.h>

#include "numeric/enclosure.hpp"
#include "theory/hypothesis.hpp"

namespace sinkproof::theory {

using numeric::Rational, numeric::to_string;

namespace {

/// (d+1)(L-2): how many conditional probabilities the union bound adds up.
Rational union_bound(const task::Parameters& parameters) {
  return Rational(parameters.content() + 1) * (parameters.length() - 2);
}

void require_probability(const Rational& delta) {
  require(delta > 0 && delta <= 1, fmt::format("0 < delta <= 1 fails: delta = {}", to_string(delta)));
}

}  // namespace

Rational length_ratio(const task::Parameters& parameters) {
  return Rational(parameters.length() - 1, parameters.length() - 3);
}

Rational u_zero(const task::Parameters& parameters) {
  const Rational d = parameters.content();
  return 2 * d + 2 * length_ratio(parameters) * (1 + 4 * d);
}

Rational probable_leak_bound(const task::Parameters& parameters, const Rational& eta, const Rational& t,
                             const Rational& delta) {
  require(eta >= 0, fmt::format("0 <= eta fails: eta = {}", to_string(eta)));
  require(t >= eta, fmt::format("t >= eta fails: t = {}, eta = {}", to_string(t), to_string(eta)));
  require(delta >= 0 && delta <= 1, fmt::format("0 <= delta <= 1 fails: delta = {}", to_string(delta)));
  require(eta <= delta * t, fmt::format("(i) eta <= delta t fails: eta = {}, delta t = {}", to_string(eta),
                                        to_string(delta * t)));
  const Rational spread = union_bound(parameters) * eta;
  require(spread < t, fmt::format("(ii) (d+1)(L-2) eta < t fails: (d+1)(L-2) eta = {}, t = {}",
                                  to_string(spread), to_string(t)));
  const Rational growth = 2 * u_zero(parameters) * t;
  require(2 * growth < 1, fmt::format("(iii) 4 U_0 t < 1 fails: 4 U_0 t = {}", to_string(2 * growth)));
  return growth / (1 - growth);
}

Rational error_threshold(const task::Parameters& parameters, const Rational& epsilon) {
  require(epsilon > 0 && epsilon < 1, fmt::format("0 < epsilon < 1 fails: epsilon = {}", to_string(epsilon)));
  return epsilon / (2 * u_zero(parameters) * (1 + epsilon));
}

Rational expected_loss_needed(const task::Parameters& parameters, const Rational& epsilon,
                              const Rational& delta) {
  require_probability(delta);
  return error_threshold(parameters, epsilon) *
         numeric::min(delta, Rational(1 / (union_bound(parameters) + 1)));
}

Rational threshold_for(const task::Parameters& parameters, const Rational& eta, const Rational& delta) {
  require_probability(delta);
  return eta * numeric::max(Rational(1 / delta), Rational(union_bound(parameters) + 1));
}

}  // namespace sinkproof::theory
