#pragma once

#include "attention/weights.hpp"
#include "certify/vertices.hpp"
#include "numeric/matrix.hpp"
#include "task/instance.hpp"

namespace sinkproof::certify {

/// A [n, n] and V [n, n] of a single head. Kind: enclosed, the exact product of the stored floats
/// rounded outward for n <= 48, an interval product beyond (statement C1 of theory.md).
class HeadMaps {
 public:
  /// Throws InputError unless the weights are one layer with one head and no residual, n >= 3.
  explicit HeadMaps(const attention::Weights& weights);

  int content() const { return static_cast<int>(scores.rows()) - 3; }  ///< d
  int ordinary() const { return content() + 2; }                       ///< the coordinate N
  /// Whether every entry is enclosed and below 2^300 in absolute value: sums of a few million products of two
  /// such entries cannot overflow. Nothing is certified of other heads.
  bool is_moderate() const;

  numeric::Matrix<numeric::Interval> scores;  ///< A = scale W_Q^T W_K
  numeric::Matrix<numeric::Interval> value;   ///< V = W_O W_V
};

/// What a query x = e_base + iota c (base: ordinary N, or the trigger T) makes of the keys, as affine
/// functions of its content c:
///   0: x^T A (e_N - e_B);  1: x^T A (e_T - e_B);  2 + m: g_m = (A^T x)_m, the slope of every key's logit in
///   that key's content coordinate m.
AffineFamily query_family(const HeadMaps& head, int base);

/// Everything of the row V_r (values v of keys, output coordinate r) as numbers: v = bos, ordinary + V_C . c,
/// trigger + V_C . c.
struct ValueRow {
  ValueRow(const HeadMaps& head, int coordinate);

  numeric::Interval bos, ordinary, trigger;
  numeric::Vector<numeric::Interval> content;  ///< V_C [d]
  numeric::Interval spread;                    ///< ||V_C||_1
  numeric::Interval ordinary_range() const;    ///< of v over ordinary keys
  numeric::Interval trigger_range() const;     ///< of v over trigger keys
};

}  // namespace sinkproof::certify
