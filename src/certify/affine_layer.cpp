#include "certify/affine_layer.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "certify/affine_softmax.hpp"

namespace sinkproof::certify {
namespace {

using attention::Normaliser;
using Eigen::Index;
using numeric::Interval;
using numeric::Matrix;

using Bilinear = attention::BilinearScores<Interval>;
using Head = attention::Head<Interval>;

const Bilinear& scores_of(const Head& head) {
  const auto* scores = std::get_if<Bilinear>(&head.attention);
  if (!scores || scores->base || head.gate ||
      (scores->normaliser != Normaliser::softmax && scores->normaliser != Normaliser::relu))
    throw std::invalid_argument("affine forms: only softmax and ReLU heads with bilinear scores");
  return *scores;
}

Matrix<Interval> transposed(const Matrix<Interval>& matrix) {
  return matrix.transpose();
}

/// What one head makes of the stream.
struct HeadForms {
  bool softmax;
  std::vector<Factor> query;                       ///< A^T x_i [n], of each position
  std::vector<Matrix<Interval>> score_difference;  ///< [i](k, l) encloses s_ik - s_il; softmax only
  std::vector<AffineForms> value;                  ///< (V x_k)_r, k = 1..L, of each coordinate r
};

HeadForms prepare(const Head& head, const AffineStream& stream) {
  const Bilinear& scores = scores_of(head);
  const MidRadMatrix query_map(transposed(scores.matrix)), value_map(head.value);
  const Index length = static_cast<Index>(stream.size()), n = head.value.rows();
  HeadForms forms{
      .softmax = scores.normaliser == Normaliser::softmax,
      .query = {},
      .score_difference = {},
      .value = std::vector(static_cast<std::size_t>(n), AffineForms(length, stream[0].symbols()))};
  for (Index k = 0; k < length; ++k) {
    const AffineForms& x = stream[static_cast<std::size_t>(k)];
    forms.query.emplace_back(linear(query_map, x));
    const AffineForms v = linear(value_map, x);
    for (Index r = 0; r < n; ++r) {
      AffineForms& value = forms.value[static_cast<std::size_t>(r)];
      value.terms.row(k) = v.terms.row(r);
      value.error[k] = v.error[r];
    }
    if (forms.softmax)
      forms.score_difference.push_back(Matrix<Interval>::Constant(k + 1, k + 1, Interval(0)));
  }
  return forms;
}

/// s_ik - s_il = x_i^T A (x_k - x_l) as a product of forms: what x_k and x_l share cancels before it is
/// bounded.
void bound_score_differences(std::vector<HeadForms>& heads, const AffineStream& stream) {
  AffineForms difference_form(1, stream[0].symbols());
  for (std::size_t k = 1; k < stream.size(); ++k) {
    for (std::size_t l = 0; l < k; ++l) {
      const Factor keys(difference(stream[k], stream[l]));
      for (HeadForms& head : heads) {
        if (!head.softmax) continue;
        for (std::size_t i = k; i < stream.size(); ++i) {
          dot(head.query[i], keys, keys.forms.size(), difference_form, 0);
          const Interval range = difference_form.range(0);
          const auto row = static_cast<Index>(k), col = static_cast<Index>(l);
          head.score_difference[i](row, col) = range;
          head.score_difference[i](col, row) = -range;
        }
      }
    }
  }
}

/// Constants: the form of an enclosure without symbols.
void set_constant(AffineForms& forms, Index a, const Interval& x) {
  const double middle = x.is_undecided() ? 0 : x.lower() / 2 + x.upper() / 2;
  forms.terms.row(a).setZero();
  forms.terms(a, 0) = middle;
  forms.error[a] = x.is_undecided() ? HUGE_VAL : abs(x - Interval(middle)).upper();
}

/// max(0, s) for s in [l, u]: 0 or s itself where the sign is known, else lambda s + mu -+ mu with any
/// lambda in [0, 1]: on [l, u], max(0, s) - lambda s is convex and lies between 0 (at s = 0) and the larger
/// of its ends, -lambda l and (1 - lambda) u. Here lambda is near u / (u - l), which makes them equal.
void relu(AffineForms& scores, Index a) {
  const Interval s = scores.range(a);
  if (s.is_undecided() || s.lower() >= 0) return;
  if (s.upper() <= 0) return set_constant(scores, a, Interval(0));
  const double lambda = std::clamp(s.upper() / (s.upper() - s.lower()), 0.0, 1.0);
  const Interval bend =
      max(Interval(lambda) * -Interval(s.lower()), (Interval(1) - Interval(lambda)) * Interval(s.upper()));
  AffineForms one(1, scores.symbols());
  one.terms.row(0) = scores.terms.row(a);
  one.error[0] = scores.error[a];
  one = linear(MidRadMatrix(Matrix<Interval>::Constant(1, 1, Interval(lambda))), one);
  const double half = numeric::above(bend.upper() / 2);
  shift(one, 0, half);
  scores.terms.row(a) = one.terms.row(0);
  scores.error[a] = (Interval(one.error[0]) + Interval(half)).upper();
  if (!(scores.error[a] >= 0)) scores.error[a] = HUGE_VAL;
}

using WeightRow = Eigen::Ref<Eigen::Matrix<Interval, 1, Eigen::Dynamic>>;

/// The output of a softmax head at query i, n forms; `enclosures` [L] are intersected with the weights'
/// ranges.
AffineForms softmax_output(const HeadForms& head, const AffineStream& stream, Index i, WeightRow enclosures) {
  const auto query = static_cast<std::size_t>(i);
  const Matrix<Interval>& differences = head.score_difference[query];
  const auto pivot = static_cast<std::size_t>(best_pivot(differences));
  AffineForms scores(i + 1, stream[0].symbols());
  for (std::size_t k = 0; k <= query; ++k) {
    const Factor key(difference(stream[k], stream[pivot]));
    dot(head.query[query], key, key.forms.size(), scores, static_cast<Index>(k));
  }
  const std::vector<SoftmaxRow> rows = softmax_rows(differences, scores);
  for (Index k = 0; k <= i; ++k)
    enclosures[k] = intersection(enclosures[k], rows[0].weight[static_cast<std::size_t>(k)]);
  AffineForms output(stream[0].size(), stream[0].symbols());
  for (Index r = 0; r < output.size(); ++r) {
    const AffineForms mean = weighted_mean(rows, head.value[static_cast<std::size_t>(r)]);
    output.terms.row(r) = mean.terms.row(0);
    output.error[r] = mean.error[0];
  }
  return output;
}

/// The output of a ReLU head at query i, likewise.
AffineForms relu_output(const HeadForms& head, const std::vector<Factor>& keys, Index i,
                        WeightRow enclosures) {
  const Factor& query = head.query[static_cast<std::size_t>(i)];
  AffineForms weights(i + 1, query.forms.symbols());
  for (Index k = 0; k <= i; ++k) {
    const Factor& key = keys[static_cast<std::size_t>(k)];
    dot(query, key, key.forms.size(), weights, k);
    relu(weights, k);
  }
  Matrix<Interval> scale = Matrix<Interval>::Constant(i + 1, i + 1, Interval(0));
  scale.diagonal().setConstant(Interval(1) / Interval(static_cast<double>(std::max<Index>(i, 1))));
  weights = linear(MidRadMatrix(scale), weights);
  for (Index k = 0; k <= i; ++k) {
    const Interval range = weights.range(k);
    enclosures[k] = intersection(enclosures[k], range.is_undecided() ? range : max(range, Interval(0)));
  }
  const Factor weight(std::move(weights));
  AffineForms output(static_cast<Index>(head.value.size()), weight.forms.symbols());
  for (Index r = 0; r < output.size(); ++r)
    dot(weight, Factor(head.value[static_cast<std::size_t>(r)]), i + 1, output, r);
  return output;
}

}  // namespace

Interval intersection(const Interval& a, const Interval& b) {
  if (a.is_undecided()) return b;
  if (b.is_undecided()) return a;
  return {std::max(a.lower(), b.lower()), std::min(a.upper(), b.upper())};
}

AffineStream affine_layer(const attention::Layer<Interval>& layer, bool residual, const AffineStream& stream,
                          std::vector<Matrix<Interval>>& weights) {
  std::vector<HeadForms> heads;
  for (const Head& head : layer.heads) heads.push_back(prepare(head, stream));
  bound_score_differences(heads, stream);
  std::vector<Factor> keys;
  if (!heads.front().softmax)
    for (const AffineForms& x : stream) keys.emplace_back(x);

  AffineStream output;
  for (Index i = 0; i < static_cast<Index>(stream.size()); ++i) {
    const AffineForms& x = stream[static_cast<std::size_t>(i)];
    AffineForms sum = residual ? x : AffineForms(x.size(), x.symbols());
    for (std::size_t h = 0; h < heads.size(); ++h)
      add(sum, heads[h].softmax ? softmax_output(heads[h], stream, i, weights[h].row(i))
                                : relu_output(heads[h], keys, i, weights[h].row(i)));
    output.push_back(std::move(sum));
  }
  return output;
}

void symbolise_errors(AffineStream& stream, const Matrix<Interval>& ranges) {
  const Index symbols = stream[0].symbols(), n = stream[0].size();
  const Index fresh = static_cast<Index>(stream.size()) * n;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    AffineForms& x = stream[i];
    const Eigen::VectorXd radius = x.radius();
    for (Index r = 0; r < n; ++r) {
      const Interval range = ranges(static_cast<Index>(i), r);
      if (range.upper() - range.lower() < radius[r]) set_constant(x, r, range);
    }
    x.terms.conservativeResize(n, 1 + symbols + fresh);
    x.terms.rightCols(fresh).setZero();
    for (Index r = 0; r < n; ++r) {
      if (!(x.error[r] < HUGE_VAL)) continue;
      x.terms(r, 1 + symbols + static_cast<Index>(i) * n + r) = x.error[r];
      x.error[r] = 0;
    }
  }
}

}  // namespace sinkproof::certify
