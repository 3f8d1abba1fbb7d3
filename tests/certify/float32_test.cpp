#include "certify/float32.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <doctest/doctest.h>

#include "attention/forward.hpp"
#include "formats/weights_file.hpp"

using namespace sinkproof;
using attention::Normaliser;
using attention::Weights;
using numeric::Interval;
using numeric::Matrix;

namespace {

/// How a float32 program may do things: the order of its sums, fused or not, and its exponential's error.
class Executor {
 public:
  explicit Executor(std::uint64_t seed) : bits_(seed), style_(static_cast<int>(seed % 4)) {}

  /// sum_k a_k b_k: forwards, backwards, fused, or pairwise in random order.
  float dot(std::vector<float> a, std::vector<float> b) {
    const std::size_t count = a.size();
    float sum = 0;
    if (style_ == 0)
      for (std::size_t k = 0; k < count; ++k) sum += a[k] * b[k];
    if (style_ == 1)
      for (std::size_t k = count; k-- > 0;) sum += a[k] * b[k];
    if (style_ == 2)
      for (std::size_t k = 0; k < count; ++k) sum = std::fmaf(a[k], b[k], sum);
    if (style_ == 3) {
      std::vector<float> terms(count);
      for (std::size_t k = 0; k < count; ++k) terms[k] = a[k] * b[k];
      std::shuffle(terms.begin(), terms.end(), bits_);
      for (std::size_t width = 1; width < count; width *= 2)
        for (std::size_t k = 0; k + width < count; k += 2 * width) terms[k] += terms[k + width];
      sum = count > 0 ? terms[0] : 0;
    }
    return sum;
  }

  /// exp(x), off by up to 4 ulp; `pushed` says which way, or at random.
  float exp(float x, int pushed) {
    const double exact = std::exp(static_cast<double>(x));
    auto y = static_cast<float>(exact);
    const int direction = pushed != 0 ? pushed : static_cast<int>(bits_() % 3) - 1;
    const float towards = direction > 0 ? std::numeric_limits<float>::infinity() : 0;
    // The nearest float is off by half an ulp at most: three steps more stay within 4.
    for (int step = 0; direction != 0 && step < 3; ++step) y = std::nextafter(y, towards);
    return y;
  }

  std::vector<std::vector<float>> map(const Eigen::MatrixXd& w, const std::vector<std::vector<float>>& x) {
    std::vector<std::vector<float>> y;
    for (const auto& row : x) {
      std::vector<float>& out = y.emplace_back();
      for (Eigen::Index a = 0; a < w.rows(); ++a) {
        std::vector<float> weights;
        for (Eigen::Index b = 0; b < w.cols(); ++b) weights.push_back(static_cast<float>(w(a, b)));
        out.push_back(dot(weights, row));
      }
    }
    return y;
  }

 private:
  std::mt19937_64 bits_;
  int style_;
};

struct Executed {
  std::vector<Matrix<double>> attention;  // each head, layer by layer
  Matrix<double> output;
};

Executed execute(const Weights& weights, Normaliser normaliser, const Matrix<double>& tokens,
                 std::uint64_t seed, const std::vector<int>& pushed_keys = {}) {
  Executor run(seed);
  const auto length = static_cast<std::size_t>(tokens.rows());
  std::vector<std::vector<float>> x(length);
  for (std::size_t i = 0; i < length; ++i)
    for (Eigen::Index r = 0; r < tokens.cols(); ++r)
      x[i].push_back(static_cast<float>(tokens(static_cast<Eigen::Index>(i), r)));
  Executed result;
  for (const auto& layer : weights.layers) {
    std::vector<std::vector<float>> sum(length, std::vector<float>(x[0].size(), 0.0F));
    for (const auto& head : layer.heads) {
      const auto q = run.map(head.query, x), k = run.map(head.key, x), v = run.map(head.value, x);
      Matrix<double> attention = Matrix<double>::Zero(tokens.rows(), tokens.rows());
      std::vector<std::vector<float>> z(length);
      for (std::size_t i = 0; i < length; ++i) {
        std::vector<float> a;
        for (std::size_t t = 0; t <= i; ++t) a.push_back(run.dot(q[i], k[t]));
        if (normaliser == Normaliser::softmax) {
          const float largest = *std::max_element(a.begin(), a.end());
          for (std::size_t t = 0; t <= i; ++t)
            a[t] = run.exp(a[t] - largest, t < pushed_keys.size() ? pushed_keys[t] : 0);
          const float total = run.dot(a, std::vector<float>(a.size(), 1.0F));
          for (float& weight : a) weight /= total;
        } else {
          for (float& weight : a)
            weight = std::max(weight, 0.0F) / static_cast<float>(std::max<std::size_t>(i, 1));
        }
        for (std::size_t t = 0; t <= i; ++t)
          attention(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(t)) = static_cast<double>(a[t]);
        for (std::size_t r = 0; r < v[0].size(); ++r) {
          std::vector<float> column;
          for (std::size_t t = 0; t <= i; ++t) column.push_back(v[t][r]);
          z[i].push_back(run.dot(a, column));
        }
      }
      const auto y = run.map(head.output, z);
      for (std::size_t i = 0; i < length; ++i)
        for (std::size_t r = 0; r < sum[i].size(); ++r) sum[i][r] += y[i][r];
      result.attention.push_back(attention);
    }
    for (std::size_t i = 0; i < length; ++i)
      for (std::size_t r = 0; r < sum[i].size(); ++r)
        x[i][r] = weights.residual ? x[i][r] + sum[i][r] : sum[i][r];
  }
  result.output.resize(tokens.rows(), tokens.cols());
  for (std::size_t i = 0; i < length; ++i)
    for (std::size_t r = 0; r < x[0].size(); ++r)
      result.output(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(r)) =
          static_cast<double>(x[i][r]);
  return result;
}

/// A lower bound of |executed - real|.
double gap(const Interval& real, double executed) {
  return std::max({0.0, (Interval(executed) - real).lower(), (real - Interval(executed)).lower()});
}

/// The largest share of each bound that was seen: (weights, leak, output).
struct Shares {
  double weight = 0, leak = 0, output = 0;
};

void check(const Weights& weights, Normaliser normaliser, const task::Parameters& parameters,
           const certify::Float32Bounds& bounds, const task::Instance<double>& instance, std::uint64_t seed,
           Shares& shares, const std::vector<int>& pushed_keys = {}) {
  const auto model = attention::model_from<Interval>(weights, normaliser);
  const auto real = attention::forward(model, task::tokens(parameters, task::convert<Interval>(instance)));
  const Executed executed =
      execute(weights, normaliser, task::tokens(parameters, instance), seed, pushed_keys);
  std::size_t head = 0;
  for (const auto& layer : real.attention) {
    for (const auto& attention : layer) {
      const auto& bound = bounds.heads[head];
      const Matrix<double>& seen = executed.attention[head++];
      for (Eigen::Index i = 0; i < attention.rows(); ++i) {
        Interval leak(0), executed_leak(0);
        for (Eigen::Index k = 0; k <= i; ++k) {
          REQUIRE(gap(attention(i, k), seen(i, k)) <= bound.attention_weight);
          shares.weight = std::max(shares.weight, gap(attention(i, k), seen(i, k)) / bound.attention_weight);
          if (k > 0) {
            leak += attention(i, k);
            executed_leak += Interval(seen(i, k));
          }
        }
        if (normaliser == Normaliser::relu) continue;
        const double moved = std::max({0.0, (executed_leak - leak).lower(), (leak - executed_leak).lower()});
        REQUIRE(moved <= bound.leak(std::min(leak.upper(), 1.0)));
        REQUIRE(moved <= bound.leak());
        shares.leak = std::max(shares.leak, moved / bound.leak(std::min(leak.upper(), 1.0)));
      }
    }
  }
  for (Eigen::Index k = 0; k < real.output.size(); ++k) {
    const double moved = gap(real.output.data()[k], executed.output.data()[k]);
    REQUIRE(moved <= bounds.output);
    shares.output = std::max(shares.output, moved / bounds.output);
  }
}

/// Contents that are float32 numbers: uniform, or at the corners.
task::Instance<double> float32_instance(const task::Parameters& parameters, std::mt19937_64& bits) {
  auto instance = task::zero_instance<double>(
      parameters, 3 + static_cast<int>(bits() % static_cast<std::uint64_t>(parameters.length() - 2)));
  const bool corner = bits() % 4 == 0;
  for (Eigen::Index i = 1; i < parameters.length(); ++i)
    for (Eigen::Index m = 0; m < parameters.content(); ++m) {
      const double value = static_cast<double>(bits() >> 40) * 0x1p-23 - 1;
      instance.content(i, m) = corner ? (value > 0 ? 1 : -1) : value;
    }
  return instance;
}

attention::HeadWeights zero_head(Eigen::Index d_head, Eigen::Index n) {
  return {.query = Eigen::MatrixXd::Zero(d_head, n),
          .key = Eigen::MatrixXd::Zero(d_head, n),
          .value = Eigen::MatrixXd::Zero(d_head, n),
          .output = Eigen::MatrixXd::Zero(n, d_head)};
}

Weights single(attention::HeadWeights head, int n) {
  return {.layers = {{{std::move(head)}}}, .dimension = n, .residual = false, .scale = {}, .layout = "paper"};
}

}  // namespace

TEST_CASE("trained weights executed in float32 stay within the bounds") {
  const task::Parameters parameters(16, 13);
  for (const char* name : {"softmax_1h1d", "relu_1h1d", "softmax_2h2d", "relu_2h2d"}) {
    CAPTURE(name);
    const auto normaliser = name[0] == 's' ? Normaliser::softmax : Normaliser::relu;
    const Weights weights =
        formats::read_weights(std::string(SINKPROOF_DATA_DIR "/weights/") + name + ".npz");
    const auto bounds = certify::bound_float32(weights, normaliser, parameters);
    REQUIRE(bounds.output < 0.01);
    std::mt19937_64 bits(1);
    Shares shares;
    for (std::uint64_t trial = 0; trial < 100; ++trial)
      check(weights, normaliser, parameters, bounds, float32_instance(parameters, bits), trial, shares);
    CHECK(shares.weight > 0.005);
    CHECK(shares.output > 1e-5);
  }
}

TEST_CASE("the bounds of the reference heads are of use") {
  const task::Parameters parameters(16, 13);
  const auto softmax = certify::bound_float32(
      formats::read_weights(SINKPROOF_DATA_DIR "/weights/softmax_1h1d.npz"), Normaliser::softmax, parameters);
  CHECK(softmax.output < 1e-4);
  CHECK(softmax.heads[0].attention_weight < 2e-5);
  CHECK(softmax.heads[0].leak(2.1e-4) < 2e-8);
  CHECK(softmax.executed_loss(0.02) > 0.02);
  CHECK(softmax.executed_loss(0.02) < 0.0201);
  const auto relu = certify::bound_float32(formats::read_weights(SINKPROOF_DATA_DIR "/weights/relu_1h1d.npz"),
                                           Normaliser::relu, parameters);
  CHECK(relu.output < 1e-4);
  CHECK(relu.heads[0].attention_weight < 4e-5);
  CHECK(relu.heads[0].leak() == HUGE_VAL);
}

// Heads in which one source of error is nearly all there is, so that the bound cannot do without its term.

namespace {

/// Weights w_1..w_count whose float sum, forwards, is rounded up at every step, by nearly half an ulp.
std::vector<double> biased_weights(int count, std::mt19937_64& bits) {
  std::vector<double> weights;
  float sum = 0;
  for (int k = 0; k < count; ++k) {
    float best = 1;
    double most = -1;
    for (int candidate = 0; candidate < 64; ++candidate) {
      const float w = 1 + static_cast<float>(bits() >> 40) * 0x1p-25F;
      const double up = static_cast<double>(sum + w) - (static_cast<double>(sum) + static_cast<double>(w));
      if (up > most) {
        most = up;
        best = w;
      }
    }
    weights.push_back(static_cast<double>(best));
    sum += best;
  }
  return weights;
}

/// Content 1 throughout.
task::Instance<double> ones(const task::Parameters& parameters, int trigger) {
  auto instance = task::zero_instance<double>(parameters, trigger);
  instance.content.bottomRows(parameters.length() - 1).setOnes();
  return instance;
}

/// The largest share of `log_odds` that executed weights of the first head moved by, against the real scores;
/// two divisions and a final rounding are allowed for.
double log_odds_share(const Weights& weights, const task::Parameters& parameters,
                      const task::Instance<double>& instance, const std::vector<int>& pushed = {}) {
  const auto bounds = certify::bound_float32(weights, Normaliser::softmax, parameters);
  const auto model = attention::model_from<Interval>(weights, Normaliser::softmax);
  const auto tokens = task::tokens(parameters, task::convert<Interval>(instance));
  const auto& form = std::get<attention::BilinearScores<Interval>>(model.layers[0].heads[0].attention).matrix;
  const Matrix<Interval> scores = numeric::product<Interval>(numeric::product<Interval>(tokens, form),
                                                             Matrix<Interval>(tokens.transpose()));
  const Executed executed =
      execute(weights, Normaliser::softmax, task::tokens(parameters, instance), 0, pushed);
  double share = 0;
  for (Eigen::Index i = 0; i < tokens.rows(); ++i)
    for (Eigen::Index k = 0; k <= i; ++k)
      for (Eigen::Index l = 0; l <= i; ++l) {
        const double a = executed.attention[0](i, k), b = executed.attention[0](i, l);
        REQUIRE(std::min(a, b) > 0x1p-100);
        const Interval moved = log(Interval(a)) - log(Interval(b)) - (scores(i, k) - scores(i, l));
        REQUIRE(moved.lower() <= bounds.heads[0].log_odds + 0x2.1p-24);
        share = std::max(share, (moved.lower() - 0x2.1p-24) / bounds.heads[0].log_odds);
      }
  return share;
}

}  // namespace

TEST_CASE("the exponential's error alone: equal scores, pushed apart") {
  const task::Parameters parameters(4, 1);
  const Weights weights = single(zero_head(4, 4), 4);
  CHECK(log_odds_share(weights, parameters, ones(parameters, 4), {1, -1, 1, -1}) > 0.3);
}

TEST_CASE("sums that round one way: queries, keys, scores") {
  // Scores of BOS are as large as e^-s allows; those of other keys are 0.
  constexpr int d = 256;
  const task::Parameters parameters(4, d);
  std::mt19937_64 bits(5);
  const std::vector<double> w = biased_weights(d, bits);
  SUBCASE("queries") {
    auto head = zero_head(1, d + 3);
    for (int m = 0; m < d; ++m) head.query(0, 2 + m) = w[static_cast<std::size_t>(m)];
    head.key(0, 0) = 0.125;
    CHECK(log_odds_share(single(head, d + 3), parameters, ones(parameters, 4)) > 0.1);
  }
  SUBCASE("keys") {
    auto head = zero_head(1, d + 3);
    for (int m = 0; m < d; ++m) head.key(0, 2 + m) = w[static_cast<std::size_t>(m)];
    head.query(0, d + 2) = head.query(0, 1) = 0.125;
    CHECK(log_odds_share(single(head, d + 3), parameters, ones(parameters, 4)) > 0.1);
  }
  SUBCASE("scores") {
    auto head = zero_head(d, d + 3);
    for (int m = 0; m < d; ++m) {
      head.query(m, d + 2) = w[static_cast<std::size_t>(m)];
      head.key(m, 0) = 0.125;
    }
    CHECK(log_odds_share(single(head, d + 3), parameters, ones(parameters, 4)) > 0.1);
  }
}

TEST_CASE("sums that round one way: values, outputs") {
  constexpr int d = 256;
  const task::Parameters parameters(4, d);
  std::mt19937_64 bits(6);
  const std::vector<double> w = biased_weights(d, bits);
  auto values = zero_head(1, d + 3), outputs = zero_head(d, d + 3);
  values.output(0, 0) = 1;
  for (int m = 0; m < d; ++m) {
    values.value(0, 2 + m) = w[static_cast<std::size_t>(m)];
    outputs.output(0, m) = w[static_cast<std::size_t>(m)];
    outputs.value(m, 0) = outputs.value(m, 1) = outputs.value(m, d + 2) = 1;
  }
  // ReLU weights of 1: s = 1 for every key but BOS.
  for (auto* head : {&values, &outputs}) {
    for (const int column : {1, d + 2}) {
      head->query(0, column) = 1;
      head->key(0, column) = 1;
    }
    for (const auto normaliser : {Normaliser::softmax, Normaliser::relu}) {
      const Weights weights = single(*head, d + 3);
      const auto bounds = certify::bound_float32(weights, normaliser, parameters);
      Shares shares;
      check(weights, normaliser, parameters, bounds, ones(parameters, 4), 0, shares);
      CHECK(shares.output > 0.1);
    }
  }
}

TEST_CASE("the sum of the exponentials: what is lost beside BOS") {
  // exp(-17.4) is less than half an ulp of 1, and there are 511 of them.
  const task::Parameters parameters(512, 0);
  auto head = zero_head(1, 3);
  head.query.setOnes();
  head.key(0, 1) = head.key(0, 2) = static_cast<double>(-17.4F);
  const Weights weights = single(head, 3);
  const auto bounds = certify::bound_float32(weights, Normaliser::softmax, parameters);
  Shares shares;
  check(weights, Normaliser::softmax, parameters, bounds, task::zero_instance<double>(parameters, 5), 0,
        shares);
  CHECK(shares.weight > 0.1);
}

TEST_CASE("the sum over the keys, and a residual stream of large numbers") {
  const task::Parameters parameters(512, 0);
  auto head = zero_head(1, 3);
  head.query(0, 2) = 1;
  head.key(0, 2) = 1;
  head.value(0, 2) = 1.1F;
  head.output(2, 0) = 1;
  Weights weights = single(head, 3);
  Shares shares;
  check(weights, Normaliser::relu, parameters, certify::bound_float32(weights, Normaliser::relu, parameters),
        task::zero_instance<double>(parameters, 5), 0, shares);
  CHECK(shares.output > 0.005);

  weights.residual = true;
  weights.layers[0].heads[0].value(0, 2) = 0x1.8p-24;
  const task::Parameters short_parameters(4, 0);
  Shares residual;
  check(weights, Normaliser::relu, short_parameters,
        certify::bound_float32(weights, Normaliser::relu, short_parameters),
        task::zero_instance<double>(short_parameters, 4), 0, residual);
  CHECK(residual.output > 0.2);
}

TEST_CASE("underflow: what is lost has absolute size") {
  const task::Parameters parameters(4, 0);
  // Scores 2^-160 become 0, where they should be small weights; then, with weights of 1, so do the values.
  auto scores = zero_head(1, 3), values = zero_head(1, 3);
  scores.query.setConstant(0x1p-80);
  scores.key.setConstant(0x1p-80);
  values.query.setOnes();
  values.key.setOnes();
  for (auto* head : {&scores, &values}) {
    head->value.setConstant(0x1p-80);
    head->output.setConstant(0x1p-80);
    const Weights small = single(*head, 3);
    Shares relu;
    check(small, Normaliser::relu, parameters, certify::bound_float32(small, Normaliser::relu, parameters),
          task::zero_instance<double>(parameters, 4), 0, relu);
    CHECK((head == &scores ? relu.weight : relu.output) > 1e-6);
  }

  // Exponentials e^-100 are subnormal; pushed, they are off by more than their relative error.
  auto sink = zero_head(1, 3);
  sink.query.setOnes();
  sink.key(0, 1) = sink.key(0, 2) = -100;
  Shares softmax;
  const Weights steep = single(sink, 3);
  check(steep, Normaliser::softmax, parameters,
        certify::bound_float32(steep, Normaliser::softmax, parameters),
        task::zero_instance<double>(parameters, 4), 0, softmax, {0, 1, 1, 1});
  CHECK(softmax.leak > 0.05);
}

// Two layers without residual: the second sees the first one's error in coordinate B, and a 1 in coordinate
// T.
TEST_CASE("what a later layer inherits") {
  constexpr int d = 256, n = d + 3;
  const task::Parameters parameters(4, d);
  std::mt19937_64 bits(8);
  const std::vector<double> w = biased_weights(d, bits);
  // The first layer sums the contents, rounding up; every token attends to all (softmax) or to all but BOS.
  auto first = zero_head(2, n);
  for (int m = 0; m < d; ++m) first.value(0, 2 + m) = w[static_cast<std::size_t>(m)];
  first.value(1, 0) = first.value(1, 1) = first.value(1, n - 1) = 1;
  first.output(0, 0) = 0x1p-5;
  first.output(1, 1) = 1;
  for (int part = 0; part < 3; ++part) {
    CAPTURE(part);
    auto second = zero_head(1, n);
    second.query(0, part == 0 ? 0 : 1) = 1;  // 0: the error comes in by the query
    second.key(0, part == 1 ? 0 : 1) = 1;    // 1: by the key
    second.value(0, part == 2 ? 0 : 1) = 1;  // 2: by the value
    second.output(0, 0) = 1;
    for (const auto normaliser : {Normaliser::softmax, Normaliser::relu}) {
      Weights weights{.layers = {{{first}}, {{second}}},
                      .dimension = n,
                      .residual = false,
                      .scale = {},
                      .layout = "paper"};
      if (normaliser == Normaliser::relu)
        for (const int column : {1, n - 1}) {
          weights.layers[0].heads[0].query(0, column) = 1;
          weights.layers[0].heads[0].key(0, column) = 1;
        }
      // Scores 0 have no error of their own.
      if (normaliser == Normaliser::softmax && part == 2) weights.layers[1].heads[0].query.setZero();
      const auto bounds = certify::bound_float32(weights, normaliser, parameters);
      Shares shares;
      check(weights, normaliser, parameters, bounds, ones(parameters, 4), 0, shares);
      // Softmax sees the same score at every key: errors in queries and keys cancel.
      if (normaliser == Normaliser::relu || part == 2) CHECK(shares.output > 0.1);
    }
  }
}

TEST_CASE("a silent layer takes nothing away from the error of a residual stream") {
  std::mt19937_64 bits(9);
  const task::Parameters parameters(6, 2);
  auto head = zero_head(3, 5);
  for (Eigen::MatrixXd* w : {&head.query, &head.key, &head.value, &head.output})
    *w = w->unaryExpr([&](double) { return static_cast<double>(bits() >> 40) * 0x1p-23 - 1; });
  Weights weights = single(head, 5);
  weights.residual = true;
  for (const auto normaliser : {Normaliser::softmax, Normaliser::relu}) {
    Weights longer = weights;
    longer.layers.push_back({{zero_head(3, 5)}});
    const double alone = certify::bound_float32(weights, normaliser, parameters).output;
    CHECK(alone > 0);
    CHECK(certify::bound_float32(longer, normaliser, parameters).output >= alone);
  }
}

TEST_CASE("what cannot be bounded is undecided, quickly") {
  const task::Parameters parameters(8, 1);
  const auto undecided = [&](double value, Normaliser normaliser) {
    auto head = zero_head(4, 4);
    head.query.setConstant(value);
    head.key.setConstant(value);
    head.value.setConstant(1);
    head.output.setConstant(1);
    const auto bounds = certify::bound_float32(single(head, 4), normaliser, parameters);
    return bounds.output == HUGE_VAL && bounds.heads[0].attention_weight == HUGE_VAL &&
           bounds.heads[0].leak() == HUGE_VAL;
  };
  for (const auto normaliser : {Normaliser::softmax, Normaliser::relu}) {
    CHECK(undecided(std::numeric_limits<double>::quiet_NaN(), normaliser));
    CHECK(undecided(HUGE_VAL, normaliser));
    CHECK(undecided(0x1p100, normaliser));  // q.k overflows float32
    CHECK(undecided(0.1, normaliser));      // not a float32 number
    CHECK(undecided(static_cast<double>(FLT_MAX), normaliser));
  }
  auto head = zero_head(4, 4);
  const auto long_sums =
      certify::bound_float32(single(head, 4), Normaliser::softmax, task::Parameters(1L << 20, 1));
  CHECK(long_sums.heads[0].attention_weight < 0.2);
  CHECK(long_sums.heads[0].attention_weight > 0.1);  // gamma_2L
}

TEST_CASE("a score scale") {
  std::mt19937_64 bits(4);
  const task::Parameters parameters(6, 2);
  auto head = zero_head(3, 5);
  for (Eigen::MatrixXd* w : {&head.query, &head.key, &head.value, &head.output})
    *w = w->unaryExpr([&](double) { return static_cast<double>(bits() >> 40) * 0x1p-21 - 4; });
  Weights weights = single(head, 5);
  weights.scale.inverse_sqrt_head_dimension = true;
  const auto scaled = certify::bound_float32(weights, Normaliser::softmax, parameters);
  weights.scale = {};
  const auto plain = certify::bound_float32(weights, Normaliser::softmax, parameters);
  CHECK(scaled.heads[0].attention_weight < plain.heads[0].attention_weight);
  CHECK(scaled.heads[0].attention_weight > 0.57 * plain.heads[0].attention_weight);
}
