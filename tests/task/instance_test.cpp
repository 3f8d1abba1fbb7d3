#include "task/instance.hpp"

#include <string>

#include <doctest/doctest.h>

#include "errors.hpp"
#include "numeric/enclosure.hpp"

using namespace sinkproof;
using namespace sinkproof::task;
using numeric::Rational;

namespace {

/// L = 5, d = 2, j = 4, contents k/10 and -k/7.
Instance<Rational> example(const Parameters& parameters) {
  auto instance = zero_instance<Rational>(parameters, 4);
  for (int k = 2; k <= 5; ++k) {
    instance.content(k - 1, 0) = Rational(k, 10);
    instance.content(k - 1, 1) = Rational(-k, 7);
  }
  return instance;
}

std::string refusal(const std::string& text) {
  try {
    parse_instance(text, "w.txt");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("parameters outside the task are refused") {
  CHECK_NOTHROW(Parameters(4, 0));
  CHECK_THROWS_AS(Parameters(3, 0), InputError);
  CHECK_THROWS_AS(Parameters(4, -1), InputError);
  CHECK_THROWS_AS(Parameters(1L << 40, 0), InputError);
  CHECK(Parameters(16, 13).dimension() == 16);
}

TEST_CASE("tokens and targets as section 0 defines them") {
  const Parameters parameters(5, 2);
  const auto instance = example(parameters);
  const auto x = tokens(parameters, instance);
  REQUIRE(x.rows() == 5);
  REQUIRE(x.cols() == 5);
  // BOS has no content, the trigger no N, the others no T.
  const Rational row[5][5] = {{1, 0, 0, 0, 0},
                              {0, 0, Rational(1, 5), Rational(-2, 7), 1},
                              {0, 0, Rational(3, 10), Rational(-3, 7), 1},
                              {0, 1, Rational(2, 5), Rational(-4, 7), 0},
                              {0, 0, Rational(1, 2), Rational(-5, 7), 1}};
  for (int i = 0; i < 5; ++i) {
    for (int r = 0; r < 5; ++r) CHECK(x(i, r) == row[i][r]);
  }
  const auto y = target(parameters, instance);
  const Rational mean[5] = {0, Rational(1, 3), Rational(3, 10), Rational(-3, 7), Rational(2, 3)};
  for (int i = 0; i < 5; ++i) {
    for (int r = 0; r < 5; ++r) CHECK(y(i, r) == (i == 3 ? mean[r] : Rational(0)));
  }
  CHECK(residual_target(parameters, instance)(3, 4) == Rational(2, 3));
  CHECK(residual_target(parameters, instance)(4, 4) == 1);
}

TEST_CASE("the enclosed target contains the exact one") {
  const Parameters parameters(16, 13);
  auto instance = zero_instance<double>(parameters, 16);
  instance.content.setConstant(0.1);
  const auto exact = target(parameters, convert<Rational>(instance));
  const auto enclosed = target(parameters, convert<numeric::Interval>(instance));
  for (int r = 0; r < 16; ++r) CHECK(contains(enclosed(15, r), exact(15, r)));
}

TEST_CASE("the text form reads back, and is what it says") {
  const Parameters parameters(5, 2);
  const std::string text = to_text(parameters, example(parameters));
  CHECK(text ==
        "sinkproof-instance 1\nlength 5 content 2 trigger 4\n2: 1/5 -2/7\n3: 3/10 -3/7\n4: 2/5 -4/7\n5: 1/2 "
        "-5/7\n");
  const auto parsed = parse_instance(text, "w.txt");
  CHECK(parsed.parameters == parameters);
  CHECK(parsed.instance.trigger == 4);
  CHECK(parsed.instance.content == example(parameters).content);

  const Parameters bare(4, 0);
  CHECK(parse_instance(to_text(bare, zero_instance<Rational>(bare, 3)), "w.txt").instance.trigger == 3);
}

TEST_CASE("a damaged text form names the line and the mend") {
  const std::string head = "sinkproof-instance 1\nlength 4 content 1 trigger 3\n";
  CHECK(refusal(head + "2: 0\n3: 1\n4: -1\n") == "accepted");
  CHECK(refusal("") == "w.txt: line 1: not an instance file: its first line must be 'sinkproof-instance 1'");
  CHECK(refusal("sinkproof-instance 1\n") == "w.txt: line 2: must read 'length L content d trigger j'");
  CHECK(refusal("sinkproof-instance 1\nlength 4 content 1 trigger 2\n2: 0\n3: 0\n4: 0\n") ==
        "w.txt: line 2: trigger 2 must be between 3 and the length");
  CHECK(refusal("sinkproof-instance 1\nlength 900000 content 900000 trigger 3\n").find("too short") !=
        std::string::npos);
  CHECK(refusal(head + "2: 0\n4: 1\n") == "w.txt: line 4: must begin with '3:'");
  CHECK(refusal(head + "2: 0\n3:\n4: 1\n") == "w.txt: line 4: has 0 of 1 coordinates");
  CHECK(refusal(head + "2: 0 0\n3: 0\n4: 1\n") == "w.txt: line 3: has more than 1 coordinates");
  CHECK(refusal(head + "2: 0\n3: 1.5\n4: 1\n") == "w.txt: line 4: 1.5 lies outside the content box [-1, 1]");
  CHECK(refusal(head + "2: 0\n3: nan\n4: 1\n").find("w.txt: line 4: 'nan' is not an exact number") == 0);
  CHECK(refusal(head + "2: 0\n3: 1\n") == "w.txt: line 5: must begin with '4:'");
  CHECK(refusal(head + "2: 0\n3: 1\n4: 1\n5: 1\n") == "w.txt: more lines than positions");
}
