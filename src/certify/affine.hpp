#pragma once

#include <Eigen/Core>

#include "numeric/matrix.hpp"

/// Affine forms (zonotopes): real numbers that depend linearly on shared noise symbols, up to an error of
/// their own. Differences of forms cancel what they share, which intervals cannot.
namespace sinkproof::certify {

/// A vector of m affine forms over S symbols e_1..e_S in [-1, 1], each the same in every form:
///     value_a = terms(a, 0) + sum_s terms(a, s) e_s + error_a t_a,   t_a in [-1, 1] of its own.
/// `Encloses` is meant for one choice of the symbols at a time: whatever e is, there are t_a that give the
/// true values at e. The stored doubles are exact numbers; the rounding of every operation goes into `error`.
/// An infinite error says nothing (undecided); so does what is computed from it. Kind: enclosed.
struct AffineForms {
  numeric::Matrix<double> terms;  ///< [m, 1 + S]
  Eigen::VectorXd error;          ///< [m], >= 0

  AffineForms() = default;
  /// m forms that are 0.
  AffineForms(Eigen::Index forms, Eigen::Index symbols)
      : terms(numeric::Matrix<double>::Zero(forms, 1 + symbols)), error(Eigen::VectorXd::Zero(forms)) {}

  Eigen::Index size() const { return terms.rows(); }
  Eigen::Index symbols() const { return terms.cols() - 1; }

  /// [m] upper bounds of |terms(a, 0)| + sum_s |terms(a, s)| + error_a; infinite if beyond 2^250.
  Eigen::VectorXd magnitude() const;
  /// [m] upper bounds of |value_a - terms(a, 0)|; infinite if beyond 2^250.
  Eigen::VectorXd radius() const;
  /// Encloses value_a over all symbols.
  numeric::Interval range(Eigen::Index a) const;
};

/// A matrix of enclosures as the operations below want it: middle -+ radius, entrywise.
struct MidRadMatrix {
  explicit MidRadMatrix(const numeric::Matrix<numeric::Interval>& matrix);
  numeric::Matrix<double> middle, radius;
};

/// M x for every real M in `matrix` [p, m]: p forms.
AffineForms linear(const MidRadMatrix& matrix, const AffineForms& x);
/// x - y, form by form; y may have fewer symbols than x.
AffineForms difference(const AffineForms& x, const AffineForms& y);
/// x += y, form by form; y has as many symbols.
void add(AffineForms& x, const AffineForms& y);

/// What dot() needs of an operand, computed once: `linear` is the terms without the centre's column.
struct Factor {
  explicit Factor(AffineForms forms);
  AffineForms forms;
  numeric::Matrix<double> linear;
  Eigen::VectorXd radius, magnitude;
};

/// sum_a x_a y_a over the first `count` forms of both, into form `row` of `result` (as many symbols as x and
/// y). Products of two symbols go into the error, bounded by the product of the radii.
void dot(const Factor& x, const Factor& y, Eigen::Index count, AffineForms& result, Eigen::Index row);

}  // namespace sinkproof::certify
