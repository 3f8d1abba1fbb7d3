#include "train/reference.hpp"

#include <cmath>

namespace sinkproof::train {
namespace {

using attention::HeadWeights;
using attention::Normaliser;
using attention::Weights;
using Matrix = numeric::Matrix<double>;

// One-letter names: L positions, n model dimension. Rows of H, Q, K, U, Z are positions, so that y = W x of a
// position reads Y = X W^T of all.

/// What the backward pass of a head needs of its forward pass.
struct HeadTrace {
  Matrix Q, K, U, P, Z;
};

/// The head's output on its input H [L, n].
Matrix forward(const HeadWeights& w, Normaliser normaliser, const Matrix& H, HeadTrace& t) {
  const Eigen::Index L = H.rows();
  t.Q = H * w.query.transpose();
  t.K = H * w.key.transpose();
  t.U = H * w.value.transpose();
  t.P = Matrix::Zero(L, L);
  for (Eigen::Index i = 0; i < L; ++i) {
    const auto s = (t.K.topRows(i + 1) * t.Q.row(i).transpose()).transpose().eval();  // s_ik = q_i . k_k
    if (normaliser == Normaliser::relu) {
      t.P.row(i).head(i + 1) = s.cwiseMax(0.0) / static_cast<double>(std::max<Eigen::Index>(i, 1));
    } else {
      const auto e = (s.array() - s.maxCoeff()).exp().eval();
      t.P.row(i).head(i + 1) = e / e.sum();
    }
  }
  t.Z = t.P * t.U;
  return t.Z * w.output.transpose();
}

/// Adds the head's part of d loss / d weights to `d`, and returns d loss / d H, for d loss / d output dO.
Matrix backward(const HeadWeights& w, Normaliser normaliser, const Matrix& H, const HeadTrace& t,
                const Matrix& dO, HeadWeights& d) {
  const Eigen::Index L = H.rows();
  // O = Z W_O^T
  d.output += dO.transpose() * t.Z;
  const Matrix dZ = dO * w.output;
  // Z = P U
  const Matrix dP = dZ * t.U.transpose();
  const Matrix dU = t.P.transpose() * dZ;
  // P = normalise(S)
  Matrix dS = Matrix::Zero(L, L);
  for (Eigen::Index i = 0; i < L; ++i) {
    const auto p = t.P.row(i).head(i + 1), dp = dP.row(i).head(i + 1);
    if (normaliser == Normaliser::relu) {
      dS.row(i).head(i + 1) =
          (p.array() > 0).select(dp, 0.0) / static_cast<double>(std::max<Eigen::Index>(i, 1));
    } else {
      dS.row(i).head(i + 1) = p.array() * (dp.array() - p.dot(dp));
    }
  }
  // S = Q K^T
  const Matrix dQ = dS * t.K;
  const Matrix dK = dS.transpose() * t.Q;
  // Q = H W_Q^T, K = H W_K^T, U = H W_V^T
  d.query += dQ.transpose() * H;
  d.key += dK.transpose() * H;
  d.value += dU.transpose() * H;
  return dQ * w.query + dK * w.key + dU * w.value;
}

template <class Pointer, class W>
std::vector<Pointer> all_matrices(W& weights) {
  std::vector<Pointer> result;
  for (auto& layer : weights.layers) {
    for (auto& head : layer.heads) {
      for (auto* matrix : {&head.query, &head.key, &head.value, &head.output}) result.push_back(matrix);
    }
  }
  return result;
}

}  // namespace

std::vector<Eigen::MatrixXd*> matrices(Weights& weights) {
  return all_matrices<Eigen::MatrixXd*>(weights);
}
std::vector<const Eigen::MatrixXd*> matrices(const Weights& weights) {
  return all_matrices<const Eigen::MatrixXd*>(weights);
}

ReferencePass reference_pass(const Weights& weights, Normaliser normaliser, const Batch& batch) {
  ReferencePass pass;
  pass.gradient = weights;
  for (Eigen::MatrixXd* matrix : matrices(pass.gradient)) matrix->setZero();
  const std::size_t depth = weights.layers.size();
  double count = 0;
  for (const Matrix& y : batch.y) count += static_cast<double>(y.size());

  for (std::size_t b = 0; b < batch.x.size(); ++b) {
    std::vector<Matrix> H = {batch.x[b]};  // the input of each layer, and the output of the last
    std::vector<std::vector<HeadTrace>> traces(depth);
    pass.attention.emplace_back(depth);
    for (std::size_t l = 0; l < depth; ++l) {
      Matrix out = weights.residual ? H[l] : Matrix::Zero(H[l].rows(), H[l].cols()).eval();
      for (const HeadWeights& head : weights.layers[l].heads) {
        out += forward(head, normaliser, H[l], traces[l].emplace_back());
        pass.attention[b][l].push_back(traces[l].back().P);
      }
      H.push_back(out);
    }
    const Matrix error = H[depth] - batch.y[b];
    pass.loss += error.squaredNorm() / count;
    // NaN must show: the maximum of a NaN and a number is not the number.
    for (const double e : error.reshaped()) pass.linf = std::abs(e) <= pass.linf ? pass.linf : std::abs(e);
    pass.predictions.push_back(H[depth]);

    Matrix g = error * (2 / count);  // d loss / d H[l + 1]
    for (std::size_t l = depth; l-- > 0;) {
      Matrix below = weights.residual ? g : Matrix::Zero(g.rows(), g.cols()).eval();
      for (std::size_t h = 0; h < weights.layers[l].heads.size(); ++h) {
        below += backward(weights.layers[l].heads[h], normaliser, H[l], traces[l][h], g,
                          pass.gradient.layers[l].heads[h]);
      }
      g = below;
    }
  }
  return pass;
}

void ReferenceAdam::update(Weights& weights, const Weights& gradient) {
  const auto w = matrices(weights);
  const auto g = matrices(gradient);
  if (step_ == 0) {
    for (const Eigen::MatrixXd* matrix : g) {
      first_.push_back(Eigen::MatrixXd::Zero(matrix->rows(), matrix->cols()));
      second_.push_back(first_.back());
    }
  }
  ++step_;
  const double correction1 = 1 - std::pow(beta1_, static_cast<double>(step_));
  const double correction2 = 1 - std::pow(beta2_, static_cast<double>(step_));
  for (std::size_t k = 0; k < w.size(); ++k) {
    first_[k] = beta1_ * first_[k] + (1 - beta1_) * *g[k];
    second_[k] = beta2_ * second_[k] + (1 - beta2_) * g[k]->cwiseAbs2();
    *w[k] -= (learning_rate_ / correction1) *
             (first_[k].array() / ((second_[k] / correction2).array().sqrt() + epsilon_)).matrix();
  }
}

}  // namespace sinkproof::train
