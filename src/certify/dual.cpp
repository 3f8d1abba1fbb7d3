#include "certify/dual.hpp"

#include <cmath>

namespace sinkproof::certify {

using numeric::Interval;
using numeric::Vector;

namespace {

Interval upper_point(const Interval& x) {
  return x.is_undecided() ? x : Interval(x.upper());
}

}  // namespace

TriggerQuery::TriggerQuery(const AffineFamily& family, const Vector<double>& vertex, const Vector<double>& f)
    : c(vertex), g(f.tail(vertex.size())), bos(-f[0]), self(f[1] - f[0]), slope_error(0) {
  for (int m = 0; m < family.content(); ++m) slope_error += Interval(family.error(2 + m));
  exponent_error = certify::exponent_error(family, 0);
  norm = Interval(g.cwiseAbs().sum()) + Interval(-1, 1) * exponent_error;
}

TriggerDual::TriggerDual(const HeadMaps& head, const TriggerLogits& logits, int r)
    : own_(r >= task::Parameters::content_begin() && r < head.ordinary()
               ? r - task::Parameters::content_begin()
               : -1),
      value_(head, r),
      gruess_(head, r),
      squares_(head, own_),
      content_(head.content()),
      content_error_(0),
      spread_(0),
      own_value_(own_ >= 0 ? value_.content[own_] : Interval(0)),
      ordinary_target_(r == head.ordinary() ? 1 : 0),
      trigger_target_(r == task::Parameters::trigger() ? 1 : 0),
      logits_(logits) {
  const int d = head.content(), first = task::Parameters::content_begin();
  const int n_key = head.ordinary(), t_key = task::Parameters::trigger(), b_key = task::Parameters::bos();
  for (int m = 0; m < d; ++m) {
    content_[m] = m == own_ ? 0 : middle(value_.content[m]);
    if (m == own_) continue;
    const Interval entry = abs(value_.content[m]);
    spread_ += entry;
    // The middle's distance, and the roundings of a product and of at most d + 1 sums.
    content_error_ += abs(value_.content[m] - Interval(content_[m])) + Interval((d + 2) * per_sum) * entry;
  }
  spread_ = upper_point(spread_);
  content_error_ = upper_point(content_error_);
  const Interval all = hull(hull(value_.ordinary_range(), value_.trigger_range()), value_.bos);
  total_range_ = Interval(all.upper()) - Interval(all.lower());

  for (int m = 0; m < d; ++m) {
    const bool own = m == own_;
    const Interval beta = abs(head.scores(first + m, b_key) - head.scores(first + m, n_key));
    Interval rho(0);
    Interval self = abs(head.scores(first + m, t_key) - head.scores(first + m, n_key));
    if (!own) self += abs(head.scores(t_key, first + m));
    for (int l = 0; l < d; ++l) {
      rho += abs(head.scores(first + m, first + l));
      if (own || l != m) self += abs(head.scores(first + m, first + l));
      if (!own && l != m) self += abs(head.scores(first + l, first + m));
    }
    bos_curvature_ += beta * beta;
    self_curvature_ += self * self;
    ordinary_curvature_ += rho * rho;
    if (own) continue;
    const Interval slope = abs(value_.content[m]);
    mixed_self_ += slope * self;
    mixed_bos_ += slope * beta;
    mixed_ordinary_ += slope * rho;
  }
}

Interval TriggerDual::curvature_slack(int fewest) const {
  const Interval others(fewest - 1);
  const auto share_of = [&](const Interval& excess) {
    const Interval sum = others * exp(-excess);
    return sum.is_undecided() ? Interval(1) : Interval(1) / (Interval(1) + Interval(sum.lower()));
  };
  const Interval bos = share_of(logits_.bos_over_key), self = share_of(Interval(2) * logits_.range);
  const Interval third = total_range_ * (bos * bos_curvature_ + self * self_curvature_ + ordinary_curvature_);
  const Interval mixed =
      Interval(2) * self * (mixed_self_ * (Interval(1) + self) + bos * mixed_bos_ + mixed_ordinary_);
  return upper_point((third + mixed) / Interval(2));
}

Interval TriggerDual::gruess(const TriggerQuery& query, int fewest) const {
  const Interval error = Interval(-1, 1) * query.exponent_error;
  const Interval free = own_ >= 0 ? Interval(2) * (Interval(std::fabs(query.g[own_])) + error) : Interval(0);
  const Interval p = Interval(query.self + query.c.dot(query.g)) + error;
  const Interval range =
      max(query.norm, p + squares_.negative + free) + max(query.norm, squares_.positive - p + free);
  const Interval others = Interval(fewest - 1) * exp(-(Interval(query.bos) + error + query.norm));
  const Interval bos =
      others.is_undecided() ? Interval(1) : Interval(1) / (Interval(1) + Interval(others.lower()));
  return gruess_.bound(range, bos);
}

}  // namespace sinkproof::certify
