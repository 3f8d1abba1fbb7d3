#include <cmath>

#include <fmt/format.h>

#include "formats/npz.hpp"
#include "formats/safetensors.hpp"
#include "formats/weights_file.hpp"

namespace sinkproof::formats {
namespace {

using attention::HeadWeights;
using attention::Weights;

void refuse_inexpressible(const std::filesystem::path& path, const Weights& weights) {
  const auto no = [&](std::string_view field, std::string_view why) { refuse(path, field, why); };
  const Eigen::Index n = weights.dimension;
  if (n < 3) no("dimension", fmt::format("{}: the task needs n >= 3", n));
  if (weights.layers.empty()) no("layers", "the model has none: there is nothing to write");
  if (weights.scale.inverse_sqrt_head_dimension || weights.scale.factor != 1) {
    no("scale", "the paper layout has no scaling of scores: scale W_Q instead");
  }
  const std::size_t heads = weights.layers[0].heads.size();
  const bool single = weights.layers.size() == 1 && heads == 1;
  if (single && weights.residual) no("residual", "the paper layout has no single head with a residual");
  if (!single && !weights.residual)
    no("residual", "the paper layout has stacks and several heads only with a residual");
  for (std::size_t l = 0; l < weights.layers.size(); ++l) {
    if (weights.layers[l].heads.empty() || weights.layers[l].heads.size() != heads) {
      no(fmt::format("layers.{}", l),
         "the paper layout has the same number of heads, at least one, in each layer");
    }
    for (const HeadWeights& head : weights.layers[l].heads) {
      for (const auto* matrix : {&head.query, &head.key, &head.value, &head.output}) {
        if (matrix->rows() != n || matrix->cols() != n) {
          no(fmt::format("layers.{}", l),
             fmt::format("a matrix is [{}, {}], but the paper layout has d_head = n = {}", matrix->rows(),
                         matrix->cols(), n));
        }
        if (!matrix->allFinite()) no(fmt::format("layers.{}", l), "a weight is NaN or infinite: train again");
      }
    }
  }
}

using Matrix = Eigen::MatrixXd HeadWeights::*;

/// The heads' matrices below each other ([H*n, n]) or, for W_O, beside each other ([n, H*n]).
Tensor concatenate(const std::string& name, const std::vector<HeadWeights>& heads, Matrix matrix,
                   bool beside) {
  const auto n = static_cast<std::uint64_t>((heads[0].*matrix).rows());
  const std::uint64_t long_side = n * heads.size();
  Tensor tensor{name, Dtype::f32, beside ? Shape{n, long_side} : Shape{long_side, n}, {}};
  tensor.values.resize(n * long_side);
  for (std::uint64_t h = 0; h < heads.size(); ++h) {
    for (std::uint64_t i = 0; i < n; ++i) {
      for (std::uint64_t j = 0; j < n; ++j) {
        const std::uint64_t place = beside ? i * long_side + h * n + j : (h * n + i) * n + j;
        tensor.values[place] = (heads[h].*matrix)(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
      }
    }
  }
  return tensor;
}

bool fits_float32(const Tensor& tensor) {
  for (const double value : tensor.values) {
    if (!encode(Dtype::f32, value)) return false;
  }
  return true;
}

}  // namespace

void write_weights(const std::filesystem::path& path, const Weights& weights) {
  const bool npz = path.extension() == ".npz";
  if (!npz && path.extension() != ".safetensors") refuse(path, "", "name the file .npz or .safetensors");
  refuse_inexpressible(path, weights);

  std::vector<Tensor> tensors;
  for (std::size_t l = 0; l < weights.layers.size(); ++l) {
    const std::string prefix = weights.residual ? fmt::format("layers.{}.", l) : "";
    const auto& heads = weights.layers[l].heads;
    tensors.push_back(concatenate(prefix + "W_Q.weight", heads, &HeadWeights::query, false));
    tensors.push_back(concatenate(prefix + "W_K.weight", heads, &HeadWeights::key, false));
    tensors.push_back(concatenate(prefix + "W_V.weight", heads, &HeadWeights::value, false));
    tensors.push_back(concatenate(prefix + "W_O.weight", heads, &HeadWeights::output, true));
  }
  bool single = true;
  for (const Tensor& tensor : tensors) single = single && fits_float32(tensor);
  for (Tensor& tensor : tensors) tensor.dtype = single ? Dtype::f32 : Dtype::f64;
  npz ? write_npz(path, tensors) : write_safetensors(path, tensors);
}

}  // namespace sinkproof::formats
