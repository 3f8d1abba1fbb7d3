#pragma once

#include <vector>

#include "attention/weights.hpp"
#include "numeric/matrix.hpp"

/// The trainer written plainly, in double precision: what the fast path answers to. It agrees with the
/// paper's PyTorch code to 1e-12 (data/reference). Kind: float.
namespace sinkproof::train {

/// Inputs and targets of one step, example by example; all [L, n].
struct Batch {
  std::vector<numeric::Matrix<double>> x;
  std::vector<numeric::Matrix<double>> y;
};

/// What one batch says about the weights.
struct ReferencePass {
  std::vector<numeric::Matrix<double>> predictions;  ///< [example], each [L, n]
  /// [example][layer][head], each [L, L]
  std::vector<std::vector<std::vector<numeric::Matrix<double>>>> attention;
  double loss = 0;              ///< mean squared error over examples, positions and coordinates
  double linf = 0;              ///< largest absolute error
  attention::Weights gradient;  ///< d loss / d weights, in the weights' shapes
};

/// Forward and backward over the batch. The weights are those of the paper's layout: d_head = n, unscaled
/// scores; with `residual`, each layer adds its output to its input.
ReferencePass reference_pass(const attention::Weights& weights, attention::Normaliser normaliser,
                             const Batch& batch);

/// Adam as Kingma and Ba state it (and PyTorch computes it), without weight decay.
class ReferenceAdam {
 public:
  ReferenceAdam(double learning_rate, double beta1, double beta2, double epsilon)
      : learning_rate_(learning_rate), beta1_(beta1), beta2_(beta2), epsilon_(epsilon) {}

  /// One update of `weights`; every call must be given the same shapes.
  void update(attention::Weights& weights, const attention::Weights& gradient);

 private:
  double learning_rate_, beta1_, beta2_, epsilon_;
  long step_ = 0;
  std::vector<Eigen::MatrixXd> first_, second_;  ///< moments, matrix by matrix
};

/// The matrices of all heads in one fixed order: layer, head, then query, key, value, output.
std::vector<Eigen::MatrixXd*> matrices(attention::Weights& weights);
std::vector<const Eigen::MatrixXd*> matrices(const attention::Weights& weights);

}  // namespace sinkproof::train
