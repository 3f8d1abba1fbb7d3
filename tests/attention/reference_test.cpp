// The paper's own PyTorch code evaluated these weights in double precision: its predictions and attention
// weights must lie within 1e-12 of our enclosures, which contain the exact values.
#include <map>

#include <doctest/doctest.h>

#include "attention/forward.hpp"
#include "attention/weights.hpp"
#include "formats/npz.hpp"
#include "numeric/enclosure.hpp"

using namespace sinkproof;
using attention::Normaliser;
using numeric::BigInterval;
using numeric::Interval;
using numeric::Matrix;
using numeric::Rational;

namespace {

struct Reference {
  std::map<std::string, formats::Tensor> tensors;
  const formats::Tensor& operator[](const std::string& name) const { return tensors.at(name); }

  Eigen::MatrixXd matrix(const std::string& name) const {
    const formats::Tensor& tensor = tensors.at(name);
    return Eigen::Map<const Matrix<double>>(tensor.values.data(), static_cast<Eigen::Index>(tensor.shape[0]),
                                            static_cast<Eigen::Index>(tensor.shape[1]));
  }
};

Reference load(const std::string& name) {
  Reference reference;
  for (auto& tensor :
       formats::read_npz(std::string(SINKPROOF_DATA_DIR "/reference/") + name + ".npz").tensors) {
    reference.tensors.emplace(tensor.name, tensor);
  }
  return reference;
}

attention::Weights weights_of(const Reference& reference, int layers, int heads) {
  constexpr int n = 16;
  attention::Weights weights{
      .layers = {}, .dimension = n, .residual = layers > 1, .scale = {}, .layout = "paper"};
  for (int l = 0; l < layers; ++l) {
    const std::string prefix = layers == 1 ? "init." : "init.layers." + std::to_string(l) + ".";
    auto& layer = weights.layers.emplace_back();
    for (int h = 0; h < heads; ++h) {
      layer.heads.push_back({.query = reference.matrix(prefix + "W_Q.weight").middleRows(h * n, n),
                             .key = reference.matrix(prefix + "W_K.weight").middleRows(h * n, n),
                             .value = reference.matrix(prefix + "W_V.weight").middleRows(h * n, n),
                             .output = reference.matrix(prefix + "W_O.weight").middleCols(h * n, n)});
    }
  }
  return weights;
}

const Rational tolerance = numeric::parse_rational("1e-12");

template <class T>
bool within(const T& enclosure, double value) {
  const Rational exact = numeric::exact(value);
  return lower_end(enclosure) - tolerance <= exact && exact <= upper_end(enclosure) + tolerance;
}
template <>
bool within(const Interval& enclosure, double value) {
  return value >= enclosure.lower() - 1e-12 && value <= enclosure.upper() + 1e-12;
}

/// Every prediction and attention weight of the first `batch` examples lies within 1e-12 of the enclosure,
/// and no enclosure is wider than `width`.
template <class T>
void compare(const std::string& name, int layers, int heads, attention::Normaliser normaliser, int batch,
             const Rational& width) {
  CAPTURE(name);
  const auto accept = [&](const T& enclosure, double value) {
    REQUIRE(within(enclosure, value));
    REQUIRE(upper_end(enclosure) - lower_end(enclosure) <= width);
  };
  const Reference reference = load(name);
  const auto model = attention::model_from<T>(weights_of(reference, layers, heads), normaliser);
  const formats::Tensor& x = reference["x"];
  REQUIRE(batch <= static_cast<int>(x.shape[1]));
  constexpr int positions = 16, n = 16;
  long compared = 0;
  for (int b = 0; b < batch; ++b) {
    const Matrix<double> tokens =
        Eigen::Map<const Matrix<double>>(x.values.data() + b * positions * n, positions, n);
    const auto trace = attention::forward(model, numeric::convert<T, double>(tokens));
    const auto& prediction = reference["step0.pred"].values;
    for (int i = 0; i < positions; ++i) {
      for (int r = 0; r < n; ++r, ++compared) {
        accept(trace.output(i, r), prediction[static_cast<size_t>((b * positions + i) * n + r)]);
      }
    }
    for (int l = 0; l < layers; ++l) {
      const auto& weights = reference["step0.attn." + std::to_string(l)].values;
      for (int h = 0; h < heads; ++h) {
        for (int i = 0; i < positions; ++i) {
          for (int k = 0; k < positions; ++k, ++compared) {
            const auto at = static_cast<size_t>(((b * heads + h) * positions + i) * positions + k);
            accept(trace.attention[static_cast<size_t>(l)][static_cast<size_t>(h)](i, k), weights[at]);
          }
        }
      }
    }
  }
  CHECK(compared == batch * (1 + layers * heads) * 256L);
}

}  // namespace

TEST_CASE("predictions and attention of the paper's code lie in our enclosures: double precision") {
  // Interval arithmetic forgets how the entries of a layer's output depend on each other, so widths grow with
  // depth.
  compare<Interval>("softmax_1h1d", 1, 1, Normaliser::softmax, 32, Rational(1e-12));
  compare<Interval>("relu_1h1d", 1, 1, Normaliser::relu, 32, Rational(1e-12));
  compare<Interval>("softmax_2h2d", 2, 2, Normaliser::softmax, 32, Rational(1e-9));
  compare<Interval>("relu_2h2d", 2, 2, Normaliser::relu, 32, Rational(1e-9));
  compare<Interval>("softmax_4h4d", 4, 4, Normaliser::softmax, 16, Rational(1e-5));
}

TEST_CASE(
    "predictions and attention of the paper's code lie in our enclosures: 40 digits, no width to hide in") {
  const numeric::BigPrecision precision(40);
  const Rational width = numeric::parse_rational("1e-25");
  compare<BigInterval>("softmax_1h1d", 1, 1, Normaliser::softmax, 4, width);
  compare<BigInterval>("relu_1h1d", 1, 1, Normaliser::relu, 4, width);
  compare<BigInterval>("softmax_2h2d", 2, 2, Normaliser::softmax, 4, width);
  compare<BigInterval>("relu_2h2d", 2, 2, Normaliser::relu, 4, width);
  compare<BigInterval>("softmax_4h4d", 4, 4, Normaliser::softmax, 2, width);
}
