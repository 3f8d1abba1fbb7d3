#include "certify/relaxation.hpp"

#include <cmath>

// Spectral bound. For any positive p, q:
//   c^T B s = (p c)^T X (q s) with X = P^-1 B Q^-1, so |c^T B s| <= ||X||_2 ||p||_2 ||q||_2.
// It is the dual of the semidefinite relaxation, hence within Grothendieck's constant of the maximum for the
// best p and q, which are searched for in floating point: any p, q are sound. ||X||_2 <= ||(X^T
// X)^(2^k)||_F^(2^-k-1), which exceeds it by a factor of at most d^(2^-k-2); the squares are formed in
// interval arithmetic.
namespace sinkproof::certify {

using numeric::Interval;
using numeric::Matrix;
using numeric::Vector;

namespace {

constexpr int squarings = 7;

Interval norm2(const Vector<double>& x) {
  Interval sum(0);
  for (const double entry : x) sum += Interval(entry) * Interval(entry);
  return sqrt(sum);
}

Interval frobenius(const Matrix<Interval>& x) {
  Interval sum(0);
  for (Eigen::Index k = 0; k < x.size(); ++k) {
    const Interval entry = abs(x.data()[k]);
    sum += entry * entry;
  }
  return sqrt(sum);
}

/// Encloses from above ||x||_2; `guess` > 0 is a floating-point estimate, which keeps the powers near 1.
Interval spectral_norm(const Matrix<Interval>& x, double guess) {
  const Matrix<Interval> scaled = x / Interval(guess);
  Matrix<Interval> power = numeric::product<Interval>(scaled.transpose(), scaled);
  for (int k = 0; k < squarings; ++k) power = numeric::product<Interval>(power, power);
  const Interval norm = frobenius(power);
  if (!(norm.upper() > 0)) return norm;
  const Interval exponent = log(Interval(norm.upper())) * Interval(std::ldexp(1, -squarings - 1));
  return exp(exponent) * Interval(guess);
}

/// Scales p, q and an estimate of ||P^-1 B Q^-1||_2, by subgradient steps on log(||X|| ||p|| ||q||): its
/// derivative in log p_l is p_l^2 / ||p||^2 - u_l^2, with u the leading left singular vector. Float, no
/// promise.
struct Scaling {
  explicit Scaling(const Matrix<double>& b) {
    Vector<double> log_p = b.cwiseAbs().rowwise().sum().array().max(1e-300).log() * 0.5;
    Vector<double> log_q = b.cwiseAbs().colwise().sum().transpose().array().max(1e-300).log() * 0.5;
    Vector<double> v = Vector<double>::Ones(b.cols());
    double best = HUGE_VAL;
    constexpr int steps = 60;
    for (int step = 0; step < steps; ++step) {
      const Vector<double> pk = log_p.array().exp(), qk = log_q.array().exp();
      const Matrix<double> x = pk.cwiseInverse().asDiagonal() * b * qk.cwiseInverse().asDiagonal();
      Vector<double> u;
      double sigma = 0;
      for (int k = 0; k < 30; ++k) {
        u = x * v;
        u /= std::max(u.norm(), 1e-300);
        v = x.transpose() * u;
        sigma = v.norm();
        v /= std::max(sigma, 1e-300);
      }
      const double bound = sigma * pk.norm() * qk.norm();
      if (bound < best && bound > 0) {
        best = bound;
        p = pk;
        q = qk;
        norm = sigma;
      }
      const double rate = 0.25 * static_cast<double>(b.rows()) / (4 + step);
      log_p += (rate * (u.array().square() - pk.array().square() / pk.squaredNorm()))
                   .cwiseMin(1)
                   .cwiseMax(-1)
                   .matrix();
      log_q += (rate * (v.array().square() - qk.array().square() / qk.squaredNorm()))
                   .cwiseMin(1)
                   .cwiseMax(-1)
                   .matrix();
    }
  }
  Vector<double> p, q;
  double norm = 0;
};

}  // namespace

Interval bilinear_maximum(const Matrix<Interval>& b) {
  Interval sum(0);
  for (Eigen::Index k = 0; k < b.size(); ++k) sum += abs(b.data()[k]);
  if (sum.is_undecided() || b.size() <= 1) return sum;
  const Scaling scaling(b.unaryExpr([](const Interval& x) { return x.upper(); }));
  if (!(scaling.norm > 1e-290) || !scaling.p.allFinite() || !scaling.q.allFinite()) return sum;
  Matrix<Interval> x = b;
  for (Eigen::Index l = 0; l < x.rows(); ++l) {
    for (Eigen::Index m = 0; m < x.cols(); ++m) x(l, m) /= Interval(scaling.p[l]) * Interval(scaling.q[m]);
  }
  const Interval spectral = spectral_norm(x, scaling.norm) * norm2(scaling.p) * norm2(scaling.q);
  return spectral.is_undecided() || spectral.upper() >= sum.upper() ? sum : spectral;
}

// f(c) = constant + a . c + ||b + M^T c||_1 is the maximum over s of constant + (1, c)^T B (1, s) with the
// bordered matrix B = [0 b; a M]: at most constant + the bilinear maximum of B. Fixed coordinates of c go
// into the constant and b.
Interval maximum_of_norm(const HeadMaps& head, int base, int plus, int minus, const Part& part) {
  const int d = head.content(), first = task::Parameters::content_begin();
  const auto relative = [&](int row) {
    if (plus == minus) return Interval(0);
    return minus < 0 ? head.scores(row, plus) : head.scores(row, plus) - head.scores(row, minus);
  };
  const auto sign = [&](int m) { return part.empty() ? 0 : part[static_cast<std::size_t>(m)]; };
  std::vector<int> free;
  for (int m = 0; m < d; ++m)
    if (sign(m) == 0) free.push_back(m);
  Matrix<Interval> bordered(static_cast<Eigen::Index>(free.size()) + 1, d + 1);
  Interval constant = relative(base);
  bordered(0, 0) = Interval(0);
  for (int l = 0; l < d; ++l) bordered(0, l + 1) = head.scores(base, first + l);
  for (int m = 0; m < d; ++m) {
    if (sign(m) == 0) continue;
    const Interval by(sign(m));
    constant += by * relative(first + m);
    for (int l = 0; l < d; ++l) bordered(0, l + 1) += by * head.scores(first + m, first + l);
  }
  for (std::size_t row = 0; row < free.size(); ++row) {
    const auto r = static_cast<Eigen::Index>(row) + 1;
    bordered(r, 0) = relative(first + free[row]);
    for (int l = 0; l < d; ++l) bordered(r, l + 1) = head.scores(first + free[row], first + l);
  }
  return constant + bilinear_maximum(bordered);
}

}  // namespace sinkproof::certify
