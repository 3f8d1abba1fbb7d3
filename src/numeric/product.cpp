#include <algorithm>
#include <stdexcept>

#include "numeric/matrix.hpp"

namespace sinkproof::numeric {
namespace {

/// Entries as mid +- radius: mid any double close to the middle, radius rounded once.
struct MidRad {
  void set(const Matrix<Interval>& x) {
    mid.resize(x.rows(), x.cols());
    radius.resize(x.rows(), x.cols());
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

/// Kept between calls: allocating it anew costs as much as a product.
struct Workspace {
  MidRad a, b;
  Matrix<double> a_factor, b_factor, sum, radius;
};

}  // namespace

// With a = a0 +- ra and b = b0 +- rb:   a b = a0 b0 +- (|a0| rb + ra |b0| + ra rb). All entries are finite
// and at most 2^500, so that nothing overflows (k < 2^25). Errors of a float product s, summed in any order,
// contracted or not, in any rounding mode, with eps = 2^-52 and eta = 2^-1074 for underflow:
//   |s - a0 b0| <= gamma_k |a0| |b0| + 1.01 k eta,   gamma_k = k eps / (1 - k eps).
// The last step, s -+ radius, is off by eps (|s| + radius), |s| <= (1 + gamma_k) |a0| |b0| + ...; so with
//   gamma = (k + 2) eps >= gamma_k + eps (1 + gamma_k)
// the radius is R = |a0| (gamma |b0| + rb) + ra (|b0| + rb), or in the other grouping (gamma |a0| + ra) |b0|
// if b is points. As computed:
//   gamma |b0| may underflow and lose eta: 2^-960 makes up for it, and keeps products from being subnormal,
//   which is slow.
//   Each term passes through at most k + 4 roundings (radius; two sums; product; k - 1 sums; the last sum)
//   and three more below: the factor 1 + (k + 8) eps >= (1 - eps)^-(k + 7) makes up for them. Its at most 2 k
//   products lose at most 2.02 k eta by underflow, and the multiplication by the factor one eta: (4 k + 4)
//   eta makes up for these and for the 1.01 k eta above.
template <>
Matrix<Interval> product(const Matrix<Interval>& a, const Matrix<Interval>& b) {
  if (a.cols() != b.rows()) throw std::invalid_argument("product: the shapes do not fit");
  thread_local Workspace w;
  w.a.set(a);
  w.b.set(b);
  if (!w.a.is_moderate() || !w.b.is_moderate() || a.cols() >= (Eigen::Index{1} << 25))
    return a.lazyProduct(b);

  const double k = static_cast<double>(a.cols());
  const double gamma = (k + 2) * machine_epsilon;
  const double inflate = 1 + (k + 8) * machine_epsilon;
  const double underflow = (4 * k + 4) * least_positive;
  const auto set_error = [gamma](Matrix<double>& y, const MidRad& x) {
    y = (gamma * x.mid.cwiseAbs() + x.radius).array() + 0x1p-960;
  };

  w.sum.noalias() = w.a.mid * w.b.mid;
  if (w.b.is_thick()) {
    w.a_factor = w.a.mid.cwiseAbs();
    set_error(w.b_factor, w.b);
    w.radius.noalias() = w.a_factor * w.b_factor;
    if (w.a.is_thick()) {
      w.b_factor = w.b.mid.cwiseAbs() + w.b.radius;
      w.radius.noalias() += w.a.radius * w.b_factor;
    }
  } else {
    set_error(w.a_factor, w.a);
    w.b_factor = w.b.mid.cwiseAbs();
    w.radius.noalias() = w.a_factor * w.b_factor;
  }

  Matrix<Interval> result(a.rows(), b.cols());
  for (Eigen::Index i = 0; i < result.size(); ++i) {
    const double s = w.sum.data()[i], radius = w.radius.data()[i] * inflate + underflow;
    result.data()[i] = Interval(s - radius, s + radius);
  }
  return result;
}

}  // namespace sinkproof::numeric
