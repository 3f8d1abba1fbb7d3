#pragma once

#include <cmath>

#include "certify/head.hpp"
#include "certify/loss.hpp"

/// Gruess' bound (C4 of theory.md) for one output coordinate at the trigger, and its ingredients.
namespace sinkproof::certify {

/// Sums of the squares' coefficients: positive = sum max(A_mm, 0), negative = sum max(-A_mm, 0), over the
/// content coordinates m other than `except` (-1: all).
struct SelfSquares {
  SelfSquares(const HeadMaps& head, int except);
  numeric::Interval positive{0}, negative{0};
};

/// How far a computed sum of functions of `family`, their absolute values or their products with +-1, and
/// `extra` (each at most once) may be from the exact one.
numeric::Interval exponent_error(const AffineFamily& family, double extra);

/// An upper bound of a_j1 at trigger positions with at least `others` non-BOS keys (J >= others >= 2).
numeric::Interval bos_weight(const TriggerLogits& logits, int others);

/// With o' the mean of v over the keys 2..j in the weights a_jk / (1 - a_j1), and v', u' the plain means of v
/// and u = (x_k)_r:  o - y = a_j1 (b - o') + (o' - v') + (v' - u').  |o' - v'| <= range(v) tanh(range(s) /
/// 4).
struct GruessRow {
  GruessRow(const HeadMaps& head, int coordinate);
  /// An upper bound of |(o_j - y_j)_r| where the logits of the keys 2..j lie within `range` and a_j1 is at
  /// most `bos`.
  numeric::Interval bound(const numeric::Interval& range, const numeric::Interval& bos) const;

  numeric::Interval range;       ///< of v over ordinary and trigger keys
  numeric::Interval bos_offset;  ///< max |b - v| over them
  numeric::Interval deviation;   ///< max |v - u| over them
};

inline double upper_or_infinity(const numeric::Interval& x) {
  return x.is_undecided() ? HUGE_VAL : x.upper();
}

}  // namespace sinkproof::certify
