#pragma once

#include <random>
#include <vector>

#include "attention/model.hpp"
#include "certify/head.hpp"

namespace sinkproof::certify {

/// One row of attention as a function to maximise: sigma (o_i - y_i)_r at position i, over the contents of
/// the query and of its keys. With the values 1 for every key but BOS (and target 0) it is the leak.
/// Everything here is float: what is found must be proved by a rigorous evaluation.
struct RowGoal {
  int trigger = 3;     ///< j
  int position = 3;    ///< i
  int coordinate = 0;  ///< r; read for the error only
  double sign = 1;     ///< sigma
  bool leak = false;   ///< maximise the leak instead
  friend bool operator==(const RowGoal&, const RowGoal&) = default;
};

/// The head in floating point.
struct FloatHead {
  explicit FloatHead(const HeadMaps& head, attention::Normaliser normaliser);
  numeric::Matrix<double> scores, value;
  attention::Normaliser normaliser;
};

/// Sign ascent on one goal. The ordinary keys besides the query are searched as at most `largest_groups`
/// groups of equal content, so that the cost does not grow with L.
class RowSearch {
 public:
  static constexpr int largest_groups = 64;

  RowSearch(const FloatHead& head, const RowGoal& goal);

  /// Random signs: keys in two opposite camps along the logit's slope, the query anyhow.
  void restart(std::mt19937_64& random);
  /// The query there, its keys along the logit's slope.
  void start_from(const numeric::Vector<double>& query);
  /// Flips `count` random signs of the query.
  void perturb(std::mt19937_64& random, int count);
  /// Flips signs of the query, one or two at a time, with the keys in the best two camps, while that helps;
  /// then any sign of any token. Returns the objective.
  double ascend();
  /// Moves the query's coordinates into the box's interior while that helps (after ascend). Returns the
  /// objective.
  double polish();
  double objective() const { return objective_; }

  task::Instance<double> instance(int length) const;

 private:
  struct Key {
    double count;         ///< how many tokens share this content
    double logit, value;  ///< at content 0: of an ordinary or a trigger token
    double target;        ///< at content 0, in units of 1 / (i - 1)
    numeric::Vector<double> content;
    double s = 0, v = 0, u = 0, w = 0;  ///< at its content
  };

  void turn();
  void flip_query(int m);
  double evaluate();
  double camps(bool settle);
  bool improve_query_in_camps(bool pairs);
  double outcome(double weight, double weighted, double target) const;
  bool improve_keys();
  bool improve_query();
  int token_of(std::size_t k) const;  ///< N or T
  double weight_of(double s) const;
  void refresh(Key& key) const;

  const FloatHead* head_;
  RowGoal goal_;
  int content_, target_coordinate_;  ///< target_coordinate_: the content coordinate r stands for, or -1
  int base_;                         ///< the query's own coordinate: N or T
  bool trigger_key_;                 ///< whether the trigger is a key besides the query
  numeric::Vector<double> query_, values_;
  numeric::Vector<double> row_, slope_;  ///< A^T x for the query x, and its content part
  std::vector<Key>
      keys_;  ///< groups of ordinary keys; the trigger key, if it is not the query; the query's own
  double bos_value_ = 0, pivot_ = 0;
  double weight_ = 0, weighted_ = 0, target_ = 0, objective_ = 0;
};

}  // namespace sinkproof::certify
