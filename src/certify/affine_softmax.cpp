#include "certify/affine_softmax.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "numeric/rounding.hpp"

namespace sinkproof::certify {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using numeric::Interval;
using numeric::Matrix;

double upper_or_infinite(const Interval& x) {
  return x.is_undecided() ? HUGE_VAL : x.upper();
}

/// a_k = 1 / (1 + sum_{l != k} exp(s_l - s_k)), within [0, 1]; e^700 stands in for what would overflow.
Interval softmax_weight(const Matrix<Interval>& score_difference, Index k) {
  Interval lower_sum(1), upper_sum(1);
  for (Index l = 0; l < score_difference.rows(); ++l) {
    if (l == k) continue;
    const Interval s = score_difference(l, k);
    if (s.is_undecided()) return {0, 1};
    lower_sum += exp(Interval(std::min(s.lower(), 700.0)));
    upper_sum += s.upper() <= 700 ? exp(Interval(s.upper())) : Interval::undecided();
  }
  const double upper = (Interval(1) / lower_sum).upper();
  const double lower = upper_sum.is_undecided() ? 0 : (Interval(1) / upper_sum).lower();
  return {std::max(lower, 0.0), std::min(upper, 1.0)};
}

/// Gruess: with a_k proportional to w_k exp(t_k) and t_k - t_l <= spread, every set E of keys has
///   a(E) / a(not E) <= e^spread w(E) / w(not E),
/// so a(E) - w(E) <= tanh(spread / 4), and sum |a_k - w_k| = 2 max_E (a(E) - w(E)) <= 2 tanh(spread / 4).
double two_tanh(double spread) {
  if (!(spread <= 1000)) return 2;
  const Interval result = Interval(2) - Interval(4) / (exp(Interval(spread) * Interval(0.5)) + Interval(1));
  return std::min(upper_or_infinite(result), 2.0);
}

/// Bounds sum |a_k - w_k|, w the softmax of the centre. The keys outside a set K cost sum r_k over them;
/// given that the key lies in K, Gruess' bound holds with the spread of K; and a(K) differs from w(K) by what
/// the others do:
///   sum_K |a_k - w_k| <= sum_K |a_k / a(K) - w_k / w(K)| + |a(K) - w(K)|.
/// K sheds the key of the largest spread, again and again; the least bound counts.
double total_deviation_bound(const Matrix<Interval>& score_difference, const Matrix<Interval>& at_centre,
                             const VectorXd& deviation) {
  const Index count = deviation.size();
  Matrix<double> change(count, count);
  for (Index k = 0; k < count; ++k)
    for (Index l = 0; l < count; ++l)
      change(k, l) = upper_or_infinite(score_difference(k, l) - at_centre(k, l));
  std::vector<Index> kept(static_cast<std::size_t>(count));
  std::iota(kept.begin(), kept.end(), Index{0});
  double best = 2;
  Interval shed(0);
  while (!kept.empty()) {
    double spread = 0, worst = -1;
    std::size_t widest = 0;
    for (std::size_t a = 0; a < kept.size(); ++a) {
      double own = 0;
      for (const Index l : kept) {
        spread = std::max(spread, change(kept[a], l));
        own += change(kept[a], l) + change(l, kept[a]);
      }
      if (own > worst) {
        worst = own;
        widest = a;
      }
    }
    best = std::min(best, upper_or_infinite(Interval(two_tanh(spread)) + Interval(2) * shed));
    shed += Interval(deviation[kept[widest]]);
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(widest));
  }
  return best;
}

/// Upper bound of sum_k |t_k| size_k over all t with |t_k| <= deviation_k and sum |t_k| <= total: the largest
/// sizes first.
double worst_sum(const SoftmaxRow& row, const VectorXd& size) {
  for (const double x : size) {
    if (!(x < HUGE_VAL)) return HUGE_VAL;  // NaN, too, which sorting must not meet
  }
  std::vector<Index> order(static_cast<std::size_t>(size.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return size[a] > size[b]; });
  Interval sum(0);
  double left = row.total_deviation;
  for (const Index k : order) {
    const double taken = std::min(row.deviation[k], left);
    sum += Interval(taken) * Interval(size[k]);
    // What remains is rounded up, so that no mass is lost.
    left = std::max((Interval(left) - Interval(taken)).upper(), 0.0);
  }
  return upper_or_infinite(sum);
}

Matrix<Interval> row_matrix(const VectorXd& x) {
  return x.transpose().unaryExpr([](double value) { return Interval(value); });
}

}  // namespace

Index best_pivot(const Matrix<Interval>& score_difference) {
  Index best = 0;
  double least = HUGE_VAL;
  for (Index p = 0; p < score_difference.cols(); ++p) {
    double spread = 0;
    for (Index k = 0; k < score_difference.rows(); ++k)
      spread += score_difference(k, p).upper() - score_difference(k, p).lower();
    if (spread < least) {
      least = spread;
      best = p;
    }
  }
  return best;
}

void shift(AffineForms& x, Index a, double by) {
  const Interval sum = Interval(x.terms(a, 0)) + Interval(by);
  x.terms(a, 0) = sum.lower();
  x.error[a] = upper_or_infinite(Interval(x.error[a]) + (Interval(sum.upper()) - Interval(sum.lower())));
}

SoftmaxRow::SoftmaxRow(const Matrix<Interval>& score_difference, const AffineForms& score,
                       const VectorXd& centre_score)
    : centre(score.size()), deviation(score.size()), score_change(score) {
  const Index count = score.size();
  Matrix<Interval> at_centre(count, count), between(count, count);
  for (Index k = 0; k < count; ++k) {
    shift(score_change, k, -centre_score[k]);
    for (Index l = 0; l < count; ++l) {
      at_centre(k, l) = Interval(centre_score[k]) - Interval(centre_score[l]);
      between(k, l) = hull(score_difference(k, l), at_centre(k, l));
    }
  }
  Interval centre_gap(0);
  for (Index k = 0; k < count; ++k) {
    const Interval exact = softmax_weight(at_centre, k);
    centre[k] = exact.lower() / 2 + exact.upper() / 2;
    centre_gap += abs(exact - Interval(centre[k]));
    weight.push_back(softmax_weight(between, k));
    deviation[k] = abs(weight.back() - Interval(centre[k])).upper();
  }
  centre_error = centre_gap.upper();
  // Each of the three sums that the bound takes is measured from centre[k], off by `centre_gap` altogether.
  total_deviation = upper_or_infinite(
      Interval(total_deviation_bound(score_difference, at_centre, deviation)) + Interval(3) * centre_gap);
}

std::vector<SoftmaxRow> softmax_rows(const Matrix<Interval>& score_difference, const AffineForms& score) {
  std::vector<SoftmaxRow> rows;
  rows.emplace_back(score_difference, score, score.terms.col(0));
  VectorXd middle(score.size());
  for (Index k = 0; k < score.size(); ++k) {
    const Interval weight = rows[0].weight[static_cast<std::size_t>(k)];
    middle[k] = std::log(weight.lower() / 2 + weight.upper() / 2);
  }
  // Relative to the largest, of which the weights are a function too.
  middle.array() -= middle.maxCoeff();
  rows.emplace_back(score_difference, score, middle);
  return rows;
}

// With z_k = v_k - base = z0_k + Z_k (centre and rest) and sum a_k = 1:
//   sum a_k v_k = base + sum w_k z_k + sum (a_k - w_k) Z_k + sum (a_k - w_k) z0_k.
// The third term is bounded by worst_sum. The fourth is f(s) - sum w_k z0_k with f = sum a_k(s) z0_k, a
// function of the scores: either bounded by worst_sum too, or by the mean value theorem between the centre
// scores and s,
//   f(s) - f(centre) = sum_l a_l (z0_l - f) (change of s_l), at some scores in between,
// where a change common to all l drops out (the factors sum to 0), so that changes of s_l - s_p will do.
namespace {

AffineForms weighted_mean(const SoftmaxRow& row, const AffineForms& value) {
  const Index count = row.centre.size();
  AffineForms z;
  z.terms = value.terms.topRows(count);
  z.error = value.error.head(count);
  const double base = row.centre.dot(z.terms.col(0));
  for (Index k = 0; k < count; ++k) shift(z, k, -base);
  const VectorXd centre = z.terms.col(0);
  AffineForms mean = linear(MidRadMatrix(row_matrix(row.centre)), z);
  const double bound = worst_sum(row, centre.cwiseAbs());

  Interval at_centre(0);
  double largest = 0;
  for (Index k = 0; k < count; ++k) {
    at_centre += Interval(row.centre[k]) * Interval(centre[k]);
    largest = std::max(largest, std::fabs(centre[k]));
  }
  const Interval f = at_centre + Interval(-bound, bound);
  Matrix<Interval> factor(1, count);
  for (Index l = 0; l < count; ++l)
    factor(0, l) = row.weight[static_cast<std::size_t>(l)] * (Interval(centre[l]) - f);
  AffineForms change = linear(MidRadMatrix(factor), row.score_change);
  change.error[0] =
      upper_or_infinite(Interval(change.error[0]) + Interval(row.centre_error) * Interval(largest));
  Interval rest(worst_sum(row, z.radius()));
  if (change.error[0] < 0.5 * bound) {
    add(mean, change);
  } else {
    rest += Interval(bound);
  }
  mean.error[0] = upper_or_infinite(Interval(mean.error[0]) + rest);
  shift(mean, 0, base);
  return mean;
}

}  // namespace

AffineForms weighted_mean(const std::vector<SoftmaxRow>& rows, const AffineForms& value) {
  AffineForms best = weighted_mean(rows[0], value);
  for (std::size_t k = 1; k < rows.size(); ++k) {
    AffineForms mean = weighted_mean(rows[k], value);
    if (mean.error[0] < best.error[0]) best = std::move(mean);
  }
  return best;
}

}  // namespace sinkproof::certify
