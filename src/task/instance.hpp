#pragma once

#include <string>
#include <string_view>

#include "numeric/matrix.hpp"

/// The trigger-conditional task of theory.md section 0. Positions are 1-based in names, text and reports; row
/// `position - 1` of a matrix belongs to a position.
namespace sinkproof::task {

/// Sequence length L >= 4 and content coordinates d >= 0; the model dimension is n = d + 3. Throws InputError
/// outside these ranges (or beyond 2^20, where an instance would not fit the memory).
class Parameters {
 public:
  Parameters(long length, long content);
  int length() const { return length_; }          ///< L
  int content() const { return content_; }        ///< d
  int dimension() const { return content_ + 3; }  ///< n

  // Coordinates of R^n (0-based): B, T, content 0..d-1, N.
  static constexpr int bos() { return 0; }
  static constexpr int trigger() { return 1; }
  static constexpr int content_begin() { return 2; }
  int ordinary() const { return content_ + 2; }

  friend bool operator==(const Parameters&, const Parameters&) = default;

 private:
  int length_;
  int content_;
};

/// One input: where the trigger is, and each token's content. Kind: of its scalar.
template <numeric::Scalar T>
struct Instance {
  int trigger = 3;             ///< j in 3..L
  numeric::Matrix<T> content;  ///< [L, d], entries in [-1, 1]; row 0 (BOS) is 0 and never read
};

/// The instance with content 0 throughout.
template <numeric::Scalar T>
Instance<T> zero_instance(const Parameters& parameters, int trigger) {
  return {trigger, numeric::Matrix<T>::Constant(parameters.length(), parameters.content(), T(0))};
}

/// The same instance in another scalar, through the one door.
template <numeric::Scalar T, numeric::Scalar U>
Instance<T> convert(const Instance<U>& instance) {
  return {instance.trigger, numeric::convert<T, U>(instance.content)};
}

/// x [L, n]: e_B, then e_N + iota c_k, and e_T + iota c_j at the trigger.
template <numeric::Scalar T>
numeric::Matrix<T> tokens(const Parameters& parameters, const Instance<T>& instance) {
  const int length = parameters.length();
  numeric::Matrix<T> x = numeric::Matrix<T>::Constant(length, parameters.dimension(), T(0));
  x(0, Parameters::bos()) = T(1);
  for (int row = 1; row < length; ++row) {
    x(row, row == instance.trigger - 1 ? Parameters::trigger() : parameters.ordinary()) = T(1);
    for (int m = 0; m < parameters.content(); ++m) {
      x(row, Parameters::content_begin() + m) = instance.content(row, m);
    }
  }
  return x;
}

/// y [L, n]: 0 off the trigger; at the trigger the mean of the tokens 2..j.
template <numeric::Scalar T>
numeric::Matrix<T> target(const Parameters& parameters, const Instance<T>& instance) {
  const numeric::Matrix<T> x = tokens(parameters, instance);
  numeric::Matrix<T> y = numeric::Matrix<T>::Constant(x.rows(), x.cols(), T(0));
  const int j = instance.trigger;
  for (int column = 0; column < parameters.dimension(); ++column) {
    T sum(0);
    for (int row = 1; row < j; ++row) sum += x(row, column);
    y(j - 1, column) = sum / T(j - 1);
  }
  return y;
}

/// The target of models with a residual stream: x + y.
template <numeric::Scalar T>
numeric::Matrix<T> residual_target(const Parameters& parameters, const Instance<T>& instance) {
  return tokens(parameters, instance) + target(parameters, instance);
}

/// An instance as text, exact, for witnesses:
///
///     sinkproof-instance 1
///     length 16 content 2 trigger 3
///     2: 1 -1
///     3: 1/2 0
///     ...
///
/// one line a position 2..L, each coordinate a fraction or a decimal.
std::string to_text(const Parameters& parameters, const Instance<numeric::Rational>& instance);

struct ParsedInstance {
  Parameters parameters;
  Instance<numeric::Rational> instance;
};
/// Reads the text form. Throws InputError (prefixed by `name`, the file) that names the line and the mend.
ParsedInstance parse_instance(std::string_view text, const std::string& name);

}  // namespace sinkproof::task
