#include "measure/exact_sum.hpp"

#include <bit>
#include <cfloat>
#include <cmath>
#include <random>

#include <doctest/doctest.h>

using namespace sinkproof;
using measure::ExactSum;
using numeric::Rational;

namespace {

Rational sum_of(const std::vector<double>& terms) {
  ExactSum sum;
  for (const double term : terms) sum.add(term);
  return sum.value();
}

}  // namespace

TEST_CASE("corners") {
  CHECK(ExactSum().value() == 0);
  CHECK(sum_of({0.0, -0.0}) == 0);
  CHECK(sum_of({1, 0x1p-1074, -1}) == numeric::exact(0x1p-1074));
  CHECK(sum_of({DBL_MAX, DBL_MAX}) == 2 * numeric::exact(DBL_MAX));
  CHECK(sum_of({DBL_MAX, -DBL_MAX, DBL_MIN}) == numeric::exact(DBL_MIN));
  CHECK(sum_of({0.1, 0.2, -0.3}) == numeric::exact(0.1) + numeric::exact(0.2) - numeric::exact(0.3));
  CHECK_THROWS_AS(sum_of({std::nan("")}), std::invalid_argument);
  CHECK_THROWS_AS(sum_of({INFINITY}), std::invalid_argument);
}

TEST_CASE("random doubles of every size agree with rationals") {
  constexpr std::uint64_t seed = 20240711;
  CAPTURE(seed);
  std::mt19937_64 bits(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> terms;
    Rational expected = 0;
    while (terms.size() < 20) {
      const auto term = std::bit_cast<double>(bits());
      if (!std::isfinite(term)) continue;
      terms.push_back(term);
      expected += numeric::exact(term);
    }
    CHECK(sum_of(terms) == expected);
  }
}

TEST_CASE("carries wait safely: many terms of one size") {
  ExactSum sum;
  constexpr int count = 200'000;
  for (int i = 0; i < count; ++i) sum.add(std::nextafter(1.0, 0.0));
  CHECK(sum.value() == count * numeric::exact(std::nextafter(1.0, 0.0)));
}
