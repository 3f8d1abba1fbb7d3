#pragma once

#include <cstddef>
#include <cstdint>

/// The inner loops of the fast path, compiled once for each instruction set (kernels_body.hpp). Plain
/// pointers only: code compiled for another instruction set must not share inline functions with the rest.
///
/// The instances of a batch lie side by side in the lanes of vectors, so that every operation on activations
/// is the same for all lanes and nothing is padded but the batch. Instances come in groups of 16, two halves
/// of 8; sums over a batch are formed half by half in a fixed order. Vectors of 8 and 16 lanes with fused
/// multiply-adds therefore give the same bits.
namespace sinkproof::train {

inline constexpr int half_size = 8;
inline constexpr int group_size = 2 * half_size;

/// Sizes: L positions, n dimension.
struct KernelShape {
  int L = 0, n = 0, layers = 0, heads = 0;
  bool relu = false;
  bool residual = false;
};

/// Where the draws of an instance come from: a function of the seed, the step and the instance's index.
/// SplitMix64 started at `base` gives the instance s the words 3s, 3s+1, 3s+2; two seed a xoshiro128++ whose
/// outputs are the contents in order of position and coordinate, uniform on the multiples of 2^-23 in
/// [-1, 1); the third is the trigger, uniform on 3..L up to a bias below 2^-32 L.
struct DrawStream {
  std::uint64_t base = 0;

  static constexpr std::uint64_t step_increment = 0x9E3779B97F4A7C15;
  [[gnu::always_inline]] static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  [[gnu::always_inline]] constexpr DrawStream(std::uint64_t seed, std::uint64_t step)
      : base(mix(mix(seed + step_increment) + (step + 1) * step_increment)) {}
  [[gnu::always_inline]] constexpr std::uint64_t word(std::uint64_t index) const {
    return mix(base + (index + 1) * step_increment);
  }
};

/// Forward and backward over one group of instances.
struct PassArguments {
  KernelShape shape;
  DrawStream stream;
  long first = 0;  ///< index of the group's first instance
  int count = 0;   ///< instances in the group, 1..16
  /// [layers * heads][2][n * n]: A = W_Q^T W_K and V = W_O W_V of each head.
  const float* maps = nullptr;
  float gradient_scale = 0;        ///< 2 / (batch L n)
  float* workspace = nullptr;      ///< workspace_floats(shape), aligned to 64 bytes
  float* gradient[2] = {};         ///< for each half, as `maps`: added to
  float* squared_error = nullptr;  ///< [count]: sum over positions and coordinates
  float* largest_error = nullptr;  ///< [count]
};

/// One Adam update of one head.
struct UpdateArguments {
  int n = 0;
  const float* const* gradients = nullptr;  ///< of this head, [2][n * n] each: partial sums, added in order
  int gradient_count = 0;
  float* scratch = nullptr;     ///< 8 n^2 floats
  float* parameters = nullptr;  ///< [4][n * n]: W_Q, W_K, W_V, W_O
  float* first = nullptr;       ///< moments, likewise
  float* second = nullptr;
  float* maps = nullptr;  ///< [2][n * n]: A, V of the updated weights
  float step_size = 0;    ///< learning rate / (1 - beta1^t)
  float correction = 0;   ///< 1 / sqrt(1 - beta2^t)
  float beta1 = 0, beta2 = 0, epsilon = 0;
};

struct Kernels {
  std::size_t (*workspace_floats)(const KernelShape& shape);
  void (*pass)(const PassArguments& arguments);
  /// The gradient of the four weight matrices from that of A and V, [4][n * n] at scratch + 4 n^2.
  void (*gradient)(const UpdateArguments& arguments);
  void (*update)(const UpdateArguments& arguments);     ///< includes gradient()
  void (*form_maps)(const UpdateArguments& arguments);  ///< maps from parameters
  /// e^x for x <= 0, relative error below exp_ulps units in the last place for x >= -86; e^-86 below it.
  void (*exponentials)(const float* x, float* result, std::size_t count);
  double (*fma_rate)(long repetitions);  ///< multiply-adds done by a loop that does nothing else: the peak
};
inline constexpr double exp_ulps = 2;

extern const Kernels baseline_kernels;
#ifdef SINKPROOF_X86_KERNELS
extern const Kernels avx2_kernels, avx512_kernels;
#endif

}  // namespace sinkproof::train
