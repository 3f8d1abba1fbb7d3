#pragma once

#include <optional>
#include <vector>

#include "numeric/big_interval.hpp"
#include "numeric/matrix.hpp"
#include "numeric/rational.hpp"

/// Theorem 2 (theory.md section 3): a stack of single heads without residual. With epsilon the leak bound of
/// Theorem 1, on every instance and for every non-trigger i >= 2 some layer has a sink weight of at least
/// 1 - epsilon^(1/D) at some position 2 <= k <= i.
namespace sinkproof::theory {

/// The root where it is rational. Exact. Domain: x >= 0, degree >= 1, else NotApplicable.
std::optional<numeric::Rational> rational_root(const numeric::Rational& x, int degree);

/// x^(1/degree), enclosed; 0 exactly for x = 0. The same domain.
numeric::BigInterval enclosed_root(const numeric::Rational& x, int degree);

/// The attention of the stack as one head: a^(D) ... a^(1), each [L, L], first layer first. Of the kind of T.
template <numeric::Scalar T>
numeric::Matrix<T> composed_attention(const std::vector<numeric::Matrix<T>>& layers) {
  numeric::Matrix<T> product = layers.at(0);
  for (std::size_t l = 1; l < layers.size(); ++l) product = numeric::product<T>(layers[l], product);
  return product;
}

/// prod_l min_{2<=k<=i} (1 - a^(l)_k1): a lower bound of the composed leak at position i (1-based, i >= 2).
/// Exact; the min-product inequality in the proof of Theorem 2.
numeric::Rational least_leak_product(const std::vector<numeric::Matrix<numeric::Rational>>& layers,
                                     int position);

}  // namespace sinkproof::theory
