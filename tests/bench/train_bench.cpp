// Steps of the fast path: random stream, forward, backward and Adam, all of them. flops counts the
// multiply-adds of the products as 2 (causal sums by their halves) and nothing else, so that the share of the
// FMA peak (register-only multiply-adds of one thread) is a lower bound. It is taken per second of CPU time,
// waiting for the other thread included, so that a busy machine does not change it.
#include <ctime>

#include <benchmark/benchmark.h>

#include "train/fast.hpp"

using namespace sinkproof;
using attention::Normaliser;
using train::Settings;

namespace {

constexpr int threads = 2;

/// Multiply-adds of one step's products.
double multiply_adds(const Settings& s) {
  const auto L = static_cast<double>(s.length), n = static_cast<double>(s.dimension);
  const double square = L * n * n, causal = L * (L + 1) / 2 * n;
  const double forward = 2 * square + 2 * causal;
  const double backward = 3 * square + 2 * causal;  // of weights, and down to q
  const double deeper = square + 2 * causal;        // down to the layer below
  const auto heads = static_cast<double>(s.heads), layers = static_cast<double>(s.layers);
  const double updates = layers * heads * 6 * n * n * n;
  return static_cast<double>(s.batch) * heads * (layers * (forward + backward) + (layers - 1) * deeper) +
         updates;
}

/// Of one thread, by its own CPU time.
double peak_flops() {
  const auto& kernels = train::kernels(train::chosen_instruction_set());
  double best = 0;
  for (int attempt = 0; attempt < 20; ++attempt) {
    const std::clock_t start = std::clock();
    const double done = 2 * kernels.fma_rate(2'000'000);
    best = std::max(best, done * CLOCKS_PER_SEC / static_cast<double>(std::clock() - start));
  }
  return best;
}

void step(benchmark::State& state, Settings settings, int count) {
  static const double peak = peak_flops();
  train::Fast fast(settings, {.threads = count});
  const std::clock_t start = std::clock();
  for (auto _ : state) {
    benchmark::DoNotOptimize(fast.pass());
    fast.update();
  }
  const double cpu_seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const double flops = 2 * multiply_adds(settings) * static_cast<double>(state.iterations());
  state.counters["peak"] = benchmark::Counter(peak, benchmark::Counter::kDefaults);
  state.counters["of_peak"] = flops / cpu_seconds / peak;
  state.counters["steps"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void add(const std::string& name, const Settings& settings, int count = threads) {
  benchmark::RegisterBenchmark(name.c_str(), step, settings, count)
      ->Unit(benchmark::kMicrosecond)
      ->MeasureProcessCPUTime()
      ->UseRealTime();
}

const int registered = [] {
  for (const Normaliser normaliser : {Normaliser::softmax, Normaliser::relu}) {
    for (const long size : {1, 2, 4}) {
      const Settings settings{
          .normaliser = normaliser, .layers = size, .heads = size, .initial_deviation = 0.1};
      add("train_" + settings.name(), settings);
      add("train_" + settings.name() + "_one_thread", settings, 1);
    }
  }
  for (const long length : {16, 32, 64, 128, 256}) {
    add("train_softmax_1h1d_length_" + std::to_string(length), {.length = length});
  }
  for (const long batch : {32, 64, 128, 256, 512, 1024}) {
    add("train_softmax_1h1d_batch_" + std::to_string(batch), {.batch = batch});
  }
  return 0;
}();

}  // namespace
