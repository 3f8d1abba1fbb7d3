#include "theory/construction.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "attention/forward.hpp"
#include "errors.hpp"
#include "task/sampler.hpp"

namespace sinkproof::theory {

using numeric::at_most, numeric::equal, numeric::is_undecided;
using numeric::Matrix, numeric::Rational, numeric::Rigorous, numeric::Verdict;

template <Rigorous T>
Base<T> base(const Choice& choice) {
  if (!choice.exponent) {
    if (choice.q <= 1) throw InputError("q = " + numeric::to_string(choice.q) + ": q = e^K must exceed 1");
    return {T(1), numeric::from_rational<T>(choice.q), choice.q};
  }
  if (*choice.exponent <= 0)
    throw InputError("K = " + numeric::to_string(*choice.exponent) + " must be positive");
  if constexpr (numeric::Exact<T>) {
    throw InputError("e^K is irrational for a rational K: give q = e^K instead, or evaluate in intervals");
  } else {
    const T unit = numeric::from_rational<T>(*choice.exponent);
    const T q = exp(unit);
    if (is_undecided(q)) {
      throw InputError("K = " + numeric::to_string(*choice.exponent) + ": e^K is too large to be enclosed");
    }
    return {unit, q, std::nullopt};
  }
}

template <Rigorous T>
Matrix<T> identity_on_w(const task::Parameters& parameters) {
  Matrix<T> value = Matrix<T>::Constant(parameters.dimension(), parameters.dimension(), T(0));
  for (int r = 1; r < parameters.dimension(); ++r) value(r, r) = T(1);
  return value;
}

Rational largest_mean(const task::Parameters& parameters, int position, int trigger) {
  if (parameters.content() >= 1 || position < trigger) return 1;
  return Rational(position - 2, position - 1);
}

template <Rigorous T>
std::vector<task::Instance<T>> sample_instances(const task::Parameters& parameters, int random,
                                                std::uint64_t seed) {
  std::vector<task::Instance<T>> instances{task::zero_instance<T>(parameters, 3)};
  for (const int trigger : {3, parameters.length()}) {
    auto ones = task::zero_instance<T>(parameters, trigger);
    ones.content.setConstant(T(1));
    instances.push_back(std::move(ones));
  }
  task::Sampler sampler(parameters, seed);
  for (int k = 0; k < random; ++k) {
    instances.push_back(task::convert<T>(sampler.vertex()));
    instances.push_back(task::convert<T>(sampler.uniform()));
  }
  return instances;
}

namespace {

template <Rigorous T>
std::string show(const T& x) {
  return numeric::to_string(x);
}

/// Content 1 throughout, or no content at all. Position 1 has none.
template <Rigorous T>
bool saturates(const task::Instance<T>& instance) {
  for (Eigen::Index row = 1; row < instance.content.rows(); ++row) {
    for (Eigen::Index m = 0; m < instance.content.cols(); ++m) {
      if (!(instance.content(row, m) == T(1))) return false;
    }
  }
  return true;
}

}  // namespace

template <Rigorous T>
Evaluation<T> evaluate(const Construction<T>& construction, const std::vector<task::Instance<T>>& instances) {
  using numeric::max;
  using std::abs;
  Evaluation<T> seen;
  for (const task::Instance<T>& instance : instances) {
    ++seen.instances;
    const auto trace =
        attention::forward(construction.model(instance), task::tokens(construction.parameters, instance));
    const Matrix<T> target = construction.target(construction.parameters, instance);
    const bool saturated = saturates(instance);
    for (int position = 1; position <= construction.parameters.length(); ++position) {
      const AtPosition<T> closed = construction.at(position, instance);
      const auto mismatch = [&](const char* what, const T& got, const T& want) {
        return std::logic_error(fmt::format("{}: {} at position {}, trigger {}: evaluated {}, closed form {}",
                                            construction.name, what, position, instance.trigger, show(got),
                                            show(want)));
      };
      const auto require_enclosed = [&](const T& x) {
        if (is_undecided(x)) {
          throw InputError(
              fmt::format("{}: position {}, trigger {} cannot be enclosed: give a smaller q (or K)",
                          construction.name, position, instance.trigger));
        }
      };
      std::size_t head = 0;
      for (const auto& layer : trace.attention) {
        for (const Matrix<T>& weights : layer) {
          const T weight = weights(position - 1, 0), &want = closed.bos_weights.at(head++);
          require_enclosed(weight);
          if (equal(weight, want) == Verdict::disproved) throw mismatch("BOS weight", weight, want);
          if (position >= 2 && position != instance.trigger) {
            seen.largest_bos_weight = max(seen.largest_bos_weight, weight);
          }
        }
      }
      if (head != closed.bos_weights.size()) throw std::logic_error(construction.name + ": number of heads");
      T error(0);
      for (int r = 0; r < construction.parameters.dimension(); ++r) {
        error = max(error, T(abs(T(trace.output(position - 1, r) - target(position - 1, r)))));
      }
      require_enclosed(error);
      for (const T& bound : {closed.loss, construction.loss}) {
        if (at_most(error, bound) == Verdict::disproved) throw mismatch("error", error, bound);
      }
      if (saturated && equal(error, closed.loss) == Verdict::disproved) {
        throw mismatch("error at a vertex", error, closed.loss);
      }
      seen.largest_error = max(seen.largest_error, error);
    }
  }
  return seen;
}

#define SINKPROOF_INSTANTIATE(T)                                                                         \
  template Base<T> base(const Choice&);                                                                  \
  template Matrix<T> identity_on_w(const task::Parameters&);                                             \
  template std::vector<task::Instance<T>> sample_instances(const task::Parameters&, int, std::uint64_t); \
  template Evaluation<T> evaluate(const Construction<T>&, const std::vector<task::Instance<T>>&);
SINKPROOF_INSTANTIATE(Rational)
SINKPROOF_INSTANTIATE(numeric::Interval)
SINKPROOF_INSTANTIATE(numeric::BigInterval)
#undef SINKPROOF_INSTANTIATE

}  // namespace sinkproof::theory
