#pragma once

#include <functional>
#include <string>
#include <vector>

#include "attention/model.hpp"
#include "numeric/enclosure.hpp"
#include "task/instance.hpp"

/// The shape that every construction of theory.md sections 1-6 shares, and its evaluation against its closed
/// form.
namespace sinkproof::theory {

/// What the constructions depend on; each reads what it needs.
struct Choice {
  numeric::Rational q = 2;                                   ///< q = e^K > 1, the base of the scores
  std::optional<numeric::Rational> exponent = std::nullopt;  ///< K > 0: if given, q is e^K instead (enclosed)
  numeric::Rational eta{1, 10};                              ///< the loss of `sharp`, 0 < eta < 1/2
  numeric::Rational v = 2;                                   ///< the gain of `residual`, v >= 1
  numeric::Rational sink_weight = 2;                         ///< e^b > 0, the learned sink of `sink-logit`
};

/// What the closed form says of one position (1-based) of an instance.
template <numeric::Rigorous T>
struct AtPosition {
  std::vector<T> bos_weights;  ///< a_i1 of each head, layer by layer
  T loss;                      ///< the supremum over the content (trigger fixed) of |o_i - y_i|
};

/// A model, the task it solves, and closed forms for what it does. Kind: of T (exact for a rational q; with
/// `Choice::exponent` T must be an enclosure).
template <numeric::Rigorous T>
struct Construction {
  std::string name;   ///< "softmax": the NAME of `sinkproof construct`
  std::string id;     ///< the claim id, "proposition-4", "b3"
  std::string claim;  ///< one line
  task::Parameters parameters;
  /// The model; only given attention depends on the instance.
  std::function<attention::Model<T>(const task::Instance<T>&)> model;
  /// Every supremum in `at` is attained where all content is 1 (trivially for d = 0).
  std::function<AtPosition<T>(int position, const task::Instance<T>&)> at;
  T loss;         ///< an upper bound of Lambda
  bool attained;  ///< the bound is Lambda itself, attained where all content is 1 and j = 3 or j = L
  std::function<numeric::Matrix<T>(const task::Parameters&, const task::Instance<T>&)> target =
      task::target<T>;
};

/// What an evaluation saw.
template <numeric::Rigorous T>
struct Evaluation {
  int instances = 0;
  T largest_error = T(0);       ///< |o_i - y_i| over all positions (position 1 counts) and instances
  T largest_bos_weight = T(0);  ///< a_i1 over non-trigger positions i >= 2, heads and instances
};

/// Evaluates the construction and compares with its closed form at every position: BOS weights are equal,
/// errors are at most `at().loss` and at most `loss`, and equal to `at().loss` where all content is 1. Exact
/// for Rational; for an enclosure "equal" means that the enclosures meet. Throws std::logic_error on a
/// mismatch (a bug of this program), InputError where a value cannot be enclosed.
template <numeric::Rigorous T>
Evaluation<T> evaluate(const Construction<T>& construction, const std::vector<task::Instance<T>>& instances);

/// A handful: zero content at j = 3; all content 1 at j = 3 and j = L; `random` vertices of the content box
/// and as many uniform draws, from the seed.
template <numeric::Rigorous T>
std::vector<task::Instance<T>> sample_instances(const task::Parameters& parameters, int random,
                                                std::uint64_t seed);

/// e^K as the constructions use it: scores are multiples of `unit`, e^unit = q.
template <numeric::Rigorous T>
struct Base {
  T unit;
  T q;
  std::optional<numeric::Rational> base;  ///< for BilinearScores
};
/// Throws InputError unless q > 1 (K > 0), or where K is given and T is exact, or e^K cannot be enclosed.
template <numeric::Rigorous T>
Base<T> base(const Choice& choice);

/// The identity on W, 0 on e_B. [n, n]
template <numeric::Rigorous T>
numeric::Matrix<T> identity_on_w(const task::Parameters& parameters);

/// The supremum over the content of |mean of the tokens 2..i|: 1 for d >= 1 (content 1 throughout) and before
/// the trigger; for d = 0 from the trigger on (i-2)/(i-1), as it has no N.
numeric::Rational largest_mean(const task::Parameters& parameters, int position, int trigger);

}  // namespace sinkproof::theory
