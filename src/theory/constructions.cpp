#include "theory/constructions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "errors.hpp"
#include "theory/boundary.hpp"
#include "theory/proposition1s.hpp"
#include "theory/proposition4.hpp"
#include "theory/theorem3.hpp"

namespace sinkproof::theory {

const std::vector<std::string>& construction_names() {
  static const std::vector<std::string> names{"relu",  "softmax",     "two-head", "softmax1",
                                              "gated", "sink-logit",  "residual", "sharp",
                                              "clip",  "running-mean"};
  return names;
}

template <numeric::Rigorous T>
Construction<T> construct(const std::string& name, const task::Parameters& parameters, const Choice& choice) {
  if (name == "relu") return relu<T>(parameters);
  if (name == "softmax") return softmax<T>(parameters, choice);
  if (name == "two-head") return two_head<T>(parameters, choice);
  if (name == "softmax1") return softmax1<T>(parameters, choice);
  if (name == "gated") return gated<T>(parameters, choice);
  if (name == "sink-logit") return sink_logit<T>(parameters, choice);
  if (name == "residual") return residual<T>(parameters, choice);
  if (name == "sharp") return sharp<T>(parameters, choice);
  if (name == "clip") return clip<T>(parameters, choice);
  if (name == "running-mean") return running_mean<T>(parameters, choice);
  throw InputError(fmt::format("no construction is called '{}': choose one of {}", name,
                               fmt::join(construction_names(), ", ")));
}

#define SINKPROOF_INSTANTIATE(T) \
  template Construction<T> construct(const std::string&, const task::Parameters&, const Choice&);
SINKPROOF_INSTANTIATE(numeric::Rational)
SINKPROOF_INSTANTIATE(numeric::Interval)
SINKPROOF_INSTANTIATE(numeric::BigInterval)
#undef SINKPROOF_INSTANTIATE

}  // namespace sinkproof::theory
