// No #pragma once: the body of the kernels, included once by each of kernels_{baseline,avx2,avx512}.cpp,
// which are compiled with different flags and define SINKPROOF_KERNELS. No standard header with inline
// functions belongs here. Contraction is off: a multiply-add is fused where it is written `fma`, and nowhere
// else, so the compiler has no say in the bits.
#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "train/kernels.hpp"

namespace sinkproof::train {
namespace {

using std::size_t;

// ---- Vectors of W lanes.

#if defined(__AVX512F__)
constexpr int W = 16;
#elif defined(__AVX2__)
constexpr int W = 8;
#else
constexpr int W = 4;
#endif
typedef float Vector __attribute__((vector_size(4 * W)));
typedef float UnalignedVector __attribute__((vector_size(4 * W), aligned(4), may_alias));
typedef std::int32_t Integers __attribute__((vector_size(4 * W)));
typedef std::uint32_t Bits __attribute__((vector_size(4 * W)));

// Tiles of accumulators that fit the registers: 16 of them, or 32.
constexpr int tile_rows = 4;
constexpr int tile_columns = W == 16 ? 4 : 2;
constexpr int outer_rows = W == 16 ? 2 : 1;
constexpr int outer_columns = W == 4 ? 4 : 8;

inline Vector load(const float* from) {
  return *reinterpret_cast<const UnalignedVector*>(from);
}
inline void store(float* to, Vector v) {
  *reinterpret_cast<UnalignedVector*>(to) = v;
}
inline Vector broadcast(float x) {
  return Vector{} + x;
}
inline Vector select(Integers mask, Vector a, Vector b) {
  return mask ? a : b;
}

/// a b + c: one rounding where the processor has it, else two.
inline Vector fma(Vector a, Vector b, Vector c) {
#if defined(__AVX512F__)
  return reinterpret_cast<Vector>(
      _mm512_fmadd_ps(reinterpret_cast<__m512>(a), reinterpret_cast<__m512>(b), reinterpret_cast<__m512>(c)));
#elif defined(__AVX2__)
  return reinterpret_cast<Vector>(
      _mm256_fmadd_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(c)));
#else
  return a * b + c;
#endif
}
inline float fma(float a, float b, float c) {
#if defined(__FMA__)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
inline Vector square_root(Vector v) {
#if defined(__AVX512F__)
  return reinterpret_cast<Vector>(_mm512_maskz_sqrt_ps(0xffff, reinterpret_cast<__m512>(v)));
#elif defined(__AVX2__)
  return reinterpret_cast<Vector>(_mm256_sqrt_ps(reinterpret_cast<__m256>(v)));
#else
  for (int l = 0; l < W; ++l) v[l] = __builtin_sqrtf(v[l]);
  return v;
#endif
}
inline Vector absolute(Vector v) {
  return reinterpret_cast<Vector>(reinterpret_cast<Integers>(v) & 0x7fffffff);
}

/// Lane by lane of 128 bits: [a0+a1, a2+a3, b0+b1, b2+b3].
inline Vector add_pairs(Vector a, Vector b) {
#if defined(__AVX512F__)
  return __builtin_shufflevector(a, b, 0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30) +
         __builtin_shufflevector(a, b, 1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31);
#elif defined(__AVX2__)
  return __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14) +
         __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
#else
  return __builtin_shufflevector(a, b, 0, 2, 4, 6) + __builtin_shufflevector(a, b, 1, 3, 5, 7);
#endif
}

/// Of outer_columns vectors, the sum of each over its lanes, always ((0+1)+(2+3)) + ((4+5)+(6+7)) of a half:
/// [sums] of the one half (or part of one), or [sums of the first half, sums of the second].
inline Vector add_lanes(const Vector (&v)[outer_columns]) {
  const Vector low = add_pairs(add_pairs(v[0], v[1]), add_pairs(v[2], v[3]));
#if defined(__AVX512F__)
  const Vector high = add_pairs(add_pairs(v[4], v[5]), add_pairs(v[6], v[7]));
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27) +
         __builtin_shufflevector(low, high, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31);
#elif defined(__AVX2__)
  const Vector high = add_pairs(add_pairs(v[4], v[5]), add_pairs(v[6], v[7]));
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 8, 9, 10, 11) +
         __builtin_shufflevector(low, high, 4, 5, 6, 7, 12, 13, 14, 15);
#else
  return low;
#endif
}

/// The same sum of one vector's lanes first .. first + width - 1.
inline float add_lanes(Vector v, int first, int width) {
  float sum[2] = {};
  for (int q = 0; q < width / 4; ++q) {
    const int l = first + 4 * q;
    sum[q] = (v[l] + v[l + 1]) + (v[l + 2] + v[l + 3]);
  }
  return width == 4 ? sum[0] : sum[0] + sum[1];
}

constexpr float e_least = -86;

/// e^x = 2^k e^r, k = round(x log2 e), |r| <= ln 2 / 2, for x <= 0; below e_least as if x were that. The
/// polynomial is the one of Cephes' expf. NaN stays NaN.
inline Vector exponential(Vector x) {
  constexpr float log2_e = 1.44269504088896341F;
  constexpr float shift = 12582912;  // 1.5 * 2^23: adding it rounds to an integer, in the low bits
  constexpr float ln2_high = 0.693359375F, ln2_low = -2.12194440e-4F;  // k ln2_high is exact
  x = select(x < e_least, broadcast(e_least), x);
  const Vector shifted = fma(x, broadcast(log2_e), broadcast(shift));
  const Vector k = shifted - shift;
  const Vector r = fma(k, broadcast(-ln2_low), fma(k, broadcast(-ln2_high), x));
  Vector q = broadcast(1.9875691500e-4F);
  q = fma(q, r, broadcast(1.3981999507e-3F));
  q = fma(q, r, broadcast(8.3334519073e-3F));
  q = fma(q, r, broadcast(4.1665795894e-2F));
  q = fma(q, r, broadcast(1.6666665459e-1F));
  q = fma(q, r, broadcast(5.0000001201e-1F));
  const Vector y = fma(q, r * r, r) + 1;
  return reinterpret_cast<Vector>(reinterpret_cast<Bits>(y) + (reinterpret_cast<Bits>(shifted) << 23));
}

// ---- Products. An operand is an address with strides (in floats) along the tile and along the sum.

struct Operand {
  const float* at;
  size_t along_tile;
  size_t along_sum;
};

/// sum over k in [begin, end) of a_rk b_ck, for all lanes.
template <int R, int C>
inline void multiply(Vector (&sums)[R][C], Operand a, Operand b, int begin, int end) {
  const float* pa = a.at + static_cast<size_t>(begin) * a.along_sum;
  const float* pb = b.at + static_cast<size_t>(begin) * b.along_sum;
  for (int k = begin; k < end; ++k, pa += a.along_sum, pb += b.along_sum) {
    Vector column[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) column[r] = load(pa + static_cast<size_t>(r) * a.along_tile);
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      const Vector x = load(pb + static_cast<size_t>(c) * b.along_tile);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) sums[r][c] = fma(column[r], x, sums[r][c]);
    }
  }
}

/// The same where b holds numbers, equal for all lanes.
template <int R, int C>
inline void multiply_by_numbers(Vector (&sums)[R][C], Operand a, Operand b, int count) {
  const float* pa = a.at;
  const float* pb = b.at;
  for (int k = 0; k < count; ++k, pa += a.along_sum, pb += b.along_sum) {
    Vector column[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) column[r] = load(pa + static_cast<size_t>(r) * a.along_tile);
#pragma GCC unroll 8
    for (int c = 0; c < C; ++c) {
      const Vector x = broadcast(pb[static_cast<size_t>(c) * b.along_tile]);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) sums[r][c] = fma(column[r], x, sums[r][c]);
    }
  }
}

template <int R, int C>
struct Tile {
  int row, column;
};

/// Covers rows x columns by full tiles and, at the edges, thinner ones.
template <int R, int C, class Body>
inline void for_tiles(int rows, int columns, Body body) {
  int r = 0;
  for (; r + R <= rows; r += R) {
    int c = 0;
    for (; c + C <= columns; c += C) body(Tile<R, C>{r, c});
    for (; c < columns; ++c) body(Tile<R, 1>{r, c});
  }
  for (; r < rows; ++r) {
    int c = 0;
    for (; c + C <= columns; c += C) body(Tile<1, C>{r, c});
    for (; c < columns; ++c) body(Tile<1, 1>{r, c});
  }
}

template <int R, int C>
inline void put(float* out, size_t row_stride, const Tile<R, C>& tile, const Vector (&sums)[R][C]) {
  for (int r = 0; r < R; ++r) {
    for (int c = 0; c < C; ++c) {
      store(out + static_cast<size_t>(tile.row + r) * row_stride + static_cast<size_t>(tile.column + c) * W,
            sums[r][c]);
    }
  }
}
template <int R, int C>
inline void get(const float* out, size_t row_stride, const Tile<R, C>& tile, Vector (&sums)[R][C]) {
  for (int r = 0; r < R; ++r) {
    for (int c = 0; c < C; ++c) {
      sums[r][c] = load(out + static_cast<size_t>(tile.row + r) * row_stride +
                        static_cast<size_t>(tile.column + c) * W);
    }
  }
}

/// One group's part (W instances) of a pass. Activations are [L][n][W], attention [L][L][W]; entries of an
/// attention matrix right of the diagonal are zero within a tile of rows and unspecified beyond.
class Pass {
 public:
  explicit Pass(const PassArguments& arguments)
      : s_(arguments.shape),
        L(s_.L),
        n(s_.n),
        row_(static_cast<size_t>(n) * W),
        square_(static_cast<size_t>(L) * W) {}

  size_t activations() const { return static_cast<size_t>(L) * row_; }
  size_t attention() const { return static_cast<size_t>(L) * square_; }
  size_t head_floats() const { return 2 * activations() + attention(); }
  size_t workspace_floats() const {
    const auto layers = static_cast<size_t>(s_.layers), heads = static_cast<size_t>(s_.heads);
    return (layers + 1) * activations() + layers * heads * head_floats() + 4 * activations() + attention() +
           2 * row_ + W;
  }

  void run(const PassArguments& a, int part) {
    partition(a);
    draw(a, part);
    for (int l = 0; l < s_.layers; ++l) forward_layer(a, l);
    measure_error(a, part);
    for (int l = s_.layers; l-- > 0;) backward_layer(a, l, part);
  }

 private:
  struct HeadTrace {
    float *q, *z, *p;
  };

  void partition(const PassArguments& a) {
    float* next = a.workspace;
    const auto take = [&](size_t floats) {
      float* taken = next;
      next += floats;
      return taken;
    };
    h_ = take(static_cast<size_t>(s_.layers + 1) * activations());
    traces_ = take(static_cast<size_t>(s_.layers * s_.heads) * head_floats());
    g_ = take(activations());
    below_ = take(activations());
    dz_ = take(activations());
    dq_ = take(activations());
    ds_ = take(attention());
    y_ = take(row_);
    prefix_ = take(row_);
    trigger_ = reinterpret_cast<std::int32_t*>(take(W));
  }
  float* h(int layer) const { return h_ + static_cast<size_t>(layer) * activations(); }
  HeadTrace trace(int head) const {
    float* at = traces_ + static_cast<size_t>(head) * head_floats();
    return {at, at + activations(), at + 2 * activations()};
  }
  const float* map(const PassArguments& a, int head, int which) const {
    return a.maps + static_cast<size_t>(2 * head + which) * static_cast<size_t>(n * n);
  }

  /// x of theory.md section 0, and the one row of the target that is not zero.
  void draw(const PassArguments& a, int part) {
    std::uint32_t state[4][W];
    for (int l = 0; l < W; ++l) {
      const auto instance = static_cast<std::uint64_t>(a.first + part * W + l);
      const std::uint64_t u = a.stream.word(3 * instance), v = a.stream.word(3 * instance + 1);
      state[0][l] = static_cast<std::uint32_t>(u);
      state[1][l] = static_cast<std::uint32_t>(u >> 32);
      state[2][l] = static_cast<std::uint32_t>(v);
      state[3][l] = static_cast<std::uint32_t>(v >> 32);
      const std::uint64_t w = a.stream.word(3 * instance + 2) >> 32;
      trigger_[l] = static_cast<std::int32_t>(2 + (w * static_cast<std::uint64_t>(L - 2) >> 32));
    }
    const auto as_bits = [](const std::uint32_t* from) {
      return reinterpret_cast<Bits>(load(reinterpret_cast<const float*>(from)));
    };
    Bits s0 = as_bits(state[0]), s1 = as_bits(state[1]), s2 = as_bits(state[2]), s3 = as_bits(state[3]);
    const auto rotated = [](Bits x, int by) { return (x << by) | (x >> (32 - by)); };
    const auto next = [&] {
      const Bits sum = s0 + s3;
      const Bits result = rotated(sum, 7) + s0;
      const Bits t = s1 << 9;
      s2 ^= s0;
      s3 ^= s1;
      s1 ^= s2;
      s0 ^= s3;
      s2 ^= t;
      s3 = rotated(s3, 11);
      return __builtin_convertvector(reinterpret_cast<Integers>(result) >> 8, Vector) * 0x1p-23F;
    };
    const Integers trigger = reinterpret_cast<Integers>(load(reinterpret_cast<const float*>(trigger_)));
    const Vector zero = {}, one = broadcast(1);
    float* x = h(0);
    for (int c = 0; c < n; ++c) {
      store(x + c * W, c == 0 ? one : zero);
      store(y_ + c * W, zero);
      store(prefix_ + c * W, zero);
    }
    for (int i = 1; i < L; ++i) {
      float* token = x + static_cast<size_t>(i) * row_;
      const Integers here = trigger == i;
      const Vector share = broadcast(1 / static_cast<float>(i));
      for (int c = 0; c < n; ++c) {
        const Vector value = c == 0       ? zero
                             : c == 1     ? select(here, one, zero)
                             : c == n - 1 ? select(here, zero, one)
                                          : next();
        store(token + c * W, value);
        const Vector sum = load(prefix_ + c * W) + value;
        store(prefix_ + c * W, sum);
        store(y_ + c * W, select(here, sum * share, load(y_ + c * W)));
      }
    }
  }

  // q_i = A^T h_i;  s_ik = q_i . h_k;  p_i = normalise(s_i);  z_i = sum_k p_ik h_k;  out_i += V z_i
  void forward_layer(const PassArguments& a, int layer) {
    const float* in = h(layer);
    float* out = h(layer + 1);
    if (s_.residual) {
      for (size_t e = 0; e < activations(); e += W) store(out + e, load(in + e));
    }
    for (int head = layer * s_.heads; head < (layer + 1) * s_.heads; ++head) {
      const HeadTrace t = trace(head);
      const float* A = map(a, head, 0);
      const float* V = map(a, head, 1);
      const auto N = static_cast<size_t>(n);
      for_tiles<tile_rows, tile_columns>(L, n, [&]<int R, int C>(Tile<R, C> tile) {
        Vector sums[R][C] = {};
        multiply_by_numbers(sums, {in + static_cast<size_t>(tile.row) * row_, row_, W},
                            {A + tile.column, 1, N}, n);
        put(t.q, row_, tile, sums);
      });
      causal_scores(t.p, t.q, in);
      for (int i = 0; i < L; ++i) normalise_row(t.p + static_cast<size_t>(i) * square_, i);
      causal_mix(t.z, t.p, in);
      const bool fresh = !s_.residual && head == layer * s_.heads;
      for_tiles<tile_rows, tile_columns>(L, n, [&]<int R, int C>(Tile<R, C> tile) {
        Vector sums[R][C] = {};
        if (!fresh) get(out, row_, tile, sums);
        multiply_by_numbers(sums, {t.z + static_cast<size_t>(tile.row) * row_, row_, W},
                            {V + static_cast<size_t>(tile.column) * N, N, 1}, n);
        put(out, row_, tile, sums);
      });
    }
  }

  /// out_ik = a_i . b_k for k <= i (and beyond, within tiles that meet the diagonal).
  void causal_scores(float* out, const float* a, const float* b) {
    for_tiles<tile_rows, tile_columns>(L, L, [&]<int R, int C>(Tile<R, C> tile) {
      if (tile.column >= tile.row + R) return;
      Vector sums[R][C] = {};
      multiply(sums, {a + static_cast<size_t>(tile.row) * row_, row_, W},
               {b + static_cast<size_t>(tile.column) * row_, row_, W}, 0, n);
      put(out, square_, tile, sums);
    });
  }

  /// out_i = sum_{k <= i} m_ik b_k.
  void causal_mix(float* out, const float* m, const float* b) {
    for_tiles<tile_rows, tile_columns>(L, n, [&]<int R, int C>(Tile<R, C> tile) {
      Vector sums[R][C] = {};
      multiply(sums, {m + static_cast<size_t>(tile.row) * square_, square_, W},
               {b + static_cast<size_t>(tile.column) * W, W, row_}, 0, tile.row + R);
      put(out, row_, tile, sums);
    });
  }

  /// Zeros right of the diagonal, as far as a tile of rows reaches.
  void clear_behind(float* row, int i) {
    const int end = (i | (tile_rows - 1)) + 1;
    for (int k = i + 1; k < end && k < L; ++k) store(row + static_cast<size_t>(k) * W, Vector{});
  }

  void normalise_row(float* row, int i) {
    clear_behind(row, i);
    const auto at = [row](int k) { return row + static_cast<size_t>(k) * W; };
    if (s_.relu) {
      const Vector factor = broadcast(1 / static_cast<float>(i > 1 ? i : 1));
      // Written so that NaN stays NaN.
      for (int k = 0; k <= i; ++k) {
        const Vector score = load(at(k));
        store(at(k), select(score < 0, Vector{}, score) * factor);
      }
      return;
    }
    Vector largest = load(at(0));
    for (int k = 1; k <= i; ++k) {
      const Vector score = load(at(k));
      largest = select(score > largest, score, largest);
    }
    Vector sum = {};
    for (int k = 0; k <= i; ++k) {
      const Vector e = exponential(load(at(k)) - largest);
      sum += e;
      store(at(k), e);
    }
    const Vector factor = 1 / sum;
    for (int k = 0; k <= i; ++k) store(at(k), load(at(k)) * factor);
  }

  /// g = d loss / d out, and each instance's errors. Lanes beyond the batch get g = 0.
  void measure_error(const PassArguments& a, int part) {
    const float* out = h(s_.layers);
    const float* x = h(0);
    const Integers trigger = reinterpret_cast<Integers>(load(reinterpret_cast<const float*>(trigger_)));
    const int first = part * W;
    float scales[W];
    for (int l = 0; l < W; ++l) scales[l] = first + l < a.count ? a.gradient_scale : 0;
    const Vector scale = load(scales);
    Vector squares = {}, largest = {};
    for (int i = 0; i < L; ++i) {
      const Integers here = trigger == i;
      for (int c = 0; c < n; ++c) {
        const size_t at = static_cast<size_t>(i) * row_ + static_cast<size_t>(c) * W;
        Vector target = select(here, load(y_ + c * W), Vector{});
        if (s_.residual) target += load(x + at);
        const Vector error = load(out + at) - target;
        squares = fma(error, error, squares);
        const Vector size = absolute(error);
        largest = select(size > largest, size, largest);
        store(g_ + at, error * scale);
      }
    }
    for (int l = 0; l < W && first + l < a.count; ++l) {
      a.squared_error[first + l] = squares[l];
      a.largest_error[first + l] = largest[l];
    }
  }

  // Each line differentiates one of forward_layer, from the last to the first.
  void backward_layer(const PassArguments& a, int layer, int part) {
    const float* in = h(layer);
    const bool deeper = layer > 0;  // below the first layer lie the tokens: no weights
    if (deeper) {
      for (size_t e = 0; e < activations(); e += W) store(below_ + e, s_.residual ? load(g_ + e) : Vector{});
    }
    for (int head = layer * s_.heads; head < (layer + 1) * s_.heads; ++head) {
      const HeadTrace t = trace(head);
      const float* A = map(a, head, 0);
      const float* V = map(a, head, 1);
      const auto N = static_cast<size_t>(n);
      // out_i += V z_i
      add_outer(a, 2 * head + 1, part, g_, t.z);
      for_tiles<tile_rows, tile_columns>(L, n, [&]<int R, int C>(Tile<R, C> tile) {
        Vector sums[R][C] = {};
        multiply_by_numbers(sums, {g_ + static_cast<size_t>(tile.row) * row_, row_, W},
                            {V + tile.column, 1, N}, n);
        put(dz_, row_, tile, sums);
      });
      // z_i = sum_k p_ik h_k, by p
      causal_scores(ds_, dz_, in);
      // p_i = normalise(s_i)
      for (int i = 0; i < L; ++i) {
        const size_t at = static_cast<size_t>(i) * square_;
        differentiate_row(ds_ + at, t.p + at, i);
      }
      // s_ik = q_i . h_k, by q
      causal_mix(dq_, ds_, in);
      // q_i = A^T h_i
      add_outer(a, 2 * head, part, in, dq_);
      if (!deeper) continue;
      // z_i = sum_k p_ik h_k and s_ik = q_i . h_k, by h_k; q_i = A^T h_i, by h_i
      for_tiles<tile_rows, tile_columns>(L, n, [&]<int R, int C>(Tile<R, C> tile) {
        Vector sums[R][C];
        get(below_, row_, tile, sums);
        const size_t key = static_cast<size_t>(tile.row) * W, column = static_cast<size_t>(tile.column) * W;
        multiply(sums, {t.p + key, W, square_}, {dz_ + column, W, row_}, tile.row, L);
        multiply(sums, {ds_ + key, W, square_}, {t.q + column, W, row_}, tile.row, L);
        multiply_by_numbers(sums, {dq_ + static_cast<size_t>(tile.row) * row_, row_, W},
                            {A + static_cast<size_t>(tile.column) * N, N, 1}, n);
        put(below_, row_, tile, sums);
      });
    }
    float* swapped = g_;
    g_ = below_;
    below_ = swapped;
  }

  /// From d loss / d p_i to d loss / d s_i, in place.
  void differentiate_row(float* d, const float* p, int i) {
    clear_behind(d, i);
    if (s_.relu) {
      const Vector factor = broadcast(1 / static_cast<float>(i > 1 ? i : 1));
      for (int k = 0; k <= i; ++k) {
        const size_t at = static_cast<size_t>(k) * W;
        store(d + at, select(load(p + at) > 0, load(d + at) * factor, Vector{}));
      }
      return;
    }
    Vector mean = {};
    for (int k = 0; k <= i; ++k) {
      const size_t at = static_cast<size_t>(k) * W;
      mean = fma(load(p + at), load(d + at), mean);
    }
    for (int k = 0; k <= i; ++k) {
      const size_t at = static_cast<size_t>(k) * W;
      store(d + at, load(p + at) * (load(d + at) - mean));
    }
  }

  /// gradient[which][r][c] += sum over instances and positions of a_i[r] b_i[c], half by half.
  void add_outer(const PassArguments& arguments, int which, int part, const float* a, const float* b) {
    const size_t offset = static_cast<size_t>(which) * static_cast<size_t>(n * n);
    constexpr int width = W < half_size ? W : half_size;
    for_tiles<outer_rows, outer_columns>(n, n, [&]<int R, int C>(Tile<R, C> tile) {
      Vector sums[C][R] = {};
      multiply(sums, {b + static_cast<size_t>(tile.column) * W, W, row_},
               {a + static_cast<size_t>(tile.row) * W, W, row_}, 0, L);
      for (int r = 0; r < R; ++r) {
        const size_t at = offset + static_cast<size_t>(tile.row + r) * static_cast<size_t>(n) +
                          static_cast<size_t>(tile.column);
        float found[W];
        if constexpr (C == outer_columns) {
          Vector row[C];
          for (int c = 0; c < C; ++c) row[c] = sums[c][r];
          store(found, add_lanes(row));
        } else {
          static_assert(C == 1);
          for (int half = 0; half * width < W; ++half) {
            found[half * width] = add_lanes(sums[0][r], half * width, width);
          }
        }
        for (int half = 0; half * width < W; ++half) {
          float* to = arguments.gradient[(part * W + half * width) / half_size] + at;
          for (int c = 0; c < C; ++c) to[c] += found[half * width + c];
        }
      }
    });
  }

  KernelShape s_;
  int L, n;
  size_t row_, square_;  ///< floats from one position (or query) to the next
  float *h_ = nullptr, *traces_ = nullptr, *g_ = nullptr, *below_ = nullptr, *dz_ = nullptr, *dq_ = nullptr;
  float *ds_ = nullptr, *y_ = nullptr, *prefix_ = nullptr;
  std::int32_t* trigger_ = nullptr;
};

size_t workspace_floats(const KernelShape& shape) {
  PassArguments arguments{.shape = shape, .stream = {0, 0}};
  return Pass(arguments).workspace_floats();
}

void pass(const PassArguments& a) {
  Pass pass(a);
  for (int part = 0; part * W < a.count; ++part) pass.run(a, part);
}

// ---- Weights. Vectors run along the columns of row-major [n, n] matrices.

/// out_ij = sum_k a_ik b_kj, with a given by strides.
void matrix_product(float* out, int n, const float* a, int a_row, int a_sum, const float* b) {
  const auto N = static_cast<size_t>(n);
  const auto stride = [](int x) { return static_cast<size_t>(x); };
  const int blocks = n / W;
  for_tiles<2, 4>(blocks, n, [&]<int R, int C>(Tile<R, C> tile) {
    Vector sums[R][C] = {};
    multiply_by_numbers(sums, {b + tile.row * W, W, N},
                        {a + stride(tile.column * a_row), stride(a_row), stride(a_sum)}, n);
    for (int r = 0; r < R; ++r) {
      for (int c = 0; c < C; ++c) store(out + stride((tile.column + c) * n + (tile.row + r) * W), sums[r][c]);
    }
  });
  for (int i = 0; i < n; ++i) {
    for (int j = blocks * W; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum = fma(a[stride(i * a_row + k * a_sum)], b[stride(k * n + j)], sum);
      out[stride(i * n + j)] = sum;
    }
  }
}

void transpose(float* out, const float* in, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) out[static_cast<size_t>(j * n + i)] = in[static_cast<size_t>(i * n + j)];
  }
}

void form_maps(const UpdateArguments& u) {
  const auto square = static_cast<size_t>(u.n * u.n);
  const float *query = u.parameters, *key = query + square, *value = key + square, *output = value + square;
  matrix_product(u.maps, u.n, query, 1, u.n, key);              // A = W_Q^T W_K
  matrix_product(u.maps + square, u.n, output, u.n, 1, value);  // V = W_O W_V
}

void gradient(const UpdateArguments& u) {
  const int n = u.n;
  const auto square = static_cast<size_t>(n * n);
  float *dA = u.scratch, *dV = dA + square, *transposed = dV + square;
  for (size_t e = 0; e < 2 * square; ++e) dA[e] = u.gradients[0][e];
  for (int k = 1; k < u.gradient_count; ++k) {
    const float* part = u.gradients[k];
    for (size_t e = 0; e < 2 * square; ++e) dA[e] += part[e];
  }
  const float *query = u.parameters, *key = query + square, *value = key + square, *output = value + square;
  float* d = u.scratch + 4 * square;
  transpose(transposed, dA, n);
  matrix_product(d, n, key, n, 1, transposed);          // A = W_Q^T W_K, by W_Q: W_K dA^T
  matrix_product(d + square, n, query, n, 1, dA);       // by W_K: W_Q dA
  matrix_product(d + 2 * square, n, output, 1, n, dV);  // V = W_O W_V, by W_V: W_O^T dV
  transpose(transposed, value, n);
  matrix_product(d + 3 * square, n, dV, n, 1, transposed);  // by W_O: dV W_V^T
}

void update(const UpdateArguments& u) {
  gradient(u);
  const auto square = static_cast<size_t>(u.n * u.n);
  const float* d = u.scratch + 4 * square;
  // The number of parameters is a multiple of 4, and the rest of a division by W is done in a copy.
  float rest[4][W] = {};
  const auto adam = [&u](float* parameters, float* first, float* second, const float* g_at) {
    const Vector g = load(g_at);
    const Vector m = fma(g - load(first), broadcast(1 - u.beta1), load(first));
    const Vector v = fma(g * g, broadcast(1 - u.beta2), load(second) * u.beta2);
    store(first, m);
    store(second, v);
    const Vector root = fma(square_root(v), broadcast(u.correction), broadcast(u.epsilon));
    store(parameters, load(parameters) - m / root * u.step_size);
  };
  size_t e = 0;
  for (; e + W <= 4 * square; e += W) adam(u.parameters + e, u.first + e, u.second + e, d + e);
  const size_t left = 4 * square - e;
  for (size_t k = 0; k < left; ++k) {
    rest[0][k] = u.parameters[e + k];
    rest[1][k] = u.first[e + k];
    rest[2][k] = u.second[e + k];
    rest[3][k] = d[e + k];
  }
  if (left > 0) adam(rest[0], rest[1], rest[2], rest[3]);
  for (size_t k = 0; k < left; ++k) {
    u.parameters[e + k] = rest[0][k];
    u.first[e + k] = rest[1][k];
    u.second[e + k] = rest[2][k];
  }
  form_maps(u);
}

void exponentials(const float* x, float* result, size_t count) {
  for (size_t e = 0; e < count; e += W) {
    float lanes[W] = {};
    for (size_t l = 0; l < W && e + l < count; ++l) lanes[l] = x[e + l];
    store(lanes, exponential(load(lanes)));
    for (size_t l = 0; l < W && e + l < count; ++l) result[e + l] = lanes[l];
  }
}

double fma_rate(long repetitions) {
  Vector sums[12];
  const Vector a = broadcast(0.999F), b = broadcast(0.001F);
#pragma GCC unroll 12
  for (int k = 0; k < 12; ++k) sums[k] = broadcast(static_cast<float>(k));
  // No rounding may be skipped, so no round may.
  for (long r = 0; r < repetitions; ++r) {
#pragma GCC unroll 12
    for (int k = 0; k < 12; ++k) sums[k] = fma(sums[k], a, b);
  }
  Vector total = {};
#pragma GCC unroll 12
  for (int k = 0; k < 12; ++k) total += sums[k];
  return total[0] == 0.125F ? 0 : 12.0 * W * static_cast<double>(repetitions);
}

}  // namespace

extern const Kernels SINKPROOF_KERNELS = {workspace_floats, pass,         gradient, update,
                                          form_maps,        exponentials, fma_rate};

}  // namespace sinkproof::train
