#include "theory/boundary.hpp"

#include "errors.hpp"

namespace sinkproof::theory {

using attention::BilinearScores, attention::Head, attention::Model, attention::Normaliser;
using numeric::Matrix, numeric::Rational, numeric::Rigorous;
using task::Instance, task::Parameters;

namespace {

/// sum of factor e_query e_key^T. [n, n]
struct Entry {
  int query, key, factor;
};
template <Rigorous T>
Matrix<T> scores(const Parameters& parameters, const Base<T>& b, std::initializer_list<Entry> entries) {
  const int n = parameters.dimension();
  Matrix<T> matrix = Matrix<T>::Constant(n, n, T(0));
  for (const auto& [query, key, factor] : entries) matrix(query, key) = T(factor) * b.unit;
  return matrix;
}

template <Rigorous T>
Head<T> head(const Parameters& parameters, const Base<T>& b, std::initializer_list<Entry> entries) {
  return {.attention = BilinearScores<T>{.matrix = scores(parameters, b, entries), .base = b.base},
          .value = identity_on_w<T>(parameters)};
}

/// For models whose output is a multiple of the mean of the tokens 2..i: the error's share of the mean, times
/// the largest mean.
template <Rigorous T>
T loss_of_mean(const Parameters& parameters, const T& share, int position, int trigger) {
  return share * numeric::from_rational<T>(largest_mean(parameters, position, trigger));
}

/// B2 and B4 share everything but the addend w = e^b in the denominator.
template <Rigorous T>
Construction<T> with_addend(const Parameters& parameters, const Base<T>& b, Normaliser normaliser,
                            const T& w) {
  constexpr int bos = Parameters::bos(), trigger = Parameters::trigger();
  const int ordinary = parameters.ordinary(), length = parameters.length();
  const auto model = [=](const Instance<T>&) {
    return attention::single_head<T>(
        {.attention = BilinearScores<T>{.matrix = scores(parameters, b,
                                                         {{ordinary, bos, -1},
                                                          {ordinary, trigger, -1},
                                                          {ordinary, ordinary, -1},
                                                          {trigger, ordinary, 1},
                                                          {trigger, trigger, 1},
                                                          {trigger, bos, -1}}),
                                        .normaliser = normaliser,
                                        .base = b.base,
                                        .sink_weight = w},
         .value = identity_on_w<T>(parameters)});
  };
  const T q = b.q, wq = w * q;
  const auto lost_at_trigger = [q, wq](int others) {
    return T(T(1) / (T(1) + T(others) * q * q / (wq + T(1))));
  };
  using numeric::max;
  return {.name = "",
          .id = "",
          .claim = "",
          .parameters = parameters,
          .model = model,
          .at =
              [=](int i, const Instance<T>& instance) {
                if (i == 1) return AtPosition<T>{{T(1) / (w + T(1))}, T(0)};
                const bool at_trigger = i == instance.trigger;
                const T on_bos =
                    at_trigger ? T(T(1) / (T(1) + wq + T(i - 1) * q * q)) : T(T(1) / (wq + T(i)));
                const T lost = at_trigger ? lost_at_trigger(i - 1) : T(T(i - 1) / (wq + T(i)));
                return AtPosition<T>{{on_bos}, loss_of_mean(parameters, lost, i, instance.trigger)};
              },
          .loss = max(T(T(length - 1) / (wq + T(length))), lost_at_trigger(2)),
          .attained = parameters.content() >= 1};
}

}  // namespace

template <Rigorous T>
Construction<T> two_head(const Parameters& parameters, const Choice& choice) {
  const Base<T> b = base<T>(choice);
  constexpr int bos = Parameters::bos(), trigger = Parameters::trigger();
  const auto model = [=](const Instance<T>&) {
    Head<T> minus = head(parameters, b, {{trigger, bos, 1}});
    minus.value = -minus.value;
    return Model<T>{.layers = {{{head(parameters, b, {{trigger, bos, -1}}), minus}}}};
  };
  const T q = b.q;
  const auto avoiding = [q](int others) { return T(T(1) / (T(1) + T(others) * q)); };
  const auto off_bos = [q](int others) { return T(T(others) / (q + T(others))); };
  const int others = parameters.length() - 1;
  return {.name = "two-head",
          .id = "b1",
          .claim = "two softmax heads cancel off the trigger: no sink (dropped: one head)",
          .parameters = parameters,
          .model = model,
          .at =
              [=](int i, const Instance<T>& instance) {
                if (i != instance.trigger) return AtPosition<T>{{T(1) / T(i), T(1) / T(i)}, T(0)};
                const T lost = avoiding(i - 1) + off_bos(i - 1);
                return AtPosition<T>{{avoiding(i - 1), q / (q + T(i - 1))},
                                     loss_of_mean(parameters, lost, i, instance.trigger)};
              },
          .loss = avoiding(others) + off_bos(others),
          .attained = parameters.content() >= 1};
}

template <Rigorous T>
Construction<T> softmax1(const Parameters& parameters, const Choice& choice) {
  auto result = with_addend<T>(parameters, base<T>(choice), Normaliser::softmax_off_by_one, T(1));
  result.name = "softmax1";
  result.id = "b2";
  result.claim = "softmax-off-by-one attends to nothing off the trigger: no sink (dropped: rows sum to 1)";
  return result;
}

template <Rigorous T>
Construction<T> gated(const Parameters& parameters, const Choice& choice) {
  const Base<T> b = base<T>(choice);
  constexpr int bos = Parameters::bos(), trigger = Parameters::trigger();
  const auto model = [=](const Instance<T>&) {
    Head<T> head_with_gate = head(parameters, b, {{trigger, bos, -1}});
    numeric::Vector<T> direction = numeric::Vector<T>::Constant(parameters.dimension(), T(0));
    direction[trigger] = b.unit;
    direction[parameters.ordinary()] = -b.unit;
    head_with_gate.gate = {.direction = direction, .base = b.base};
    return attention::single_head<T>(head_with_gate);
  };
  const T q = b.q;
  const auto lost_at_trigger = [q](int others) {
    return T((T(1) + T(others + 1) * q) / ((T(1) + q) * (T(1) + T(others) * q)));
  };
  return {
      .name = "gated",
      .id = "b3",
      .claim = "a closed output gate silences uniform attention off the trigger: no sink (dropped: ungated)",
      .parameters = parameters,
      .model = model,
      .at =
          [=](int i, const Instance<T>& instance) {
            if (i == 1) return AtPosition<T>{{T(1)}, T(0)};
            const bool at_trigger = i == instance.trigger;
            const T on_bos = at_trigger ? T(T(1) / (T(1) + T(i - 1) * q)) : T(T(1) / T(i));
            const T lost = at_trigger ? lost_at_trigger(i - 1) : T(T(i - 1) / (T(i) * (T(1) + q)));
            return AtPosition<T>{{on_bos}, loss_of_mean(parameters, lost, i, instance.trigger)};
          },
      .loss = lost_at_trigger(2),
      .attained = parameters.content() >= 1};
}

template <Rigorous T>
Construction<T> sink_logit(const Parameters& parameters, const Choice& choice) {
  if (choice.sink_weight <= 0) {
    throw InputError("sink weight e^b = " + numeric::to_string(choice.sink_weight) + " must be positive");
  }
  auto result = with_addend<T>(parameters, base<T>(choice), Normaliser::sink_logit,
                               numeric::from_rational<T>(choice.sink_weight));
  result.name = "sink-logit";
  result.id = "b4";
  result.claim = "a learned sink logit b, e^b = " + numeric::to_string(choice.sink_weight) +
                 ", takes the mass off the trigger: no sink token (dropped: rows sum to 1)";
  return result;
}

template <Rigorous T>
Construction<T> residual(const Parameters& parameters, const Choice& choice) {
  const Rational v = choice.v;
  if (v < 1)
    throw InputError("v = " + numeric::to_string(v) + ": the gain of the residual layers must be at least 1");
  const auto model = [parameters, v](const Instance<T>& instance) {
    const int length = parameters.length(), j = instance.trigger, others = j - 1;
    Matrix<T> first = Matrix<T>::Constant(length, length, T(0));
    for (int row = 0; row < length; ++row) first(row, row) = T(1);
    Matrix<T> second = first;
    // At the trigger: layer 1 adds v sum_k b_k x_k, layer 2 takes v sum_k a_k x_k away, and b_k - a_k is
    // 1/(v (j-1)) at every key 2..j.
    const Rational own = 1 / (v * others), earlier = (1 - own) / (j - 2);
    const auto set = [](Matrix<T>& weights, int row, int key, const Rational& weight) {
      weights(row - 1, key - 1) = numeric::from_rational<T>(weight);
    };
    for (int key = 2; key < j; ++key) {
      set(first, j, key, earlier);
      set(second, j, key, earlier - own);
    }
    set(first, j, j, own);
    set(second, j, j, 0);
    set(second, j, 1, 1 / v);
    const Matrix<T> identity = identity_on_w<T>(parameters);
    const T gain = numeric::from_rational<T>(v), back = numeric::from_rational<T>(-v / (1 + v));
    return Model<T>{
        .layers = {{{{.attention = attention::GivenAttention<T>{first}, .value = identity * gain}}},
                   {{{.attention = attention::GivenAttention<T>{second}, .value = identity * back}}}},
        .residual = true};
  };
  return {.name = "residual",
          .id = "b5",
          .claim =
              "two residual layers solve x + y exactly, attending to themselves off the trigger: no sink "
              "(dropped: no residual)",
          .parameters = parameters,
          .model = model,
          .at =
              [v](int i, const Instance<T>& instance) {
                if (i == 1) return AtPosition<T>{{T(1), T(1)}, T(0)};
                if (i != instance.trigger) return AtPosition<T>{{T(0), T(0)}, T(0)};
                return AtPosition<T>{{T(0), numeric::from_rational<T>(1 / v)}, T(0)};
              },
          .loss = T(0),
          .attained = true,
          .target = task::residual_target<T>};
}

template <Rigorous T>
Construction<T> clip(const Parameters& parameters, const Choice& choice) {
  const Base<T> b = base<T>(choice);
  constexpr int bos = Parameters::bos(), trigger = Parameters::trigger();
  const T q = b.q, slope(parameters.length());
  const auto model = [=](const Instance<T>&) {
    Model<T> result = attention::single_head<T>(
        head(parameters, b, {{parameters.ordinary(), trigger, -1}, {trigger, bos, -1}}));
    result.read_out = {.slope = slope, .coordinate = trigger};
    return result;
  };
  using numeric::min;
  return {.name = "clip",
          .id = "b7",
          .claim = "a clipped read-out silences what carries no trigger: no sink (dropped: linear read-out)",
          .parameters = parameters,
          .model = model,
          .at =
              [=](int i, const Instance<T>& instance) {
                if (i < instance.trigger) return AtPosition<T>{{T(1) / T(i)}, T(0)};
                const T below = T(1) / (T(1) + T(i - 1) * q);
                if (i == instance.trigger) {
                  return AtPosition<T>{{below}, loss_of_mean(parameters, below, i, instance.trigger)};
                }
                const T loudest = T(i - 2) * q + T(parameters.content() >= 1 ? 1 : 0);
                return AtPosition<T>{{T(1) / (T(i - 1) + T(1) / q)}, min(slope, loudest) * below};
              },
          .loss = slope / (T(1) + T(3) * q),
          .attained = parameters.content() >= 1 &&
                      numeric::at_least(q, Rational(parameters.length() - 1, 2)) == numeric::Verdict::proved};
}

template <Rigorous T>
Construction<T> running_mean(const Parameters& parameters, const Choice& choice) {
  const Base<T> b = base<T>(choice);
  constexpr int bos = Parameters::bos(), trigger = Parameters::trigger();
  const T q = b.q;
  return {.name = "running-mean",
          .id = "b8",
          .claim = "the running mean needs no default output: no sink (dropped: default output zero)",
          .parameters = parameters,
          .model =
              [=](const Instance<T>&) {
                return attention::single_head<T>(
                    head(parameters, b, {{parameters.ordinary(), bos, -1}, {trigger, bos, -1}}));
              },
          .at =
              [=](int i, const Instance<T>& instance) {
                const T on_bos = T(1) / (T(1) + T(i - 1) * q);
                if (i == 1) return AtPosition<T>{{on_bos}, T(0)};
                return AtPosition<T>{{on_bos}, loss_of_mean(parameters, on_bos, i, instance.trigger)};
              },
          .loss = T(1) / (T(1) + q),
          .attained = true,
          .target = running_mean_target<T>};
}

#define SINKPROOF_INSTANTIATE(T)                                         \
  template Construction<T> two_head(const Parameters&, const Choice&);   \
  template Construction<T> softmax1(const Parameters&, const Choice&);   \
  template Construction<T> gated(const Parameters&, const Choice&);      \
  template Construction<T> sink_logit(const Parameters&, const Choice&); \
  template Construction<T> residual(const Parameters&, const Choice&);   \
  template Construction<T> clip(const Parameters&, const Choice&);       \
  template Construction<T> running_mean(const Parameters&, const Choice&);
SINKPROOF_INSTANTIATE(Rational)
SINKPROOF_INSTANTIATE(numeric::Interval)
SINKPROOF_INSTANTIATE(numeric::BigInterval)
#undef SINKPROOF_INSTANTIATE

}  // namespace sinkproof::theory
