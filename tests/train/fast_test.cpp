// The fast path answers to the plain one, and gives the same bits on any number of threads.
#include "train/fast.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include <doctest/doctest.h>

using namespace sinkproof;
using attention::Normaliser;
using attention::Weights;
using train::Fast;
using train::InstructionSet;
using train::Settings;

namespace {

constexpr InstructionSet all_sets[] = {InstructionSet::baseline, InstructionSet::avx2,
                                       InstructionSet::avx512};

/// Models of every kind; sizes that are no multiples of any tile, and the paper's.
std::vector<Settings> models() {
  std::vector<Settings> all;
  for (const Normaliser normaliser : {Normaliser::softmax, Normaliser::relu}) {
    all.push_back({.normaliser = normaliser});
    all.push_back({.normaliser = normaliser, .length = 4, .dimension = 3, .batch = 1});
    all.push_back(
        {.normaliser = normaliser, .length = 7, .dimension = 11, .layers = 3, .heads = 2, .batch = 21});
    all.push_back({.normaliser = normaliser, .layers = 2, .heads = 2, .batch = 40});
    all.push_back({.normaliser = normaliser, .length = 18, .dimension = 18, .heads = 3, .batch = 150});
    all.push_back({.normaliser = normaliser, .length = 33, .dimension = 9, .layers = 2, .batch = 9});
  }
  // Weights of this size make every part of the gradient count.
  for (Settings& settings : all) settings.initial_deviation = 0.3, settings.seed = 11;
  return all;
}

std::vector<float> bits_of(const Weights& weights) {
  std::vector<float> all;
  for (const auto* matrix : train::matrices(weights)) {
    for (const double entry : matrix->reshaped()) all.push_back(static_cast<float>(entry));
  }
  return all;
}

/// Weights and errors after some steps.
std::vector<float> trained(const Settings& settings, int threads, InstructionSet set, int steps) {
  Fast fast(settings, {.threads = threads, .instructions = set});
  std::vector<float> all;
  for (int step = 0; step < steps; ++step) {
    const auto errors = fast.pass();
    all.push_back(static_cast<float>(errors.loss));
    all.push_back(static_cast<float>(errors.linf));
    fast.update();
  }
  const auto weights = bits_of(fast.weights());
  all.insert(all.end(), weights.begin(), weights.end());
  return all;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("the fast path agrees with the reference: losses, gradients, Adam") {
  for (const InstructionSet set : all_sets) {
    if (!train::is_supported(set)) continue;
    CAPTURE(std::string(to_string(set)));
    for (const Settings& settings : models()) {
      CAPTURE(settings.name());
      CAPTURE(settings.length);
      Fast fast(settings, {.threads = 1, .instructions = set});
      Weights weights = train::initial_weights(settings);
      REQUIRE(bits_of(weights) == bits_of(fast.weights()));
      for (int step = 0; step < 3; ++step) {
        CAPTURE(step);
        weights = fast.weights();
        const auto errors = fast.pass();
        const auto wanted =
            train::reference_pass(weights, settings.normaliser, train::drawn_batch(settings, step));
        // Two ReLU layers are a polynomial of degree 9 in the tokens: it multiplies a relative rounding.
        CHECK(std::abs(errors.loss - wanted.loss) <= 100 * 0x1p-24 * wanted.loss);
        CHECK(std::abs(errors.linf - wanted.linf) <= 2e-6 * (1 + wanted.linf));
        const Weights gradient = fast.gradient();
        const auto seen = train::matrices(gradient);
        const auto expected = train::matrices(wanted.gradient);
        double largest = 0;
        for (const auto* matrix : expected) largest = std::max(largest, matrix->cwiseAbs().maxCoeff());
        for (std::size_t k = 0; k < seen.size(); ++k) {
          CAPTURE(k);
          CHECK((*seen[k] - *expected[k]).cwiseAbs().maxCoeff() <= 3e-6 * largest);
        }
        fast.update();
        // Adam's first update is the sign of the gradient: compare after it with the fast path's gradient.
        if (step == 0) {
          train::ReferenceAdam adam(settings.learning_rate, settings.beta1, settings.beta2, settings.epsilon);
          adam.update(weights, gradient);
          const auto a = bits_of(weights), b = bits_of(fast.weights());
          for (std::size_t k = 0; k < a.size(); ++k) REQUIRE(std::abs(a[k] - b[k]) <= 3e-7F);
        }
      }
    }
  }
}

TEST_CASE("Adam over many steps agrees with the reference fed the same gradients") {
  const Settings settings{.length = 5,
                          .dimension = 5,
                          .layers = 2,
                          .heads = 2,
                          .batch = 16,
                          .learning_rate = 1e-2,
                          .initial_deviation = 0.3};
  Fast fast(settings);
  Weights weights = fast.weights();
  train::ReferenceAdam adam(settings.learning_rate, settings.beta1, settings.beta2, settings.epsilon);
  for (int step = 0; step < 50; ++step) {
    fast.pass();
    adam.update(weights, fast.gradient());
    fast.update();
  }
  CHECK(fast.step() == 50);
  const auto a = bits_of(weights), b = bits_of(fast.weights());
  for (std::size_t k = 0; k < a.size(); ++k) CHECK(std::abs(a[k] - b[k]) <= 1e-5F);
}

TEST_CASE("the same bits on 1, 2, 3 and 8 threads") {
  for (const Settings& settings : models()) {
    CAPTURE(settings.name());
    const InstructionSet set = train::chosen_instruction_set();
    const auto one = trained(settings, 1, set, 5);
    for (const int threads : {2, 3, 8}) {
      CAPTURE(threads);
      CHECK(same_bits(trained(settings, threads, set, 5), one));
    }
  }
}

TEST_CASE("avx2 and avx512 give the same bits; baseline agrees to rounding") {
  for (const Settings& settings : models()) {
    CAPTURE(settings.name());
    CAPTURE(settings.length);
    if (!train::is_supported(InstructionSet::avx2)) return;
    const auto avx2 = trained(settings, 1, InstructionSet::avx2, 5);
    if (train::is_supported(InstructionSet::avx512)) {
      CHECK(same_bits(trained(settings, 1, InstructionSet::avx512, 5), avx2));
    }
    const auto baseline = trained(settings, 1, InstructionSet::baseline, 1);
    const auto first = trained(settings, 1, InstructionSet::avx2, 1);
    CHECK(std::abs(baseline[0] - first[0]) <= 1e-6F * first[0]);
  }
}

TEST_CASE("seeds and steps differ; a fixed batch does not") {
  Settings settings{.length = 6, .dimension = 5, .batch = 16};
  Settings other = settings;
  other.seed = 2;
  const InstructionSet set = train::chosen_instruction_set();
  CHECK(!same_bits(trained(settings, 1, set, 1), trained(other, 1, set, 1)));
  CHECK(train::drawn_batch(settings, 0).x[0] != train::drawn_batch(settings, 1).x[0]);
  CHECK(train::drawn_batch(settings, 0).x[0] != train::drawn_batch(settings, 0).x[1]);
  settings.fixed_batch = true;
  CHECK(train::drawn_batch(settings, 0).x[0] == train::drawn_batch(settings, 1).x[0]);
}

TEST_CASE("the draws follow the sampling law") {
  const Settings settings{.length = 6, .dimension = 5, .batch = 2000};
  const auto batch = train::drawn_batch(settings, 3);
  int triggers[7] = {};
  double sum = 0, squares = 0, least = 1, largest = -1;
  long count = 0;
  for (const auto& x : batch.x) {
    for (int row = 1; row < 6; ++row) {
      if (x(row, 1) == 1) ++triggers[row + 1];
      for (int c = 2; c < 4; ++c, ++count) {
        const double v = x(row, c);
        sum += v;
        squares += v * v;
        least = std::min(least, v);
        largest = std::max(largest, v);
      }
    }
  }
  for (int j = 3; j <= 6; ++j) CHECK(std::abs(triggers[j] - 500) < 100);  // 5 standard deviations
  CHECK(triggers[2] == 0);
  const auto total = static_cast<double>(count);
  CHECK(std::abs(sum / total) < 5 / std::sqrt(3 * total));
  CHECK(std::abs(squares / total - 1.0 / 3) < 5 * 0.3 / std::sqrt(total));
  CHECK(least >= -1);
  CHECK(largest < 1);
  CHECK(least < -0.999);
  CHECK(largest > 0.999);
}

TEST_CASE("the exponential keeps its stated error, at every instruction set") {
  for (const InstructionSet set : all_sets) {
    if (!train::is_supported(set)) continue;
    std::vector<float> x;
    for (float v = 0; v > -86; v -= 0.00037F) x.push_back(v);
    x.insert(x.end(), {-86, -87, -1e30F, -INFINITY, std::nanf("")});
    std::vector<float> e(x.size());
    train::kernels(set).exponentials(x.data(), e.data(), x.size());
    double worst = 0;
    for (std::size_t k = 0; k + 4 < x.size(); ++k) {
      const double exact = std::exp(static_cast<double>(x[k]));
      const double ulp = std::ldexp(1.0, std::ilogb(exact) - 23);
      worst = std::max(worst, std::abs(static_cast<double>(e[k]) - exact) / ulp);
    }
    MESSAGE(to_string(set), ": ", worst, " ulp");
    CHECK(worst <= train::exp_ulps);
    for (std::size_t k = x.size() - 4; k + 1 < x.size(); ++k) CHECK((e[k] >= 0 && e[k] < 1e-37F));
    CHECK(std::isnan(e.back()));
  }
}

TEST_CASE("overflow and NaN reach the loss") {
  for (const Normaliser normaliser : {Normaliser::softmax, Normaliser::relu}) {
    Settings settings{.normaliser = normaliser, .length = 5, .dimension = 5, .batch = 16};
    settings.learning_rate = 1e6;
    Fast fast(settings);
    bool finite = true;
    for (int step = 0; step < 50 && finite; ++step) {
      finite = std::isfinite(fast.pass().loss);
      fast.update();
    }
    CHECK((normaliser == Normaliser::softmax || !finite));
    std::vector<float> poisoned(fast.state().parameters.begin(), fast.state().parameters.end());
    for (const float poison : {std::nanf(""), INFINITY, 1e30F}) {
      for (std::size_t entry : {0, 30, 60, 90}) {  // one of each matrix
        Fast other(settings);
        std::vector<float> parameters(other.state().parameters.begin(), other.state().parameters.end());
        parameters[entry] = poison;
        for (std::size_t e = 0; e < parameters.size(); ++e) {
          if (poison == 1e30F) parameters[e] = poison;
        }
        const std::vector<float> zeros(parameters.size());
        other.restore({0, parameters, zeros, zeros});
        CHECK(!std::isfinite(other.pass().loss));
      }
    }
  }
}

TEST_CASE("the bits of a seed: the same under every compiler and flag set, today and tomorrow") {
  // FNV-1a over the weights after 200 steps. A change of these numbers changes every trained weight.
  struct Pinned {
    Normaliser normaliser;
    std::uint64_t fused, baseline;
  };
  for (const Pinned pinned : {Pinned{Normaliser::softmax, 0xc990dcb6578f8eff, 0xc8c9588afb536646},
                              Pinned{Normaliser::relu, 0x06cd66f73538c3af, 0x721f4c016565ab0c}}) {
    const Settings settings{.normaliser = pinned.normaliser,
                            .length = 9,
                            .dimension = 11,
                            .layers = 2,
                            .heads = 2,
                            .batch = 40,
                            .initial_deviation = 0.2};
    for (const InstructionSet set : all_sets) {
      if (!train::is_supported(set)) continue;
      CAPTURE(std::string(to_string(set)));
      Fast fast(settings, {.threads = 2, .instructions = set});
      for (int step = 0; step < 200; ++step) {
        fast.pass();
        fast.update();
      }
      std::uint64_t hash = 14695981039346656037U;
      for (const float weight : fast.state().parameters) {
        hash = (hash ^ std::bit_cast<std::uint32_t>(weight)) * 1099511628211U;
      }
      CHECK(hash == (set == InstructionSet::baseline ? pinned.baseline : pinned.fused));
    }
  }
}
