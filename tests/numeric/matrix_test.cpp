// Matrix products of enclosures against exact rationals, and Eigen's generic code over our scalars.
#include "numeric/matrix.hpp"

#include <doctest/doctest.h>

#include "errors.hpp"
#include "numeric/enclosure.hpp"
#include "random_numbers.hpp"

using namespace sinkproof::numeric;
using namespace sinkproof::test;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Which magnitudes a matrix is filled with: each reaches another part of the error argument in product.cpp.
enum class Fill { moderate, symmetric, tiny, wild, mixed };

Interval entry(RandomNumbers& random, Fill fill, bool thick) {
  double x = random.uniform(-1, 1), radius = 0;
  switch (fill) {
    case Fill::moderate:
      if (random.below(4) == 0) x = 0;
      radius = random.unit() * (random.below(2) ? 1 : 1e-10);
      break;
    case Fill::symmetric:  // nothing but the radius
      radius = random.unit();
      x = 0;
      break;
    case Fill::tiny:  // products underflow
      x *= std::ldexp(1.0, -530 - static_cast<int>(random.below(20)));
      radius = std::fabs(x) * random.unit();
      if (random.below(2)) x = 0;
      break;
    case Fill::wild:
      x = random.number();
      radius = std::fabs(random.number());
      break;
    case Fill::mixed: {
      const double scales[] = {0x1p-1060, 0x1p-1000, 0x1p-500, 1, 0x1p400, 0x1p480};
      x *= random.one_of(scales);
      radius = random.unit() * random.one_of(scales);
      break;
    }
  }
  if (!thick) return x;
  return std::isfinite(x - radius) && std::isfinite(x + radius) ? Interval(x - radius, x + radius)
                                                                : Interval(x);
}

Matrix<Interval> random_matrix(RandomNumbers& random, Eigen::Index rows, Eigen::Index cols, Fill fill,
                               bool thick) {
  Matrix<Interval> result(rows, cols);
  for (Interval& x : result.reshaped()) x = entry(random, fill, thick);
  return result;
}

struct Ends {
  Rational lower, upper;
};
/// The exact range of entry (r, c) of the product.
Ends exact_entry(const Matrix<Interval>& a, const Matrix<Interval>& b, Eigen::Index r, Eigen::Index c) {
  Ends sum{0, 0};
  for (Eigen::Index l = 0; l < a.cols(); ++l) {
    const Rational al = lower_end(a(r, l)), au = upper_end(a(r, l)), bl = lower_end(b(l, c)),
                   bu = upper_end(b(l, c));
    const Rational corners[] = {al * bl, al * bu, au * bl, au * bu};
    sum.lower += *std::min_element(std::begin(corners), std::end(corners));
    sum.upper += *std::max_element(std::begin(corners), std::end(corners));
  }
  return sum;
}

/// The width product() may have: twice 1.5 times the optimal radius, k eps |a| |b|, and underflow.
Rational width_allowed(const Matrix<Interval>& a, const Matrix<Interval>& b, Eigen::Index r, Eigen::Index c) {
  Rational radius = 0, magnitude = 0, largest = 0;
  for (Eigen::Index l = 0; l < a.cols(); ++l) {
    const Rational ra = (upper_end(a(r, l)) - lower_end(a(r, l))) / 2,
                   rb = (upper_end(b(l, c)) - lower_end(b(l, c))) / 2;
    const Rational ma = abs(Rational(upper_end(a(r, l)) + lower_end(a(r, l)))) / 2,
                   mb = abs(Rational(upper_end(b(l, c)) + lower_end(b(l, c)))) / 2;
    radius += ma * rb + ra * mb + ra * rb;
    magnitude += ma * mb;
    largest += ma + mb + ra + rb;
  }
  const Rational k = a.cols(), eps = exact(machine_epsilon);
  return 2 * (radius * (1 + (k + 9) * eps) + (k + 4) * eps * (magnitude + radius) +
              exact(0x1p-959) * largest + (8 * k + 8) * exact(least_positive));
}

}  // namespace

TEST_CASE("product encloses the exact product in every rounding mode") {
  RandomNumbers random(12);
  for (const Fill fill : {Fill::moderate, Fill::symmetric, Fill::tiny, Fill::wild, Fill::mixed}) {
    CAPTURE(static_cast<int>(fill));
    long decided = 0, all = 0;
    for (long round = 0; round < trials(600); ++round) {
      CAPTURE(round);
      const auto size = [&](std::uint64_t most) { return static_cast<Eigen::Index>(random.below(most) + 1); };
      const Eigen::Index m = size(4), k = round % 8 ? size(24) : size(100), n = size(4);
      const Matrix<Interval> a = random_matrix(random, m, k, fill, random.below(2)),
                             b = random_matrix(random, k, n, round % 3 ? fill : Fill::moderate,
                                               random.below(2));
      Matrix<Interval> c;
      {
        const RoundingMode mode(RoundingMode::all[round % 4]);
        c = product(a, b);
      }
      CHECK(c.rows() == m);
      CHECK(c.cols() == n);
      for (Eigen::Index row = 0; row < m; ++row) {
        for (Eigen::Index column = 0; column < n; ++column) {
          const Interval& x = c(row, column);
          ++all;
          const Ends truth = exact_entry(a, b, row, column);
          if (x.is_undecided()) {
            if (fill != Fill::wild) FAIL("undecided without need");
            continue;
          }
          ++decided;
          if (!contains(x, truth.lower) || !contains(x, truth.upper))
            FAIL("the exact product is not contained");
          if (fill != Fill::wild && upper_end(x) - lower_end(x) > width_allowed(a, b, row, column)) {
            FAIL("wider than promised");
          }
        }
      }
    }
    CHECK(decided > all / 8);
  }
}

TEST_CASE("product: underflow that adds up is covered") {
  // Every product is just below the least positive number, and rounded to 0 in two of the modes.
  for (size_t m = 0; m < 4; ++m) {
    for (const int k : {1, 7, 64}) {
      Matrix<Interval> a(1, k), b(k, 1);
      a.setConstant(Interval(0x1.fp-538));
      b.setConstant(Interval(0x1.fp-538));
      Matrix<Interval> thick = b;
      thick.setConstant(Interval(-0x1.fp-538, 0x1.fp-538));
      Matrix<Interval> points, ranges;
      {
        const RoundingMode mode(RoundingMode::all[m]);
        points = product(a, b);
        ranges = product(Matrix<Interval>(thick.transpose()), thick);
      }
      const Rational truth = k * exact(0x1.fp-538) * exact(0x1.fp-538);
      CHECK(contains(points(0, 0), truth));
      CHECK(contains(ranges(0, 0), truth));
      CHECK(contains(ranges(0, 0), -truth));
    }
  }
  // Sum and radius both lose what underflows: [0, 2 x] [0, 2 x] with x x just below the least positive
  // number.
  for (const int k : {1, 7, 64}) {
    const Matrix<Interval> a = Matrix<Interval>::Constant(1, k, Interval(0, 0x1.fp-537));
    for (size_t m = 0; m < 4; ++m) {
      const RoundingMode mode(RoundingMode::all[m]);
      CHECK(contains(product(a, Matrix<Interval>(a.transpose()))(0, 0),
                     k * exact(0x1.fp-537) * exact(0x1.fp-537)));
    }
  }
  // gamma |a| underflows, its product with b would not.
  Matrix<Interval> a(1, 3), b(3, 1);
  a.setConstant(Interval(0x1.2345678p-1040));
  b.setConstant(Interval(0x1.3456789abcdefp+480));
  b(1, 0) = Interval(0x1.fedcba9876543p+479);
  for (size_t m = 0; m < 4; ++m) {
    const RoundingMode mode(RoundingMode::all[m]);
    CHECK(contains(product(a, b)(0, 0), exact_entry(a, b, 0, 0).lower));
    CHECK(contains(product(Matrix<Interval>(b.transpose()), Matrix<Interval>(a.transpose()))(0, 0),
                   exact_entry(a, b, 0, 0).lower));
  }
}

TEST_CASE("product: a float sum that stops at the largest double, and comes back, does not pass") {
  for (size_t m = 0; m < 4; ++m) {
    const RoundingMode mode(RoundingMode::all[m]);
    for (const double sign : {1.0, -1.0}) {
      Matrix<Interval> a(1, 4), b(4, 1);
      a << Interval(sign * 1e308), Interval(sign * 1e308), Interval(-sign * 1e308), Interval(-sign * 0.5e308);
      b.setConstant(Interval(1));
      for (const Interval& x : {product(a, b)(0, 0), product(Matrix<Interval>(b.transpose()),
                                                             Matrix<Interval>(a.transpose()))(0, 0)}) {
        CHECK((x.is_undecided() || contains(x, exact_entry(a, b, 0, 0).lower)));
      }
    }
    Matrix<Interval> a(1, 2), b(2, 1);
    a << Interval(1e-320), Interval(1e300);
    b << Interval(1e300), Interval(1e-300);
    CHECK(contains(product(a, b)(0, 0), exact_entry(a, b, 0, 0).lower));
    a << Interval(1e300), Interval(1e300);
    b << Interval(1e300), Interval(-1e300);
    CHECK(product(a, b)(0, 0).is_undecided());
  }
}

TEST_CASE("product: undecided entries spread to what depends on them, zeros do not stop them") {
  for (const Interval& bad : {Interval(not_a_number), Interval(HUGE_VAL), Interval::undecided()}) {
    Matrix<Interval> a = Matrix<Interval>::Constant(3, 3, Interval(1)),
                     zero = Matrix<Interval>::Constant(3, 3, Interval(0));
    a(1, 2) = bad;
    for (const Matrix<Interval>& c : {product(a, zero), product(a, a)}) {
      for (Eigen::Index column = 0; column < 3; ++column) CHECK(c(1, column).is_undecided());
      CHECK_FALSE(c(0, 0).is_undecided());
    }
    const Matrix<Interval> c = product(zero, a);
    for (Eigen::Index row = 0; row < 3; ++row) {
      CHECK(c(row, 2).is_undecided());
      CHECK(contains(c(row, 0), 0));
    }
  }
  Matrix<BigInterval> big = Matrix<BigInterval>::Constant(2, 2, BigInterval(0));
  big(0, 0) = BigInterval::undecided();
  CHECK(product(big, big)(0, 1).is_undecided());
  CHECK_FALSE(product(big, big)(1, 1).is_undecided());
}

TEST_CASE("product: empty and misshapen matrices") {
  const Matrix<Interval> none(2, 0), none_either(0, 3);
  const Matrix<Interval> zero = product(none, none_either);
  CHECK(zero.rows() == 2);
  CHECK(zero.cols() == 3);
  for (const Interval& x : zero.reshaped()) CHECK(contains(x, 0));
  const Matrix<Rational> exact_zero = product(Matrix<Rational>(2, 0), Matrix<Rational>(0, 3));
  CHECK(exact_zero(1, 2) == 0);
  const Matrix<Interval> square(3, 3), wide(2, 3);
  CHECK_THROWS_AS(product(square, wide), std::invalid_argument);
  CHECK_THROWS_AS(product(Matrix<Rational>(3, 3), Matrix<Rational>(2, 3)), std::invalid_argument);
  CHECK_THROWS_AS(dot(Vector<Interval>(3), Vector<Interval>(2)), std::invalid_argument);
}

TEST_CASE_TEMPLATE("Eigen's generic code over a rigorous scalar", T, Rational, Interval, BigInterval) {
  RandomNumbers random(13);
  Matrix<double> x(5, 24), y(24, 3);
  for (double& v : x.reshaped()) v = random.uniform(-1, 1);
  for (double& v : y.reshaped()) v = random.uniform(-1, 1);
  const Matrix<Rational> xr = convert<Rational>(x), yr = convert<Rational>(y);
  const Matrix<T> a = convert<T>(x), b = convert<T>(y);
  const Matrix<T> generic = a * b, ours = product(a, b),
                  transposed = (b.transpose() * a.transpose()).transpose();
  for (Eigen::Index r = 0; r < 5; ++r) {
    for (Eigen::Index c = 0; c < 3; ++c) {
      Rational truth = 0;
      for (Eigen::Index l = 0; l < 24; ++l) truth += xr(r, l) * yr(l, c);
      CHECK(contains(generic(r, c), truth));
      CHECK(contains(ours(r, c), truth));
      CHECK(contains(transposed(r, c), truth));
      CHECK(contains(dot<T>(a.row(r).transpose(), b.col(c)), truth));
      CHECK(upper_end(ours(r, c)) - lower_end(ours(r, c)) < Rational(1, 1'000'000'000'000));
    }
  }
  Rational sum = 0;
  for (const Rational& v : xr.reshaped()) sum += v;
  CHECK(contains(T(a.sum()), sum));
  CHECK(contains(Matrix<T>(a + a)(1, 2), 2 * xr(1, 2)));
  CHECK(contains(Matrix<T>(a - a * T(3))(1, 2), -2 * xr(1, 2)));
  CHECK(contains(T(a.cwiseProduct(a)(1, 2)), xr(1, 2) * xr(1, 2)));
  CHECK(Matrix<T>(a.transpose())(2, 1) == a(1, 2));
  CHECK(Matrix<T>::Zero(2, 2)(0, 1) == T(0));
  CHECK(Matrix<T>::Identity(2, 2)(1, 1) == T(1));
}

TEST_CASE("the doors into a scalar") {
  CHECK(from_double<Rational>(0.1) == exact(0.1));
  CHECK(from_double<Interval>(0.1) == Interval(0.1));
  CHECK(from_double<double>(0.1) == 0.1);
  CHECK(contains(from_double<BigInterval>(0.1), exact(0.1)));
  CHECK_THROWS_AS(from_double<Rational>(not_a_number), sinkproof::InputError);
  CHECK(is_undecided(from_double<Interval>(not_a_number)));
  CHECK(is_undecided(from_double<BigInterval>(not_a_number)));
  CHECK(is_undecided(from_double<BigInterval>(-HUGE_VAL)));
  const Rational third(1, 3);
  CHECK(from_rational<Rational>(third) == third);
  CHECK(contains(from_rational<Interval>(third), third));
  CHECK(contains(from_rational<BigInterval>(third), third));
  CHECK(from_rational<double>(third) == 1.0 / 3);
  Matrix<Rational> m(1, 2);
  m << third, 2;
  CHECK(contains(convert<Interval>(m)(0, 0), third));
  CHECK(convert<double>(m)(0, 1) == 2);
}
