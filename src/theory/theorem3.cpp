#include "theory/theorem3.hpp"

namespace sinkproof::theory {

template <numeric::Rigorous T>
Construction<T> relu(const task::Parameters& parameters) {
  const auto model = [parameters](const task::Instance<T>&) {
    const int n = parameters.dimension(), t = parameters.trigger();
    numeric::Matrix<T> scores = numeric::Matrix<T>::Constant(n, n, T(0));
    scores(t, t) = scores(t, parameters.ordinary()) = T(1);
    return attention::single_head<T>(
        {.attention =
             attention::BilinearScores<T>{.matrix = scores, .normaliser = attention::Normaliser::relu},
         .value = identity_on_w<T>(parameters)});
  };
  return {.name = "relu",
          .id = "theorem-3",
          .claim = "ReLU attention solves the task exactly, with attention 0 in every non-trigger row",
          .parameters = parameters,
          .model = model,
          .at =
              [](int, const task::Instance<T>&) {
                return AtPosition<T>{{T(0)}, T(0)};
              },
          .loss = T(0),
          .attained = true};
}

template Construction<numeric::Rational> relu(const task::Parameters&);
template Construction<numeric::Interval> relu(const task::Parameters&);
template Construction<numeric::BigInterval> relu(const task::Parameters&);

}  // namespace sinkproof::theory
