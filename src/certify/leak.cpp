#include "certify/leak.hpp"

#include <algorithm>
#include <cmath>

#include "attention/normalise.hpp"
#include "certify/gruess.hpp"
#include "certify/relaxation.hpp"

// For an ordinary query x = e_N + iota c and an ordinary (trigger) key the exponent Delta of C2 is at most
//   N(c) = x^T A (e_N - e_B) + ||g||_1   (T(c): e_T for e_N),   g = (A^T x)_C,
// and for the key x itself it is S(c) = x^T A (e_N - e_B) + g . c, a quadratic in c. Dropping the squares
// with a negative coefficient,
//   S(c) <= S'(c) = S(c) - sum_{A_mm < 0} A_mm c_m^2,   at a vertex S'(c) = S(c) + drop, drop = sum
//   (-A_mm)^+.
// N and T are convex, S' is convex in each coordinate of c; so are their exponentials and, with nonnegative
// multiplicities, the sums
//   before: e^S' + (i - 2) e^N,     after: e^S' + (i - 3) e^N + e^T,
// which bound m_i / (1 - m_i). A function that is convex in each coordinate is maximal at a vertex. Both are
// nondecreasing in i, and after(L) = before(L - 1) + e^T: the worst class is i = L, j < L.
// As c . g <= ||g||_1, also e^S <= max e^N: before <= (i - 1) max e^N, after <= (i - 2) max e^N + max e^T,
// which is the tighter one where `drop` is large.
namespace sinkproof::certify {

using numeric::Interval;
using numeric::Vector;

namespace {

/// Exponents are clamped from below (upward, hence soundly); beyond the largest, nothing better than 1 is
/// said.
constexpr double largest_exponent = 690;

std::vector<LeakClass> listed_classes(int length) {
  std::vector<LeakClass> classes;
  const auto list = [&](Side side, int first, int last) {
    for (int i = first; i <= last; ++i) {
      const bool power = (i & (i - 1)) == 0;
      if (length <= 32 || i == first || i == last || power) classes.push_back({side, i, 1});
    }
  };
  list(Side::before, 2, length - 1);
  list(Side::after, 4, length);
  return classes;
}

/// The multiplicities of e^N and e^T beside the self term.
struct Mix {
  double ordinary, trigger;
};
Mix mix_of(const LeakClass& leak_class) {
  return leak_class.side == Side::before ? Mix{static_cast<double>(leak_class.position - 2), 0}
                                         : Mix{static_cast<double>(leak_class.position - 3), 1};
}

/// e^x; undecided where x is no number.
Interval exponential(double x) {
  return std::isfinite(x) ? exp(Interval(x)) : Interval::undecided();
}

/// m from an upper bound of m / (1 - m).
double leak_of(const Interval& odds) {
  if (odds.is_undecided()) return 1;
  return attention::share<Interval>(odds, Interval(1)).upper();
}

/// What a thread has seen: the largest of each sum, in floating point.
struct Maxima {
  Vector<double> odds;
  double ordinary = 0, trigger = 0, exponent = -HUGE_VAL;
  double attained = -1;  ///< of the last class, with the true self term
  Vector<double> query;

  void absorb(const Maxima& other) {
    odds = odds.cwiseMax(other.odds);
    ordinary = std::max(ordinary, other.ordinary);
    trigger = std::max(trigger, other.trigger);
    exponent = std::max(exponent, other.exponent);
    const auto precedes = [](const Vector<double>& a, const Vector<double>& b) {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    };
    if (other.attained > attained || (other.attained == attained && precedes(other.query, query))) {
      attained = other.attained;
      query = other.query;
    }
  }
};

/// Visits the vertices of one block at a time: exponents first, then one pass of exponentials.
class Enumeration {
 public:
  Enumeration(const AffineFamily& family, const std::vector<LeakClass>& classes, double drop)
      : family_(family), drop_(drop) {
    seen_.odds = Vector<double>::Zero(static_cast<Eigen::Index>(classes.size()));
    ordinary_ = trigger_ = seen_.odds;
    for (std::size_t k = 0; k < classes.size(); ++k) {
      const Mix mix = mix_of(classes[k]);
      ordinary_[static_cast<Eigen::Index>(k)] = mix.ordinary;
      trigger_[static_cast<Eigen::Index>(k)] = mix.trigger;
    }
    self_factor_ = std::exp(-drop);
  }

  void see(std::uint64_t block) {
    const int d = family_.content();
    exponents_.clear();
    queries_.clear();
    family_.sweep(block, [&](const Vector<double>& c, const Vector<double>& f) {
      const auto g = f.tail(d);
      const double norm = g.cwiseAbs().sum();
      exponents_.insert(exponents_.end(), {f[0] + norm, f[1] + norm, f[0] + (c.dot(g) + drop_)});
      queries_.insert(queries_.end(), c.begin(), c.end());
    });
    for (double& exponent : exponents_) {
      seen_.exponent = std::max(seen_.exponent, exponent);
      exponent = std::clamp(exponent, -largest_exponent, largest_exponent);
    }
    numeric::exp_approximate(exponents_.data(), exponents_.data(), static_cast<long>(exponents_.size()));
    for (std::size_t k = 0; 3 * k < exponents_.size(); ++k) {
      const double ordinary = exponents_[3 * k], trigger = exponents_[3 * k + 1],
                   self = exponents_[3 * k + 2];
      seen_.odds = seen_.odds.cwiseMax(((ordinary * ordinary_ + trigger * trigger_).array() + self).matrix());
      seen_.ordinary = std::max(seen_.ordinary, ordinary);
      seen_.trigger = std::max(seen_.trigger, trigger);
      const double attained = ordinary * ordinary_[ordinary_.size() - 1] + trigger + self * self_factor_;
      if (attained > seen_.attained) {
        seen_.attained = attained;
        seen_.query = Eigen::Map<const Vector<double>>(queries_.data() + static_cast<std::size_t>(d) * k, d);
      }
    }
  }

  const Maxima& seen() const { return seen_; }

 private:
  const AffineFamily& family_;
  double drop_, self_factor_;
  Vector<double> ordinary_, trigger_;
  std::vector<double> exponents_, queries_;
  Maxima seen_;
};

/// Beyond enumeration: on each part of a cover of the queries, every key, the query itself included, at the
/// relaxed maximum of N or T.
void relax(const HeadMaps& head, const AffineFamily& family, LeakBounds& bounds, const Deadline& deadline) {
  const int base = head.ordinary(), bos = task::Parameters::bos(), trigger = task::Parameters::trigger();
  const Mix last = mix_of(bounds.classes.back());
  const auto odds = [&](double n, double t) { return (last.ordinary + 1) * std::exp(n) + std::exp(t); };
  const Vector<double> query = ascend(head.content(), [&](const Vector<double>& c) {
    const Vector<double> f = family.at(c);
    const double norm = f.tail(head.content()).cwiseAbs().sum();
    return odds(f[0] + norm, f[1] + norm);
  });
  const Vector<double> f = family.at(query);
  const double norm = f.tail(head.content()).cwiseAbs().sum();
  const std::vector<PartBounds> parts =
      cover(branching_order(head),
            {.bound =
                 [&](const Part& part) {
                   return PartBounds{upper_or_infinity(maximum_of_norm(head, base, base, bos, part)),
                                     upper_or_infinity(maximum_of_norm(head, base, trigger, bos, part))};
                 },
             .worth = [&](const PartBounds& n_and_t) { return odds(n_and_t[0], n_and_t[1]); },
             .goal = odds(f[0] + norm, f[1] + norm) * (1 + 0x1p-10),
             .most = most_parts(head.content())},
            deadline);
  for (LeakClass& leak_class : bounds.classes) {
    const Mix mix = mix_of(leak_class);
    double largest = 0;
    for (const PartBounds& part : parts) {
      largest = std::max(largest, leak_of(Interval(mix.ordinary + 1) * exponential(part[0]) +
                                          Interval(mix.trigger) * exponential(part[1])));
    }
    leak_class.upper = std::min(leak_class.upper, largest);
  }
  if (head.content() > enumeration_limit) bounds.query = query;
}

}  // namespace

LeakBounds bound_leak(const HeadMaps& head, int length, int threads, const Deadline& deadline) {
  LeakBounds bounds;
  bounds.classes = listed_classes(length);
  bounds.query = Vector<double>::Ones(head.content());
  if (!head.is_moderate()) {
    bounds.upper = HUGE_VAL;
    for (LeakClass& leak_class : bounds.classes) leak_class.upper = HUGE_VAL;
    return bounds;
  }
  const AffineFamily family = query_family(head, head.ordinary());
  const double drop = SelfSquares(head, -1).negative.upper();

  if (head.content() <= enumeration_limit) {
    std::vector<Enumeration> workers(static_cast<std::size_t>(std::max(threads, 1)),
                                     Enumeration(family, bounds.classes, drop));
    bounds.complete = for_each_block(family.blocks(), threads, [&](std::uint64_t block, int thread) {
      workers[static_cast<std::size_t>(thread)].see(block);
      return !deadline.passed();
    });
    Maxima all = workers[0].seen();
    for (std::size_t k = 1; k < workers.size(); ++k) all.absorb(workers[k].seen());
    if (all.attained >= 0) bounds.query = all.query;

    if (bounds.complete) {
      // Each exponential is off by exp_relative_error and by the error of its exponent; two products and two
      // sums of positive numbers round by 4 machine epsilons.
      const Interval slack = exp(exponent_error(family, drop)) * Interval(1 + 8 * numeric::machine_epsilon);
      for (std::size_t k = 0; k < bounds.classes.size(); ++k) {
        const Mix mix = mix_of(bounds.classes[k]);
        const Interval odds = Interval(all.odds[static_cast<Eigen::Index>(k)]) * slack;
        const Interval alike = (Interval(mix.ordinary + 1) * Interval(all.ordinary) +
                                Interval(mix.trigger) * Interval(all.trigger)) *
                               slack;
        // NaN fails the comparison, too.
        const bool representable = all.exponent <= largest_exponent;
        bounds.classes[k].upper = representable ? std::min(leak_of(odds), leak_of(alike)) : 1;
      }
    }
  }
  if (!bounds.complete) relax(head, family, bounds, deadline);
  bounds.upper = bounds.classes.back().upper;
  return bounds;
}

}  // namespace sinkproof::certify
