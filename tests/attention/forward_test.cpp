#include "attention/forward.hpp"

#include <cmath>
#include <random>

#include <doctest/doctest.h>

#include "attention/normalise.hpp"
#include "attention/weights.hpp"
#include "errors.hpp"
#include "numeric/enclosure.hpp"
#include "task/instance.hpp"

using namespace sinkproof;
using namespace sinkproof::attention;
using numeric::BigInterval;
using numeric::Interval;
using numeric::Matrix;
using numeric::Rational;

namespace {

/// One row of weights from scores, through a head whose normaliser is given.
template <class T>
std::vector<T> row(const std::vector<T>& scores, Normaliser normaliser, std::optional<Rational> base = {},
                   T sink_weight = T(0)) {
  const BilinearScores<T> head{
      .matrix = {}, .normaliser = normaliser, .base = base, .sink_weight = sink_weight};
  std::vector<T> weights(scores.size());
  normalise<T>(head, scores, weights);
  return weights;
}

template <class T>
Matrix<T> matrix(std::initializer_list<std::initializer_list<T>> rows) {
  return Matrix<T>(rows);
}

/// Random weights of one head or stack: entries of the given size, every one an exact double.
Weights random_weights(std::mt19937_64& bits, int dimension, int layers, int heads, double size) {
  const auto entry = [&] { return size * (static_cast<double>(bits() >> 11) * 0x1p-52 - 1); };
  Weights weights{
      .layers = {}, .dimension = dimension, .residual = layers > 1, .scale = {}, .layout = "paper"};
  for (int l = 0; l < layers; ++l) {
    auto& layer = weights.layers.emplace_back();
    for (int h = 0; h < heads; ++h) {
      HeadWeights head;
      for (Eigen::MatrixXd* w : {&head.query, &head.key, &head.value, &head.output}) {
        *w = Eigen::MatrixXd::NullaryExpr(dimension, dimension, entry);
      }
      layer.heads.push_back(head);
    }
  }
  return weights;
}

}  // namespace

TEST_CASE("exact softmax in base q") {
  const auto weights = row<Rational>({2, 0, -1}, Normaliser::softmax, Rational(3));
  CHECK(weights[0] == Rational(27, 31));
  CHECK(weights[1] == Rational(3, 31));
  CHECK(weights[2] == Rational(1, 31));
  const auto off_by_one = row<Rational>({2, 0, -1}, Normaliser::softmax_off_by_one, Rational(3));
  CHECK(off_by_one[0] == Rational(27, 34));
  const auto sink = row<Rational>({2, 0, -1}, Normaliser::sink_logit, Rational(3), Rational(5, 3));
  CHECK(sink[2] == Rational(1, 36));
}

TEST_CASE("exact softmax refuses what it cannot represent") {
  CHECK_THROWS_AS(row<Rational>({1, 0}, Normaliser::softmax), InputError);
  CHECK_THROWS_AS(row<Rational>({Rational(1, 2), 0}, Normaliser::softmax, Rational(3)), InputError);
  CHECK_THROWS_AS(row<Rational>({Rational(1L << 40), 0}, Normaliser::softmax, Rational(3)), InputError);
}

TEST_CASE("ReLU attention has a fixed length factor") {
  const auto weights = row<Rational>({2, -5, Rational(1, 3), 0}, Normaliser::relu);
  CHECK(weights[0] == Rational(2, 3));
  CHECK(weights[1] == 0);
  CHECK(weights[2] == Rational(1, 9));
  CHECK(weights[3] == 0);
  CHECK(row<Rational>({7}, Normaliser::relu)[0] == 7);  // i = 1: factor max(0, 1)
}

TEST_CASE_TEMPLATE("enclosures contain the exact softmax, in every normaliser", T, Interval, BigInterval) {
  for (const auto normaliser :
       {Normaliser::softmax, Normaliser::softmax_off_by_one, Normaliser::sink_logit, Normaliser::relu}) {
    const std::vector<Rational> scores{3, 0, -2, 1, 3};
    std::vector<T> enclosed;
    for (const auto& s : scores) enclosed.push_back(T::enclosing(s));
    const auto exact = row<Rational>(scores, normaliser, Rational(7, 2), Rational(9, 4));
    const auto weights = row<T>(enclosed, normaliser, Rational(7, 2), T::enclosing(Rational(9, 4)));
    for (std::size_t k = 0; k < scores.size(); ++k) {
      CAPTURE(k);
      CHECK(contains(weights[k], exact[k]));
      CHECK(upper_end(weights[k]) - lower_end(weights[k]) < Rational(1, 100'000'000'000'000));
    }
  }
}

TEST_CASE_TEMPLATE("logits of 800 and -800 are ordinary input", T, Interval, BigInterval) {
  const auto weights = row<T>({T(800), T(-800), T(800), T(799)}, Normaliser::softmax);
  // 1/(2 + 1/e) = 0.42231879825...
  CHECK(at_least(weights[0], Rational("422318798/1000000000")) == numeric::Verdict::proved);
  CHECK(at_most(weights[0], Rational("422318799/1000000000")) == numeric::Verdict::proved);
  CHECK(at_most(weights[1], numeric::power(Rational(10), -300)) == numeric::Verdict::proved);
  CHECK(at_least(weights[1], Rational(0)) == numeric::Verdict::proved);
  const auto sink = row<T>({T(-800), T(-800)}, Normaliser::softmax_off_by_one);
  CHECK(at_most(sink[0], numeric::power(Rational(10), -300)) == numeric::Verdict::proved);
  const auto small = row<T>({T(-800), T(-800)}, Normaliser::softmax);
  CHECK(contains(small[0], Rational(1, 2)));
}

TEST_CASE("thick scores give the exact range of the weight, and stay in [0, 1]") {
  // s_1 in [-1, 1], s_2 = 0: a_1 ranges over [1/(1+e), e/(1+e)] = [0.26894..., 0.73105...].
  const auto weights = row<Interval>({Interval(-1, 1), Interval(0)}, Normaliser::softmax);
  CHECK(weights[0].lower() > 0.2689414);
  CHECK(weights[0].lower() < 0.2689415);
  CHECK(weights[0].upper() > 0.7310585);
  CHECK(weights[0].upper() < 0.7310586);
  const auto wide = row<Interval>({Interval(-1e6, 1e6), Interval(0)}, Normaliser::softmax);
  CHECK(wide[0].lower() == 0);
  CHECK(wide[0].upper() == 1);
}

TEST_CASE("what cannot be enclosed is undecided, never a number") {
  const auto weights = row<Interval>({Interval::undecided(), Interval(0)}, Normaliser::softmax);
  CHECK(weights[0].is_undecided());
  CHECK(weights[1].is_undecided());
  CHECK(row<Interval>({Interval::undecided(), Interval(0)}, Normaliser::relu)[0].is_undecided());
  std::mt19937_64 bits(5);
  Weights weights_with_overflow = random_weights(bits, 4, 1, 1, 1e200);
  const auto model = model_from<Interval>(weights_with_overflow, Normaliser::softmax);
  const task::Parameters parameters(4, 1);
  const auto trace = forward(model, task::tokens(parameters, task::zero_instance<Interval>(parameters, 3)));
  CHECK(trace.output(3, 0).is_undecided());
}

TEST_CASE("shapes that disagree are refused") {
  const auto model =
      single_head<double>({.attention = BilinearScores<double>{.matrix = Matrix<double>::Zero(3, 3)},
                           .value = Matrix<double>::Zero(4, 4)});
  CHECK_THROWS_AS(forward<double>(model, Matrix<double>::Zero(5, 4)), std::invalid_argument);
  const auto given = single_head<double>(
      {.attention = GivenAttention<double>{Matrix<double>::Zero(4, 4)}, .value = Matrix<double>::Zero(4, 4)});
  CHECK_THROWS_AS(forward<double>(given, Matrix<double>::Zero(5, 4)), std::invalid_argument);
}

TEST_CASE("by hand: one head, given attention, two layers with residual, gate and clip") {
  // x = (1, 0), (0, 1); attention ((1, 0), (1/4, 3/4)); V swaps the coordinates.
  const auto x = matrix<Rational>({{1, 0}, {0, 1}});
  const Head<Rational> head{
      .attention = GivenAttention<Rational>{matrix<Rational>({{1, 0}, {Rational(1, 4), Rational(3, 4)}})},
      .value = matrix<Rational>({{0, 1}, {1, 0}})};
  const auto once = forward(single_head(head), x).output;
  CHECK(once == matrix<Rational>({{0, 1}, {Rational(3, 4), Rational(1, 4)}}));

  Model<Rational> stack{.layers = {{{head}}, {{head}}}, .residual = true};
  // h1 = x + once = (1, 1), (3/4, 5/4); layer 2 adds (1, 1) and 1/4 (1, 1) + 3/4 (5/4, 3/4) = (19/16, 13/16).
  CHECK(forward(stack, x).output == matrix<Rational>({{2, 2}, {Rational(31, 16), Rational(33, 16)}}));

  Model<Rational> twice = single_head(head);
  twice.layers[0].heads.push_back(head);
  CHECK(forward(twice, x).output == once + once);

  Model<Rational> gated = single_head(head);
  gated.layers[0].heads[0].gate =
      OutputGate<Rational>{.direction = numeric::Vector<Rational>{{2, -1}}, .base = Rational(3)};
  // gates 9/10 and 1/4.
  CHECK(forward(gated, x).output ==
        matrix<Rational>({{0, Rational(9, 10)}, {Rational(3, 16), Rational(1, 16)}}));

  Model<Rational> clipped = single_head(head);
  clipped.read_out = ClipReadOut<Rational>{.slope = Rational(2), .coordinate = 1};
  CHECK(forward(clipped, x).output == matrix<Rational>({{0, 1}, {Rational(1, 2), Rational(1, 4)}}));
}

TEST_CASE("double, Interval and BigInterval agree on random stacks, softmax and ReLU") {
  std::mt19937_64 bits(20261130);
  const task::Parameters parameters(7, 3);
  for (int trial = 0; trial < 20; ++trial) {
    CAPTURE(trial);
    const int layers = 1 + trial % 3;
    const double width = std::pow(100.0, layers) * 1e-14;  // widths grow with depth
    const auto weights = random_weights(bits, parameters.dimension(), layers, 1 + trial % 2, 0.7);
    auto instance = task::zero_instance<double>(parameters, 3 + trial % 5);
    for (int i = 1; i < 7; ++i) {
      for (int m = 0; m < 3; ++m) instance.content(i, m) = static_cast<double>(bits() >> 11) * 0x1p-52 - 1;
    }
    for (const auto normaliser : {Normaliser::softmax, Normaliser::relu}) {
      const auto fast = forward(model_from<double>(weights, normaliser), task::tokens(parameters, instance));
      const auto thin = forward(model_from<Interval>(weights, normaliser),
                                task::tokens(parameters, task::convert<Interval>(instance)));
      const numeric::BigPrecision precision(60);
      const auto fine = forward(model_from<BigInterval>(weights, normaliser),
                                task::tokens(parameters, task::convert<BigInterval>(instance)));
      for (int i = 0; i < 7; ++i) {
        for (int r = 0; r < parameters.dimension(); ++r) {
          // The fine enclosure is 40 digits thin, so the double one must contain it whole.
          REQUIRE(contains(thin.output(i, r), lower_end(fine.output(i, r))));
          REQUIRE(contains(thin.output(i, r), upper_end(fine.output(i, r))));
          REQUIRE(thin.output(i, r).upper() - thin.output(i, r).lower() < width);
          REQUIRE(std::abs(fast.output(i, r) - thin.output(i, r).lower()) < width);
        }
      }
    }
  }
}

TEST_CASE("exact ReLU forward is contained in the enclosed one") {
  std::mt19937_64 bits(99);
  const task::Parameters parameters(6, 2);
  const auto weights = random_weights(bits, 5, 2, 2, 0.9);
  auto instance = task::zero_instance<double>(parameters, 4);
  for (int i = 1; i < 6; ++i) {
    for (int m = 0; m < 2; ++m) instance.content(i, m) = (bits() & 1) ? 1 : -1;
  }
  const auto exact = forward(model_from<Rational>(weights, Normaliser::relu),
                             task::tokens(parameters, task::convert<Rational>(instance)));
  const auto enclosed = forward(model_from<Interval>(weights, Normaliser::relu),
                                task::tokens(parameters, task::convert<Interval>(instance)));
  for (int i = 0; i < 6; ++i) {
    for (int r = 0; r < 5; ++r) CHECK(contains(enclosed.output(i, r), exact.output(i, r)));
  }
}

TEST_CASE("the score scale") {
  std::mt19937_64 bits(3);
  Weights weights = random_weights(bits, 4, 1, 1, 1);
  const auto plain = std::get<BilinearScores<Rational>>(
      model_from<Rational>(weights, Normaliser::softmax).layers[0].heads[0].attention);
  weights.scale.inverse_sqrt_head_dimension = true;
  const auto scaled = std::get<BilinearScores<Rational>>(
      model_from<Rational>(weights, Normaliser::softmax).layers[0].heads[0].attention);
  CHECK(scaled.matrix(1, 2) == plain.matrix(1, 2) / 2);
  weights.layers[0].heads[0].query.conservativeResize(3, 4);
  weights.layers[0].heads[0].key.conservativeResize(3, 4);
  weights.layers[0].heads[0].value.conservativeResize(3, 4);
  weights.layers[0].heads[0].output.conservativeResize(4, 3);
  CHECK_THROWS_AS(model_from<Rational>(weights, Normaliser::softmax), InputError);
  CHECK_NOTHROW(model_from<Interval>(weights, Normaliser::softmax));
}
