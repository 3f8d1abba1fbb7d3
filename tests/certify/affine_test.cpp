#include "certify/affine.hpp"

#include <cfenv>
#include <random>

#include <doctest/doctest.h>

#include "attention/forward.hpp"
#include "certify/affine_layer.hpp"
#include "certify/affine_softmax.hpp"
#include "numeric/big_interval.hpp"
#include "numeric/enclosure.hpp"

using namespace sinkproof;
using certify::AffineForms;
using numeric::Interval;
using numeric::Matrix;
using numeric::Rational;

namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : bits_(seed) {}
  double uniform() { return static_cast<double>(bits_() >> 11) * 0x1p-52 - 1; }
  int index(int count) { return static_cast<int>(bits_() % static_cast<std::uint64_t>(count)); }

  AffineForms forms(int count, int symbols, double size, double error) {
    AffineForms x(count, symbols);
    // Of many magnitudes: on a common grid of doubles, sums would be exact.
    for (double& term : x.terms.reshaped()) term = std::ldexp(size * uniform(), -index(20));
    for (double& e : x.error) e = error * std::fabs(uniform());
    return x;
  }
  /// A choice of the symbols: corners mostly.
  std::vector<Rational> symbols(Eigen::Index count) {
    std::vector<Rational> e;
    for (Eigen::Index s = 0; s < count; ++s)
      e.emplace_back(index(4) == 0 ? uniform() : index(2) == 0 ? -1 : 1);
    return e;
  }
  /// True values that the forms enclose at these symbols.
  std::vector<Rational> values(const AffineForms& x, const std::vector<Rational>& symbols) {
    std::vector<Rational> v;
    for (Eigen::Index a = 0; a < x.size(); ++a) {
      Rational own = index(2) == 0 ? -1 : 1;
      own *= numeric::exact(x.error[a]);
      v.push_back(linear_part(x, a, symbols) + own);
    }
    return v;
  }
  static Rational linear_part(const AffineForms& x, Eigen::Index a, const std::vector<Rational>& symbols) {
    Rational sum = numeric::exact(x.terms(a, 0));
    for (Eigen::Index s = 0; s < x.symbols(); ++s)
      sum += numeric::exact(x.terms(a, 1 + s)) * symbols[static_cast<std::size_t>(s)];
    return sum;
  }

 private:
  std::mt19937_64 bits_;
};

/// The definition of "encloses" for a form.
bool encloses(const AffineForms& x, Eigen::Index a, const std::vector<Rational>& symbols,
              const Rational& value) {
  return abs(value - Random::linear_part(x, a, symbols)) <= numeric::exact(x.error[a]) &&
         contains(x.range(a), value);
}

constexpr int modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};

struct RoundingMode {
  explicit RoundingMode(int mode) { std::fesetround(mode); }
  ~RoundingMode() { std::fesetround(FE_TONEAREST); }
};

}  // namespace

TEST_CASE("linear maps, sums, differences and shifts enclose the exact results in every rounding mode") {
  Random random(11);
  for (int trial = 0; trial < 400; ++trial) {
    CAPTURE(trial);
    const int symbols = 1 + random.index(4), count = 1 + random.index(4);
    // Without errors of their own, only rounding is left to be covered.
    const double error = trial % 2 == 0 ? 0 : 0.125;
    const AffineForms x = random.forms(count, symbols, 1, error);
    AffineForms y = random.forms(count, symbols, 1, error);
    // A product with constants has rounding errors only.
    if (trial % 6 == 0) y.terms.rightCols(symbols).setZero();
    const double by = random.uniform();
    Matrix<Interval> map(2, count);
    for (Interval& entry : map.reshaped()) {
      const double lower = random.uniform();
      entry = Interval(lower, trial % 3 == 0 ? lower + 0.25 * std::fabs(random.uniform()) : lower);
    }
    AffineForms mapped, minus, sum, product(1, symbols), shifted = x;
    {
      const RoundingMode mode(modes[trial % 4]);
      mapped = linear(certify::MidRadMatrix(map), x);
      minus = difference(x, y);
      sum = x;
      add(sum, y);
      dot(certify::Factor(x), certify::Factor(y), count, product, 0);
      certify::shift(shifted, 0, by);
    }
    for (int corner = 0; corner < 16; ++corner) {
      const auto e = random.symbols(symbols);
      const auto u = random.values(x, e), v = random.values(y, e);
      Rational inner = 0;
      for (std::size_t a = 0; a < u.size(); ++a) {
        const auto row = static_cast<Eigen::Index>(a);
        REQUIRE(encloses(x, row, e, u[a]));
        REQUIRE(encloses(minus, row, e, u[a] - v[a]));
        REQUIRE(encloses(sum, row, e, u[a] + v[a]));
        inner += u[a] * v[a];
        REQUIRE(numeric::exact(x.magnitude()[row]) >= abs(u[a]));
        REQUIRE(numeric::exact(x.radius()[row]) >= abs(u[a] - numeric::exact(x.terms(row, 0))));
      }
      REQUIRE(encloses(product, 0, e, inner));
      REQUIRE(encloses(shifted, 0, e, u[0] + numeric::exact(by)));
      for (int p = 0; p < 2; ++p) {
        Rational image = 0;
        for (int a = 0; a < count; ++a)
          image += (random.index(2) == 0 ? lower_end(map(p, a)) : upper_end(map(p, a))) *
                   u[static_cast<std::size_t>(a)];
        REQUIRE(encloses(mapped, p, e, image));
      }
    }
  }
}

TEST_CASE("differences cancel what is shared") {
  Random random(12);
  const AffineForms x = random.forms(2, 5, 1, 0);
  CHECK(difference(x, x).range(0).upper() < 1e-14);
}

TEST_CASE("overflow and NaN are undecided in every rounding mode") {
  for (const int kind : modes) {
    const RoundingMode mode(kind);
    AffineForms x(2, 1);
    x.terms << 1e200, 1, 1, 0x1p260;
    for (Eigen::Index a = 0; a < 2; ++a) {
      AffineForms product(1, 1);
      dot(certify::Factor(x), certify::Factor(x), 2, product, 0);
      CHECK(product.range(0).is_undecided());
    }
    const AffineForms mapped = linear(
        certify::MidRadMatrix(Matrix<Interval>::Constant(1, 2, Interval::undecided())), AffineForms(2, 1));
    CHECK(mapped.range(0).is_undecided());
    // Rounded towards zero, this sum stops at the largest double.
    AffineForms wide(1, 2);
    wide.terms << 0, 1.5e308, 1.5e308;
    CHECK(wide.range(0).is_undecided());
    CHECK(difference(wide, wide).range(0).is_undecided());
    x.terms(0, 1) = std::numeric_limits<double>::quiet_NaN();
    CHECK(x.range(0).is_undecided());
    CHECK(difference(x, x).range(0).is_undecided());
    AffineForms unknown(1, 1);
    unknown.error[0] = HUGE_VAL;
    certify::shift(unknown, 0, 1);
    CHECK(unknown.range(0).is_undecided());
  }
}

TEST_CASE("layers: weights and outputs at any choice of the symbols lie in the forms") {
  Random random(13);
  for (int trial = 0; trial < 300; ++trial) {
    CAPTURE(trial);
    constexpr int length = 4, n = 3, symbols = 4;
    // From gentle to sharp scores; wide and narrow streams; equal tokens; values without spread.
    const double score_size = trial % 5 == 0 ? 8 : 1, width = trial % 3 == 0 ? 8 : 1;
    certify::AffineStream stream;
    for (int i = 0; i < length; ++i) {
      AffineForms x = random.forms(n, symbols, width, 0);
      for (int a = 0; a < n; ++a) x.terms(a, 0) = random.uniform();
      stream.push_back(trial % 7 == 0 && i > 0 ? stream[0] : x);
    }
    attention::Layer<Interval> layer;
    const auto normaliser = trial % 2 == 0 ? attention::Normaliser::softmax : attention::Normaliser::relu;
    for (int h = 0; h < 2; ++h) {
      Matrix<Interval> form(n, n), value(n, n);
      for (Interval& entry : form.reshaped()) entry = Interval(score_size * random.uniform());
      for (Interval& entry : value.reshaped()) entry = Interval(trial % 11 == 0 ? 0.5 : random.uniform());
      layer.heads.push_back(
          {.attention = attention::BilinearScores<Interval>{.matrix = form, .normaliser = normaliser},
           .value = value});
    }
    std::vector<Matrix<Interval>> weights(2,
                                          Matrix<Interval>::Constant(length, length, Interval::undecided()));
    certify::AffineStream output = affine_layer(layer, trial % 4 < 2, stream, weights);
    for (int corner = 0; corner < 30; ++corner) {
      const auto e = random.symbols(symbols);
      Matrix<Interval> x(length, n);
      for (int i = 0; i < length; ++i)
        for (int a = 0; a < n; ++a)
          x(i, a) = Interval::enclosing(Random::linear_part(stream[static_cast<std::size_t>(i)], a, e));
      const auto trace =
          attention::forward(attention::Model<Interval>{.layers = {layer}, .residual = trial % 4 < 2}, x);
      for (int i = 0; i < length; ++i) {
        for (int a = 0; a < n; ++a) {
          const AffineForms& form = output[static_cast<std::size_t>(i)];
          const Interval rest = trace.output(i, a) - Interval::enclosing(Random::linear_part(form, a, e));
          REQUIRE(std::max(rest.lower(), -rest.upper()) <= form.error[a]);
        }
        for (std::size_t h = 0; h < 2; ++h)
          for (int k = 0; k <= i; ++k) {
            REQUIRE(trace.attention[0][h](i, k).upper() >= weights[h](i, k).lower());
            REQUIRE(trace.attention[0][h](i, k).lower() <= weights[h](i, k).upper());
          }
      }
    }
    const AffineForms before = output[2];
    certify::symbolise_errors(output, Matrix<Interval>::Constant(length, n, Interval::undecided()));
    CHECK(output[2].error.isZero(0));
    for (int a = 0; a < n; ++a) CHECK(output[2].range(a).upper() >= before.range(a).upper() - 1e-9);
  }
}

TEST_CASE("errors become symbols of their own: what they add up to does not shrink") {
  Random random(14);
  constexpr int length = 3, n = 2;
  certify::AffineStream stream;
  double sum = 0;
  for (int i = 0; i < length; ++i) {
    stream.push_back(random.forms(n, 1, 0, 1));
    sum += stream.back().error.sum();
  }
  certify::symbolise_errors(stream, Matrix<Interval>::Constant(length, n, Interval::undecided()));
  // x_11 - x_12 - x_21 + x_22 + ...: symbols that two errors shared would cancel here.
  AffineForms all(1, stream[0].symbols());
  for (int i = 0; i < length; ++i) {
    Matrix<Interval> signs(1, n);
    for (int a = 0; a < n; ++a) signs(0, a) = Interval((i + a) % 2 == 0 ? 1 : -1);
    add(all, linear(certify::MidRadMatrix(signs), stream[static_cast<std::size_t>(i)]));
  }
  CHECK(all.range(0).upper() >= sum);
  CHECK(all.range(0).upper() < sum * (1 + 1e-9));
}

TEST_CASE("a softmax row knows how far its doubles are from the softmax of its centre") {
  Random random(15);
  for (int trial = 0; trial < 50; ++trial) {
    CAPTURE(trial);
    const int count = 2 + random.index(6);
    AffineForms score(count, 1);
    for (int k = 0; k < count; ++k) score.terms(k, 0) = 4 * random.uniform();
    Matrix<Interval> differences(count, count);
    for (int k = 0; k < count; ++k)
      for (int l = 0; l < count; ++l)
        differences(k, l) = Interval(score.terms(k, 0)) - Interval(score.terms(l, 0));
    const certify::SoftmaxRow row(differences, score, score.terms.col(0));
    const numeric::BigPrecision digits(60);
    numeric::BigInterval total(0), gap(0);
    for (int k = 0; k < count; ++k) total += exp(numeric::BigInterval(score.terms(k, 0)));
    for (int k = 0; k < count; ++k)
      gap += abs(exp(numeric::BigInterval(score.terms(k, 0))) / total - numeric::BigInterval(row.centre[k]));
    CHECK(lower_end(gap) > 0);
    CHECK(numeric::exact(row.centre_error) >= upper_end(gap));
    CHECK(numeric::exact(row.total_deviation) >= upper_end(gap));
    CHECK(row.centre_error < 1e-14);
  }
}
