#include "certify/relaxation.hpp"

#include <doctest/doctest.h>

#include "support.hpp"

using namespace sinkproof;
using numeric::Interval;
using numeric::Matrix;
using numeric::Vector;

namespace {

double exact_maximum(const Matrix<double>& b) {
  double best = 0;
  for (int s = 0; s < 1 << b.rows(); ++s) {
    Vector<double> c(b.rows());
    for (int m = 0; m < b.rows(); ++m) c[m] = s >> m & 1 ? 1 : -1;
    best = std::max(best, (b.transpose() * c).cwiseAbs().sum());
  }
  return best;
}

Matrix<Interval> points(const Matrix<double>& b) {
  return b.unaryExpr([](double x) { return Interval(x); });
}

}  // namespace

TEST_CASE("the bilinear bound is never below the maximum, and within Grothendieck's reach of it") {
  std::mt19937_64 random(3);
  for (int round = 0; round < 60; ++round) {
    const int n = 1 + static_cast<int>(random() % 9);
    Matrix<double> b = support::random_matrix(n, 1, random);
    if (round % 3 == 1) b.row(0) *= 100;
    if (round % 3 == 2) b = b.col(0) * b.row(0);  // rank one: the maximum is ||u||_1 ||v||_1
    const double maximum = exact_maximum(b), bound = certify::bilinear_maximum(points(b)).upper();
    CAPTURE(round);
    CHECK(bound >= maximum);
    CHECK(bound <= 1.8 * maximum);
  }
}

TEST_CASE(
    "where it is known: diagonal and rank-one maps are met, random ones beat the sum of absolute values") {
  Matrix<double> diagonal = Matrix<double>::Zero(5, 5);
  diagonal.diagonal() << 1, -2, 3, 4, 0.5;
  CHECK(certify::bilinear_maximum(points(diagonal)).upper() >= 10.5);
  CHECK(certify::bilinear_maximum(points(diagonal)).upper() < 10.5001);
  std::mt19937_64 random(4);
  const Matrix<double> wide = support::random_matrix(60, 1, random);
  CHECK(certify::bilinear_maximum(points(wide)).upper() < 0.5 * wide.cwiseAbs().sum());
  CHECK(certify::bilinear_maximum(points(Matrix<double>::Zero(3, 3))).upper() == 0);
  Matrix<Interval> unknown = points(diagonal);
  unknown(0, 1) = Interval::undecided();
  CHECK(certify::bilinear_maximum(unknown).is_undecided());
}
