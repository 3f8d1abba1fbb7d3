#include "train/fast.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>
#include <random>

#include <fmt/format.h>

#include "errors.hpp"
#include "task/instance.hpp"

namespace sinkproof::train {
namespace {

using attention::Weights;

constexpr int most_chunks = 8;
constexpr double most_floats = double{1UL << 30};  // 4 GiB: beyond is a mistake, not a model

std::uint64_t stream_step(const Settings& settings, long step) {
  return settings.fixed_batch ? 0 : static_cast<std::uint64_t>(step);
}

KernelShape shape_of(const Settings& s) {
  return {.L = static_cast<int>(s.length),
          .n = static_cast<int>(s.dimension),
          .layers = static_cast<int>(s.layers),
          .heads = static_cast<int>(s.heads),
          .relu = s.normaliser == attention::Normaliser::relu,
          .residual = s.residual()};
}

/// Refuses models that no machine of this kind would hold, before the system overcommits.
const Settings& checked(const Settings& s) {
  validate(s);
  const auto d = [](long x) { return static_cast<double>(x); };
  const double layer_heads = d(s.layers * s.heads);
  const double activations = d(s.length * s.dimension + s.length * s.length) * (layer_heads + 4) * 32;
  const double weights = layer_heads * d(s.dimension * s.dimension) * 48;
  if (activations + weights > most_floats) {
    throw InputError(
        fmt::format("--length {}, --dimension {}, --layers {}, --heads {}: this model needs more than 4 GiB "
                    "of memory: choose "
                    "smaller sizes",
                    s.length, s.dimension, s.layers, s.heads));
  }
  return s;
}

}  // namespace

std::string_view to_string(InstructionSet set) {
  switch (set) {
    case InstructionSet::baseline:
      return "baseline";
    case InstructionSet::avx2:
      return "avx2";
    case InstructionSet::avx512:
      return "avx512";
  }
  return "";
}

bool is_supported(InstructionSet set) {
#ifdef SINKPROOF_X86_KERNELS
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (set == InstructionSet::avx2) return avx2;
  if (set == InstructionSet::avx512) return avx2 && __builtin_cpu_supports("avx512f");
#endif
  return set == InstructionSet::baseline;
}

const Kernels& kernels(InstructionSet set) {
#ifdef SINKPROOF_X86_KERNELS
  if (set == InstructionSet::avx2) return avx2_kernels;
  if (set == InstructionSet::avx512) return avx512_kernels;
#endif
  return set == InstructionSet::baseline ? baseline_kernels
                                         : throw InputError("no such instruction set here");
}

InstructionSet chosen_instruction_set() {
  constexpr InstructionSet all[] = {InstructionSet::avx512, InstructionSet::avx2, InstructionSet::baseline};
  const char* wanted = std::getenv("SINKPROOF_INSTRUCTIONS");
  for (const InstructionSet set : all) {
    if (wanted == nullptr ? is_supported(set) : wanted == to_string(set)) {
      if (is_supported(set)) return set;
      throw InputError(fmt::format(
          "SINKPROOF_INSTRUCTIONS={}: this processor (or build) lacks it: unset the variable", wanted));
    }
  }
  throw InputError("SINKPROOF_INSTRUCTIONS: must be baseline, avx2 or avx512, or not set");
}

AlignedFloats::AlignedFloats(std::size_t count)
    : data_(static_cast<float*>(::operator new (count * sizeof(float), std::align_val_t{64}))) {
  std::fill_n(data_.get(), count, 0.0F);
}
void AlignedFloats::Free::operator()(float* data) const {
  ::operator delete (data, std::align_val_t{64});
}

Fast::Fast(const Settings& settings, const Options& options)
    : settings_(checked(settings)),
      kernels_(kernels(options.instructions)),
      shape_(shape_of(settings)),
      heads_(shape_.layers * shape_.heads),
      square_(shape_.n * shape_.n),
      groups_(static_cast<int>((settings.batch + group_size - 1) / group_size)),
      chunks_(std::min(groups_, most_chunks)),
      crew_(std::clamp(options.threads, 1, most_chunks)) {
  const auto size = static_cast<std::size_t>(heads_) * static_cast<std::size_t>(square_);
  first_.resize(4 * size);
  second_.resize(4 * size);
  maps_.resize(2 * size);
  gradients_.resize(static_cast<std::size_t>(2 * chunks_) * 2 * size);
  squared_errors_.resize(static_cast<std::size_t>(settings.batch));
  largest_errors_.resize(static_cast<std::size_t>(settings.batch));
  for (int t = 0; t < crew_.threads(); ++t) {
    scratch_.emplace_back(static_cast<std::size_t>(8 * square_));
    workspaces_.emplace_back(kernels_.workspace_floats(shape_));
  }
  const Weights initial = initial_weights(settings);
  for (const Eigen::MatrixXd* matrix : matrices(initial)) {
    for (Eigen::Index i = 0; i < matrix->rows(); ++i) {
      for (Eigen::Index j = 0; j < matrix->cols(); ++j) {
        parameters_.push_back(static_cast<float>((*matrix)(i, j)));
      }
    }
  }
  form_maps();
}

void Fast::form_maps() {
  crew_.run(heads_, [this](int head, int thread) { kernels_.form_maps(head_arguments(head, thread)); });
}

void Fast::restore(const State& state) {
  step_ = state.step;
  std::ranges::copy(state.parameters, parameters_.begin());
  std::ranges::copy(state.first, first_.begin());
  std::ranges::copy(state.second, second_.begin());
  form_maps();
}

Fast::Errors Fast::pass() {
  const auto size = static_cast<std::size_t>(2 * heads_) * static_cast<std::size_t>(square_);
  const DrawStream stream(settings_.seed, stream_step(settings_, step_));
  const auto entries = static_cast<double>(settings_.batch * settings_.length * settings_.dimension);
  crew_.run(chunks_, [&](int chunk, int thread) {
    float* gradient = gradients_.data() + static_cast<std::size_t>(2 * chunk) * size;
    std::fill_n(gradient, 2 * size, 0.0F);
    for (long group = chunk * groups_ / chunks_; group < (chunk + 1) * groups_ / chunks_; ++group) {
      const long first = group * group_size;
      kernels_.pass({.shape = shape_,
                     .stream = stream,
                     .first = first,
                     .count = static_cast<int>(std::min<long>(group_size, settings_.batch - first)),
                     .maps = maps_.data(),
                     .gradient_scale = static_cast<float>(2 / entries),
                     .workspace = workspaces_[static_cast<std::size_t>(thread)].data(),
                     .gradient = {gradient, gradient + size},
                     .squared_error = squared_errors_.data() + first,
                     .largest_error = largest_errors_.data() + first});
    }
  });
  Errors errors;
  for (const float e : squared_errors_) errors.loss += static_cast<double>(e);
  errors.loss /= entries;
  for (const float e : largest_errors_) errors.linf = std::max(errors.linf, static_cast<double>(e));
  return errors;
}

UpdateArguments Fast::head_arguments(int head, int thread) {
  const auto at = static_cast<std::size_t>(head) * static_cast<std::size_t>(square_);
  return {.n = shape_.n,
          .gradients = nullptr,
          .gradient_count = 0,
          .scratch = scratch_[static_cast<std::size_t>(thread)].data(),
          .parameters = parameters_.data() + 4 * at,
          .first = first_.data() + 4 * at,
          .second = second_.data() + 4 * at,
          .maps = maps_.data() + 2 * at,
          .step_size = 0,
          .correction = 0,
          .beta1 = 0,
          .beta2 = 0,
          .epsilon = 0};
}

namespace {

/// A head's part of each partial sum.
struct Parts {
  const float* at[2 * most_chunks];
  Parts(const std::vector<float>& gradients, int count, int heads, int head, int square) {
    const auto part = static_cast<std::size_t>(2 * square);
    for (int k = 0; k < count; ++k)
      at[k] = gradients.data() + static_cast<std::size_t>(k * heads + head) * part;
  }
};

}  // namespace

void Fast::update() {
  ++step_;
  const double correction1 = 1 - std::pow(settings_.beta1, static_cast<double>(step_));
  const double correction2 = 1 - std::pow(settings_.beta2, static_cast<double>(step_));
  crew_.run(heads_, [&](int head, int thread) {
    const Parts parts(gradients_, 2 * chunks_, heads_, head, square_);
    UpdateArguments arguments = head_arguments(head, thread);
    arguments.gradients = parts.at;
    arguments.gradient_count = 2 * chunks_;
    arguments.step_size = static_cast<float>(settings_.learning_rate / correction1);
    arguments.correction = static_cast<float>(1 / std::sqrt(correction2));
    arguments.beta1 = static_cast<float>(settings_.beta1);
    arguments.beta2 = static_cast<float>(settings_.beta2);
    arguments.epsilon = static_cast<float>(settings_.epsilon);
    kernels_.update(arguments);
  });
}

Weights Fast::as_weights(std::span<const float> parameters) const {
  Weights weights;
  weights.dimension = shape_.n;
  weights.residual = shape_.residual;
  weights.layout = "paper";
  const float* next = parameters.data();
  const auto matrix = [&] {
    const numeric::Matrix<double> taken =
        Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
            next, shape_.n, shape_.n)
            .cast<double>();
    next += square_;
    return taken;
  };
  for (int l = 0; l < shape_.layers; ++l) {
    auto& layer = weights.layers.emplace_back();
    for (int h = 0; h < shape_.heads; ++h) {
      auto& head = layer.heads.emplace_back();
      for (auto* part : {&head.query, &head.key, &head.value, &head.output}) *part = matrix();
    }
  }
  return weights;
}

Weights Fast::weights() const {
  return as_weights(parameters_);
}

Weights Fast::gradient() const {
  std::vector<float> all, scratch(static_cast<std::size_t>(8 * square_));
  for (int head = 0; head < heads_; ++head) {
    const Parts parts(gradients_, 2 * chunks_, heads_, head, square_);
    UpdateArguments arguments = const_cast<Fast*>(this)->head_arguments(head, 0);
    arguments.gradients = parts.at;
    arguments.gradient_count = 2 * chunks_;
    arguments.scratch = scratch.data();
    kernels_.gradient(arguments);
    all.insert(all.end(), scratch.begin() + 4 * square_, scratch.end());
  }
  return as_weights(all);
}

Weights initial_weights(const Settings& settings) {
  // Marsaglia's polar method on bits that the standard fixes; std::normal_distribution is not fixed.
  std::mt19937_64 bits(settings.seed);
  const auto uniform = [&bits] { return static_cast<double>(bits() >> 11) * 0x1p-52 - 1; };
  const auto normal = [&] {
    for (;;) {
      const double u = uniform(), v = uniform(), s = u * u + v * v;
      if (s > 0 && s < 1) return u * std::sqrt(-2 * std::log(s) / s);
    }
  };
  Weights weights;
  weights.dimension = static_cast<int>(settings.dimension);
  weights.residual = settings.residual();
  weights.layout = "paper";
  for (long l = 0; l < settings.layers; ++l) {
    auto& layer = weights.layers.emplace_back();
    for (long h = 0; h < settings.heads; ++h) {
      auto& head = layer.heads.emplace_back();
      for (auto* matrix : {&head.query, &head.key, &head.value, &head.output}) {
        matrix->resize(settings.dimension, settings.dimension);
        for (double& entry : matrix->reshaped()) {
          entry = static_cast<double>(static_cast<float>(settings.initial_deviation * normal()));
        }
      }
    }
  }
  return weights;
}

Batch drawn_batch(const Settings& settings, long step) {
  const task::Parameters parameters = settings.parameters();
  const DrawStream stream(settings.seed, stream_step(settings, step));
  Batch batch;
  for (long s = 0; s < settings.batch; ++s) {
    const auto instance = static_cast<std::uint64_t>(s);
    const std::uint64_t u = stream.word(3 * instance), v = stream.word(3 * instance + 1);
    const std::uint64_t w = stream.word(3 * instance + 2) >> 32;
    std::uint32_t state[4] = {static_cast<std::uint32_t>(u), static_cast<std::uint32_t>(u >> 32),
                              static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(v >> 32)};
    const auto rotated = [](std::uint32_t x, int by) { return (x << by) | (x >> (32 - by)); };
    const auto next = [&] {  // xoshiro128++ (Blackman and Vigna)
      const std::uint32_t result = rotated(state[0] + state[3], 7) + state[0], t = state[1] << 9;
      state[2] ^= state[0];
      state[3] ^= state[1];
      state[1] ^= state[2];
      state[0] ^= state[3];
      state[2] ^= t;
      state[3] = rotated(state[3], 11);
      return static_cast<double>(static_cast<std::int32_t>(result) >> 8) * 0x1p-23;
    };
    auto drawn = task::zero_instance<double>(
        parameters, static_cast<int>(3 + (w * static_cast<std::uint64_t>(settings.length - 2) >> 32)));
    for (int row = 1; row < parameters.length(); ++row) {
      for (int m = 0; m < parameters.content(); ++m) drawn.content(row, m) = next();
    }
    batch.x.push_back(task::tokens(parameters, drawn));
    batch.y.push_back(settings.residual() ? task::residual_target(parameters, drawn)
                                          : task::target(parameters, drawn));
  }
  return batch;
}

}  // namespace sinkproof::train
