#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "numeric/matrix.hpp"

namespace sinkproof::numeric {
namespace {

/// Entry [lo, hi] as mid +- radius: mid any double in between, radius rounded up.
struct MidRad {
  double mid, radius;
};
MidRad mid_rad(const Interval& x) {
  const double lo = x.lower(), hi = x.upper();
  const double mid = lo == hi ? lo : lo + (hi - lo) * 0.5;
  const double radius = lo == hi ? 0 : above(std::max(mid - lo, hi - mid));
  return {mid, radius};
}

}  // namespace

// With a = a0 +- ra and b = b0 +- rb:   a b = a0 b0 +- (|a0| rb + ra (|b0| + rb)).
//
// s = the computed sum_k a0 b0, in any order, contracted or not, in any rounding mode:
//   |s - true| <= gamma sum_k |a0||b0| + k eta,   gamma = k eps / (1 - k eps),   eta = 2^-1074 for underflow.
// So the radius is  sum_k (gamma |a0| + ra) |b0| + (|a0| + ra) rb,  a sum of nonnegative terms. Its own
// computation (a coefficient and at most 3 k + 4 roundings, each off by at most eps relatively, or by eta
// absolutely where it underflows) is covered by the factor 1 + (6 k + 16) eps and the addend (12 k + 16) eta;
// k < 2^25 keeps the second-order terms below the slack. A coefficient gamma |a0| that underflows is
// multiplied by |b0|, so it gets an addend of its own, large enough that its products are rarely subnormal,
// which would be slow. NaN or overflow anywhere reaches the ends and makes the entry undecided.
template <>
Matrix<Interval> product(const Matrix<Interval>& a, const Matrix<Interval>& b) {
  const Eigen::Index rows = a.rows(), inner = a.cols(), cols = b.cols();
  if (inner >= (Eigen::Index{1} << 25))
    throw std::length_error("product: the inner dimension must be below 2^25");
  const double k = static_cast<double>(inner);
  const double gamma = (k + 1) * machine_epsilon;  // >= k eps / (1 - k eps) for k < 2^25
  const double inflate = 1 + (6 * k + 16) * machine_epsilon;
  const double underflow = (12 * k + 16) * least_positive;
  constexpr double coefficient_underflow = 0x1p-960;

  // One buffer: |b0| and b0, and rb where b is not all points.
  const Eigen::Index size = inner * cols;
  std::vector<double> buffer(static_cast<size_t>(3 * size + 2 * cols));
  double* const b_mid = buffer.data();
  double* const b_abs = b_mid + size;
  double* const b_radius = b_abs + size;
  double* const sum = b_radius + size;
  double* const radius = sum + cols;
  bool b_is_thick = false;
  for (Eigen::Index i = 0; i < size; ++i) {
    const MidRad entry = mid_rad(b.data()[i]);
    b_mid[i] = entry.mid;
    b_abs[i] = std::fabs(entry.mid);
    b_radius[i] = entry.radius;
    b_is_thick |= entry.radius != 0;
  }

  Matrix<Interval> result(rows, cols);
  for (Eigen::Index r = 0; r < rows; ++r) {
    std::fill(sum, sum + cols, 0.0);
    std::fill(radius, radius + cols, 0.0);
    for (Eigen::Index l = 0; l < inner; ++l) {
      const MidRad entry = mid_rad(a(r, l));
      const double mid = entry.mid;
      const double on_abs = gamma * std::fabs(mid) + entry.radius + coefficient_underflow;
      const double* const bm = b_mid + l * cols;
      const double* const ba = b_abs + l * cols;
      if (b_is_thick) {
        const double on_radius = std::fabs(mid) + entry.radius;
        const double* const br = b_radius + l * cols;
        for (Eigen::Index c = 0; c < cols; ++c) {
          sum[c] += mid * bm[c];
          radius[c] += on_abs * ba[c] + on_radius * br[c];
        }
      } else {
        for (Eigen::Index c = 0; c < cols; ++c) {
          sum[c] += mid * bm[c];
          radius[c] += on_abs * ba[c];
        }
      }
    }
    for (Eigen::Index c = 0; c < cols; ++c) {
      const double wide = radius[c] * inflate + underflow;
      result(r, c) = Interval(below(sum[c] - wide), above(sum[c] + wide));
    }
  }
  return result;
}

}  // namespace sinkproof::numeric
