// The dual bound against brute force over the very problem it relaxes, and over queries inside the box.
#include "certify/dual.hpp"

#include <doctest/doctest.h>

#include "support.hpp"

using namespace sinkproof;
using numeric::Matrix;
using numeric::Vector;

namespace {

/// A head given by A and V, in double, and what is certified of its trigger row.
struct Setting {
  explicit Setting(const attention::Weights& weights)
      : head(weights),
        family(certify::query_family(head, task::Parameters::trigger())),
        logits(certify::trigger_logits(head, 1, certify::Deadline(60))),
        a(weights.layers[0].heads[0].key),
        v(weights.layers[0].heads[0].value),
        d(head.content()) {}

  /// x^T A x', (V x)_r, (x)_r for tokens in R^n.
  double logit(const Vector<double>& x, const Vector<double>& key) const { return x.dot(a * key); }
  Vector<double> token(int base, const Vector<double>& content) const {
    Vector<double> x = Vector<double>::Zero(d + 3);
    x[base] = 1;
    x.segment(2, d) = content;
    return x;
  }

  certify::HeadMaps head;
  certify::AffineFamily family;
  certify::TriggerLogits logits;
  Matrix<double> a, v;
  int d;
};

std::vector<Vector<double>> grid(int d, int steps) {
  std::vector<Vector<double>> points = {Vector<double>(d)};
  for (int m = 0; m < d; ++m) {
    std::vector<Vector<double>> longer;
    for (Vector<double> p : points) {
      for (int k = 0; k <= steps; ++k) {
        p[m] = -1 + 2.0 * k / steps;
        longer.push_back(p);
      }
    }
    points = longer;
  }
  return points;
}

/// The largest sign (o - y)_r with `ordinary` ordinary keys of equal or opposite camps, all contents in
/// `points`; the self key's own coordinate and squares free if `relaxed`.
double brute_force(const Setting& s, const Vector<double>& query, int r, double sign, int ordinary,
                   bool relaxed, const std::vector<Vector<double>>& points) {
  const Vector<double> x = s.token(1, query);
  const int own = r >= 2 && r < s.d + 2 ? r - 2 : -1;
  struct Key {
    double w, v, u;
  };
  std::vector<Key> keys, selves;
  for (const auto& c : points) {
    const auto key = s.token(s.d + 2, c);
    keys.push_back({std::exp(s.logit(x, key)), s.v.row(r).dot(key), key[r]});
  }
  double up = 0, down = 0;
  for (int m = 0; m < s.d; ++m) {
    if (m != own) (s.a(2 + m, 2 + m) < 0 ? up : down) += std::fabs(s.a(2 + m, 2 + m));
  }
  for (int k = 0; k <= 8; ++k) {
    Vector<double> content = query;
    if (relaxed && own >= 0) content[own] = -1 + 0.25 * k;
    const auto key = s.token(1, content);
    for (const double z : {0.0, up, -down}) {
      selves.push_back({std::exp(s.logit(x, key) + (relaxed ? z : 0)), s.v.row(r).dot(key), key[r]});
    }
  }
  const double bos_weight = std::exp(s.logit(x, s.token(0, Vector<double>::Zero(s.d)))),
               bos_value = s.v(r, 0);
  double best = -1e9;
  for (const Key& self : selves) {
    for (std::size_t one = 0; one < keys.size(); ++one) {
      for (std::size_t two = 0; two < (ordinary > 1 ? keys.size() : 1); ++two) {
        const double n_two = ordinary / 2, n_one = ordinary - n_two;  // the camps' sizes
        const Key &p = keys[one], &q = keys[two];
        const double weight = bos_weight + self.w + n_one * p.w + n_two * q.w;
        const double weighted =
            bos_weight * bos_value + self.w * self.v + n_one * p.w * p.v + n_two * q.w * q.v;
        const double target = (self.u + n_one * p.u + n_two * q.u) / (ordinary + 1);
        best = std::max(best, sign * (weighted / weight - target));
      }
    }
  }
  return best;
}

}  // namespace

TEST_CASE("at a vertex: at least the relaxed problem's maximum, and not much more") {
  std::mt19937_64 random(21);
  double worst_excess = 0;
  for (int round = 0; round < 40; ++round) {
    const double noise = round % 4 == 0 ? 1.0 : round % 4 == 1 ? 0.3 : 0.05;
    const Setting s(
        support::good_head(2, round % 3 == 0 ? 1 : 4, noise, round % 5 == 0 ? 0.3 : 0.05, random));
    const auto points = grid(2, 4);
    for (int r = 0; r < 5; ++r) {
      const certify::TriggerDual dual(s.head, s.logits, r);
      s.family.sweep(0, [&](const Vector<double>& c, const Vector<double>& f) {
        const certify::TriggerQuery query(s.family, c, f);
        for (const double sign : {1.0, -1.0}) {
          for (const int ordinary : {1, 2, 5}) {
            const double truth = brute_force(s, c, r, sign, ordinary, true, points);
            const double bound = dual.bound(query, sign, ordinary + 1, ordinary + 1, 0);
            CAPTURE(round);
            CAPTURE(r);
            CAPTURE(ordinary);
            REQUIRE(bound >= truth - 1e-12);
            REQUIRE(dual.bound(query, sign, 2, 40, 0) >= truth - 1e-12);
            REQUIRE(dual.gruess(query, ordinary + 1).upper() >= truth - 1e-12);
            if (noise == 0.05 && round % 5 != 0 && ordinary > 1)
              worst_excess = std::max(worst_excess, bound - std::max(truth, 0.0));
          }
        }
      });
    }
  }
  // Camps of fixed sizes and a coarse grid: brute force itself is low.
  CHECK(worst_excess < 0.05);
  CHECK(worst_excess > 0);
}

TEST_CASE(
    "inside the box: no query exceeds the vertices' bounds by more than the curvature slack, which is "
    "needed") {
  std::mt19937_64 random(22);
  int needed = 0;
  for (int round = 0; round < 60; ++round) {
    const double noise = round % 3 == 0 ? 0.5 : round % 3 == 1 ? 0.15 : 1.2;
    auto weights = support::good_head(2, round % 2 ? 3 : 0.5, noise, 0.02, random);
    if (round % 4 == 3)
      weights.layers[0].heads[0].key.block(2, 0, 2, 1).setConstant(2);  // BOS turns with the query
    const Setting s(weights);
    const auto points = grid(2, 2);
    for (int r = 0; r < 5; ++r) {
      const certify::TriggerDual dual(s.head, s.logits, r);
      for (const double sign : {1.0, -1.0}) {
        for (const int ordinary : {1, 4}) {
          double vertices = -1e9, inside = -1e9;
          s.family.sweep(0, [&](const Vector<double>& c, const Vector<double>& f) {
            const certify::TriggerQuery query(s.family, c, f);
            vertices = std::max(vertices, dual.bound(query, sign, ordinary + 1, ordinary + 1, 0));
          });
          for (const auto& c : grid(2, 6)) {
            inside = std::max(inside, brute_force(s, c, r, sign, ordinary, false, points));
          }
          CAPTURE(round);
          CAPTURE(r);
          REQUIRE(inside <= vertices + dual.curvature_slack(ordinary + 1).upper() + 1e-12);
          needed += inside > vertices + 1e-9;
        }
      }
    }
  }
  CHECK(needed > 0);
}

TEST_CASE("the tight bound holds where the worst query lies inside the box, beyond what its vertices say") {
  Eigen::MatrixXd a(4, 4), v(4, 4);
  a << -1.5625, -1.0625, 0.875, -0.4375, -0.9375, -1.1875, -0.8125, -0.125, -1.5625, 1.5, 0.375, 0.25,
      -0.8125, 0, -1.375, 0.1875;
  v << -0.5625, 0.8125, 0.3125, 0.4375, -0.1875, -0.1875, 0.8125, -0.125, 0.875, -0.25, 0.4375, -0.75, -0.625,
      0.6875, 0.5, 0.75;
  const Setting s(support::head_of(a, v));
  double inside = -1e9, vertices = -1e9;
  for (int r = 0; r < 4; ++r) {
    const certify::TriggerDual dual(s.head, s.logits, r);
    for (const double sign : {1.0, -1.0}) {
      for (const auto& c : grid(1, 8)) {
        inside = std::max(inside, brute_force(s, c, r, sign, 1, false, grid(1, 2)));
      }
      s.family.sweep(0, [&](const Vector<double>& c, const Vector<double>& f) {
        const certify::TriggerQuery query(s.family, c, f);
        vertices =
            std::max(vertices, std::min(dual.bound(query, sign, 2, 3, 0), dual.gruess(query, 2).upper()));
      });
    }
  }
  CHECK(inside > vertices + 0.05);  // the slack is needed
  const auto tight = certify::tighten_at_trigger(s.head, 4, s.logits, 1e9, 0, 1, certify::Deadline(60));
  CHECK(tight.complete);
  CHECK(tight.upper >= inside);
  CHECK(tight.upper < 1e9);
}

namespace {

/// The relaxed problem's o_r as a function of the query's one content coordinate c: `camps` ordinary keys at
/// 1, the other ordinary ones at -1; the self key's own coordinate at `self` (r = 2), or its content tied to
/// c without the square (r != 2).
double relaxed_output(const Eigen::MatrixXd& a, const Eigen::MatrixXd& v, int r, double c, int ordinary,
                      int camp, double self) {
  const double at_self = r == 2 ? self : c;
  const auto logit = [&](int token, double content) {
    return a(1, token) + c * a(2, token) + content * (a(1, 2) + c * a(2, 2));
  };
  double weight = std::exp(logit(0, 0)), weighted = weight * v(r, 0);
  for (const double content : {1.0, -1.0}) {
    const double w = (content > 0 ? camp : ordinary - camp) * std::exp(logit(3, content));
    weight += w;
    weighted += w * (v(r, 3) + content * v(r, 2));
  }
  const double own = r == 2 ? logit(1, self) : a(1, 1) + c * a(2, 1) + c * a(1, 2);
  weight += std::exp(own);
  weighted += std::exp(own) * (v(r, 1) + at_self * v(r, 2));
  return weighted / weight;
}

}  // namespace

TEST_CASE("each part of the curvature slack bounds the second derivative it stands for") {
  struct Part {
    const char* name;
    double score_bos, score_trigger, score_content, value;  ///< A_mB, A_mT, A_mm, and V_rm for r = N
  };
  for (const Part& part :
       {Part{"BOS", 0.7, 0, 0, 0}, Part{"self", 0, 0.7, 0, 0}, Part{"ordinary", 0, 0, 0.3, 0},
        Part{"mixed", 0, 0.01, 0, 1}, Part{"mixed with BOS", 0.05, 0, 0, 1}}) {
    CAPTURE(part.name);
    Eigen::MatrixXd a = Eigen::MatrixXd::Zero(4, 4), v = Eigen::MatrixXd::Identity(4, 4);
    a(2, 0) = part.score_bos, a(2, 1) = part.score_trigger, a(2, 2) = part.score_content;
    v(3, 2) = part.value, v(2, 0) = 1, v(3, 0) = part.value == 0 ? -1 : 0;
    const Setting s(support::head_of(a, v));
    double largest = 0;
    for (const int r : {2, 3}) {
      const certify::TriggerDual dual(s.head, s.logits, r);
      for (const int ordinary : {1, 4, 12}) {
        const double kappa = 2 * dual.curvature_slack(ordinary + 1).upper();
        for (int camp = 0; camp <= ordinary; ++camp) {
          for (const double self : {-1.0, 0.0, 1.0}) {
            for (int k = -9; k <= 9; ++k) {
              const double h = 1e-3, c = k / 10.0;
              const auto o = [&](double x) { return relaxed_output(a, v, r, x, ordinary, camp, self); };
              const double second = std::fabs(o(c + h) - 2 * o(c) + o(c - h)) / (h * h);
              CAPTURE(r);
              CAPTURE(ordinary);
              REQUIRE(second <= kappa * (1 + 1e-5) + 1e-8);
              largest = std::max(largest, second / std::max(kappa, 1e-12));
            }
          }
        }
      }
    }
    CHECK(largest > 0.1);  // and is of its size
  }
}
