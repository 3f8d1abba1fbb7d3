#pragma once

#include <vector>

#include "attention/model.hpp"

namespace sinkproof::attention {

/// What a forward pass leaves: attention[layer][head] is [L, L], output is [L, n].
template <numeric::Scalar T>
struct Trace {
  std::vector<std::vector<numeric::Matrix<T>>> attention;
  numeric::Matrix<T> output;
};

/// Evaluates the model on tokens x [L, n]; compiled for double (float), Rational (exact), Interval and
/// BigInterval (enclosed: the exact result for the given weights and tokens lies in every entry, or the entry
/// is undecided). Scores of any size are ordinary input: softmax subtracts a pivot first. Throws InputError
/// where exact arithmetic is asked for and a score is not an integer (or no base is given), and
/// std::invalid_argument where shapes disagree.
template <numeric::Scalar T>
Trace<T> forward(const Model<T>& model, const numeric::Matrix<T>& x);

/// The attention weights [L, L] of one head on its input x [L, n].
template <numeric::Scalar T>
numeric::Matrix<T> attention_weights(const Head<T>& head, const numeric::Matrix<T>& x);

}  // namespace sinkproof::attention
