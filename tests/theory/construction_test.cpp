#include "theory/construction.hpp"

#include <stdexcept>

#include <doctest/doctest.h>

#include "attention/forward.hpp"
#include "errors.hpp"
#include "random_heads.hpp"
#include "theory/constructions.hpp"
#include "theory/theorem3.hpp"

using namespace sinkproof;
using namespace theory;
using namespace theory::testing;
using numeric::at_most, numeric::equal, numeric::lower_end, numeric::upper_end;
using numeric::BigInterval, numeric::Interval;

namespace {

const std::vector<Parameters> shapes{{4, 0}, {4, 1}, {5, 0}, {5, 2}, {6, 3}, {9, 1}};

template <class T>
Matrix<T> flatten(const attention::Trace<T>& trace) {
  std::vector<Matrix<T>> parts{trace.output};
  for (const auto& layer : trace.attention) parts.insert(parts.end(), layer.begin(), layer.end());
  Eigen::Index rows = 0, cols = 0;
  for (const auto& part : parts) {
    rows += part.rows();
    cols = std::max(cols, part.cols());
  }
  Matrix<T> all = Matrix<T>::Constant(rows, cols, T(0));
  rows = 0;
  for (const auto& part : parts) {
    all.block(rows, 0, part.rows(), part.cols()) = part;
    rows += part.rows();
  }
  return all;
}

template <class T>
Matrix<T> everything(const std::string& name, const Parameters& p, const Choice& choice,
                     const Instance<Rational>& exact) {
  const auto x = [&] {
    if constexpr (numeric::Exact<T>) {
      return exact;
    } else {
      return task::convert<T>(exact);
    }
  }();
  const auto model = construct<T>(name, p, choice).model(x);
  return flatten(attention::forward(model, task::tokens(p, x)));
}

/// The parameters of `choice` in T, evaluated on a handful of instances: evaluate() throws on a mismatch.
template <class T>
void check_against_closed_form(const Choice& choice) {
  for (const Parameters& p : shapes) {
    for (const std::string& name : construction_names()) {
      CAPTURE(name);
      const auto construction = construct<T>(name, p, choice);
      CHECK(construction.name == name);
      const auto seen = evaluate(construction, sample_instances<T>(p, 3, 17));
      CHECK(seen.instances == 9);
      CHECK(at_most(seen.largest_error, construction.loss) != numeric::Verdict::disproved);
      if (construction.attained) {
        CHECK(equal(seen.largest_error, construction.loss) != numeric::Verdict::disproved);
      }
      CHECK(upper_end(seen.largest_error) - lower_end(seen.largest_error) < Rational(1, 1000000000));
    }
  }
}

}  // namespace

TEST_CASE("every construction agrees with its closed form, exactly and in intervals") {
  for (const Rational& q : {Rational(11, 10), Rational(2), Rational(7, 2), Rational(3000)}) {
    const Choice choice{.q = q, .eta = Rational(1, 7), .v = q, .sink_weight = Rational(1, 3) * q};
    check_against_closed_form<Rational>(choice);
    check_against_closed_form<Interval>(choice);
    check_against_closed_form<BigInterval>(choice);
  }
  for (const Rational& k : {Rational(1, 10), Rational(3, 2), Rational(8)}) {
    check_against_closed_form<Interval>({.exponent = k, .v = 1});
    check_against_closed_form<BigInterval>({.exponent = k, .v = 1});
  }
}

TEST_CASE("the intervals contain the exact evaluation at the same q, entry by entry") {
  for (const Parameters& p : shapes) {
    const auto x = sample_instances<Rational>(p, 1, 5).back();
    for (const std::string& name : construction_names()) {
      CAPTURE(name);
      const Choice choice{.q = Rational(17, 3)};
      const auto exact = everything<Rational>(name, p, choice, x);
      const auto narrow = everything<BigInterval>(name, p, choice, x);
      const auto wide = everything<Interval>(name, p, choice, x);
      for (Eigen::Index k = 0; k < exact.size(); ++k) {
        CHECK(contains(narrow.data()[k], exact.data()[k]));
        CHECK(contains(wide.data()[k], exact.data()[k]));
      }
    }
  }
}

TEST_CASE("base e with K and base q with q = e^K agree") {
  // The ends q1 <= e^K <= q2 of an enclosure: each entry at e^K lies between those at q1 and q2 (all are
  // monotone in q on so short a range), or both round to nearly the same.
  const Rational k(9, 4), tiny(1, 1000000000);
  const auto power = exp(BigInterval::enclosing(k));
  const Parameters p(6, 2);
  const auto x = sample_instances<Rational>(p, 1, 5).back();
  for (const std::string& name : construction_names()) {
    CAPTURE(name);
    const auto low = everything<Rational>(name, p, {.q = lower_end(power)}, x);
    const auto high = everything<Rational>(name, p, {.q = upper_end(power)}, x);
    const auto enclosed = everything<BigInterval>(name, p, {.exponent = k}, x);
    for (Eigen::Index e = 0; e < low.size(); ++e) {
      CHECK(upper_end(enclosed.data()[e]) >= numeric::min(low.data()[e], high.data()[e]));
      CHECK(lower_end(enclosed.data()[e]) <= numeric::max(low.data()[e], high.data()[e]));
      CHECK(upper_end(enclosed.data()[e]) - lower_end(enclosed.data()[e]) < tiny);
    }
  }
}

TEST_CASE("a closed form that is off by a little is caught: evaluate can fail") {
  const Parameters p(5, 1);
  const auto instances = sample_instances<Rational>(p, 1, 2);
  const Rational little(1, 1000000000);
  for (const std::string& name : construction_names()) {
    CAPTURE(name);
    const auto sound = construct<Rational>(name, p, {.q = 9});
    CHECK_NOTHROW(evaluate(sound, instances));
    for (const Rational& change : {little, Rational(-little)}) {
      auto wrong_loss = sound, wrong_weight = sound;
      wrong_loss.at = [=](int i, const auto& x) {
        auto closed = sound.at(i, x);
        if (i == x.trigger) closed.loss += change;
        return closed;
      };
      CHECK_THROWS_AS(evaluate(wrong_loss, instances), std::logic_error);
      wrong_weight.at = [=](int i, const auto& x) {
        auto closed = sound.at(i, x);
        if (i == 4) closed.bos_weights.back() += change;
        return closed;
      };
      CHECK_THROWS_AS(evaluate(wrong_weight, instances), std::logic_error);
    }
    auto wrong_sup = sound;
    wrong_sup.loss -= little;
    if (sound.attained) CHECK_THROWS_AS(evaluate(wrong_sup, instances), std::logic_error);
  }
}

TEST_CASE("Theorem 3: the ReLU head errs by exactly 0 on every instance, whatever V does to BOS") {
  for (const Parameters& p : shapes) {
    auto instances = sample_instances<Rational>(p, 20, 99);
    const auto head = relu<Rational>(p);
    CHECK(evaluate(head, instances).largest_error == 0);
    for (const auto& x : instances) {
      auto model = head.model(x);
      model.layers[0].heads[0].value.col(0).setConstant(Rational(22, 7));
      CHECK(error(p, model, x) == 0);
      const auto a = attention::forward(model, task::tokens(p, x)).attention[0][0];
      for (int i = 1; i <= p.length(); ++i) CHECK(a.row(i - 1).sum() == (i == x.trigger ? 1 : 0));
    }
  }
}

TEST_CASE("what a construction cannot use is refused in one line") {
  const Parameters p(4, 1);
  CHECK_THROWS_WITH_AS(construct<Rational>("softmax", p, {.q = 1}), "q = 1: q = e^K must exceed 1",
                       InputError);
  CHECK_THROWS_AS(construct<Interval>("softmax", p, {.exponent = 0}), InputError);
  CHECK_THROWS_AS(construct<Rational>("softmax", p, {.exponent = 2}), InputError);
  CHECK_THROWS_AS(construct<Interval>("softmax", p, {.exponent = 1000}), InputError);
  CHECK_NOTHROW(construct<BigInterval>("softmax", p, {.exponent = 1000}));
  CHECK_THROWS_AS(construct<Rational>("residual", p, {.v = Rational(1, 2)}), InputError);
  CHECK_THROWS_AS(construct<Rational>("sink-logit", p, {.sink_weight = 0}), InputError);
  CHECK_THROWS_AS(construct<Rational>("sharp", p, {.eta = Rational(1, 2)}), InputError);
  CHECK_THROWS_AS(construct<Rational>("sotfmax", p, {}), InputError);
}
