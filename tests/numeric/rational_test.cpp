#include "numeric/rational.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "errors.hpp"

using sinkproof::InputError;
using namespace sinkproof::numeric;

TEST_CASE("decimal and fraction text is read exactly") {
  const Rational two_hundredth(1, 200);
  for (const char* text :
       {"1/200", "0.005", "5e-3", "5E-3", "+0.005", ".5e-2", "0.5e-02", "010/2000", "5.e-3"}) {
    CAPTURE(text);
    CHECK(parse_rational(text) == two_hundredth);
  }
  CHECK(parse_rational("-0.1") == Rational(-1, 10));
  CHECK(parse_rational("1e3") == 1000);
  CHECK(parse_rational("0") == 0);
  CHECK(parse_rational("-0") == 0);
}

TEST_CASE("what is not an exact number is refused") {
  for (const char* text : {"", "-", "abc", "1/0", "1/", "/2", "1//2", "0x10", "1e", "1e99999", "nan", "inf",
                           "1 2", "1/2/3", "1.2/3", " 1", "1e5000000000", "--1", "1/-2"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_rational(text), InputError);
  }
}

TEST_CASE("the door from floating point is lossless and lets no NaN or infinity pass") {
  CHECK(exact(0.1) == Rational("3602879701896397/36028797018963968"));
  CHECK(exact(-0.0) == 0);
  const double tiny = std::numeric_limits<double>::denorm_min();
  CHECK(exact(tiny) == power(Rational(2), -1074));
  CHECK(exact(std::numeric_limits<double>::max()) == power(Rational(2), 1024) - power(Rational(2), 971));
  CHECK_THROWS_AS(exact(std::nan("")), InputError);
  CHECK_THROWS_AS(exact(std::numeric_limits<double>::infinity()), InputError);
  CHECK_THROWS_AS(exact(-std::numeric_limits<double>::infinity()), InputError);
}

TEST_CASE("printing reads back") {
  CHECK(to_string(Rational(26, 120)) == "13/60");
  CHECK(to_string(Rational(-4, 2)) == "-2");
  CHECK(parse_rational(to_string(exact(0.3))) == exact(0.3));
}

TEST_CASE("integer powers") {
  CHECK(power(Rational(2, 3), 3) == Rational(8, 27));
  CHECK(power(Rational(2, 3), -2) == Rational(9, 4));
  CHECK(power(Rational(0), 0) == 1);
  CHECK_THROWS_AS(power(Rational(0), -1), std::domain_error);
}
