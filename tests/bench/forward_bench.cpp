// A rigorous forward pass of one softmax head, n = L = 16, point input (scores, softmax, output), beside the
// same pass in plain Eigen double and, where it is installed, in Arb at 53 bits. One run measures all:
// compare ratios, not seconds.
#include <random>

#include <Eigen/Core>
#include <benchmark/benchmark.h>

#include "attention/forward.hpp"
#ifdef SINKPROOF_WITH_ARB
#include <arb_mat.h>
#endif

using namespace sinkproof;
using numeric::Interval;
using numeric::Matrix;

namespace {

constexpr int length = 16, dimension = 16;

struct Head {
  Matrix<double> score, value, tokens;
};

/// Scores of size about 1, like those of a trained head off the trigger.
Head example() {
  std::mt19937_64 bits(1);
  const auto entry = [&](double size) {
    return [&bits, size] { return size * (static_cast<double>(bits() >> 11) * 0x1p-52 - 1); };
  };
  return {Matrix<double>::NullaryExpr(dimension, dimension, entry(0.3)),
          Matrix<double>::NullaryExpr(dimension, dimension, entry(0.3)),
          Matrix<double>::NullaryExpr(length, dimension, entry(1))};
}

Matrix<double> plain_forward(const Head& head) {
  const Matrix<double> scores = head.tokens * head.score * head.tokens.transpose();
  Matrix<double> weights = Matrix<double>::Zero(length, length);
  for (int i = 0; i < length; ++i) {
    auto row = weights.row(i).head(i + 1);
    row = (scores.row(i).head(i + 1).array() - scores.row(i).head(i + 1).maxCoeff()).exp();
    row /= row.sum();
  }
  return weights * (head.tokens * head.value.transpose());
}

void eigen_double(benchmark::State& state) {
  const Head head = example();
  for (auto _ : state) benchmark::DoNotOptimize(plain_forward(head));
}
BENCHMARK(eigen_double);

void rigorous_interval(benchmark::State& state) {
  const Head head = example();
  const auto convert = [](const Matrix<double>& m) { return numeric::convert<Interval, double>(m); };
  const auto model = attention::single_head<Interval>(
      {.attention = attention::BilinearScores<Interval>{.matrix = convert(head.score)},
       .value = convert(head.value)});
  const Matrix<Interval> tokens = convert(head.tokens);
  for (auto _ : state) benchmark::DoNotOptimize(attention::forward(model, tokens));
}
BENCHMARK(rigorous_interval);

#ifdef SINKPROOF_WITH_ARB
constexpr slong precision = 53;

/// The same pass in ball arithmetic: Arb's matrix product, exp and division.
void arb_forward(arb_mat_t output, const arb_mat_t tokens, const arb_mat_t score, const arb_mat_t value) {
  arb_mat_t transposed, scores, half, weights, mapped, value_transposed;
  arb_mat_init(transposed, dimension, length);
  arb_mat_init(half, length, dimension);
  arb_mat_init(scores, length, length);
  arb_mat_init(weights, length, length);
  arb_mat_init(value_transposed, dimension, dimension);
  arb_mat_init(mapped, length, dimension);
  arb_mat_transpose(transposed, tokens);
  arb_mat_transpose(value_transposed, value);
  arb_mat_mul(half, tokens, score, precision);
  arb_mat_mul(scores, half, transposed, precision);
  arb_t sum;
  arb_init(sum);
  for (slong i = 0; i < length; ++i) {
    arb_zero(sum);
    for (slong k = 0; k <= i; ++k) {
      arb_ptr entry = arb_mat_entry(weights, i, k);
      arb_exp(entry, arb_mat_entry(scores, i, k), precision);
      arb_add(sum, sum, entry, precision);
    }
    for (slong k = 0; k <= i; ++k) {
      arb_div(arb_mat_entry(weights, i, k), arb_mat_entry(weights, i, k), sum, precision);
    }
  }
  arb_mat_mul(mapped, tokens, value_transposed, precision);
  arb_mat_mul(output, weights, mapped, precision);
  arb_clear(sum);
  arb_mat_clear(transposed);
  arb_mat_clear(half);
  arb_mat_clear(scores);
  arb_mat_clear(weights);
  arb_mat_clear(value_transposed);
  arb_mat_clear(mapped);
}

void arb_53_bits(benchmark::State& state) {
  const Head head = example();
  arb_mat_t tokens, score, value, output;
  const auto set = [](arb_mat_t to, const Matrix<double>& from) {
    arb_mat_init(to, from.rows(), from.cols());
    for (Eigen::Index i = 0; i < from.rows(); ++i) {
      for (Eigen::Index k = 0; k < from.cols(); ++k) arb_set_d(arb_mat_entry(to, i, k), from(i, k));
    }
  };
  set(tokens, head.tokens);
  set(score, head.score);
  set(value, head.value);
  arb_mat_init(output, length, dimension);
  for (auto _ : state) {
    arb_forward(output, tokens, score, value);
    benchmark::DoNotOptimize(arb_mat_entry(output, 0, 0));
  }
  arb_mat_clear(tokens);
  arb_mat_clear(score);
  arb_mat_clear(value);
  arb_mat_clear(output);
}
BENCHMARK(arb_53_bits);
#endif

}  // namespace
