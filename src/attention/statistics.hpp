#pragma once

#include <vector>

#include "attention/forward.hpp"

/// What a model's attention does on a sample of inputs. Kind: float.
namespace sinkproof::attention {

/// Of one head, over the inputs: entrywise mean and standard deviation (of the sample itself, divided by its
/// size) of its attention weights, each [L, L].
struct AttentionStatistics {
  numeric::Matrix<double> mean, deviation;
};

/// result[layer][head], over inputs x [L, n] of one shape. Throws std::invalid_argument where there is none.
std::vector<std::vector<AttentionStatistics>> attention_statistics(
    const Model<double>& model, const std::vector<numeric::Matrix<double>>& inputs);

}  // namespace sinkproof::attention
