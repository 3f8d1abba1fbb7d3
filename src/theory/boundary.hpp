#pragma once

#include "theory/construction.hpp"

/// The boundary of Theorem 1 (theory.md section 6): each construction drops one hypothesis and solves its
/// task to any precision without a sink. B6, normalisation altogether, is the ReLU head of theorem3.hpp.
///
/// Notation: q = e^K > 1, J = j - 1, W-identity V_W (0 on e_B); losses are suprema over the content, for d >=
/// 1 exact unless said otherwise. For d = 0 the errors at i = j, and after it, shrink (largest_mean), and
/// `loss` is an upper bound only.
namespace sinkproof::theory {

/// B1, dropped: one head. Softmax heads A_1 = -K e_T e_B^T, V_1 = V_W and A_2 = K e_T e_B^T, V_2 = -V_W
/// cancel off the trigger. BOS weight 1/i in both. Loss 0 off the trigger, 1/(1+Jq) + J/(q+J) at the trigger:
/// the largest at j = L. `two-head`.
template <numeric::Rigorous T>
Construction<T> two_head(const task::Parameters& parameters, const Choice& choice);

/// B2, dropped: rows sum to 1. Softmax-off-by-one with A = -K e_N (e_B+e_T+e_N)^T + K e_T (e_N+e_T-e_B)^T.
/// BOS weight 1/(q+i). Loss (i-1)/(q+i) off the trigger, (q+1)/(q+1+Jq^2) at the trigger: the largest is
/// (L-1)/(q+L). `softmax1`.
template <numeric::Rigorous T>
Construction<T> softmax1(const task::Parameters& parameters, const Choice& choice);

/// B3, dropped: ungated output. Softmax with A = -K e_T e_B^T and the output gate sigmoid(K (x_T - x_N)). BOS
/// weight 1/i. Loss (i-1)/(i(1+q)) off the trigger, (1+q+Jq)/((1+q)(1+Jq)) at the trigger: the largest is
/// (1+3q)/((1+q)(1+2q)), at j = 3. `gated`.
template <numeric::Rigorous T>
Construction<T> gated(const task::Parameters& parameters, const Choice& choice);

/// B4, dropped: rows sum to 1 over the tokens. B2's scores with a learned sink logit b, w = e^b (the choice's
/// sink_weight) in place of 1. BOS weight 1/(wq+i). Loss (i-1)/(wq+i) off the trigger, (wq+1)/(wq+1+Jq^2) at
/// the trigger: the largest is the larger of (L-1)/(wq+L) and (wq+1)/(wq+1+2q^2). `sink-logit`.
template <numeric::Rigorous T>
Construction<T> sink_logit(const task::Parameters& parameters, const Choice& choice);

/// B5, dropped: no residual. Two residual layers with given attention and gain v >= 1: off the trigger attend
/// to self; BOS weight 0 there, and 0 and 1/v at the trigger. Target x + y, loss 0 exactly. `residual`.
template <numeric::Rigorous T>
Construction<T> residual(const task::Parameters& parameters, const Choice& choice);

/// B7, dropped: linear read-out. Softmax with A = -K e_N e_T^T - K e_T e_B^T, V_W, then the read-out
/// clip(z_r, -L z_T, L z_T). BOS weight 1/i before the trigger, 1/(i-1+1/q) after it. Loss, by position:
///   i < j: no trigger key, z_T = 0, so the read-out is 0: loss 0.
///   i = j: z = (Jq/(1+Jq)) y and z_T = q/(1+Jq). |z_r| <= Jq/(1+Jq) <= L z_T, so the clip does nothing: loss
///          1/(1+Jq), at most 1/(1+2q).
///   i > j: z = (q sum of the ordinary tokens 2..i + x_j)/(1+(i-1)q), z_T = 1/(1+(i-1)q) and
///          |z_r| <= ((i-2)q+1)/(1+(i-1)q), attained at content 1: loss min(L, (i-2)q+1)/(1+(i-1)q)
///          (d = 0: min(L, (i-2)q)/(1+(i-1)q)).
/// As i > j >= 3 and 1+3q <= L(1+2q), Lambda <= L/(1+3q) for every q; equal to it for d >= 1, q >= (L-1)/2
/// (content 1, j = 3, i = 4). `clip`.
template <numeric::Rigorous T>
Construction<T> clip(const task::Parameters& parameters, const Choice& choice);

/// B8, dropped: default output zero. The target is the mean of the tokens 2..i at every i >= 2 (0 at i = 1).
/// Softmax with A = -K (e_N + e_T) e_B^T, V_W. BOS weight 1/(1+(i-1)q), and
///   o_i = (1 - a_i1) mean, so the error is a_i1 |mean| <= 1/(1+(i-1)q), attained at content 1;
/// the largest is at i = 2, whose token is ordinary: Lambda = 1/(1+q) exactly, for d = 0 as well.
/// `running-mean`.
template <numeric::Rigorous T>
Construction<T> running_mean(const task::Parameters& parameters, const Choice& choice);

/// The target of B8 [L, n]: row i >= 2 is the mean of the tokens 2..i, row 1 is 0.
template <numeric::Scalar T>
numeric::Matrix<T> running_mean_target(const task::Parameters& parameters,
                                       const task::Instance<T>& instance) {
  const numeric::Matrix<T> x = task::tokens(parameters, instance);
  numeric::Matrix<T> y = numeric::Matrix<T>::Constant(x.rows(), x.cols(), T(0));
  for (Eigen::Index column = 0; column < x.cols(); ++column) {
    T sum(0);
    for (Eigen::Index row = 1; row < x.rows(); ++row) {
      sum += x(row, column);
      y(row, column) = sum / T(static_cast<int>(row));
    }
  }
  return y;
}

}  // namespace sinkproof::theory
