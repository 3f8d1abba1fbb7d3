// What rigour costs: each enclosed computation next to the same one in plain double, in the same loop, so
// that the ratio ("times_plain") does not depend on what else the machine does. Goal: forward pass at most 5.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include <benchmark/benchmark.h>

#include "numeric/matrix.hpp"

using namespace sinkproof::numeric;

namespace {

template <class Work>
double seconds(Work work) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 20;
}

template <class Plain, class Rigorous>
void compare(benchmark::State& state, Plain plain, Rigorous rigorous) {
  double plain_time = 0, rigorous_time = 0;
  for (auto _ : state) {
    plain_time += seconds(plain);
    const double time = seconds(rigorous);
    rigorous_time += time;
    state.SetIterationTime(time);
  }
  state.counters["times_plain"] = rigorous_time / plain_time;
  state.counters["plain_ns"] = 1e9 * plain_time / static_cast<double>(state.iterations());
}

Matrix<double> numbers(Eigen::Index rows, Eigen::Index cols, unsigned seed) {
  Matrix<double> result(rows, cols);
  std::uint32_t x = seed;
  for (double& v : result.reshaped()) v = static_cast<double>(x = x * 1664525u + 1013904223u) * 0x1p-31 - 1;
  return result;
}

Matrix<Interval> thick(const Matrix<double>& x) {
  return x.unaryExpr([](double v) { return Interval(v - 1e-12, v + 1e-12); });
}

constexpr Eigen::Index n = 16;

void product_of(benchmark::State& state, bool thick_a, bool thick_b, Eigen::Index size) {
  const Matrix<double> a = numbers(size, size, 1), b = numbers(size, size, 2);
  const Matrix<Interval> x = thick_a ? thick(a) : convert<Interval>(a),
                         y = thick_b ? thick(b) : convert<Interval>(b);
  compare(
      state,
      [&] {
        Matrix<double> c = a * b;
        benchmark::DoNotOptimize(c.data());
      },
      [&] {
        Matrix<Interval> c = product(x, y);
        benchmark::DoNotOptimize(c.data());
      });
}

void exp_of(benchmark::State& state, bool all) {
  const Matrix<double> x = 10 * numbers(1, 136, 3);
  const Matrix<Interval> enclosed = thick(x);
  Matrix<double> y(1, 136);
  Matrix<Interval> z(1, 136);
  compare(
      state,
      [&] {
        for (Eigen::Index i = 0; i < x.size(); ++i) y.data()[i] = std::exp(x.data()[i]);
        benchmark::DoNotOptimize(y.data());
        benchmark::ClobberMemory();
      },
      [&] {
        if (all) {
          exp_all({enclosed.data(), 136}, z.data());
        } else {
          for (Eigen::Index i = 0; i < x.size(); ++i) z.data()[i] = exp(enclosed.data()[i]);
        }
        benchmark::DoNotOptimize(z.data());
        benchmark::ClobberMemory();
      });
}

void exp_approximate_of(benchmark::State& state) {
  const Matrix<double> x = 10 * numbers(1, 136, 3);
  Matrix<double> y(1, 136);
  compare(
      state,
      [&] {
        for (Eigen::Index i = 0; i < x.size(); ++i) y.data()[i] = std::exp(x.data()[i]);
        benchmark::DoNotOptimize(y.data());
        benchmark::ClobberMemory();
      },
      [&] {
        exp_approximate(x.data(), y.data(), 136);
        benchmark::ClobberMemory();
      });
}

/// Two heads one after the other on 16 tokens: 6 products and 136 exponentials (a causal row has i of them),
/// the second head on what the first one enclosed.
void forward_pass(benchmark::State& state) {
  const Matrix<double> x = numbers(n, n, 4), a = numbers(n, n, 5), v = numbers(n, n, 6) / 16;
  const Matrix<Interval> xi = convert<Interval>(x), ai = convert<Interval>(a), vi = convert<Interval>(v);
  std::vector<double> exps(136);
  std::vector<Interval> exps_enclosed(136);
  compare(
      state,
      [&] {
        Matrix<double> h = x;
        for (int head = 0; head < 2; ++head) {
          const Matrix<double> scores = Matrix<double>(h * a) * Matrix<double>(h.transpose());
          if (head == 0) {
            for (size_t i = 0; i < 136; ++i) exps[i] = std::exp(scores.data()[i]);
          }
          h = scores * v;
        }
        benchmark::DoNotOptimize(h.data());
        benchmark::DoNotOptimize(exps.data());
        benchmark::ClobberMemory();
      },
      [&] {
        Matrix<Interval> h = xi;
        for (int head = 0; head < 2; ++head) {
          const Matrix<Interval> scores = product(product(h, ai), Matrix<Interval>(h.transpose()));
          if (head == 0) exp_all({scores.data(), 136}, exps_enclosed.data());
          h = product(scores, vi);
        }
        benchmark::DoNotOptimize(h.data());
        benchmark::DoNotOptimize(exps_enclosed.data());
        benchmark::ClobberMemory();
      });
}

}  // namespace

BENCHMARK(forward_pass)->UseManualTime();
BENCHMARK_CAPTURE(product_of, points_16, false, false, 16)->UseManualTime();
BENCHMARK_CAPTURE(product_of, thick_by_points_16, true, false, 16)->UseManualTime();
BENCHMARK_CAPTURE(product_of, points_by_thick_16, false, true, 16)->UseManualTime();
BENCHMARK_CAPTURE(product_of, thick_16, true, true, 16)->UseManualTime();
BENCHMARK_CAPTURE(product_of, thick_by_points_64, true, false, 64)->UseManualTime();
BENCHMARK_CAPTURE(exp_of, all_136, true)->UseManualTime();
BENCHMARK_CAPTURE(exp_of, one_by_one_136, false)->UseManualTime();
BENCHMARK(exp_approximate_of)->UseManualTime();
