#include "attention/statistics.hpp"

#include <cmath>
#include <stdexcept>

#include <doctest/doctest.h>

using namespace sinkproof::attention;
using sinkproof::numeric::Matrix;

TEST_CASE("mean and standard deviation over inputs, against their definitions") {
  // n = 1: the scores are products of the inputs, so that the weights are known.
  Model<double> model;
  model.layers = {Layer<double>{{Head<double>{BilinearScores<double>{Matrix<double>::Constant(1, 1, 1.0)},
                                              Matrix<double>::Constant(1, 1, 1.0)},
                                 Head<double>{GivenAttention<double>{Matrix<double>::Identity(2, 2)},
                                              Matrix<double>::Constant(1, 1, 1.0)}}}};
  std::vector<Matrix<double>> inputs;
  std::vector<double> seen;  // a_22 of head 1
  for (const double value : {0.0, 1.0, -2.0}) {
    Matrix<double> x(2, 1);
    x << 1, value;
    inputs.push_back(x);
    seen.push_back(std::exp(value * value) / (std::exp(value) + std::exp(value * value)));
  }
  const double mean = (seen[0] + seen[1] + seen[2]) / 3;
  double variance = 0;
  for (const double value : seen) variance += (value - mean) * (value - mean) / 3;

  const auto statistics = attention_statistics(model, inputs);
  REQUIRE(statistics.size() == 1);
  REQUIRE(statistics[0].size() == 2);
  CHECK(statistics[0][0].mean(1, 1) == doctest::Approx(mean).epsilon(1e-12));
  CHECK(statistics[0][0].deviation(1, 1) == doctest::Approx(std::sqrt(variance)).epsilon(1e-12));
  CHECK(statistics[0][0].mean(1, 0) == doctest::Approx(1 - mean).epsilon(1e-12));
  CHECK(statistics[0][0].mean(0, 0) == 1);
  CHECK(statistics[0][0].mean(0, 1) == 0);
  CHECK(statistics[0][0].deviation(0, 0) == 0);
  CHECK(statistics[0][1].mean == Matrix<double>::Identity(2, 2));
  CHECK(statistics[0][1].deviation == Matrix<double>::Zero(2, 2));
  CHECK_THROWS_AS(attention_statistics(model, {}), std::invalid_argument);
}
