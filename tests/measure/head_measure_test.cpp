#include "measure/head_measure.hpp"

#include <bit>
#include <cmath>
#include <random>

#include "measure/support.hpp"
#include "numeric/big_interval.hpp"
#include "numeric/enclosure.hpp"

using namespace sinkproof;
using measure::Definitions;
using measure::HeadMeasure;
using numeric::exact;
using numeric::Rational;
using test::causal;
using test::check_cause;
using test::first_and_diagonal;
using test::measured;
using test::Rows;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Rows uniform(int length) {
  return causal(length, [](int i, int) { return 1.0 / i; });
}
Rows identity(int length) {
  return causal(length, [](int i, int k) { return i == k ? 1.0 : 0.0; });
}

}  // namespace

TEST_CASE("uniform causal attention has alpha_1 = H_T/T: above 0.3 up to T = 9, not at T = 10") {
  // H_8/8 = 761/2240 = 0.3397; H_9/9 = 7129/22680 = 0.3143; H_10/10 = 7381/25200 = 0.2929.
  for (const auto& each : {std::pair{8, true}, {9, true}, {10, false}}) {
    const auto [length, sink] = each;
    CAPTURE(each.first);
    const HeadMeasure measure = measured(uniform(length));
    Rational stored = 0, harmonic = 0;
    for (int i = 1; i <= length; ++i) {
      stored += exact(1.0 / i);
      harmonic += Rational(1, i);
    }
    REQUIRE(measure.alpha->exact());
    CHECK(measure.alpha->lower == stored / length);  // of the stored numbers, exactly
    CHECK(abs(measure.alpha->lower - harmonic / length) < Rational(1, 1L << 53));
    CHECK(measure.sink == sink);
    CHECK(measure.strongest_key == 1);
  }
}

TEST_CASE("uniform attention over powers of two, all by hand") {
  // Rows 1; 1/2 1/2; (excluded third row); 1/4 x 4.
  Rows rows = uniform(4);
  rows[2] = {not_a_number, not_a_number, not_a_number, not_a_number};
  const HeadMeasure measure = measured(rows);
  CHECK(measure.queries == 3);
  CHECK(measure.nan_rows == 1);
  CHECK(measure.alpha->lower == Rational(7, 12));       // (1 + 1/2 + 1/4) / 3
  CHECK(measure.second_half->lower == Rational(1, 4));  // i = 3, 4 of which 3 is excluded
  CHECK(measure.first_key->lower == Rational(7, 12));
  CHECK(measure.leak->mean.lower == Rational(5, 8));  // (1/2 + 3/4) / 2
  CHECK(measure.leak->worst.lower == Rational(3, 4));
  CHECK(measure.leak->worst_query == 4);
  CHECK(measure.leak->queries == 2);
  CHECK(measure.keys_above ==
        std::vector<int>{1, 2});  // alpha_2 = (1/2 + 1/4) / 2 = 3/8, alpha_3 = alpha_4 = 1/4
  CHECK(measure.strongest_share->lower <= Rational(7, 12));
  CHECK(measure.strongest_share->upper >= Rational(7, 12));
}

TEST_CASE("an identity head is a sink at its last positions only, and has no first key") {
  const HeadMeasure measure = measured(identity(10));
  CHECK(measure.alpha->lower == Rational(1, 10));
  CHECK_FALSE(measure.sink);
  CHECK(measure.keys_above == std::vector<int>{8, 9, 10});  // 1/3 > 0.3 >= 1/4
  CHECK(measure.strongest_key == 1);                        // all columns sum to 1: the first of equals
  CHECK(measure.strongest_share->lower == Rational(1, 10));
  CHECK(measure.entropy->lower <= 0);
  CHECK(measure.entropy->upper >= 0);
  CHECK(measure.entropy->upper < Rational(1, 1'000'000'000));
  CHECK(measure.leak->worst.lower == 1);
  CHECK(measure.leak->worst_query == 2);
}

TEST_CASE("alpha meant as 0.3 at T = 8: exact for what is stored, and flagged") {
  const auto alpha = [](double weight) { return Rational((1 + 7 * exact(weight)) / 8); };
  // 0.2 in float64 and float32 is more than 1/5, in float16 (0.199951171875) less.
  struct Case {
    double weight, rest;  // both on the grid of one type
    bool sink;
  };
  for (const Case& each :
       {Case{0.2, 0.8, true}, Case{0.2F, 0.8F, true}, Case{0.199951171875, 0.7998046875, false}}) {
    const auto& [weight, rest, sink] = each;
    CAPTURE(each.rest);
    Rows rows = first_and_diagonal(8, [w = weight](int) { return w; });
    for (std::size_t i = 1; i < 8; ++i) rows[i][i] = rest;
    const HeadMeasure measure = measured(rows);
    CHECK(measure.alpha->lower == alpha(weight));
    CHECK(measure.sink == sink);
    CHECK(measure.sink == (alpha(weight) > Rational(3, 10)));
    CHECK(measure.near_epsilon);
  }
  CHECK_FALSE(measured(first_and_diagonal(8, [](int) { return 0.25; })).near_epsilon);
}

TEST_CASE("true ties are no sinks, and 2^-60 beyond one is") {
  // T = 10: (1 + 8/4 + 0) / 10 = 3/10 exactly.
  const auto head = [](double last) {
    return first_and_diagonal(10, [last](int i) { return i == 10 ? last : 0.25; });
  };
  const HeadMeasure tie = measured(head(0));
  CHECK(tie.alpha->lower == Rational(3, 10));
  CHECK_FALSE(tie.sink);
  CHECK(tie.keys_above == std::vector<int>{9, 10});
  CHECK(measured(head(0x1p-60)).sink);  // a sum in doubles cannot tell
  CHECK(measured(head(0), {.epsilon = Rational(29, 100)}).sink);

  // tau likewise.
  CHECK_FALSE(measured(head(0), {.tau = Rational(3, 10)}).dormant);
  CHECK(measured(head(0x1p-60), {.tau = Rational(3, 10)}).dormant);
  CHECK_FALSE(measured(head(0)).dormant);

  // alpha_k for k > 1: key 2 gets 1 (i = 2) and 1/2 (i = 4) from three queries.
  // What the mask let through in query 1 is below the tolerance, and no part of alpha_2.
  const Rows rows{{1, 0x1p-30, 0, 0}, {0, 1, 0, 0}, {1, 0, 0, 0}, {0.5, 0.5, 0, 0}};
  CHECK(measured(rows, {.epsilon = Rational(1, 2)}).keys_above == std::vector<int>{1});
  CHECK(measured(rows, {.epsilon = Rational(499, 1000)}).keys_above == std::vector<int>{1, 2});
}

TEST_CASE("the second half of an odd length begins above T/2") {
  const Rows rows = first_and_diagonal(5, [](int i) { return i == 3 ? 0.5 : i == 4 ? 0.25 : 0.125; });
  CHECK(measured(rows).second_half->lower == Rational(7, 24));  // i = 3, 4, 5
}

TEST_CASE("the strongest of equal columns is found exactly") {
  // Columns 2 and 3 both sum to 1 1/4; then 2^-60 more on the third.
  Rows rows{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0.25, 0.25, 0.5}};
  CHECK(measured(rows).strongest_key == 2);
  rows[3] = {0, 0.25, 0.25 + 0x1p-54, 0.5};
  CHECK(measured(rows).strongest_key == 3);
}

TEST_CASE("entropy encloses the truth") {
  // Row 1: 0; row 2: ln 2; row 3: 1/2 ln 2 + 2 (1/4) ln 4 = 3/2 ln 2. Mean 5/6 ln 2.
  const Rows rows{{1, 0, 0}, {0.5, 0.5, 0}, {0.5, 0.25, 0.25}};
  const auto entropy = measured(rows).entropy;
  const auto truth = log(numeric::BigInterval(2)) * numeric::BigInterval::enclosing(Rational(5, 6));
  CHECK(entropy->lower < lower_end(truth));
  CHECK(upper_end(truth) < entropy->upper);
  CHECK(entropy->upper - entropy->lower < Rational(1, 1'000'000'000'000));

  constexpr std::uint64_t seed = 7;
  CAPTURE(seed);
  std::mt19937_64 bits(seed);
  const Rows wide = causal(
      37, [&](int i, int) { return (1.0 + static_cast<double>(bits() >> 60) / 64) / (i * 1.1171875); });
  numeric::BigInterval sum(0);
  for (const auto& row : wide) {
    for (const double a : row) {
      if (a > 0) sum = sum - numeric::BigInterval(a) * log(numeric::BigInterval(a));
    }
  }
  sum = sum / numeric::BigInterval(37);
  const auto found = measured(wide, {.row_tolerance = 1}).entropy;
  CHECK(found->lower < lower_end(sum));
  CHECK(upper_end(sum) < found->upper);
}

TEST_CASE("ln is within its claimed error") {
  constexpr std::uint64_t seed = 11;
  CAPTURE(seed);
  std::mt19937_64 bits(seed);
  std::vector<double> points{DBL_MIN,
                             DBL_MAX,
                             0.5,
                             0.70710678118654746,
                             0.70710678118654757,
                             1.4142135623730949,
                             1.4142135623730951,
                             std::nextafter(1.0, 0.0),
                             std::nextafter(1.0, 2.0),
                             2,
                             1e-300};
  while (points.size() < 20'000) {
    const double x = std::bit_cast<double>(bits() & 0x7fffffffffffffff);
    if (std::isnormal(x)) points.push_back(x);
    points.push_back(1 - static_cast<double>(bits() >> 11) * 0x1p-53 * 0.9);
  }
  CHECK(measure::log_approximate(1) == 0);
  for (const double x : points) {
    const auto truth = log(numeric::BigInterval(x));
    const Rational error = abs(Rational(exact(measure::log_approximate(x)) - lower_end(truth)));
    const bool within = error <= abs(Rational(lower_end(truth))) * exact(measure::log_relative_error);
    if (!within) CAPTURE(x);
    REQUIRE(within);
  }
}

TEST_CASE("half-precision rows are accepted by the grid of their values, not by the file's type") {
  const auto rows_of = [](double total, double least_bit) {
    // Weights on the grid 2^-12 (float16 below 1/2): they sum to `total`.
    return Rows{{1, 0, 0}, {0.5, 0.5, 0}, {0.25, 0.25, total - 0.5 - least_bit}};
  };
  const HeadMeasure half = measured(rows_of(1 - 0x1p-11, 0));
  CHECK(half.precision == measure::Precision::float16);
  CHECK(half.least_row_sum == 1 - 0x1p-11);  // 0.9995
  CHECK(half.largest_row_sum == 1);
  check_cause(rows_of(1 - 0x1p-11, 0x1p-24), {"beyond rounding", "--row-tolerance"});
  CHECK(measured(rows_of(1 - 0x1p-11, 0x1p-24), {.row_tolerance = Rational(1, 1000)}).queries == 3);
  check_cause(rows_of(1 - 0x1p-8 - 0x1p-12, 0), {"beyond rounding"});
  CHECK(measure::row_tolerance(measure::Precision::float16, 64) < 0.002);
  CHECK(measure::row_tolerance(measure::Precision::float32, 64) < 1e-5);
}

TEST_CASE("each trap is refused with its cause") {
  const Rows good = first_and_diagonal(6, [](int i) { return 1.0 / (1 << (i % 3)); });
  CHECK(measured(good).queries == 6);
  const auto changed = [&](const std::function<double(double, int, int)>& change) {
    return causal(6, [&](int i, int k) {
      return change(good[static_cast<std::size_t>(i - 1)][static_cast<std::size_t>(k - 1)], i, k);
    });
  };
  check_cause(changed([](double a, int, int) { return 2 * a; }), {"rows sum to 2", "2 maps were added"});
  check_cause(changed([](double a, int, int) { return a * 0.4; }),
              {"rows sum to 0.4", "learned sink", "--normaliser none"});
  check_cause(changed([](double a, int i, int k) { return (i + k) % 5 == 0 ? 0 : a / 0.9; }),
              {"1.11", "dropout", "model.eval()"});
  check_cause(changed([](double a, int i, int k) { return i == 3 && k == 2 ? -1.5 : a; }),
              {"-1.5", "logits", "after the softmax"});
  check_cause(changed([](double a, int, int) { return 40 * a + 3; }), {"no softmax weights"});
  check_cause(changed([](double a, int i, int k) { return i == 4 && k == 2 ? not_a_number : a; }),
              {"NaN", "overflowed"});
  check_cause(changed([](double a, int i, int k) { return i == 4 && k == 2 ? -INFINITY : a; }),
              {"infinite", "logits"});

  Rows transposed = good;
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t k = 0; k < 6; ++k) transposed[i][k] = good[k][i];
  }
  check_cause(transposed, {"columns sum to 1", "transposed", "--axes"});
  check_cause(Rows(6, std::vector<double>(6, 1.0 / 6)),
              {"41.7 %", "above the diagonal", "causal mask was lost"});

  // Left padding by 2 as transformers leaves it: padding queries are uniform over everything.
  Rows padded = causal(6, [](int i, int k) { return k < 3 || i < 3 ? 0 : 1.0 / (i - 2); });
  padded[0] = padded[1] = std::vector<double>(6, 1.0 / 6);
  check_cause(padded, {"left padding", "--bos-column auto", "--bos-column 3"});
  CHECK(measure::leading_padding(test::map_of(padded)) == 2);
  CHECK(measured(padded, {}, {3, 6}).alpha->lower == measured(uniform(4)).alpha->lower);
  // A window that begins too late leaves weight before it.
  check_cause(padded, {"before the window", "--bos-column"}, {}, {4, 6});
}

TEST_CASE("fully masked rows are excluded and counted") {
  Rows rows = uniform(4);
  rows[1] = std::vector<double>(4, not_a_number);
  rows[3] = std::vector<double>(4, 0);
  const HeadMeasure measure = measured(rows);
  CHECK(measure.queries == 2);
  CHECK(measure.nan_rows == 1);
  CHECK(measure.zero_rows == 1);
  CHECK(measure.leading_masked == 0);
  CHECK(measure.alpha->lower == (1 + exact(1.0 / 3)) / 2);
  const HeadMeasure none = measured(Rows(3, std::vector<double>(3, not_a_number)));
  CHECK(none.queries == 0);
  CHECK_FALSE(none.alpha);
  CHECK_FALSE(none.leak);
  CHECK_FALSE(none.entropy);
  CHECK(none.strongest_key == 0);
  CHECK(none.leading_masked == 3);
}

TEST_CASE("a map from a cache: the last queries of more keys") {
  // Queries 3 and 4 on 4 keys.
  const Rows rows{{0.5, 0.25, 0.25, 0}, {0.25, 0.25, 0.25, 0.25}};
  const HeadMeasure measure = measured(rows);
  CHECK(measure.length == 4);
  CHECK(measure.alpha->lower == Rational(3, 8));
  CHECK(measure.second_half->lower == Rational(3, 8));
  CHECK(measure.leak->worst_query == 4);
  CHECK(measured(rows, {.queries = {3, 3}}).leak->worst.lower == Rational(1, 2));
  CHECK_FALSE(measured(rows, {.queries = {1, 2}}).leak);
  check_cause({{0.5, 0.25, 0, 0.25}, {0.25, 0.25, 0.25, 0.25}}, {"above the diagonal"});
}

TEST_CASE("without normalisation, Gu et al. divide by the row sum + 1e-8") {
  const Definitions none{.normalised = false};
  const Rows rows{{2, 0, 0}, {0, 0, 0}, {1, 2, 1}};
  const HeadMeasure measure = measured(rows, none);
  const Rational small(1, 100'000'000);
  const Rational alpha = (2 / (2 + small) + 0 + 1 / (4 + small)) / 3;
  CHECK(measure.alpha->lower < alpha);
  CHECK(alpha < measure.alpha->upper);
  CHECK(measure.alpha->upper - measure.alpha->lower < Rational(1, 1'000'000'000'000));
  CHECK(measure.sink);
  CHECK(measure.zero_rows == 1);
  CHECK(measure.queries == 3);
  CHECK(measure.first_key->lower == 1);  // raw weights: (2 + 0 + 1) / 3
  CHECK_FALSE(measure.leak);
  CHECK_FALSE(measure.entropy);
  // At the very tie the quotients are summed exactly.
  CHECK_FALSE(measured(rows, {.epsilon = alpha, .normalised = false}).sink);
  CHECK(measured(rows, {.epsilon = alpha, .normalised = false}).alpha->lower == alpha);
  CHECK(
      measured(rows, {.epsilon = alpha - Rational(1, numeric::Integer(1) << 200), .normalised = false}).sink);
  check_cause({{1, 0}, {-1, 0}}, {"negative"}, none);
  check_cause({{1, 3}, {1, 1}}, {"above the diagonal", "causal mask was lost"}, none);
  check_cause({{1, 3}, {0, 1}}, {"transposed"}, none);
}
