#pragma once

#include <cmath>
#include <cstdlib>
#include <random>

#include "attention/forward.hpp"
#include "attention/weights.hpp"
#include "certify/certify.hpp"
#include "formats/weights_file.hpp"
#include "task/sampler.hpp"

/// Heads, and their plain evaluation in double, for the tests of certified bounds.
namespace support {

using namespace sinkproof;

/// Multiplies the number of random instances; 1 unless SINKPROOF_TEST_SCALE says otherwise.
inline double scale() {
  const char* text = std::getenv("SINKPROOF_TEST_SCALE");
  return text ? std::max(std::atof(text), 0.01) : 1;
}
inline long scaled(long count) {
  return std::max(1L, static_cast<long>(static_cast<double>(count) * scale()));
}

inline attention::Weights load(const std::string& name) {
  return formats::read_weights(SINKPROOF_DATA_DIR "/weights/" + name + ".npz");
}

/// The head whose maps are exactly A and V (W_Q = identity, W_O = identity).
inline attention::Weights head_of(const Eigen::MatrixXd& a, const Eigen::MatrixXd& v) {
  const auto n = a.rows();
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n);
  return {.layers = {{{{.query = one, .key = a, .value = v, .output = one}}}},
          .dimension = static_cast<int>(n),
          .residual = false,
          .scale = {},
          .layout = "paper"};
}

inline Eigen::MatrixXd random_matrix(int n, double size, std::mt19937_64& random) {
  Eigen::MatrixXd m(n, n);
  for (auto& entry : m.reshaped()) {
    entry = size * (static_cast<double>(random() >> 11) * 0x1p-52 - 1);
  }
  return m;
}

/// A head that nearly solves the task: BOS is favoured off the trigger by `gap` and shunned at it, V is
/// nearly the identity off BOS; every entry of A (of V) has noise of the given size.
inline attention::Weights good_head(int d, double gap, double score_noise, double value_noise,
                                    std::mt19937_64& random) {
  const int n = d + 3;
  Eigen::MatrixXd a = random_matrix(n, score_noise, random), v = random_matrix(n, value_noise, random);
  a(n - 1, 0) += gap;
  a(1, 0) -= gap;
  v += Eigen::MatrixXd::Identity(n, n);
  v(0, 0) = 0;
  return head_of(a, v);
}

/// What one instance attains, in double: the leak (the largest weight off BOS for ReLU), and the loss at the
/// trigger, off it, and at position 1.
struct Attained {
  double leak = 0, first = 0, off_trigger = 0, at_trigger = 0;
  double loss() const { return std::max({first, off_trigger, at_trigger}); }
};
inline Attained evaluate(const attention::Model<double>& model, attention::Normaliser normaliser,
                         const task::Parameters& parameters, const task::Instance<double>& instance) {
  const auto x = task::tokens(parameters, instance);
  const auto trace = attention::forward(model, x);
  const auto& a = trace.attention[0][0];
  const numeric::Matrix<double> error = trace.output - task::target(parameters, instance);
  Attained seen;
  for (int i = 0; i < x.rows(); ++i) {
    const double loss = error.row(i).cwiseAbs().maxCoeff();
    if (i == 0) {
      seen.first = loss;
    } else if (i == instance.trigger - 1) {
      seen.at_trigger = std::max(seen.at_trigger, loss);
    } else {
      seen.off_trigger = std::max(seen.off_trigger, loss);
      const auto others = a.row(i).segment(1, i);
      seen.leak = std::max(seen.leak,
                           normaliser == attention::Normaliser::softmax ? others.sum() : others.maxCoeff());
    }
  }
  return seen;
}

/// Room for the rounding of the evaluation in double: values are sums of some hundred numbers of size
/// about 1.
inline double with_room(double bound) {
  return bound * (1 + 1e-11) + 1e-12;
}

/// Runs every instance of the box [-1, 1]^(d (L - 1)) whose coordinates are among `points` values, for each
/// j.
template <class Visit>
void for_each_grid_instance(const task::Parameters& parameters, const std::vector<double>& points,
                            Visit visit) {
  const int tokens = parameters.length() - 1, coordinates = tokens * parameters.content();
  std::vector<std::size_t> digits(static_cast<std::size_t>(coordinates), 0);
  for (int j = 3; j <= parameters.length(); ++j) {
    auto instance = task::zero_instance<double>(parameters, j);
    for (;;) {
      for (int k = 0; k < coordinates; ++k) {
        instance.content(1 + k / parameters.content(), k % parameters.content()) =
            points[digits[static_cast<std::size_t>(k)]];
      }
      visit(instance);
      std::size_t place = 0;
      while (place < digits.size() && ++digits[place] == points.size()) digits[place++] = 0;
      if (place == digits.size()) break;
    }
  }
}

}  // namespace support
