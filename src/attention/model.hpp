#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "numeric/matrix.hpp"

/// Attention models: heads, layers, stacks. Shapes: L positions, n model dimension; row `position - 1` of a
/// matrix belongs to a 1-based position. Kind: of the scalar T.
namespace sinkproof::attention {

/// How scores become attention weights (k <= i; 0 beyond).
enum class Normaliser {
  softmax,             ///< e^s_ik / sum_k e^s_ik
  softmax_off_by_one,  ///< e^s_ik / (1 + sum_k e^s_ik)
  sink_logit,  ///< e^s_ik / (sink_weight + sum_k e^s_ik), sink_weight = e^b for a learned sink logit b
  relu,        ///< max(0, s_ik) / max(i - 1, 1): not normalised, the length factor is fixed
};

/// Scores s_ik = x_i^T A x_k. With `base` q, e^s stands for q^s: in exact arithmetic q is required and the
/// scores must come out as integers, so that nothing needs an exponential (theory.md section 5).
template <numeric::Scalar T>
struct BilinearScores {
  numeric::Matrix<T> matrix;  ///< A [n, n]
  Normaliser normaliser = Normaliser::softmax;
  std::optional<numeric::Rational> base = std::nullopt;  ///< q > 0
  T sink_weight = T(0);                                  ///< read by Normaliser::sink_logit only
};

/// Attention weights given outright, [L, L]; rows are queries.
template <numeric::Scalar T>
struct GivenAttention {
  numeric::Matrix<T> weights;
};

/// An output gate sigmoid(g . x_i) on the head's output at query i, in the base of the head's scores.
template <numeric::Scalar T>
struct OutputGate {
  numeric::Vector<T> direction;  ///< g [n]
  std::optional<numeric::Rational> base = std::nullopt;
};

/// One head: o_i = gate_i sum_k a_ik V x_k.
template <numeric::Scalar T>
struct Head {
  std::variant<BilinearScores<T>, GivenAttention<T>> attention;
  numeric::Matrix<T> value;  ///< V [n, n]
  std::optional<OutputGate<T>> gate = std::nullopt;
};

/// Heads side by side: their outputs are added.
template <numeric::Scalar T>
struct Layer {
  std::vector<Head<T>> heads;
};

/// The read-out clip(z_r, -slope z_c, slope z_c) at each position and coordinate r, with c = `coordinate`
/// (two ReLU layers; boundary row B7).
template <numeric::Scalar T>
struct ClipReadOut {
  T slope;
  int coordinate;
};

template <numeric::Scalar T>
struct Model {
  std::vector<Layer<T>> layers;
  bool residual = false;  ///< each layer adds its output to its input
  std::optional<ClipReadOut<T>> read_out = std::nullopt;
};

/// The one-layer, one-head model without residual.
template <numeric::Scalar T>
Model<T> single_head(Head<T> head) {
  return {.layers = {Layer<T>{{std::move(head)}}}};
}

}  // namespace sinkproof::attention
