#include "theory/proposition1s.hpp"

#include "theory/hypothesis.hpp"

namespace sinkproof::theory {

using numeric::Matrix, numeric::Rational, numeric::Rigorous;

namespace {

void require_domain(const Rational& eta) {
  require(eta > 0 && 2 * eta < 1, "0 < eta < 1/2 fails: eta = " + numeric::to_string(eta));
}

template <Rigorous T>
bool has_no_content(const task::Instance<T>& instance) {
  for (Eigen::Index row = 1; row < instance.content.rows(); ++row) {
    for (Eigen::Index m = 0; m < instance.content.cols(); ++m) {
      if (!(instance.content(row, m) == T(0))) return false;
    }
  }
  return true;
}

/// The one leaking row: on the instance with content 0 and trigger `trigger`, row `position` takes `leak`
/// from BOS and spreads it evenly over `keys`.
struct LeakingRow {
  int trigger, position;
  Rational leak;
  std::vector<int> keys;
};

/// V e_B is -eta on the coordinates `bos_output`.
template <Rigorous T>
Construction<T> sharp_head(const task::Parameters& parameters, const Rational& eta,
                           const std::vector<int>& bos_output, const LeakingRow& leaking) {
  const auto leaks = [leaking](const task::Instance<T>& instance) {
    return instance.trigger == leaking.trigger && has_no_content(instance);
  };
  return {
      .name = "sharp",
      .id = "proposition-1s",
      .claim = "a head of loss eta leaks 4 eta/(1 + 2 eta): Theorem 1 is sharp up to (L-1)/(L-3) + O(eta)",
      .parameters = parameters,
      .model =
          [=](const task::Instance<T>& instance) {
            const int length = parameters.length(), j = instance.trigger;
            Matrix<T> weights = Matrix<T>::Constant(length, length, T(0));
            for (int row = 0; row < length; ++row) weights(row, 0) = T(row == j - 1 ? 0 : 1);
            for (int key = 2; key <= j; ++key) weights(j - 1, key - 1) = T(1) / T(j - 1);
            if (leaks(instance)) {
              const Rational share = leaking.leak / static_cast<int>(leaking.keys.size());
              weights(leaking.position - 1, 0) = numeric::from_rational<T>(1 - leaking.leak);
              for (const int key : leaking.keys) {
                weights(leaking.position - 1, key - 1) = numeric::from_rational<T>(share);
              }
            }
            Matrix<T> value = identity_on_w<T>(parameters);
            for (const int r : bos_output) value(r, parameters.bos()) = numeric::from_rational<T>(-eta);
            return attention::single_head<T>(
                {.attention = attention::GivenAttention<T>{weights}, .value = value});
          },
      .at =
          [eta, leaking, leaks](int position, const task::Instance<T>& instance) {
            if (position == instance.trigger) return AtPosition<T>{{T(0)}, T(0)};
            const bool leaky = position == leaking.position && leaks(instance);
            return AtPosition<T>{{leaky ? numeric::from_rational<T>(1 - leaking.leak) : T(1)},
                                 numeric::from_rational<T>(eta)};
          },
      .loss = numeric::from_rational<T>(eta),
      .attained = true};
}

}  // namespace

Rational sharp_leak(const Rational& eta) {
  require_domain(eta);
  return 4 * eta / (1 + 2 * eta);
}

Rational sharp_leak_before_trigger(const Rational& eta) {
  require_domain(eta);
  return 2 * eta / (1 + eta);
}

template <Rigorous T>
Construction<T> sharp(const task::Parameters& parameters, const Choice& choice) {
  const LeakingRow leaking{.trigger = 3, .position = 4, .leak = sharp_leak(choice.eta), .keys = {2, 3}};
  return sharp_head<T>(parameters, choice.eta, {parameters.ordinary(), parameters.trigger()}, leaking);
}

template <Rigorous T>
Construction<T> sharp_before_trigger(const task::Parameters& parameters, const Choice& choice) {
  const LeakingRow leaking{.trigger = parameters.length(),
                           .position = 2,
                           .leak = sharp_leak_before_trigger(choice.eta),
                           .keys = {2}};
  auto head = sharp_head<T>(parameters, choice.eta, {parameters.ordinary()}, leaking);
  head.name = "sharp-before-trigger";
  head.claim = "a head of loss eta leaks 2 eta/(1 + eta) before the trigger";
  return head;
}

#define SINKPROOF_INSTANTIATE(T)                                          \
  template Construction<T> sharp(const task::Parameters&, const Choice&); \
  template Construction<T> sharp_before_trigger(const task::Parameters&, const Choice&);
SINKPROOF_INSTANTIATE(Rational)
SINKPROOF_INSTANTIATE(numeric::Interval)
SINKPROOF_INSTANTIATE(numeric::BigInterval)
#undef SINKPROOF_INSTANTIATE

}  // namespace sinkproof::theory
