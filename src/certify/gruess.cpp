#include "certify/gruess.hpp"

#include <algorithm>

namespace sinkproof::certify {

using numeric::Interval;

SelfSquares::SelfSquares(const HeadMaps& head, int except) {
  for (int m = 0; m < head.content(); ++m) {
    const int k = task::Parameters::content_begin() + m;
    if (m == except) continue;
    positive += max(head.scores(k, k), Interval(0));
    negative += max(-head.scores(k, k), Interval(0));
  }
}

// At most size() + 1 sums; their partial results are at most the sum M of all magnitudes, up to
// (1 + eps)^(size + 1).
Interval exponent_error(const AffineFamily& family, double extra) {
  Interval affine(0), magnitude(extra);
  for (int k = 0; k < family.size(); ++k) {
    affine += Interval(family.error(k));
    magnitude += Interval(family.magnitude(k)) + Interval(family.error(k));
  }
  return affine + Interval((family.size() + 1) * per_sum) * magnitude;
}

// 1 / a_j1 = 1 + sum exp(s_k - s_1): the other keys are others - 1 ordinary ones and the self key.
Interval bos_weight(const TriggerLogits& logits, int others) {
  const Interval sum = Interval(others - 1) * exp(-logits.bos_over_key) + exp(-logits.bos_over_self);
  // Where an exponential overflows, a_j1 <= 1 says as much as is needed.
  if (sum.is_undecided()) return Interval(1);
  return Interval(1) / (Interval(1) + Interval(sum.lower()));
}

GruessRow::GruessRow(const HeadMaps& head, int coordinate) {
  const ValueRow v(head, coordinate);
  const Interval values = hull(v.ordinary_range(), v.trigger_range());
  range = Interval(values.upper()) - Interval(values.lower());
  bos_offset = abs(v.bos - values);
  const auto off_identity = [&](int column) {
    return abs(head.value(coordinate, column) - Interval(column == coordinate ? 1 : 0));
  };
  Interval content(0);
  for (int m = 0; m < head.content(); ++m) content += off_identity(task::Parameters::content_begin() + m);
  deviation = max(off_identity(head.ordinary()), off_identity(task::Parameters::trigger())) + content;
}

Interval GruessRow::bound(const Interval& logits, const Interval& bos) const {
  // tanh(x) <= min(x, 1), within x^3 / 3.
  const Interval quarter = logits / Interval(4);
  const Interval tanh = quarter.is_undecided() ? Interval(1) : min(quarter, Interval(1));
  return bos * bos_offset + range * tanh + deviation;
}

}  // namespace sinkproof::certify
