// The plain trainer against the numbers of the paper's own PyTorch code (data/reference), and its gradients
// against finite differences.
#include "train/reference.hpp"

#include <cmath>
#include <map>
#include <random>

#include <doctest/doctest.h>

#include "formats/npz.hpp"

using namespace sinkproof;
using attention::Normaliser;
using attention::Weights;
using train::Batch;
using Matrix = numeric::Matrix<double>;

namespace {

using Tensors = std::map<std::string, formats::Tensor>;

Tensors load(const std::string& name) {
  Tensors tensors;
  for (auto& tensor :
       formats::read_npz(std::string(SINKPROOF_DATA_DIR "/reference/") + name + ".npz").tensors) {
    tensors.emplace(tensor.name, tensor);
  }
  return tensors;
}

Matrix matrix_at(const formats::Tensor& tensor, std::size_t index) {
  const auto rows = static_cast<Eigen::Index>(tensor.shape[tensor.shape.size() - 2]);
  const auto cols = static_cast<Eigen::Index>(tensor.shape.back());
  return Eigen::Map<const Matrix>(tensor.values.data() + static_cast<Eigen::Index>(index) * rows * cols, rows,
                                  cols);
}

/// The weights (or gradients) under `prefix`.
Weights weights_at(const Tensors& tensors, const std::string& prefix, int layers, int heads) {
  constexpr int n = 16;
  Weights weights{.layers = {}, .dimension = n, .residual = layers > 1, .scale = {}, .layout = "paper"};
  for (int l = 0; l < layers; ++l) {
    const std::string stem = prefix + (layers == 1 ? "" : "layers." + std::to_string(l) + ".");
    const auto matrix = [&](const char* part) { return matrix_at(tensors.at(stem + part + ".weight"), 0); };
    auto& layer = weights.layers.emplace_back();
    for (int h = 0; h < heads; ++h) {
      layer.heads.push_back({.query = matrix("W_Q").middleRows(h * n, n),
                             .key = matrix("W_K").middleRows(h * n, n),
                             .value = matrix("W_V").middleRows(h * n, n),
                             .output = matrix("W_O").middleCols(h * n, n)});
    }
  }
  return weights;
}

constexpr double tolerance = 1e-12;

/// The largest difference, relative to the largest entry of what is wanted.
template <class A, class B>
double relative_difference(const A& seen, const B& wanted) {
  return (seen - wanted).cwiseAbs().maxCoeff() / wanted.cwiseAbs().maxCoeff();
}

void require_close(const Weights& seen, const Weights& wanted) {
  const auto a = train::matrices(seen);
  const auto b = train::matrices(wanted);
  REQUIRE(a.size() == b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    CAPTURE(k);
    REQUIRE(relative_difference(*a[k], *b[k]) <= tolerance);
  }
}

void compare(const std::string& name, int layers, int heads, Normaliser normaliser, double learning_rate) {
  CAPTURE(name);
  const Tensors tensors = load(name);
  const auto steps = static_cast<std::size_t>(tensors.at("x").shape[0]);
  const auto batch_size = static_cast<std::size_t>(tensors.at("x").shape[1]);
  Weights weights = weights_at(tensors, "init.", layers, heads);
  train::ReferenceAdam adam(learning_rate, 0.9, 0.95, 1e-8);
  for (std::size_t step = 0; step < steps; ++step) {
    CAPTURE(step);
    Batch batch;
    for (std::size_t b = 0; b < batch_size; ++b) {
      batch.x.push_back(matrix_at(tensors.at("x"), step * batch_size + b));
      batch.y.push_back(matrix_at(tensors.at("y"), step * batch_size + b));
    }
    const auto pass = train::reference_pass(weights, normaliser, batch);
    const double loss = tensors.at("loss").values[step], linf = tensors.at("linf").values[step];
    REQUIRE(std::abs(pass.loss - loss) <= tolerance * loss);
    REQUIRE(std::abs(pass.linf - linf) <= tolerance * linf);
    if (step == 0) {
      require_close(pass.gradient, weights_at(tensors, "step0.grad.", layers, heads));
      for (std::size_t b = 0; b < batch_size; ++b) {
        REQUIRE(relative_difference(pass.predictions[b], matrix_at(tensors.at("step0.pred"), b)) <=
                tolerance);
        for (std::size_t l = 0; l < static_cast<std::size_t>(layers); ++l) {
          for (std::size_t h = 0; h < static_cast<std::size_t>(heads); ++h) {
            const Matrix wanted = matrix_at(tensors.at("step0.attn." + std::to_string(l)),
                                            b * static_cast<std::size_t>(heads) + h);
            REQUIRE((pass.attention[b][l][h] - wanted).cwiseAbs().maxCoeff() <= tolerance);
          }
        }
      }
    }
    adam.update(weights, pass.gradient);
  }
  require_close(weights, weights_at(tensors, "final.", layers, heads));
}

/// Random weights and tokens (of no task), to differentiate at.
struct Point {
  Weights weights;
  Batch batch;
};

Point random_point(unsigned seed, int layers, int heads, int L, int n) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal;
  const auto fill = [&](auto& matrix, int rows, double deviation) {
    matrix.resize(rows, n);
    for (double& entry : matrix.reshaped()) entry = deviation * normal(bits);
  };
  Point point;
  point.weights.dimension = n;
  point.weights.residual = layers * heads > 1;
  for (int l = 0; l < layers; ++l) {
    auto& layer = point.weights.layers.emplace_back();
    for (int h = 0; h < heads; ++h) {
      auto& head = layer.heads.emplace_back();
      for (auto* matrix : {&head.query, &head.key, &head.value, &head.output}) fill(*matrix, n, 0.6);
    }
  }
  for (int b = 0; b < 3; ++b) {
    fill(point.batch.x.emplace_back(), L, 1);
    fill(point.batch.y.emplace_back(), L, 1);
  }
  return point;
}

}  // namespace

TEST_CASE("the paper's code: predictions, attention, gradients, losses, final weights within 1e-12") {
  compare("softmax_1h1d", 1, 1, Normaliser::softmax, 1e-3);
  compare("relu_1h1d", 1, 1, Normaliser::relu, 1e-3);
  compare("softmax_2h2d", 2, 2, Normaliser::softmax, 1e-4);
  compare("relu_2h2d", 2, 2, Normaliser::relu, 1e-4);
  compare("softmax_4h4d", 4, 4, Normaliser::softmax, 1e-4);
}

TEST_CASE("gradients agree with finite differences on small random models") {
  // Central differences of step h are off by O(h^2) and by rounding / h.
  constexpr double h = 1e-5, allowed = 1e-7;
  for (const auto normaliser : {Normaliser::softmax, Normaliser::relu}) {
    struct Sizes {
      int layers, heads, L, n;
    };
    for (const Sizes size : {Sizes{1, 1, 4, 3}, {1, 3, 5, 4}, {2, 1, 6, 5}, {3, 2, 4, 3}}) {
      const unsigned seed = 7;
      CAPTURE(seed);
      CAPTURE(size.layers);
      Point point = random_point(seed, size.layers, size.heads, size.L, size.n);
      const auto gradient = train::reference_pass(point.weights, normaliser, point.batch).gradient;
      const auto loss = [&] { return train::reference_pass(point.weights, normaliser, point.batch).loss; };
      const auto w = train::matrices(point.weights);
      const auto g = train::matrices(gradient);
      double largest = 0;
      for (std::size_t k = 0; k < w.size(); ++k) largest = std::max(largest, g[k]->cwiseAbs().maxCoeff());
      for (std::size_t k = 0; k < w.size(); ++k) {
        for (Eigen::Index e = 0; e < w[k]->size(); ++e) {
          double& entry = w[k]->data()[e];
          const double kept = entry;
          entry = kept + h;
          const double above = loss();
          entry = kept - h;
          const double below = loss();
          entry = kept;
          REQUIRE(std::abs((above - below) / (2 * h) - g[k]->data()[e]) <= allowed * (1 + largest));
        }
      }
    }
  }
}

TEST_CASE("NaN shows in the loss and in the largest error") {
  Point point = random_point(3, 2, 2, 4, 3);
  point.weights.layers[0].heads[1].value(0, 0) = std::nan("");
  const auto pass = train::reference_pass(point.weights, Normaliser::softmax, point.batch);
  CHECK(std::isnan(pass.loss));
  CHECK(!(pass.linf < 1e300));
}
