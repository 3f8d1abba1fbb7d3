#include "attention/statistics.hpp"

#include <cmath>
#include <stdexcept>

namespace sinkproof::attention {

std::vector<std::vector<AttentionStatistics>> attention_statistics(
    const Model<double>& model, const std::vector<numeric::Matrix<double>>& inputs) {
  if (inputs.empty()) throw std::invalid_argument("attention_statistics: no inputs");
  std::vector<std::vector<AttentionStatistics>> result(model.layers.size());
  const Eigen::Index length = inputs.front().rows();
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    result[l].resize(model.layers[l].heads.size(), {numeric::Matrix<double>::Zero(length, length),
                                                    numeric::Matrix<double>::Zero(length, length)});
  }
  // Welford: `deviation` is the sum of squared deviations until the end.
  double count = 0;
  for (const auto& x : inputs) {
    ++count;
    const Trace<double> trace = forward(model, x);
    for (std::size_t l = 0; l < result.size(); ++l) {
      for (std::size_t h = 0; h < result[l].size(); ++h) {
        AttentionStatistics& seen = result[l][h];
        const numeric::Matrix<double> before = trace.attention[l][h] - seen.mean;
        seen.mean += before / count;
        seen.deviation += before.cwiseProduct(trace.attention[l][h] - seen.mean);
      }
    }
  }
  for (auto& layer : result) {
    for (AttentionStatistics& seen : layer) seen.deviation = (seen.deviation / count).cwiseSqrt();
  }
  return result;
}

}  // namespace sinkproof::attention
