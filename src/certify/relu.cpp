#include "certify/relu.hpp"

#include <array>
#include <vector>

#include "certify/gruess.hpp"
#include "certify/relaxation.hpp"

// Off the trigger the target is 0, and (o_i)_r sigma = (1/(i-1)) sum_k max(0, s_k) sigma v_k is at most
//   (B + (i-2) P + Q) / (i-1),   B = max(0, s_1) (sigma b)^+,   P (ordinary key), Q (trigger key) the largest
//   max(0, s) (sigma v)^+ over a key's content, where the query itself counts as a key of free content
// (Q = P where no trigger precedes). For given keys these are convex in the query's content, and so are their
// maxima: vertices suffice. The mean is affine in 1 / (i-1): its ends suffice.
//
// At the trigger, sigma (o_j - y_j)_r <= (B + Q' + (J-1) P') / J, where P' (Q') is the largest max(0, s)
// sigma v - sigma u over an ordinary key's (a trigger key's) content, J = j - 1. If every logit is positive
// on the whole domain, max(0, s) = s is affine in the query, and the maximum P' over the key is convex:
// vertices suffice. The self key keeps the query's content but for a free own coordinate r and free squares z
// in [-sum A_mm^+, sum A_mm^-] in its logit; then s and v are affine in each c_m, so s sigma v has the second
// derivative 2 s'_m sigma V_rm (m != r), and Q' is at most its maximum over vertices + sum |s'_m V_rm|.
// Otherwise max(0, s) (sigma v)^+ + (-sigma u)^+ is used, which is convex for a given key as well.
namespace sinkproof::certify {

using numeric::Interval;
using numeric::Matrix;
using numeric::Vector;

namespace {

constexpr int n_function = 0, t_function = 1, b_function = 2, functions = 3;

/// 0, 1, 2: x^T A e_N, x^T A e_T, x^T A e_B; 3 + m: g_m.
AffineFamily logit_family(const HeadMaps& head, int base) {
  const int d = head.content(), first = task::Parameters::content_begin();
  const auto functions_of = [&](int row) {
    Vector<Interval> values(functions + d);
    values[n_function] = head.scores(row, head.ordinary());
    values[t_function] = head.scores(row, task::Parameters::trigger());
    values[b_function] = head.scores(row, task::Parameters::bos());
    for (int m = 0; m < d; ++m) values[functions + m] = head.scores(row, first + m);
    return values;
  };
  Matrix<Interval> slope(d, functions + d);
  for (int m = 0; m < d; ++m) slope.row(m) = functions_of(first + m).transpose();
  return AffineFamily(functions_of(base), slope);
}

Interval positive(const Interval& x) {
  return max(x, Interval(0));
}

/// One query's logits, enclosed: y0 + g . c at a key of content c.
struct Logits {
  Logits(const AffineFamily& family, const Vector<double>& f) : slope(family.content()) {
    const auto enclosed = [&](int k) { return Interval(f[k]) + Interval(-1, 1) * Interval(family.error(k)); };
    ordinary = enclosed(n_function);
    trigger = enclosed(t_function);
    bos = enclosed(b_function);
    for (int m = 0; m < slope.size(); ++m) {
      slope[m] = enclosed(functions + m);
      norm += abs(slope[m]);
    }
  }
  Vector<Interval> slope;
  Interval ordinary, trigger, bos, norm{0};
};

/// What a key of free content contributes for one output coordinate r, and sign.
class Contribution {
 public:
  Contribution(const HeadMaps& head, int r, double sign)
      : value_(head, r),
        sign_(sign),
        own_(r >= task::Parameters::content_begin() && r < head.ordinary()
                 ? r - task::Parameters::content_begin()
                 : -1),
        squares_(head, own_) {
    const int first = task::Parameters::content_begin(), t_key = task::Parameters::trigger();
    for (int m = 0; m < head.content(); ++m) {
      if (m == own_) continue;
      spread_ += abs(value_.content[m]);
      Interval slope = abs(head.scores(first + m, t_key)) + abs(head.scores(t_key, first + m));
      for (int l = 0; l < head.content(); ++l) {
        if (l != m) slope += abs(head.scores(first + m, first + l)) + abs(head.scores(first + l, first + m));
      }
      self_slack_ += slope * abs(value_.content[m]);
    }
    targets_ = {r == head.ordinary() ? 1.0 : 0.0, r == task::Parameters::trigger() ? 1.0 : 0.0};
  }

  /// max(0, s_1) sigma b where s_1 is positive for every query, hence affine; else its positive part, convex.
  Interval bos(const Logits& s, bool logit_positive) const {
    const Interval b = Interval(sign_) * value_.bos;
    return positive(s.bos) * (logit_positive ? b : positive(b));
  }

  /// max(0, s) (sigma v)^+: for s, q >= 0 and any weight > 0, s q <= (weight s + q / weight)^2 / 4.
  Interval product(const Logits& s, bool trigger) const {
    const Interval y = trigger ? s.trigger : s.ordinary;
    const Interval q = Interval(sign_) * (trigger ? value_.trigger : value_.ordinary);
    const Interval y_most = positive(y + s.norm), q_most = positive(q + value_.spread);
    const Interval separate = Interval(y_most.upper()) * Interval(q_most.upper());
    if (!(separate.upper() > 0)) return separate;
    const Interval weight(std::sqrt(q_most.upper() / y_most.upper()));
    Interval sum = weight * y + q / weight;
    for (int m = 0; m < s.slope.size(); ++m) {
      sum += abs(weight * s.slope[m] + Interval(sign_) * value_.content[m] / weight);
    }
    const Interval root = positive(sum);
    const Interval joint = root * root / Interval(4);
    return joint.is_undecided() || joint.upper() > separate.upper() ? separate : joint;
  }

  /// max(0, s) sigma v - sigma u.
  Interval error(const Logits& s, bool trigger, bool logits_positive) const {
    if (!logits_positive) {
      const double target = targets_[trigger ? 1 : 0];
      const Interval most = own_ >= 0 ? Interval(1) : Interval(std::max(-sign_ * target, 0.0));
      return product(s, trigger) + most;
    }
    if (own_ < 0) return at_own(s, trigger, 0);
    // Nodes t = -1, 0, 1 of the own coordinate; in between, s q - sigma t has the second derivative 2 g sigma
    // V.
    const Interval hump = own_hump(s);
    const Interval left = at_own(s, trigger, -1), centre = at_own(s, trigger, 0),
                   right = at_own(s, trigger, 1);
    return max(between(left, centre, hump), between(centre, right, hump));
  }

  /// The same of the query itself as a key, with the slack for queries inside the box.
  Interval self_error(const Logits& s, const Vector<double>& c, bool logits_positive) const {
    if (!logits_positive) return error(s, true, false);
    Interval logit = s.trigger + Interval(-squares_.positive.upper(), squares_.negative.upper());
    Interval value = value_.trigger;
    for (int m = 0; m < s.slope.size(); ++m) {
      if (m == own_) continue;
      logit += Interval(c[m]) * s.slope[m];
      value += Interval(c[m]) * value_.content[m];
    }
    const Interval sigma(sign_);
    if (own_ < 0) return logit * sigma * value - Interval(sign_ * targets_[1]) + self_slack_;
    const auto at = [&](int t) {
      return (logit + Interval(t) * s.slope[own_]) * sigma * (value + Interval(t) * value_.content[own_]) -
             Interval(sign_ * t);
    };
    const Interval hump = own_hump(s);
    return max(between(at(-1), at(0), hump), between(at(0), at(1), hump)) + self_slack_;
  }

 private:
  /// Half of how concave s sigma v can be in the own coordinate.
  Interval own_hump(const Logits& s) const {
    const Interval bend = s.slope[own_] * Interval(sign_) * value_.content[own_];
    return positive(Interval(-bend.lower()));
  }

  /// The largest value of a + (b - a) x + hump x (1 - x), 0 <= x <= 1.
  static Interval between(const Interval& a_bound, const Interval& b_bound, const Interval& hump) {
    const Interval a(a_bound.upper()), b(b_bound.upper()), difference = b - a;
    if (std::min(std::fabs(difference.lower()), std::fabs(difference.upper())) >= hump.upper())
      return max(a, b);
    const Interval h(hump.upper());
    return (a + b) / Interval(2) + h / Interval(4) + difference * difference / (Interval(4) * h);
  }

  /// s sigma v - sigma u for s > 0, with the own coordinate at t and the others free.
  Interval at_own(const Logits& s, bool trigger, int t) const {
    const Interval at(t), sigma(sign_);
    Interval y = trigger ? s.trigger : s.ordinary, q = sigma * (trigger ? value_.trigger : value_.ordinary);
    Interval norm = s.norm;
    double offset = sign_ * targets_[trigger ? 1 : 0];
    if (own_ >= 0) {
      y += at * s.slope[own_];
      q += at * sigma * value_.content[own_];
      norm = Interval(0);
      for (int m = 0; m < s.slope.size(); ++m) {
        if (m != own_) norm += abs(s.slope[m]);
      }
      offset = sign_ * t;
    }
    // The largest w y + z q over the free content, w and z numbers.
    const auto largest = [&](const Interval& w, const Interval& z) {
      Interval sum = w * y + z * q;
      for (int m = 0; m < s.slope.size(); ++m) {
        if (m != own_) sum += abs(w * s.slope[m] + z * sigma * value_.content[m]);
      }
      return sum;
    };
    Interval product;
    if (!((q + spread_).upper() > 0)) {
      // q <= q_most <= 0 and y >= y_least > 0: (y - y_least) (q - q_most) <= 0.
      const Interval q_most((q + spread_).upper()), y_least((y - norm).lower());
      product = largest(q_most, y_least) - y_least * q_most;
    } else {
      const double weight = std::sqrt(std::max((q + spread_).upper(), 1e-100) / (y + norm).upper());
      const Interval root = positive(largest(Interval(weight), Interval(1) / Interval(weight)));
      product = root * root / Interval(4);
    }
    return product - Interval(offset);
  }

  ValueRow value_;
  double sign_;
  int own_;
  SelfSquares squares_;
  Interval spread_{0}, self_slack_{0};
  std::array<double, 2> targets_{};  ///< u at content 0 of an ordinary, a trigger key
};

/// The larger one of (sum + (count - 1) each) / count at count = fewest and most; affine in 1 / count.
Interval mean(const Interval& once, const Interval& each, int fewest, int most) {
  const auto at = [&](int count) { return (once + Interval(count - 1) * each) / Interval(count); };
  return max(at(fewest), at(std::max(most, fewest)));
}

/// Without enumeration: products of the largest logit over all queries and keys and the largest value.
ReluBounds relaxed(const HeadMaps& head, ReluBounds bounds) {
  const int n_key = head.ordinary(), t_key = task::Parameters::trigger(), b_key = task::Parameters::bos();
  const auto largest_logit = [&](int base, int key) {
    return positive(maximum_of_norm(head, base, key, -1));
  };
  const Interval off_n = largest_logit(n_key, n_key), off_t = largest_logit(n_key, t_key);
  const Interval off_b = largest_logit(n_key, b_key), at_b = largest_logit(t_key, b_key);
  const Interval at = max(largest_logit(t_key, n_key), largest_logit(t_key, t_key));
  Interval off_loss(0), at_loss(0);
  for (int r = 0; r <= n_key; ++r) {
    const ValueRow v(head, r);
    const Interval values = max(abs(v.ordinary_range()), abs(v.trigger_range())), b = abs(v.bos);
    // Means over the keys, BOS once and i - 1 >= 1 (at the trigger J >= 2) others; |u| <= 1.
    off_loss = max(off_loss, off_b * b + max(off_n, off_t) * values);
    at_loss = max(at_loss, at_b * b / Interval(2) + at * values + Interval(1));
  }
  bounds.weight = upper_or_infinity(max(off_n, off_t));
  bounds.sink_weight = upper_or_infinity(off_b);
  bounds.loss.off_trigger = upper_or_infinity(off_loss);
  bounds.loss.at_trigger = upper_or_infinity(at_loss);
  return bounds;
}

struct Maxima {
  double weight = 0, sink = 0, off = 0, at = 0;
  Vector<double> query;
  static void raise(double& value, const Interval& bound) {
    value = std::max(value, upper_or_infinity(bound));
  }
};

}  // namespace

ReluBounds bound_relu(const HeadMaps& head, int length, int threads, const Deadline& deadline) {
  ReluBounds bounds;
  const int d = head.content(), n = head.ordinary() + 1, bos = task::Parameters::bos();
  bounds.query = Vector<double>::Ones(d);
  if (!head.is_moderate()) return bounds;
  const Interval first = positive(head.scores(bos, bos));  // a_11
  Interval first_loss(0);
  for (int r = 0; r < n; ++r) first_loss = max(first_loss, abs(first * head.value(r, bos)));
  bounds.loss.first = upper_or_infinity(first_loss);

  const AffineFamily ordinary = logit_family(head, head.ordinary());
  const AffineFamily trigger = logit_family(head, task::Parameters::trigger());
  const Interval squares = SelfSquares(head, -1).negative;
  std::vector<Contribution> contributions;
  for (int r = 0; r < n; ++r) {
    for (const double sign : {1.0, -1.0}) contributions.emplace_back(head, r, sign);
  }
  const auto workers = static_cast<std::size_t>(std::max(threads, 1));

  // Whether every logit of a trigger query is positive: y0 - ||g||_1 is concave, so vertices decide; and
  // BOS's.
  std::vector<double> least(workers, HUGE_VAL), least_bos(workers, HUGE_VAL);
  const bool small = d <= relu_enumeration_limit;
  bool complete =
      small && for_each_block(trigger.blocks(), threads, [&](std::uint64_t block, int thread) {
        double& lowest = least[static_cast<std::size_t>(thread)];
        double& lowest_bos = least_bos[static_cast<std::size_t>(thread)];
        trigger.sweep(block, [&](const Vector<double>&, const Vector<double>& f) {
          lowest = std::min(lowest, std::min(f[n_function], f[t_function]) - f.tail(d).cwiseAbs().sum());
          lowest_bos = std::min(lowest_bos, f[b_function]);
        });
        return !deadline.passed();
      });
  const auto all_positive = [&](const std::vector<double>& lowest) {
    const Interval bound =
        Interval(*std::min_element(lowest.begin(), lowest.end())) - exponent_error(trigger, 0);
    return complete && bound.lower() > 0;
  };
  const bool logits_positive = all_positive(least), bos_positive = all_positive(least_bos);

  std::vector<Maxima> seen(workers);
  complete =
      complete && for_each_block(ordinary.blocks(), threads, [&](std::uint64_t block, int thread) {
        Maxima& maxima = seen[static_cast<std::size_t>(thread)];
        ordinary.sweep(block, [&](const Vector<double>& c, const Vector<double>& f) {
          const Logits s(ordinary, f);
          Interval self = s.ordinary + squares;
          for (int m = 0; m < d; ++m) self += Interval(c[m]) * s.slope[m];
          // A key of index 2..i-1 has i >= 3, a trigger key i >= 4; c . g <= ||g||_1 bounds the self term as
          // well.
          const Interval weight = max(positive(self), max(positive(s.ordinary + s.norm) / Interval(2),
                                                          positive(s.trigger + s.norm) / Interval(3)));
          if (weight.upper() > maxima.weight || maxima.query.size() == 0) maxima.query = c;
          Maxima::raise(maxima.weight, weight);
          Maxima::raise(maxima.sink, positive(s.bos));
          for (const Contribution& key : contributions) {
            const Interval bos_part = key.bos(s, false), each = key.product(s, false);
            Maxima::raise(maxima.off, mean(bos_part + each, each, 1, length - 2));
            Maxima::raise(maxima.off, mean(bos_part + key.product(s, true), each, 3, length - 1));
          }
        });
        trigger.sweep(block, [&](const Vector<double>& c, const Vector<double>& f) {
          const Logits s(trigger, f);
          for (const Contribution& key : contributions) {
            const Interval each = key.error(s, false, logits_positive);
            Maxima::raise(maxima.at, mean(key.bos(s, bos_positive) + key.self_error(s, c, logits_positive),
                                          each, 2, length - 1));
          }
        });
        return !deadline.passed();
      });
  if (!complete) return relaxed(head, std::move(bounds));

  Maxima all = seen[0];
  for (const Maxima& other : seen) {
    if (other.query.size() == d && (other.weight > all.weight || all.query.size() != d))
      all.query = other.query;
    all.weight = std::max(all.weight, other.weight);
    all.sink = std::max(all.sink, other.sink);
    all.off = std::max(all.off, other.off);
    all.at = std::max(all.at, other.at);
  }
  bounds.query = all.query;
  bounds.weight = all.weight;
  bounds.sink_weight = all.sink;
  bounds.loss.off_trigger = all.off;
  bounds.loss.at_trigger = all.at;
  bounds.loss.complete = true;
  return bounds;
}

}  // namespace sinkproof::certify
