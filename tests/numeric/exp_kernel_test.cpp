// The stated relative error of exp_kernel, over its whole range and in every rounding mode, and what is built
// on it.
#include "numeric/exp_kernel.hpp"

#include <vector>

#include <doctest/doctest.h>
#include <mpfr.h>

#include "numeric/interval.hpp"
#include "oracle.hpp"
#include "random_numbers.hpp"

using namespace sinkproof::numeric;
using namespace sinkproof::test;

namespace {

/// Inputs where the argument of exp_kernel.hpp is tight: near multiples of ln 2 / 2, near 0, at the ends.
double input(RandomNumbers& random) {
  constexpr double half_ln2 = 0.34657359027997264;
  const double k = static_cast<double>(static_cast<long>(random.below(2044)) - 1022);
  switch (random.below(8)) {
    case 0:
      return random.uniform(-1, 1) * std::ldexp(1.0, -static_cast<int>(random.below(60)));
    case 1:
      return std::clamp(
          2 * k * half_ln2 + random.uniform(-1, 1) * std::ldexp(1.0, -static_cast<int>(random.below(50))),
          -exp_fast_range, exp_fast_range);
    case 2:
      return std::clamp((2 * k + 1) * half_ln2 * (1 + random.uniform(-1e-9, 1e-9)), -exp_fast_range,
                        exp_fast_range);
    case 3:
      return random.sign() * (exp_fast_range - random.unit() * 1e-6 * static_cast<double>(random.below(2)));
    case 4:
      return random.uniform(-0.4, 0.4);
    default:
      return random.uniform(-exp_fast_range, exp_fast_range);
  }
}

/// The relative error of y as a value of exp(x), in machine epsilons.
double error(double x, double y) {
  static mpfr_t truth;
  static const bool ready = (mpfr_init2(truth, 150), true);
  static_cast<void>(ready);
  mpfr_set_d(truth, x, MPFR_RNDN);
  mpfr_exp(truth, truth, MPFR_RNDN);
  mpfr_d_div(truth, y, truth, MPFR_RNDN);
  mpfr_sub_ui(truth, truth, 1, MPFR_RNDN);
  return std::fabs(mpfr_get_d(truth, MPFR_RNDA)) / machine_epsilon;
}

}  // namespace

TEST_CASE("the relative error stays below the stated constant") {
  RandomNumbers random(5);
  double largest[4] = {};
  for (long i = 0; i < trials(); ++i) {
    const double x = input(random);
    double in = x, y = 0;
    {
      const RoundingMode mode(RoundingMode::all[i % 4]);
      hide(in);
      y = exp_kernel(in);
      hide(y);
    }
    const double e = error(x, y);
    largest[i % 4] = std::max(largest[i % 4], e);
    if (!(e <= exp_relative_error / machine_epsilon)) FAIL("exp_kernel(", x, ") is off by ", e, " eps");
  }
  for (size_t m = 0; m < 4; ++m) {
    MESSAGE("largest error rounding ", std::string(RoundingMode::names[m]), ": ", largest[m],
            " eps of 1.75 eps stated");
  }
  // Rounding modes were switched, and the inputs reach where the error is large.
  CHECK(largest[0] > 0.6);
  CHECK(largest[1] > 1);
}

TEST_CASE("exp_approximate is exp_kernel of every entry, and harmless outside the range") {
  RandomNumbers random(6);
  std::vector<double> x(1003), y(x.size());
  for (double& v : x) v = input(random);
  for (size_t m = 0; m < 4; ++m) {
    const RoundingMode mode(RoundingMode::all[m]);
    exp_approximate(x.data(), y.data(), static_cast<long>(x.size()));
    long wrong = 0;
    for (size_t i = 0; i < x.size(); ++i)
      wrong += !(error(x[i], y[i]) <= exp_relative_error / machine_epsilon);
    CHECK(wrong == 0);
  }
  std::vector<double> wild = {1e300, -1e300, HUGE_VAL, -HUGE_VAL, std::nan(""), 709};
  exp_approximate(wild.data(), wild.data(), static_cast<long>(wild.size()));
  for (const double v : wild) CHECK(std::isfinite(v));
}

TEST_CASE("exp_all encloses, as tightly as stated") {
  RandomNumbers random(8);
  TrueRange range(160);
  for (long round = 0; round < trials(2'000); ++round) {
    std::vector<Interval> x(random.below(150));
    for (Interval& v : x) {
      const double lower = random.below(16) ? input(random) : random.number();
      const double radius = random.below(4) ? std::ldexp(random.unit(), -static_cast<int>(random.below(70)))
                                            : random.unit() * 20;
      v = random.below(16) ? Interval(lower, lower + (random.below(4) ? radius : 0)) : Interval::undecided();
    }
    std::vector<Interval> y(x.size());
    {
      const RoundingMode mode(RoundingMode::all[round % 4]);
      if (round % 8 < 4) {
        exp_all(x, y.data());
      } else {
        y = x;
        exp_all(y, y.data());
      }
    }
    for (size_t i = 0; i < x.size(); ++i) {
      CAPTURE(x[i].lower());
      CAPTURE(x[i].upper());
      CAPTURE(round);
      if (x[i].is_undecided()) {
        if (!y[i].is_undecided()) FAIL("undecided became a number");
        continue;
      }
      range.clear();
      for (const double end : {x[i].lower(), x[i].upper()}) {
        range.add([end](mpfr_ptr z, mpfr_rnd_t direction) {
          mpfr_set_d(z, end, MPFR_RNDN);
          return mpfr_exp(z, z, direction);
        });
      }
      if (y[i].is_undecided()) {
        if (x[i].upper() < 709.78) FAIL("undecided without need");
        continue;
      }
      if (!contains_range(y[i], range)) FAIL("exp is not contained");
      const double radius = std::min(x[i].upper() - x[i].lower(), 0x1p-10);  // m may be an end
      range.widen(5.8 * machine_epsilon + 1.001 * radius * radius, least_positive);
      if (!within_range(y[i], range)) FAIL("wider than promised");
    }
  }
}
