#pragma once

#include <vector>

#include "attention/model.hpp"
#include "certify/affine.hpp"

/// One attention layer on affine forms.
namespace sinkproof::certify {

/// The residual stream: stream[i] holds the n forms of position i + 1.
using AffineStream = std::vector<AffineForms>;

/// Encloses the attention weights of every head and the layer's output over all symbols of `stream`.
/// `weights[head]` [L, L]: on entry an enclosure from elsewhere (undecided entries say nothing), on return
/// the intersection with what the forms give. The result has the same symbols as the stream. Softmax and ReLU
/// heads with bilinear scores in base e; throws std::invalid_argument on others.
AffineStream affine_layer(const attention::Layer<numeric::Interval>& layer, bool residual,
                          const AffineStream& stream,
                          std::vector<numeric::Matrix<numeric::Interval>>& weights);

/// Turns each form's own error into a new symbol, so that what follows may cancel it. Forms more than twice
/// as wide as `ranges` [L, n] (other enclosures of the same values) become a new symbol altogether.
void symbolise_errors(AffineStream& stream, const numeric::Matrix<numeric::Interval>& ranges);

/// The tighter of two enclosures of the same value; undecided where both are.
numeric::Interval intersection(const numeric::Interval& a, const numeric::Interval& b);

}  // namespace sinkproof::certify
