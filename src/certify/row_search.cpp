#include "certify/row_search.hpp"

#include <algorithm>
#include <cmath>

namespace sinkproof::certify {

using attention::Normaliser;
using numeric::Interval;
using numeric::Vector;

namespace {

constexpr int first = task::Parameters::content_begin();
constexpr int most_for_pairs = 24;  // content coordinates: pairs of flips cost their square
constexpr double least_gain = 1e-14;

}  // namespace

FloatHead::FloatHead(const HeadMaps& head, Normaliser kind)
    : scores(head.scores.unaryExpr(&middle)), value(head.value.unaryExpr(&middle)), normaliser(kind) {}

RowSearch::RowSearch(const FloatHead& head, const RowGoal& goal)
    : head_(&head), goal_(goal), content_(static_cast<int>(head.scores.rows()) - 3) {
  const int r = goal.coordinate, n_key = content_ + 2, t_key = task::Parameters::trigger();
  const bool at_trigger = goal.position == goal.trigger, with_target = at_trigger && !goal.leak;
  target_coordinate_ = with_target && r >= first && r < n_key ? r - first : -1;
  values_ = goal.leak ? Vector<double>::Zero(content_)
                      : Vector<double>(head.value.row(r).segment(first, content_).transpose());
  bos_value_ = goal.leak ? 0 : head.value(r, task::Parameters::bos());
  query_ = Vector<double>::Ones(content_);

  const auto key = [&](int token, double count) {
    return Key{.count = count,
               .logit = 0,
               .value = goal.leak ? 1 : head.value(r, token),
               .target = with_target && r == token ? 1.0 : 0.0,
               .content = Vector<double>::Ones(content_)};
  };
  base_ = at_trigger ? t_key : n_key;
  trigger_key_ = goal.trigger < goal.position;
  const int ordinary = std::max(goal.position - 2 - (trigger_key_ ? 1 : 0), 0);
  const int groups = std::min(ordinary, largest_groups);
  for (int k = 0; k < groups; ++k) {
    keys_.push_back(key(n_key, ordinary / groups + (k < ordinary % groups ? 1 : 0)));
  }
  if (trigger_key_) keys_.push_back(key(t_key, 1));
  keys_.push_back(key(base_, 1));
  turn();
  evaluate();
}

int RowSearch::token_of(std::size_t k) const {
  if (k + 1 == keys_.size()) return base_;
  return trigger_key_ && k + 2 == keys_.size() ? task::Parameters::trigger() : content_ + 2;
}

double RowSearch::weight_of(double s) const {
  return head_->normaliser == Normaliser::relu ? std::max(s, 0.0) : std::exp(s - pivot_);
}

double RowSearch::outcome(double weight, double weighted, double target) const {
  const double count = std::max(goal_.position - 1, 1);
  const double divisor = head_->normaliser == Normaliser::relu ? count : weight;
  return goal_.sign * (weighted / divisor - target / count);
}

void RowSearch::refresh(Key& key) const {
  key.s = key.logit + slope_.dot(key.content);
  key.v = key.value + values_.dot(key.content);
  key.u = key.target + (target_coordinate_ >= 0 ? key.content[target_coordinate_] : 0);
}

/// Recomputes what depends on the query alone.
void RowSearch::turn() {
  row_ = head_->scores.row(base_).transpose();
  row_.noalias() += head_->scores.middleRows(first, content_).transpose() * query_;
  slope_ = row_.segment(first, content_);
}

void RowSearch::flip_query(int m) {
  query_[m] = -query_[m];
  row_ += (2 * query_[m]) * head_->scores.row(first + m).transpose();
  slope_ = row_.segment(first, content_);
}

double RowSearch::evaluate() {
  const double bos_logit = row_[task::Parameters::bos()];
  keys_.back().content = query_;
  pivot_ = bos_logit;
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    keys_[k].logit = row_[token_of(k)];
    refresh(keys_[k]);
    pivot_ = std::max(pivot_, keys_[k].s);
  }
  weight_ = weight_of(bos_logit);
  weighted_ = weight_ * bos_value_;
  target_ = 0;
  for (Key& key : keys_) {
    key.w = weight_of(key.s);
    weight_ += key.count * key.w;
    weighted_ += key.count * key.w * key.v;
    target_ += key.count * key.u;
  }
  return objective_ = outcome(weight_, weighted_, target_);
}

/// The objective with the keys in the best two camps: one with the own coordinate sigma, along the logit's
/// slope, and one with -sigma, against it. With `settle` the keys are set so (for the leak, all are along the
/// slope).
double RowSearch::camps(bool settle) {
  const double bos_logit = row_[task::Parameters::bos()];
  const std::size_t others = keys_.size() - 1;
  const auto key_of = [&](std::size_t k, double camp) {
    Key key = keys_[k];
    key.logit = row_[token_of(k)];
    key.content = slope_.unaryExpr([camp](double g) { return g * camp < 0 ? -1.0 : 1.0; });
    if (target_coordinate_ >= 0) key.content[target_coordinate_] = camp * goal_.sign;
    refresh(key);
    return key;
  };
  Key own = keys_.back();
  own.logit = row_[token_of(others)];
  own.content = query_;
  refresh(own);
  pivot_ = std::max(bos_logit, own.s);
  std::vector<Key> along, against;
  for (std::size_t k = 0; k < others; ++k) {
    // All ordinary keys are alike but for their count.
    const bool same = k > 0 && token_of(k) == token_of(k - 1);
    along.push_back(same ? along.back() : key_of(k, 1));
    against.push_back(same ? against.back() : key_of(k, -1));
    along.back().count = against.back().count = keys_[k].count;
    pivot_ = std::max({pivot_, along.back().s, against.back().s});
  }
  double weight = weight_of(bos_logit), weighted = weight * bos_value_, target = 0;
  const auto add = [&](const Key& key, double times) {
    const double w = weight_of(key.s) * key.count * times;
    weight += w, weighted += w * key.v, target += times * key.count * key.u;
  };
  add(own, 1);
  for (const Key& key : along) add(key, 1);
  double best = outcome(weight, weighted, target);
  std::size_t best_split = others;
  for (std::size_t split = others; split-- > 0 && !goal_.leak;) {
    add(along[split], -1);
    add(against[split], 1);
    const double value = outcome(weight, weighted, target);
    if (value > best) best = value, best_split = split;
  }
  if (settle) {
    for (std::size_t k = 0; k < others; ++k) keys_[k].content = (k < best_split ? along : against)[k].content;
    evaluate();
  }
  return best;
}

bool RowSearch::improve_query_in_camps(bool pairs) {
  bool improved = false;
  double best = camps(false);
  for (int m = 0; m < content_; ++m) {
    for (int l = pairs ? m + 1 : m; l < (pairs ? content_ : m + 1); ++l) {
      flip_query(m);
      if (l != m) flip_query(l);
      const double value = camps(false);
      if (value > best + least_gain) {
        best = value;
        improved = true;
      } else {
        flip_query(m);
        if (l != m) flip_query(l);
      }
    }
  }
  return improved;
}

bool RowSearch::improve_keys() {
  bool improved = false;
  const bool relu = head_->normaliser == Normaliser::relu;
  const Vector<double> ratio_plus = (2 * slope_).array().exp(), ratio_minus = (-2 * slope_).array().exp();
  for (std::size_t k = 0; k + 1 < keys_.size(); ++k) {
    Key& key = keys_[k];
    for (int m = 0; m < content_; ++m) {
      const double c = key.content[m];
      const double s = key.s - 2 * c * slope_[m], v = key.v - 2 * c * values_[m];
      const double u = key.u - (m == target_coordinate_ ? 2 * c : 0);
      const double w = relu ? std::max(s, 0.0) : key.w * (c > 0 ? ratio_minus[m] : ratio_plus[m]);
      const double weight = weight_ + key.count * (w - key.w);
      const double weighted = weighted_ + key.count * (w * v - key.w * key.v);
      const double target = target_ + key.count * (u - key.u);
      const double value = outcome(weight, weighted, target);
      if (!(value > objective_ + least_gain)) continue;
      key.content[m] = -c;
      key.s = s, key.v = v, key.u = u, key.w = w;
      weight_ = weight, weighted_ = weighted, target_ = target, objective_ = value;
      improved = true;
    }
  }
  return improved;
}

bool RowSearch::improve_query() {
  bool improved = false;
  for (int m = 0; m < content_; ++m) {
    const double before = objective_;
    flip_query(m);
    if (evaluate() > before + least_gain) {
      improved = true;
    } else {
      flip_query(m);
      evaluate();
    }
  }
  return improved;
}

double RowSearch::ascend() {
  constexpr int most_rounds = 60;
  for (int round = 0; round < most_rounds; ++round) {
    if (!improve_query_in_camps(false) && !(content_ <= most_for_pairs && improve_query_in_camps(true)))
      break;
  }
  camps(true);
  for (int round = 0; round < most_rounds; ++round) {
    const bool keys = improve_keys();
    const bool query = improve_query();
    if (!keys && !query) break;
  }
  return objective_;
}

double RowSearch::polish() {
  for (double step = 1; step > 1e-3; step /= 2) {
    for (int m = 0; m < content_; ++m) {
      for (const double direction : {step, -step}) {
        const double before = objective_, c = query_[m];
        query_[m] = std::clamp(c + direction, -1.0, 1.0);
        turn();
        if (evaluate() > before + least_gain) continue;
        query_[m] = c;
        turn();
        evaluate();
      }
    }
    improve_keys();
  }
  turn();
  return evaluate();
}

void RowSearch::restart(std::mt19937_64& random) {
  for (double& c : query_) c = random() >> 63 ? 1 : -1;
  turn();
  camps(true);
}

void RowSearch::start_from(const Vector<double>& query) {
  query_ = query;
  turn();
  camps(true);
}

void RowSearch::perturb(std::mt19937_64& random, int count) {
  if (content_ == 0) return;
  for (int k = 0; k < count; ++k) {
    const auto m = static_cast<int>(random() % static_cast<std::uint64_t>(content_));
    query_[m] = -query_[m];
  }
  turn();
  camps(true);
}

task::Instance<double> RowSearch::instance(int length) const {
  task::Instance<double> result{goal_.trigger, numeric::Matrix<double>::Zero(length, content_)};
  result.content.row(goal_.position - 1) = query_.transpose();
  std::size_t k = 0;
  double left = keys_[0].count;
  for (int row = 1; row < goal_.position - 1; ++row) {
    if (row == goal_.trigger - 1) {
      result.content.row(row) = keys_[keys_.size() - 2].content.transpose();
      continue;
    }
    while (left <= 0) left = keys_[++k].count;
    result.content.row(row) = keys_[k].content.transpose();
    left -= 1;
  }
  return result;
}

}  // namespace sinkproof::certify
