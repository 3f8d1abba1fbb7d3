// Prints certified / attained ratios and CPU seconds of every part, for the shipped single heads and for
// random heads over growing d and L. Run from the repository's root: build/release/tests/bench/certify_table
#include <cstdio>
#include <random>

#include <sys/resource.h>

#include "certify/certify.hpp"
#include "formats/weights_file.hpp"

using namespace sinkproof;
using attention::Normaliser;

namespace {

double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void run(const char* name, const attention::Weights& weights, Normaliser normaliser, int length,
         double limit) {
  const task::Parameters parameters(length, weights.dimension - 3);
  const auto c = certify::certify_head(weights, normaliser, parameters,
                                       {.effort = certify::Effort::tight, .time_limit = limit});
  const auto ratio = [](const certify::Supremum& x) { return x.upper == x.lower ? 1 : x.upper / x.lower; };
  std::printf("%-14s d %3d L %7d  leak %.6g ratio %.5f  loss %.6g ratio %.5f%s  peak %.0f MiB |", name,
              parameters.content(), length, c.leak.upper, ratio(c.leak), c.loss.upper, ratio(c.loss),
              c.loss_classes.complete ? "" : " (not all queries)", peak_mebibytes());
  for (const auto& timing : c.timings) std::printf(" %s %.4f", timing.part.c_str(), timing.cpu);
  std::printf(" CPU s\n");
}

/// BOS favoured off the trigger and shunned at it, V nearly the identity, uniform noise of a trained head's
/// size.
attention::Weights random_head(int d) {
  const int n = d + 3;
  std::mt19937_64 random(1);
  const auto noise = [&](double size) {
    Eigen::MatrixXd m(n, n);
    for (auto& entry : m.reshaped()) entry = size * (static_cast<double>(random() >> 11) * 0x1p-52 - 1);
    return m;
  };
  Eigen::MatrixXd a = noise(0.0005), v = noise(0.0005);
  a(n - 1, 0) += 11;
  a(1, 0) -= 7;
  v += Eigen::MatrixXd::Identity(n, n);
  v(0, 0) = 0;
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(n, n);
  return {.layers = {{{{.query = one, .key = a, .value = v, .output = one}}}},
          .dimension = n,
          .residual = false,
          .scale = {},
          .layout = "paper"};
}

}  // namespace

int main() {
  const std::string data = SINKPROOF_DATA_DIR "/weights/";
  const auto softmax = formats::read_weights(data + "softmax_1h1d.npz");
  run("softmax_1h1d", softmax, Normaliser::softmax, 16, 60);
  run("relu_1h1d", formats::read_weights(data + "relu_1h1d.npz"), Normaliser::relu, 16, 60);
  for (const int length : {64, 1024, 65536}) run("softmax_1h1d", softmax, Normaliser::softmax, length, 60);
  for (const int d : {4, 8, 13, 16, 18, 22, 27, 32, 60, 125})
    run("random", random_head(d), Normaliser::softmax, 16, 60);
}
