#pragma once

#include <vector>

#include "certify/affine.hpp"

/// Softmax attention on affine forms, in log-ratio form.
namespace sinkproof::certify {

/// One row of softmax weights a_1..a_m, against the softmax at some scores c_1..c_m ("centre").
struct SoftmaxRow {
  /// Encloses each a_k, also at every score between the centre and those attained.
  std::vector<numeric::Interval> weight;
  Eigen::VectorXd centre;      ///< w_k, doubles near the softmax of the centre
  double centre_error = 0;     ///< at least sum_k |w_k - the softmax of the centre|
  Eigen::VectorXd deviation;   ///< r_k >= |a_k - w_k|
  double total_deviation = 2;  ///< T >= sum_k |a_k - w_k|
  AffineForms score_change;    ///< (s_k - c_k) minus something common to all k

  /// `score_difference` [m, m]: entry (k, l) encloses s_k - s_l. `score` holds the forms s_k - s_p for some
  /// p; `centre_score` [m] may be any numbers.
  SoftmaxRow(const numeric::Matrix<numeric::Interval>& score_difference, const AffineForms& score,
             const Eigen::VectorXd& centre_score);
};

/// Two rows for the same weights: about the centres of the forms, and about the middles of the weights'
/// ranges.
std::vector<SoftmaxRow> softmax_rows(const numeric::Matrix<numeric::Interval>& score_difference,
                                     const AffineForms& score);

/// The least-spread pivot p for a table of score differences (entry (k, l) encloses s_k - s_l).
Eigen::Index best_pivot(const numeric::Matrix<numeric::Interval>& score_difference);

/// sum_k a_k v_k, from the first m forms of `value`: one form, by the row that gives it the least error.
AffineForms weighted_mean(const std::vector<SoftmaxRow>& rows, const AffineForms& value);

/// x + c for a number c, in form a.
void shift(AffineForms& x, Eigen::Index a, double by);

}  // namespace sinkproof::certify
