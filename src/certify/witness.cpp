#include "certify/witness.hpp"

#include "attention/normalise.hpp"

namespace sinkproof::certify {

using numeric::Interval;
using numeric::Vector;

namespace {

/// (u^T x_k) for the token at row k.
Interval applied(const Vector<Interval>& u, const task::Instance<double>& instance, int row) {
  if (row == 0) return u[task::Parameters::bos()];
  const auto d = static_cast<int>(instance.content.cols());
  Interval sum = u[row == instance.trigger - 1 ? task::Parameters::trigger() : d + 2];
  for (int m = 0; m < d; ++m) {
    sum += u[task::Parameters::content_begin() + m] * Interval(instance.content(row, m));
  }
  return sum;
}

std::vector<Interval> weights_at(const HeadMaps& head, attention::Normaliser normaliser,
                                 const task::Instance<double>& instance, int position) {
  const auto n = static_cast<int>(head.scores.rows());
  Vector<Interval> query(n);  // A^T x_i
  for (int k = 0; k < n; ++k) query[k] = applied(head.scores.col(k), instance, position - 1);
  std::vector<Interval> scores, weights(static_cast<std::size_t>(position));
  for (int row = 0; row < position; ++row) scores.push_back(applied(query, instance, row));
  attention::normalise<Interval>({.matrix = {}, .normaliser = normaliser}, scores, weights);
  return weights;
}

}  // namespace

Interval leak_at(const HeadMaps& head, const task::Instance<double>& instance, int position) {
  // 1 - a_i1 would lose the digits of a small leak: the weights are added up.
  const auto weights = weights_at(head, attention::Normaliser::softmax, instance, position);
  Interval sum(0);
  for (std::size_t k = 1; k < weights.size(); ++k) sum += weights[k];
  return min(sum, Interval(1));
}

Interval largest_weight_at(const HeadMaps& head, const task::Instance<double>& instance, int position) {
  const auto weights = weights_at(head, attention::Normaliser::relu, instance, position);
  Interval largest(0);
  for (std::size_t k = 1; k < weights.size(); ++k) largest = max(largest, weights[k]);
  return largest;
}

Interval error_at(const HeadMaps& head, attention::Normaliser normaliser,
                  const task::Instance<double>& instance, int position, int coordinate) {
  const auto weights = weights_at(head, normaliser, instance, position);
  const Vector<Interval> row = head.value.row(coordinate).transpose();
  Vector<Interval> unit = Vector<Interval>::Constant(row.size(), Interval(0));
  unit[coordinate] = Interval(1);
  Interval output(0), target(0);
  for (int k = 0; k < position; ++k) {
    output += weights[static_cast<std::size_t>(k)] * applied(row, instance, k);
    if (position == instance.trigger && k > 0) target += applied(unit, instance, k);
  }
  return abs(output - target / Interval(static_cast<double>(std::max(position - 1, 1))));
}

}  // namespace sinkproof::certify
