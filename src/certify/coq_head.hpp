#pragma once

#include <string>
#include <vector>

#include "attention/weights.hpp"
#include "numeric/rational.hpp"

/// What proofs/CertificateWeights.v makes of a head, in the same integers: a certificate names them, and its
/// bounds are those that the checkers of proofs/ can reach.
namespace sinkproof::certify {

/// Row by row.
using IntegerMatrix = std::vector<std::vector<numeric::Integer>>;

/// The entries mantissa * 2^exponent: the stored floats themselves. The exponent is the largest that leaves
/// all mantissas whole (0 for a matrix of zeros).
struct DyadicMatrix {
  IntegerMatrix mantissas;
  long exponent = 0;
};

/// `weights` of CertificateWeights.v.
struct CoqHead {
  DyadicMatrix query, key, value, output;  ///< W_Q, W_K, W_V [d_head, n], W_O [n, d_head]
  numeric::Rational scale;
  int content = 0;  ///< d
};

/// Throws InputError where a certificate cannot name the weights: more than a single head without residual, a
/// scale 1/sqrt(d_head) that is irrational, NaN or infinities.
CoqHead coq_head(const attention::Weights& weights);

/// A matrix of rationals with one denominator: `score_matrix`, `score_denominator` and `value_matrix`,
/// `value_denominator`.
struct IntegerMap {
  IntegerMatrix entries;  ///< [n, n]
  numeric::Integer denominator = 1;
};
IntegerMap score_map(const CoqHead& head);  ///< A = scale W_Q^T W_K
IntegerMap value_map(const CoqHead& head);  ///< V = W_O W_V

/// Z.div of Coq: the quotient rounded down; b > 0.
numeric::Integer divided_down(const numeric::Integer& a, const numeric::Integer& b);

}  // namespace sinkproof::certify
