#include "numeric/enclosure.hpp"

#include <doctest/doctest.h>

#include "numeric/big_interval.hpp"
#include "numeric/interval.hpp"
#include "random_numbers.hpp"

using namespace sinkproof::numeric;
using namespace sinkproof::test;

TEST_CASE("contains is lower <= value <= upper, exactly") {
  const Interval x(0.1, 0.5);
  CHECK(contains(x, exact(0.1)));
  CHECK(contains(x, Rational(1, 2)));
  CHECK_FALSE(contains(x, Rational(1, 10)));  // the double 0.1 lies above 1/10
  CHECK_FALSE(contains(x, Rational(1, 2) + power(Rational(2), -2000)));
  CHECK(contains(Rational(1, 3), Rational(1, 3)));
  CHECK_FALSE(contains(Rational(1, 3), Rational(1, 2)));
}

TEST_CASE_TEMPLATE("the three answers of comparisons", T, Interval, BigInterval) {
  const auto make = [](double lower, double upper) { return hull(T(lower), T(upper)); };
  using enum Verdict;
  struct Row {
    T a, b;
    Verdict at_most, at_least, less, equal;
  };
  const Row rows[] = {
      {make(1, 2), make(3, 4), proved, disproved, proved, disproved},
      {make(3, 4), make(1, 2), disproved, proved, disproved, disproved},
      {make(1, 2), make(2, 3), proved, undecided, undecided, undecided},
      {make(2, 3), make(1, 2), undecided, proved, disproved, undecided},
      {make(1, 3), make(2, 4), undecided, undecided, undecided, undecided},
      {make(1, 4), make(2, 3), undecided, undecided, undecided, undecided},
      {make(1, 2), make(1, 2), undecided, undecided, undecided, undecided},
      {make(2, 2), make(2, 2), proved, proved, disproved, proved},
      {T(0.0), T(-0.0), proved, proved, disproved, proved},
      {T(0), make(0, least_positive), proved, undecided, undecided, undecided},
      {T::undecided(), T(1), undecided, undecided, undecided, undecided},
      {T(1), T::undecided(), undecided, undecided, undecided, undecided},
      {T::undecided(), T::undecided(), undecided, undecided, undecided, undecided},
  };
  for (const Row& row : rows) {
    CAPTURE(to_string(row.a));
    CAPTURE(to_string(row.b));
    CHECK(at_most(row.a, row.b) == row.at_most);
    CHECK(at_least(row.a, row.b) == row.at_least);
    CHECK(less_than(row.a, row.b) == row.less);
    CHECK(equal(row.a, row.b) == row.equal);
  }
  CHECK(at_most(make(1, 2), Rational(2)) == proved);
  CHECK(less_than(Rational(1), make(1, 2)) == undecided);
  CHECK(equal(Rational(1, 3), Rational(2, 6)) == proved);
}

TEST_CASE("verdicts") {
  using enum Verdict;
  CHECK(both(proved, proved) == proved);
  for (const Verdict v : {proved, disproved, undecided}) {
    CHECK(both(v, disproved) == disproved);
    CHECK(both(disproved, v) == disproved);
  }
  for (const Verdict v : {proved, undecided}) {
    CHECK(both(v, undecided) == undecided);
    CHECK(both(undecided, v) == undecided);
  }
  CHECK(to_string(proved) == "proved");
  CHECK(to_string(disproved) == "disproved");
  CHECK(to_string(undecided) == "undecided");
  CHECK(to_string(static_cast<Verdict>(7)) == "undecided");
}

TEST_CASE("decimals, rounded in the direction asked for") {
  const auto down = [](const char* x, int digits) {
    return decimal(parse_rational(x), Direction::down, digits);
  };
  const auto up = [](const char* x, int digits) { return decimal(parse_rational(x), Direction::up, digits); };
  struct Row {
    const char *value, *down, *up;
    int digits;
  };
  const Row rows[] = {
      {"0", "0", "0", 6},
      {"1/3", "0.333333", "0.333334", 6},
      {"-1/3", "-0.333334", "-0.333333", 6},
      {"2.0628e-4", "2.0628e-4", "2.0628e-4", 6},
      {"1/200", "0.005", "0.005", 6},
      {"0.0051999", "0.0051", "0.0052", 2},
      {"0.0123", "0.01", "0.02", 1},
      {"9.99", "9", "10", 1},
      {"0.999999999", "0.999999", "1", 6},
      {"-0.999999999", "-1", "-0.999999", 6},
      {"123456789", "123456000", "123457000", 6},
      {"12345678901", "1.23456e10", "1.23457e10", 6},
      {"1e100", "1e100", "1e100", 6},
      {"99999999/100000000", "0.99", "1", 2},
      {"1e-400", "1e-400", "1e-400", 3},
      {"123/100000000", "1.2e-6", "1.3e-6", 2},
      {"41", "41", "41", 6},
      {"1000", "1000", "1000", 1},
      {"1024", "1000", "2000", 1},
  };
  for (const Row& row : rows) {
    CAPTURE(std::string(row.value));
    CHECK(down(row.value, row.digits) == row.down);
    CHECK(up(row.value, row.digits) == row.up);
  }
  CHECK_THROWS_AS(decimal(Rational(1), Direction::up, 0), std::domain_error);
}

TEST_CASE("a printed enclosure reads back to a superset, no wider than its digits") {
  RandomNumbers random(9);
  for (long i = 0; i < trials(20'000); ++i) {
    const Rational value = exact(random.number()) / (i % 2 ? 1 : static_cast<long>(random.below(1000)) + 1);
    const int digits = static_cast<int>(random.below(20)) + 1;
    const Rational below = parse_rational(decimal(value, Direction::down, digits));
    const Rational above = parse_rational(decimal(value, Direction::up, digits));
    CAPTURE(value);
    CAPTURE(digits);
    CHECK(below <= value);
    CHECK(value <= above);
    CHECK(above - below <= abs(value) * power(Rational(10), 1 - digits));
    CHECK((above == below) == (below == value));
  }
}

TEST_CASE_TEMPLATE("to_string prints the ends, rounded outward", T, Interval, BigInterval) {
  CHECK(to_string(hull(T(0.25), T(0.5))) == "[0.25, 0.5]");
  CHECK(to_string(T::enclosing(Rational(1, 3)), 4) == "[0.3333, 0.3334]");
  CHECK(to_string(T::enclosing(Rational(-1, 3)), 4) == "[-0.3334, -0.3333]");
  CHECK(to_string(T::undecided()) == "undecided");
  RandomNumbers random(10);
  for (long i = 0; i < trials(5'000); ++i) {
    const auto [lower, upper] = random.ends();
    const T x = hull(T(lower), T(upper));
    const std::string text = to_string(x, 1 + static_cast<int>(i % 8));
    const auto comma = text.find(", ");
    CHECK(parse_rational(text.substr(1, comma - 1)) <= exact(lower));
    CHECK(parse_rational(text.substr(comma + 2, text.size() - comma - 3)) >= exact(upper));
  }
}

TEST_CASE("positive part") {
  CHECK(positive_part(Rational(-1, 3)) == 0);
  CHECK(positive_part(Rational(1, 3)) == Rational(1, 3));
  CHECK(positive_part(Interval(-1, 2)) == Interval(0, 2));
  CHECK(positive_part(Interval(-2, -1)) == Interval(0));
  CHECK(positive_part(-1.5) == 0);
  CHECK(std::isnan(positive_part(std::nan(""))));
}
