#include "certify/head.hpp"

#include <cmath>

#include "errors.hpp"
#include "numeric/big_interval.hpp"
#include "numeric/enclosure.hpp"

namespace sinkproof::certify {

using numeric::BigInterval;
using numeric::Interval;
using numeric::Matrix;
using numeric::Vector;

namespace {

/// Outward: the lower end down, the upper end up.
Interval rounded_outward(const BigInterval& x) {
  if (x.is_undecided()) return Interval::undecided();
  const Interval lower = Interval::enclosing(lower_end(x)), upper = Interval::enclosing(upper_end(x));
  return {lower.lower(), upper.upper()};
}

bool is_finite(const attention::HeadWeights& head) {
  return head.query.allFinite() && head.key.allFinite() && head.value.allFinite() && head.output.allFinite();
}

}  // namespace

HeadMaps::HeadMaps(const attention::Weights& weights) {
  if (weights.layers.size() != 1 || weights.layers[0].heads.size() != 1 || weights.residual) {
    throw InputError(
        "weights: only a single head without residual (one layer, one head) is certified over its whole "
        "domain here");
  }
  const int n = weights.dimension;
  if (n < 3) throw InputError("weights: the model dimension n = d + 3 must be at least 3");
  if (!is_finite(weights.layers[0].heads[0])) {
    scores = value = Matrix<Interval>::Constant(n, n, Interval::undecided());
    return;
  }
  if (n > 48) {  // 166 bits would take seconds: the interval product is wider, and as sound
    const auto wide = attention::model_from<Interval>(weights, attention::Normaliser::softmax);
    scores = std::get<attention::BilinearScores<Interval>>(wide.layers[0].heads[0].attention).matrix;
    value = wide.layers[0].heads[0].value;
    return;
  }
  // 166 bits hold the products of two doubles exactly, and their sums nearly so.
  const auto model = attention::model_from<BigInterval>(weights, attention::Normaliser::softmax);
  const auto& head = model.layers[0].heads[0];
  scores =
      std::get<attention::BilinearScores<BigInterval>>(head.attention).matrix.unaryExpr(&rounded_outward);
  value = head.value.unaryExpr(&rounded_outward);
}

bool HeadMaps::is_moderate() const {
  const auto moderate = [](const Interval& x) { return x.lower() >= -0x1p300 && x.upper() <= 0x1p300; };
  return scores.unaryExpr(moderate).all() && value.unaryExpr(moderate).all();
}

AffineFamily query_family(const HeadMaps& head, int base) {
  const int d = head.content(), first = task::Parameters::content_begin();
  const int n_key = head.ordinary(), t_key = task::Parameters::trigger(), b_key = task::Parameters::bos();
  const auto functions_of = [&](int row) {
    Vector<Interval> values(d + 2);
    values[0] = head.scores(row, n_key) - head.scores(row, b_key);
    values[1] = head.scores(row, t_key) - head.scores(row, b_key);
    for (int m = 0; m < d; ++m) values[2 + m] = head.scores(row, first + m);
    return values;
  };
  Matrix<Interval> slope(d, d + 2);
  for (int m = 0; m < d; ++m) slope.row(m) = functions_of(first + m).transpose();
  return AffineFamily(functions_of(base), slope);
}

ValueRow::ValueRow(const HeadMaps& head, int coordinate)
    : bos(head.value(coordinate, task::Parameters::bos())),
      ordinary(head.value(coordinate, head.ordinary())),
      trigger(head.value(coordinate, task::Parameters::trigger())),
      content(
          head.value.row(coordinate).segment(task::Parameters::content_begin(), head.content()).transpose()),
      spread(0) {
  for (const Interval& entry : content) spread += abs(entry);
}

Interval ValueRow::ordinary_range() const {
  return ordinary + Interval(-1, 1) * spread;
}

Interval ValueRow::trigger_range() const {
  return trigger + Interval(-1, 1) * spread;
}

}  // namespace sinkproof::certify
