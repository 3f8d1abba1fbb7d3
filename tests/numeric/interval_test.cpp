// What random operands hardly meet: the cases from the literature, exact zeros, and everything undecided.
#include "numeric/interval.hpp"

#include <functional>
#include <vector>

#include <doctest/doctest.h>
#include <mpfr.h>

#include "errors.hpp"
#include "numeric/big_interval.hpp"
#include "numeric/enclosure.hpp"
#include "oracle.hpp"
#include "random_numbers.hpp"

using namespace sinkproof::numeric;
using namespace sinkproof::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Runs the test body once in each rounding mode.
template <class Body>
void in_every_rounding_mode(Body body) {
  for (size_t m = 0; m < 4; ++m) {
    INFO("rounding ", std::string(RoundingMode::names[m]));
    const RoundingMode mode(RoundingMode::all[m]);
    body();
  }
}

double hidden(double x) {
  hide(x);
  return x;
}

template <class T>
T make(double lower, double upper) {
  return hull(T(hidden(lower)), T(hidden(upper)));
}

template <class T>
void check_exp_at(double x) {
  CAPTURE(x);
  TrueRange range(500);
  range.add([x](mpfr_ptr z, mpfr_rnd_t direction) {
    mpfr_set_d(z, x, MPFR_RNDN);
    return mpfr_exp(z, z, direction);
  });
  CHECK(contains_range(exp(T(hidden(x))), range));
}

}  // namespace

TEST_CASE_TEMPLATE("inputs at which other libraries were wrong", T, Interval, BigInterval) {
  in_every_rounding_mode([] {
    check_exp_at<T>(3893924827815215 * 0x1p-50);

    const T tenth(hidden(0.1));
    const T square = tenth * tenth;
    CHECK(contains(square, exact(0.1) * exact(0.1)));
    if (std::is_same_v<T, Interval>) CHECK(lower_end(square) < upper_end(square));

    const T left = T(hidden(41)) * tenth, right = -(T(hidden(-41)) * tenth);
    CHECK(contains(left, 41 * exact(0.1)));
    CHECK(contains(right, 41 * exact(0.1)));
    CHECK(less_than(left, right) != Verdict::proved);
    CHECK(less_than(right, left) != Verdict::proved);
  });
}

TEST_CASE("BigInterval's exp at the input that MPFI missed, at many precisions") {
  for (unsigned digits = 5; digits <= 120; ++digits) {
    CAPTURE(digits);
    const BigPrecision precision(digits);
    if (digits >= 17) check_exp_at<BigInterval>(3893924827815215 * 0x1p-50);  // below, the point is rounded
    check_exp_at<BigInterval>(0.5);
  }
}

TEST_CASE("exp from underflow to overflow") {
  in_every_rounding_mode([] {
    for (const double x : {-DBL_MAX, -1e10, -746.0, -745.2, -745.1, -708.5, 708.5, 709.7, 709.78}) {
      check_exp_at<Interval>(x);
    }
    CHECK(exp(Interval(hidden(-1e300))).lower() == 0);
    CHECK(exp(Interval(hidden(-1e300))).upper() == least_positive);
    CHECK(exp(Interval(hidden(709.79))).is_undecided());
    CHECK(exp(Interval(hidden(DBL_MAX))).is_undecided());
    CHECK(exp(make<Interval>(0, 1000)).is_undecided());
  });
}

TEST_CASE("what is exact stays exact, and no sign is lost") {
  in_every_rounding_mode([] {
    const Interval zero, wide = make<Interval>(-3, 1e300), tiny(hidden(least_positive)), tenth(hidden(0.1));
    for (const Interval& z : {zero * wide, wide * zero, zero / tenth, tenth - tenth, -zero, sqrt(zero)}) {
      CHECK(z == zero);
    }
    for (const Interval& x : {wide, tiny, tenth}) {
      CHECK(x + zero == x);
      CHECK(zero + x == x);
      CHECK(x - zero == x);
      CHECK(zero - x == -x);
    }
    CHECK((tiny * tenth).lower() == 0);
    CHECK((tiny * tenth).upper() > 0);
    CHECK((-tiny * tenth).upper() == 0);
    CHECK((-tiny * tenth).lower() < 0);
    CHECK((tiny / Interval(hidden(1e300))).lower() == 0);
    CHECK((-tiny / Interval(hidden(1e300))).upper() == 0);
    CHECK((-tiny / Interval(hidden(1e300))).lower() < 0);
    CHECK((tiny + tiny).lower() > 0);
    CHECK(sqrt(tiny).lower() > 0);
    CHECK(abs(make<Interval>(-3, 2)) == make<Interval>(0, 3));
  });
}

TEST_CASE("an end that overflows is not passed over") {
  in_every_rounding_mode([] {
    CHECK((make<Interval>(-1, 1e300) * make<Interval>(-1e300, 1)).is_undecided());
    CHECK((make<Interval>(-1e300, 1) * make<Interval>(-1, 1e300)).is_undecided());
    CHECK((make<Interval>(-1, 1e300) / make<Interval>(-1, -1e-300)).is_undecided());
    CHECK((make<Interval>(-1e300, 1) / make<Interval>(1e-300, 1)).is_undecided());
    CHECK((make<Interval>(-DBL_MAX, 1) + make<Interval>(-DBL_MAX, 1)).is_undecided());
    CHECK((make<Interval>(-1, DBL_MAX) + make<Interval>(-1, DBL_MAX)).is_undecided());
    CHECK((make<Interval>(0, DBL_MAX) - make<Interval>(-DBL_MAX, 0)).is_undecided());
  });
}

TEST_CASE("below and above") {
  CHECK(below(1.0) == 1 - machine_epsilon / 2);
  CHECK(above(1.0) == 1 + machine_epsilon);
  CHECK(below(0.0) == -least_positive);
  CHECK(below(-0.0) == -least_positive);
  CHECK(above(0.0) == least_positive);
  CHECK(above(-0.0) == least_positive);
  CHECK(below(least_positive) == 0);
  CHECK(above(-least_positive) == 0);
  CHECK(below(infinity) == DBL_MAX);
  CHECK(above(infinity) == infinity);
  CHECK(below(-infinity) == -infinity);
  CHECK(above(-infinity) == -DBL_MAX);
  CHECK(below(-DBL_MAX) == -infinity);
  CHECK(above(DBL_MAX) == infinity);
  for (const std::uint64_t bits :
       {0x7ff0000000000001u, 0x7fffffffffffffffu, 0xffffffffffffffffu, 0xfff8000000000000u}) {
    const auto payload = std::bit_cast<double>(bits);
    CHECK(std::isnan(below(payload)));
    CHECK(std::isnan(above(payload)));
  }
  RandomNumbers random(7);
  for (long i = 0; i < 10000; ++i) {
    const double x = random.number();
    CHECK(below(x) == std::nextafter(x, -infinity));
    CHECK(above(x) == std::nextafter(x, infinity));
  }
}

TEST_CASE("subnormals are kept here, and the check notices where they are not") {
  CHECK(subnormals_are_kept());
#if defined(__SSE2__)
  const unsigned state = __builtin_ia32_stmxcsr();
  for (const unsigned flag : {0x8000u, 0x0040u}) {  // flush to zero; denormals are zero
    __builtin_ia32_ldmxcsr(state | flag);
    const bool kept = subnormals_are_kept();
    __builtin_ia32_ldmxcsr(state);
    CHECK_FALSE(kept);
  }
#endif
}

TEST_CASE("constructors") {
  for (const Interval& x : {Interval(not_a_number), Interval(infinity), Interval(-infinity),
                            Interval(not_a_number, 1), Interval(1, not_a_number), Interval(2, 1),
                            Interval(0, infinity), Interval(-infinity, 0), Interval::undecided()}) {
    CHECK(x.is_undecided());
    CHECK_FALSE(x.is_point());
    CHECK_THROWS_AS(lower_end(x), sinkproof::InputError);
    CHECK_THROWS_AS(upper_end(x), sinkproof::InputError);
  }
  for (const BigInterval& x :
       {BigInterval(not_a_number), BigInterval(infinity), BigInterval(-infinity), BigInterval::undecided(),
        BigInterval::enclosing(Rational(2), Rational(1)),
        BigInterval::enclosing(Rational(1, 3) + power(Rational(10), -200), Rational(1, 3))}) {
    CHECK(x.is_undecided());
    CHECK_THROWS_AS(lower_end(x), sinkproof::InputError);
    CHECK_THROWS_AS(upper_end(x), sinkproof::InputError);
  }
  CHECK(Interval(-0.0) == Interval(0));
  CHECK(Interval(DBL_MAX).is_point());
}

TEST_CASE_TEMPLATE("nothing computed from undecided becomes a number", T, Interval, BigInterval) {
  in_every_rounding_mode([] {
    const T u = T::undecided();
    CHECK(is_undecided(u));
    for (const T& x : {T(0), T(1), T(-2.5), make<T>(-1, 1), make<T>(1, 2), T(hidden(1e300)), u}) {
      for (const T& y : {u + x, x + u, u - x, x - u, u * x, x * u, u / x, x / u, max(u, x), max(x, u),
                         min(u, x), min(x, u), hull(u, x), hull(x, u)}) {
        CHECK(is_undecided(y));
      }
      CHECK_FALSE(u == x);
      CHECK(at_most(u, x) == Verdict::undecided);
      CHECK(at_most(x, u) == Verdict::undecided);
      CHECK(at_least(u, x) == Verdict::undecided);
      CHECK(less_than(u, x) == Verdict::undecided);
      CHECK(less_than(x, u) == Verdict::undecided);
      CHECK(equal(u, x) == Verdict::undecided);
    }
    for (const T& y : {-u, sqrt(u), exp(u), log(u), abs(u), positive_part(u)}) CHECK(is_undecided(y));
    CHECK_FALSE(contains(u, 0));
    CHECK(to_string(u) == "undecided");
  });
}

TEST_CASE_TEMPLATE("what cannot be enclosed is undecided", T, Interval, BigInterval) {
  in_every_rounding_mode([] {
    for (const T& x :
         {T(1) / T(0), T(0) / T(0), T(1) / T(-0.0), T(1) / make<T>(-1, 1), T(1) / make<T>(0, 1),
          T(1) / make<T>(-1, 0), sqrt(T(-1)), sqrt(make<T>(-least_positive, 1)), log(T(0)), log(T(-1)),
          log(make<T>(0, 1)), log(make<T>(-1, 1)), exp(T(hidden(1e10))), exp(T(hidden(DBL_MAX)))}) {
      CHECK(is_undecided(x));
    }
    CHECK_FALSE(is_undecided(sqrt(T(-0.0))));
  });
}

TEST_CASE_TEMPLATE("two independent values of one enclosure: x * x is not a square", T, Interval,
                   BigInterval) {
  const T box = make<T>(-1, 2);
  CHECK(contains(box * box, -2));
  CHECK(contains(box - box, 3));
  CHECK(contains(box / make<T>(1, 2), -1));
}

TEST_CASE("BigInterval beyond its range of exponents") {
  const BigInterval tiny = exp(BigInterval(-1e6)), least = exp(BigInterval(-1e300));
  for (const BigInterval& x : {tiny, least}) {
    CHECK(lower_end(x) == 0);
    CHECK(upper_end(x) == power(Rational(2), -(1 << 20)));
    CHECK(upper_end(-x) == 0);
    CHECK(lower_end(-x) == -power(Rational(2), -(1 << 20)));
  }
  CHECK(exp(BigInterval(1e6)).is_undecided());
  CHECK_FALSE(exp(BigInterval(7e5)).is_undecided());
  BigInterval square(hidden(2));
  for (int i = 0; i < 19; ++i) square *= square;
  CHECK(lower_end(square) == power(Rational(2), 1 << 19));
  CHECK((square * square).is_undecided());
  CHECK(BigInterval::enclosing(power(Rational(2), 1 << 21)).is_undecided());
}

TEST_CASE("BigInterval is copied as it is, and computed at the precision in force") {
  const Rational third(1, 3);
  BigInterval wide, narrow;
  {
    const BigPrecision precision(10);
    wide = BigInterval::enclosing(third);
  }
  narrow = BigInterval::enclosing(third);
  CHECK(upper_end(wide) - lower_end(wide) > power(Rational(10), -13));
  CHECK(upper_end(narrow) - lower_end(narrow) < power(Rational(10), -50));
  CHECK(contains(wide, third));
  CHECK(contains(wide, upper_end(narrow)));
  const BigPrecision precision(10);
  BigInterval copy = narrow;
  CHECK(copy == narrow);
  const BigInterval& self = copy;
  copy = self;
  CHECK(copy == narrow);
  BigInterval moved = std::move(copy);
  copy = wide;
  CHECK(moved == narrow);
  CHECK(copy == wide);
  for (const BigInterval& x :
       {-narrow, abs(narrow), max(narrow, narrow), min(narrow, narrow), hull(narrow, narrow)}) {
    CHECK(contains(x, third) != contains(x, -third));
    CHECK(upper_end(x) - lower_end(x) > power(Rational(10), -13));
  }
}

TEST_CASE_TEMPLATE("from exact numbers: the smallest enclosure", T, Interval, BigInterval) {
  RandomNumbers random(11);
  for (long i = 0; i < trials(20'000); ++i) {
    const Rational value =
        i % 2 ? exact(random.number()) * Rational(random.below(1000) + 1, random.below(1000) + 1)
              : Rational(static_cast<long>(random.below(2'000'001)) - 1'000'000,
                         static_cast<long>(random.below(1'000'000)) + 1);
    T x;
    {
      const RoundingMode mode(RoundingMode::all[i % 4]);
      x = T::enclosing(value);
    }
    CAPTURE(value);
    if (abs(value) > exact(DBL_MAX) && std::is_same_v<T, Interval>) {
      CHECK(is_undecided(x));
      continue;
    }
    CHECK(contains(x, value));
    if constexpr (std::is_same_v<T, Interval>) {
      if (x.is_point()) {
        CHECK(exact(x.lower()) == value);
      } else {
        CHECK(x.upper() == above(x.lower()));
      }
    } else {
      CHECK(upper_end(x) - lower_end(x) <= abs(value) * power(Rational(10), -50));
    }
  }
}
