#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "attention/model.hpp"
#include "numeric/rational.hpp"

namespace sinkproof::attention {

/// The factor matrices of one head in the convention y = W x. Entries are exact: each double is the stored
/// float (float16, bfloat16, float32 or float64) itself, never a rounded product.
struct HeadWeights {
  Eigen::MatrixXd query;   ///< W_Q, [d_head, n]
  Eigen::MatrixXd key;     ///< W_K, [d_head, n]
  Eigen::MatrixXd value;   ///< W_V, [d_head, n]
  Eigen::MatrixXd output;  ///< W_O, [n, d_head]
};

/// The heads of one layer; their outputs are added.
struct LayerWeights {
  std::vector<HeadWeights> heads;
};

/// What multiplies the scores q.k: an exact factor (1 in theory.md section 0 unless stated), or
/// 1/sqrt(d_head).
struct ScoreScale {
  numeric::Rational factor = 1;
  bool inverse_sqrt_head_dimension = false;
};

/// Trained weights as read from a file: layers in order of depth, all of model dimension n.
struct Weights {
  std::vector<LayerWeights> layers;
  int dimension = 0;      ///< n = d + 3
  bool residual = false;  ///< each layer adds its output to its input
  ScoreScale scale;
  std::string layout;  ///< how the keys were read, for the report: "paper", "transformer-lens", "torch-mha"
};

/// The model of the weights with A = scale W_Q^T W_K and V = W_O W_V, formed in T: exactly for Rational,
/// enclosed for the interval kinds. Throws InputError where T is exact and 1/sqrt(d_head) is irrational, and
/// where a weight is NaN or infinite and T is exact (an enclosed model has undecided entries there).
template <numeric::Scalar T>
Model<T> model_from(const Weights& weights, Normaliser normaliser);

}  // namespace sinkproof::attention
