#include "certify/vertices.hpp"

#include <atomic>
#include <set>

#include <doctest/doctest.h>

#include "numeric/rational.hpp"
#include "support.hpp"

using namespace sinkproof;
using certify::AffineFamily;
using numeric::Interval;
using numeric::Matrix;
using numeric::Rational;
using numeric::Vector;

TEST_CASE("every vertex once, each value within its proved error of the exact one, across blocks") {
  std::mt19937_64 random(7);
  constexpr int d = 12, count = 3;  // 4 blocks
  Matrix<Interval> slope(d, count);
  Vector<Interval> constant(count);
  const auto draw = [&] {
    return std::ldexp(static_cast<double>(random() >> 11) * 0x1p-52 - 1, static_cast<int>(random() % 20));
  };
  for (auto& entry : constant) entry = Interval(draw());
  for (auto& entry : slope.reshaped()) entry = Interval(draw());
  const AffineFamily family(constant, slope);
  CHECK(family.blocks() == 4);
  std::set<std::vector<double>> seen;
  double largest_error[count] = {};
  for (std::uint64_t block = 0; block < family.blocks(); ++block) {
    family.sweep(block, [&](const Vector<double>& c, const Vector<double>& f) {
      seen.insert({c.begin(), c.end()});
      for (int k = 0; k < count; ++k) {
        Rational exact = numeric::exact(constant[k].lower());
        for (int m = 0; m < d; ++m) exact += numeric::exact(c[m]) * numeric::exact(slope(m, k).lower());
        const Rational error = abs(exact - numeric::exact(f[k]));
        REQUIRE(error <= numeric::exact(family.error(k)));
        REQUIRE(abs(exact) <= numeric::exact(family.magnitude(k)));
        largest_error[k] = std::max(largest_error[k], error.convert_to<double>());
      }
    });
  }
  CHECK(seen.size() == 4096);
  // The bound is not vacuous, nor is the rounding it covers.
  for (int k = 0; k < count; ++k) {
    CHECK(largest_error[k] > 0);
    CHECK(family.error(k) < 1e-11 * family.magnitude(k));
  }
}

TEST_CASE("the radii of the coefficients count: thick enclosures are covered at both ends") {
  Matrix<Interval> slope(2, 1);
  slope << Interval(0.5, 1.5), Interval(-3, -2);
  const AffineFamily family(Vector<Interval>::Constant(1, Interval(-1, 1)), slope);
  family.sweep(0, [&](const Vector<double>& c, const Vector<double>& f) {
    for (const double constant : {-1.0, 1.0}) {
      for (const double a : {0.5, 1.5}) {
        for (const double b : {-3.0, -2.0}) {
          CHECK(std::fabs(constant + a * c[0] + b * c[1] - f[0]) <= family.error(0));
        }
      }
    }
  });
}

TEST_CASE("no content: one vertex") {
  const AffineFamily family(Vector<Interval>::Constant(1, Interval(2)), Matrix<Interval>(0, 1));
  int visits = 0;
  family.sweep(0, [&](const Vector<double>& c, const Vector<double>& f) {
    ++visits;
    CHECK(c.size() == 0);
    CHECK(f[0] == 2);
  });
  CHECK(visits == 1);
}

TEST_CASE("blocks are shared among threads; a stop is reported, an exception passed on") {
  std::atomic<int> done = 0;
  CHECK(certify::for_each_block(100, 3, [&](std::uint64_t, int) { return ++done, true; }));
  CHECK(done == 100);
  CHECK_FALSE(certify::for_each_block(100, 3, [&](std::uint64_t block, int) { return block < 5; }));
  CHECK_THROWS_AS(
      certify::for_each_block(4, 2, [](std::uint64_t, int) -> bool { throw std::runtime_error("x"); }),
      std::runtime_error);
}
