#include "theory/proposition4.hpp"

#include "theory/hypothesis.hpp"

namespace sinkproof::theory {

using numeric::Rational;

namespace {

/// The largest number of ordinary tokens whose content may all be 1 (d >= 1), or of N indicators (d = 0: the
/// trigger has none).
int loudest(const task::Parameters& parameters) {
  return parameters.length() - (parameters.content() >= 1 ? 1 : 2);
}

}  // namespace

Rational least_sink_weight(const task::Parameters& parameters, const Rational& q) {
  return q / (q + parameters.length() - 1);
}

Rational softmax_loss(const task::Parameters& parameters, const Rational& q) {
  return loudest(parameters) / (q + loudest(parameters));
}

Rational least_q(const task::Parameters& parameters, const Rational& eta) {
  require(eta > 0 && eta < 1, "0 < eta < 1 fails: eta = " + numeric::to_string(eta));
  return loudest(parameters) * (1 - eta) / eta;
}

template <numeric::Rigorous T>
Construction<T> softmax(const task::Parameters& parameters, const Choice& choice) {
  const Base<T> b = base<T>(choice);
  const auto model = [parameters, b](const task::Instance<T>&) {
    const int n = parameters.dimension();
    numeric::Matrix<T> scores = numeric::Matrix<T>::Constant(n, n, T(0));
    scores(parameters.ordinary(), parameters.bos()) = b.unit;
    scores(parameters.trigger(), parameters.bos()) = -b.unit;
    return attention::single_head<T>(
        {.attention = attention::BilinearScores<T>{.matrix = scores, .base = b.base},
         .value = identity_on_w<T>(parameters)});
  };
  return {.name = "softmax",
          .id = "proposition-4",
          .claim = "softmax attention solves the task to any precision by resting on BOS off the trigger",
          .parameters = parameters,
          .model = model,
          .at =
              [parameters, q = b.q](int i, const task::Instance<T>& instance) {
                if (i == 1) return AtPosition<T>{{T(1)}, T(0)};
                const T mean = numeric::from_rational<T>(largest_mean(parameters, i, instance.trigger));
                const T others(i - 1);
                const T on_bos = i == instance.trigger ? T(T(1) / (T(1) + others * q)) : T(q / (q + others));
                const T lost = i == instance.trigger ? on_bos : T(others / (q + others));
                return AtPosition<T>{{on_bos}, lost * mean};
              },
          .loss = T(loudest(parameters)) / (b.q + T(loudest(parameters))),
          .attained = true};
}

template Construction<Rational> softmax(const task::Parameters&, const Choice&);
template Construction<numeric::Interval> softmax(const task::Parameters&, const Choice&);
template Construction<numeric::BigInterval> softmax(const task::Parameters&, const Choice&);

}  // namespace sinkproof::theory
