#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "certify/dual.hpp"

namespace sinkproof::certify {

using numeric::Interval;
using numeric::Vector;

namespace {

/// slope and intercept with log x >= slope (x - 1) + intercept for |x - 1| <= ratio < 1/2.
std::pair<double, Interval> chord_of_log(double ratio) {
  if (ratio <= 0x1p-6) {  // Taylor: log x >= (x - 1) - (x - 1)^2 / (2 (1 - ratio)^2)
    const Interval second = Interval(ratio) / (Interval(1) - Interval(ratio));
    return {1, -(second * second / Interval(2))};
  }
  // log is concave: it is enough that both ends satisfy it, for any slope.
  const double slope = (std::log1p(ratio) - std::log1p(-ratio)) / (2 * ratio);
  const Interval left = log(Interval(1) - Interval(ratio)) + Interval(slope) * Interval(ratio);
  const Interval right = log(Interval(1) + Interval(ratio)) - Interval(slope) * Interval(ratio);
  return {slope, min(left, right)};
}

}  // namespace

/// The dual function of one query, output coordinate and sign.
class DualSearch {
 public:
  DualSearch(const TriggerDual& dual, const TriggerQuery& query, double sign, int fewest, int most,
             double goal)
      : dual_(dual), sign_(sign), fewest_(fewest), most_(most), goal_(goal), g_(query.g) {
    const int own = dual.own_;
    const Interval error = Interval(-1, 1) * query.exponent_error;
    own_slope_ = own >= 0 ? Interval(g_[own]) + error : Interval(0);
    if (own >= 0) g_[own] = 0;
    // Roundings as in TriggerDual: a product and at most d + 1 sums.
    slope_error_ = query.slope_error + Interval((static_cast<double>(g_.size()) + 2) * per_sum) * query.norm;
    const double self = query.self + query.c.dot(g_);  // without the own coordinate
    self_low_ = Interval(self) + error - dual.squares_.positive;
    self_high_ = Interval(self) + error + dual.squares_.negative;
    bos_weight_ = exp(Interval(query.bos) + error);
    const Interval free = abs(own_slope_);
    largest_key_ = exp(query.norm);
    largest_self_ = exp(self_high_ + free);
    largest_weight_ = max(largest_key_, largest_self_) + bos_weight_ / Interval(fewest);
    self_value_ = dual.value_.trigger;
    for (int m = 0; m < g_.size(); ++m) {
      if (m != own) self_value_ += Interval(query.c[m]) * dual.value_.content[m];
    }
  }

  double run() {
    const Interval all =
        hull(hull(dual_.value_.ordinary_range(), dual_.value_.trigger_range()), dual_.value_.bos);
    if (all.is_undecided() || largest_weight_.is_undecided() || largest_weight_.upper() > 1e100 ||
        slope_error_.is_undecided()) {
      return HUGE_VAL;
    }
    constexpr int deepest = 14;
    return refine(node_at(all.lower()), node_at(all.upper()), deepest);
  }

 private:
  /// A key's contribution at own coordinate t is at most m slope - offset.
  struct Line {
    double slope = 0, offset = 0;
  };
  /// The contribution of a kind of key for every own coordinate in [-1, 1]: lines at t = -1, 0, 1, and at
  /// most m curvature below convexity in between. Without an own coordinate: the first line alone.
  struct Kind {
    std::array<Line, 3> lines;
    double curvature = 0;
  };
  struct Node {
    double tau = 0, bos = 0;
    Kind ordinary, self;
    double multiplier = 1;
  };

  static constexpr double largest_multiplier = 1e3;

  bool has_own() const { return dual_.own_ >= 0; }

  /// An upper bound of sum over l != own of |g_l + kappa V_l|.
  Interval sum_of_slopes(double kappa) const {
    const double sum = (g_ + kappa * dual_.content_).cwiseAbs().sum();
    return Interval(sum) + slope_error_ + Interval(std::fabs(kappa)) * dual_.content_error_;
  }

  /// Upper bound of e^y q over all contents (own coordinate fixed), y = y0 + sum g_l c_l, q = q0 + sigma sum
  /// V_l c_l.
  Interval weighted_ordinary(const Interval& y0, const Interval& q0) const {
    const Interval largest = q0 + dual_.spread_;
    if (!(largest.upper() > 0)) {
      const Interval p = -q0;  // e^y (p - sigma sum V_l c_l) is to be bounded from below
      const double centre = middle(p);
      const Interval ratio = (dual_.spread_ + abs(p - Interval(centre))) / Interval(centre);
      if (!(ratio.upper() < 0.5)) {
        // Each factor by itself.
        const Interval smallest = max(Interval((p - dual_.spread_).lower()), Interval(0));
        return -(exp(y0 - sum_of_slopes(0)) * smallest);
      }
      // For every content, log(p / centre) >= slope (p / centre - 1) + intercept.
      const auto [slope, intercept] = chord_of_log(ratio.upper());
      const Interval exponent = y0 + Interval(slope) * (p / Interval(centre) - Interval(1)) + intercept -
                                sum_of_slopes(-sign_ * slope / centre);
      return -(Interval(centre) * exp(exponent));
    }
    // q <= at exp(q / at - 1) for every at > 0: equal at the content where the bound is attained, if `at` is
    // q there.
    const double start = std::max({q0.upper(), dual_.spread_.upper(), 1e-100});
    const Vector<double> slopes = g_ + (sign_ / start) * dual_.content_;
    const double there =
        middle(q0) + sign_ * (slopes.array() < 0).select(-dual_.content_, dual_.content_).sum();
    const double at = there > 0x1p-4 * start ? there : start;
    return Interval(at) * exp(y0 + q0 / Interval(at) - Interval(1) + sum_of_slopes(sign_ / at));
  }

  Interval weighted_self(const Interval& t_slope, const Interval& q) const {
    const Interval up = exp(self_high_ + t_slope), down = exp(self_low_ + t_slope);
    const Interval positive = max(q, Interval(0)), negative = max(-q, Interval(0));
    return up * positive - down * negative;
  }

  /// m times this is how concave a key's contribution can be in its own coordinate: e^y (g^2 (-q)^+ + 2 (-g
  /// sigma V)^+).
  double curvature(const Interval& largest_weight, const Interval& q_range) const {
    const Interval below = max(Interval(-q_range.lower()), Interval(0));
    const Interval product = own_slope_ * Interval(sign_) * dual_.own_value_;
    const Interval crossed = max(Interval(-product.lower()), Interval(0));
    return (largest_weight * (own_slope_ * own_slope_ * below + Interval(2) * crossed)).upper();
  }

  Node node_at(double tau) const {
    const Interval sigma(sign_);
    const auto offset_value = [&](const Interval& v) { return sigma * (v - Interval(tau)); };
    Node node;
    node.tau = tau;
    node.bos = (bos_weight_ * offset_value(dual_.value_.bos)).upper();
    const int lines = has_own() ? 3 : 1;
    for (int k = 0; k < lines; ++k) {
      const Interval t(has_own() ? k - 1 : 0);
      const auto at = static_cast<std::size_t>(k);
      const Interval shift = own_slope_ * t, value = dual_.own_value_ * t;
      node.ordinary.lines[at] = {
          weighted_ordinary(shift, offset_value(dual_.value_.ordinary + value)).upper(),
          sign_ * (dual_.ordinary_target_ + t.lower())};
      node.self.lines[at] = {weighted_self(shift, offset_value(self_value_ + value)).upper(),
                             sign_ * (dual_.trigger_target_ + t.lower())};
    }
    if (has_own()) {
      node.ordinary.curvature = curvature(largest_key_, offset_value(dual_.value_.ordinary_range()));
      node.self.curvature = curvature(largest_self_, offset_value(dual_.value_.trigger_range()));
    }
    node.multiplier = best_multiplier(node);
    return node;
  }

  /// Upper bound of the contribution of a kind of key with multiplier m.
  Interval contribution(const Kind& kind, double m) const {
    const auto value = [&](std::size_t k) {
      return Interval((Interval(m) * Interval(kind.lines[k].slope) - Interval(kind.lines[k].offset)).upper());
    };
    Interval a = value(0);
    if (!has_own()) return a;
    const Interval hump = Interval(m) * Interval(kind.curvature) / Interval(2);
    Interval best = a;
    for (std::size_t k = 1; k < 3; ++k) {
      const Interval b = value(k), difference = b - a;
      best = max(best, b);
      // a + (b - a) s + hump s (1 - s) for s in [0, 1]: its largest value is at an end if |b - a| >= hump.
      if (!(std::min(std::fabs(difference.lower()), std::fabs(difference.upper())) >= hump.upper())) {
        const Interval top = hump.upper() > 0
                                 ? (a + b) / Interval(2) + Interval(hump.upper()) / Interval(4) +
                                       difference * difference / (Interval(4) * Interval(hump.upper()))
                                 : max(a, b);
        best = max(best, Interval(top.upper()));
      }
      a = b;
    }
    return best;
  }

  /// The dual function at a node for the whole range of J: affine in 1 / J, so its larger end.
  double dual_value(const Node& node, double m) const {
    const Interval ordinary = contribution(node.ordinary, m);
    const Interval once = Interval(m) * Interval(node.bos) + contribution(node.self, m);
    const auto at = [&](int count) {
      const Interval j(count);
      return Interval(sign_ * node.tau) + (once + (j - Interval(1)) * ordinary) / j;
    };
    const Interval few = at(fewest_), many = fewest_ == most_ ? few : at(most_);
    const Interval value = max(few, many);
    return upper_or_infinity(value);
  }

  double best_multiplier(const Node& node) const {
    double best = 1, least = HUGE_VAL;
    const auto consider = [&](double m) {
      if (!(m > 0 && m <= largest_multiplier)) return;
      const double value = std::max(rough_value(node, m, fewest_), rough_value(node, m, most_));
      if (value < least) least = value, best = m;
    };
    consider(1);
    for (const Kind* kind : {&node.ordinary, &node.self}) {
      for (std::size_t k = 0; has_own() && k < 3; ++k) {
        const Line &a = kind->lines[k], &b = kind->lines[(k + 1) % 3];
        consider((a.offset - b.offset) / (a.slope - b.slope));
      }
    }
    return best;
  }
  /// dual_value in floating point, without humps.
  double rough_value(const Node& node, double m, int count) const {
    const auto largest = [&](const Kind& kind) {
      double value = m * kind.lines[0].slope - kind.lines[0].offset;
      for (std::size_t k = 1; has_own() && k < 3; ++k) {
        value = std::max(value, m * kind.lines[k].slope - kind.lines[k].offset);
      }
      return value;
    };
    const double ordinary = largest(node.ordinary), once = m * node.bos + largest(node.self) - ordinary;
    return sign_ * node.tau + once / count + ordinary;
  }

  /// An upper bound for every tau between the nodes.
  double between(const Node& a, const Node& b) const {
    const auto constant = [&](double m) { return std::max(dual_value(a, m), dual_value(b, m)); };
    const double ends = std::max(dual_value(a, a.multiplier), dual_value(b, b.multiplier));
    const Interval bend =
        max(Interval(sign_) * (Interval(b.multiplier) - Interval(a.multiplier)), Interval(0)) *
        (Interval(b.tau) - Interval(a.tau)) * largest_weight_ / Interval(4);
    double best = upper_or_infinity(Interval(ends) + bend);
    if (best > goal_) best = std::min(best, constant(a.multiplier));
    if (best > goal_) best = std::min(best, constant(b.multiplier));
    if (best > goal_ && !has_own()) {
      // Each end is affine in the multiplier: the best common one is extreme, or makes the ends equal.
      best = std::min({best, constant(0), constant(largest_multiplier)});
      for (const int count : {fewest_, most_}) {
        const double at_a = rough_value(a, 0, count), at_b = rough_value(b, 0, count);
        const double slope_a = rough_value(a, 1, count) - at_a, slope_b = rough_value(b, 1, count) - at_b;
        const double equal = (at_b - at_a) / (slope_a - slope_b);
        if (equal > 0 && equal < largest_multiplier) best = std::min(best, constant(equal));
      }
    }
    return best;
  }

  double refine(const Node& a, const Node& b, int depth) {
    const double value = between(a, b);
    if (value <= goal_ || depth == 0) return value;
    const Node middle_node = node_at(a.tau + (b.tau - a.tau) * 0.5);
    // The bound cannot be lower than about this: no use in refining to less.
    goal_ = std::max(goal_, dual_value(middle_node, middle_node.multiplier) * (1 + 0x1p-12));
    return std::min(value, std::max(refine(a, middle_node, depth - 1), refine(middle_node, b, depth - 1)));
  }

  const TriggerDual& dual_;
  double sign_;
  int fewest_, most_;
  double goal_;
  Vector<double> g_;  ///< without the own coordinate
  Interval own_slope_, slope_error_, self_low_, self_high_, self_value_;
  Interval bos_weight_, largest_key_, largest_self_, largest_weight_;
};

double TriggerDual::bound(const TriggerQuery& query, double sign, int fewest, int most, double goal) const {
  const double whole = DualSearch(*this, query, sign, fewest, most, goal).run();
  if (whole <= goal || fewest == most) return whole;
  // One multiplier for all J did not do: geometric halves.
  const int cut =
      std::clamp(static_cast<int>(std::sqrt(static_cast<double>(fewest) * most)), fewest, most - 1);
  const double few = bound(query, sign, fewest, cut, goal);
  return std::min(whole, std::max(few, bound(query, sign, cut + 1, most, std::max(goal, few))));
}

}  // namespace sinkproof::certify
