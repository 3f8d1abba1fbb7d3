#pragma once

#include <array>

#include "certify/gruess.hpp"
#include "certify/head.hpp"

/// The dual bound of C4 (theory.md) for one trigger query at a vertex. DERIVATIONS.md derives every step.
namespace sinkproof::certify {

/// A trigger query x = e_T + iota c at a vertex c of the box, in floating point with a proved error.
struct TriggerQuery {
  TriggerQuery(const AffineFamily& family, const numeric::Vector<double>& vertex,
               const numeric::Vector<double>& functions);

  numeric::Vector<double> c;         ///< entries -1 and 1
  numeric::Vector<double> g;         ///< slopes of the keys' logits in their content
  double bos, self;                  ///< x^T A (e_B - e_N), x^T A (e_T - e_N)
  numeric::Interval slope_error;     ///< sum of the errors of g
  numeric::Interval exponent_error;  ///< of sums of bos, self and the +-g_m, each at most once
  numeric::Interval norm;            ///< encloses ||g||_1
};

/// The relaxed problem at the trigger for output coordinate r: besides the ordinary keys, the self key's own
/// content coordinate r (if r is one) and its logit's squares are free.
class TriggerDual {
 public:
  TriggerDual(const HeadMaps& head, const TriggerLogits& logits, int coordinate);

  /// What an error at a query inside the box may exceed the relaxed problem's maximum at the vertices by, for
  /// J = j - 1 >= fewest.
  numeric::Interval curvature_slack(int fewest) const;

  /// Gruess' bound of the relaxed problem at this query, for J >= fewest.
  numeric::Interval gruess(const TriggerQuery& query, int fewest) const;

  /// An upper bound of sign (o_j - y_j)_r in the relaxed problem at this query, for fewest <= J <= most.
  /// Refines until it is at most `goal`, or as low as it gets.
  double bound(const TriggerQuery& query, double sign, int fewest, int most, double goal) const;

 private:
  friend class DualSearch;
  int own_;  ///< the content coordinate that r stands for, or -1
  ValueRow value_;
  GruessRow gruess_;
  SelfSquares squares_;
  numeric::Vector<double> content_;           ///< V_C in floating point, 0 at own_
  numeric::Interval content_error_, spread_;  ///< of content_, summed up; ||V_C||_1 without own_
  numeric::Interval own_value_;               ///< V_rr, or 0
  double ordinary_target_, trigger_target_;   ///< u at content 0
  TriggerLogits logits_;
  numeric::Interval total_range_;  ///< of v over all keys, BOS included
  // Sums over the query's content coordinates m, for curvature_slack: of beta_m^2, D_m^2, rho_m^2, and of
  // |V_rm| times 1, |beta_m|, D_m, rho_m.
  numeric::Interval bos_curvature_{0}, self_curvature_{0}, ordinary_curvature_{0};
  numeric::Interval mixed_self_{0}, mixed_bos_{0}, mixed_ordinary_{0};
};

}  // namespace sinkproof::certify
