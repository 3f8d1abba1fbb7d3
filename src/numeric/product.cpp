#include <algorithm>
#include <stdexcept>

#include "numeric/matrix.hpp"

namespace sinkproof::numeric {
namespace {

/// Entries as mid +- radius: mid any double close to the middle, radius rounded once.
struct MidRad {
  explicit MidRad(const Matrix<Interval>& x) : mid(x.rows(), x.cols()), radius(x.rows(), x.cols()) {
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      const double lower = x.data()[i].lower(), upper = x.data()[i].upper();
      const double m = lower + (upper - lower) * 0.5;
      mid.data()[i] = m;
      radius.data()[i] = std::max(m - lower, upper - m);
    }
  }
  // A sum of nonnegative doubles is at least each of them, and NaN if one of them is.
  bool is_moderate() const { return (mid.cwiseAbs() + radius).sum() <= 0x1p500; }
  bool is_thick() const { return radius.sum() > 0; }

  Matrix<double> mid, radius;
};

}  // namespace

// With a = a0 +- ra and b = b0 +- rb:   a b = a0 b0 +- (|a0| rb + ra |b0| + ra rb). All entries are finite
// and at most 2^500, so that nothing overflows (k < 2^25). Errors of a float product, summed in any order,
// contracted or not, in any rounding mode, with eps = 2^-52 and eta = 2^-1074 for underflow:
//   |fl(a0 b0) - a0 b0| <= gamma |a0| |b0| + 1.01 k eta,   gamma = (k + 1) eps >= k eps / (1 - k eps).
// So the radius is R = |a0| (gamma |b0| + rb) + ra (|b0| + rb), or in the other grouping
// (gamma |a0| + ra) |b0| if b is points. As computed:
//   gamma |b0| may underflow and lose eta: 2^-960 makes up for it, and keeps products from being subnormal,
//   which is slow.
//   Each term passes through at most k + 4 roundings (radius; two sums; product; k - 1 sums; the last sum)
//   and two more below: the factor 1 + (k + 7) eps >= (1 - eps)^-(k + 6) makes up for them. Its at most 2 k
//   products lose at most 2.02 k eta by underflow, and the multiplication by the factor one eta: (4 k + 4)
//   eta makes up for these and for the 1.01 k eta above.
template <>
Matrix<Interval> product(const Matrix<Interval>& a, const Matrix<Interval>& b) {
  if (a.cols() != b.rows()) throw std::invalid_argument("product: the shapes do not fit");
  const MidRad am(a), bm(b);
  if (!am.is_moderate() || !bm.is_moderate() || a.cols() >= (Eigen::Index{1} << 25)) return a.lazyProduct(b);

  const double k = static_cast<double>(a.cols());
  const double gamma = (k + 1) * machine_epsilon;
  const double inflate = 1 + (k + 7) * machine_epsilon;
  const double underflow = (4 * k + 4) * least_positive;
  // gamma |x0| + rx, entrywise
  const auto error = [gamma](const MidRad& x) -> Matrix<double> {
    return (gamma * x.mid.cwiseAbs() + x.radius).array() + 0x1p-960;
  };

  const Matrix<double> sum = am.mid * bm.mid;
  Matrix<double> radius;
  if (bm.is_thick()) {
    radius.noalias() = am.mid.cwiseAbs() * error(bm);
    if (am.is_thick()) radius.noalias() += am.radius * (bm.mid.cwiseAbs() + bm.radius);
  } else {
    radius.noalias() = error(am) * bm.mid.cwiseAbs();
  }

  Matrix<Interval> result(a.rows(), b.cols());
  for (Eigen::Index i = 0; i < result.size(); ++i) {
    const double wide = radius.data()[i] * inflate + underflow, middle = sum.data()[i];
    result.data()[i] = Interval(below(middle - wide), above(middle + wide));
  }
  return result;
}

}  // namespace sinkproof::numeric
