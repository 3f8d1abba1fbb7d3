#include "certify/coq_loss.hpp"

#include <algorithm>

namespace sinkproof::certify {

using numeric::Integer;
using numeric::Rational;

namespace {

using Row = std::vector<Integer>;

Integer largest(const Integer& a, const Integer& b) {
  return std::max(a, b);
}
Integer positive(const Integer& a) {
  return std::max(a, Integer(0));
}

/// Row of an n x n map: B, T, contents, N.
const Integer& ordinary(const Row& row) {
  return row.back();
}
/// Sum of the absolute values of the contents.
Integer norm(const Row& row) {
  Integer sum = 0;
  for (std::size_t l = 2; l + 1 < row.size(); ++l) sum += abs(row[l]);
  return sum;
}
Integer dot(const std::vector<int>& signs, const Row& row) {
  Integer sum = 0;
  for (std::size_t l = 0; l < signs.size(); ++l) sum += signs[l] * row[2 + l];
  return sum;
}

/// `vertex_maximum`: the largest leaf(signs, x^T A) over the vertices.
template <class Leaf>
void vertices(const IntegerMatrix& a, std::size_t left, std::vector<int>& signs, const Row& row,
              std::optional<Integer>& most, const Leaf& leaf) {
  if (left == 0) {
    const Integer value = leaf(signs, row);
    if (!most || value > *most) most = value;
    return;
  }
  for (const int sign : {1, -1}) {
    Row next = row;
    for (std::size_t k = 0; k < next.size(); ++k) next[k] += sign * a[1 + left][k];
    signs[left - 1] = sign;
    vertices(a, left - 1, signs, next, most, leaf);
  }
}
template <class Leaf>
Integer query_maximum(const IntegerMatrix& a, std::size_t query, const Leaf& leaf) {
  std::vector<int> signs(a.size() - 3);
  std::optional<Integer> most;
  vertices(a, signs.size(), signs, a[query], most, leaf);
  return *most;
}

/// Sum over the content rows of f(row).
template <class F>
Integer content_sum(const IntegerMatrix& a, const F& f) {
  Integer sum = 0;
  for (std::size_t m = 2; m + 1 < a.size(); ++m) sum += f(a[m]);
  return sum;
}
Integer squares(int sigma, const IntegerMatrix& a) {
  Integer sum = 0;
  for (std::size_t m = 2; m + 1 < a.size(); ++m) sum += positive(sigma * a[m][m]);
  return sum;
}
Integer norm_sum(const IntegerMatrix& a, std::size_t query) {
  return norm(a[query]) + content_sum(a, norm);
}
Integer slopes_sum(const IntegerMatrix& a, std::size_t s) {
  return content_sum(a, [&](const Row& row) { return Integer(abs(row[s])); });
}

struct Extent {
  Integer spread, bos_excess, key_excess;
};

Extent extent(const IntegerMatrix& a, CoqLevel level) {
  const std::size_t n = a.size() - 1;
  if (level == CoqLevel::sums) {
    const auto difference = [&](std::size_t p, std::size_t s, std::size_t t) {
      return Integer(a[p][s] - a[p][t] +
                     content_sum(a, [&](const Row& row) { return Integer(abs(row[s] - row[t])); }));
    };
    const Integer at_trigger = norm_sum(a, 1), at_ordinary = norm_sum(a, n);
    return {at_trigger + positive(largest(difference(1, 1, n), difference(1, n, 1))),
            at_trigger + largest(difference(1, 0, n), difference(1, 0, 1)),
            at_ordinary + largest(difference(n, n, 0), difference(n, 1, 0))};
  }
  const Integer negative = squares(-1, a), nonnegative = squares(1, a);
  return {
      query_maximum(a, 1,
                    [&](const std::vector<int>& signs, const Row& row) {
                      const Integer self = row[1] - ordinary(row) + dot(signs, row);
                      return largest(norm(row), largest(self + negative, nonnegative - self));
                    }),
      query_maximum(a, 1,
                    [](const std::vector<int>&, const Row& row) {
                      return Integer(row[0] - ordinary(row) + norm(row) + positive(ordinary(row) - row[1]));
                    }),
      query_maximum(a, n, [](const std::vector<int>&, const Row& row) {
        return Integer(largest(ordinary(row), row[1]) - row[0] + norm(row));
      })};
}

struct ReluExtent {
  Integer ordinary_low, ordinary_high, self_low, self_high, bos_low, bos_high, off_key, off_bos;
};

ReluExtent relu_extent(const IntegerMatrix& a, CoqLevel level) {
  const std::size_t n = a.size() - 1;
  const Integer bos = slopes_sum(a, 0);
  ReluExtent e{.ordinary_low = 0,
               .ordinary_high = 0,
               .self_low = 0,
               .self_high = 0,
               .bos_low = a[1][0] - bos,
               .bos_high = a[1][0] + bos,
               .off_key = 0,
               .off_bos = a[n][0] + bos};
  if (level == CoqLevel::sums) {
    const Integer at_ordinary = slopes_sum(a, n) + norm_sum(a, 1),
                  at_self = slopes_sum(a, 1) + norm_sum(a, 1);
    e.ordinary_low = a[1][n] - at_ordinary;
    e.ordinary_high = a[1][n] + at_ordinary;
    e.self_low = a[1][1] - at_self;
    e.self_high = a[1][1] + at_self;
    e.off_key = norm_sum(a, n) + largest(a[n][n] + slopes_sum(a, n), a[n][1] + slopes_sum(a, 1));
    return e;
  }
  const auto ordinary_maximum = [&](int sigma) {
    return query_maximum(a, 1, [&](const std::vector<int>&, const Row& row) {
      return Integer(sigma * ordinary(row) + norm(row));
    });
  };
  const auto self_maximum = [&](int sigma) {
    const Integer bend = squares(-sigma, a);
    return query_maximum(a, 1, [&](const std::vector<int>& signs, const Row& row) {
      return Integer(sigma * (row[1] + dot(signs, row)) + bend);
    });
  };
  e.ordinary_low = -ordinary_maximum(-1);
  e.ordinary_high = ordinary_maximum(1);
  e.self_low = -self_maximum(-1);
  e.self_high = self_maximum(1);
  e.off_key = query_maximum(a, n, [](const std::vector<int>&, const Row& row) {
    return Integer(largest(ordinary(row), row[1]) + norm(row));
  });
  return e;
}

/// `centre`, `radius`.
struct Ball {
  Integer centre, radius;
};
Ball ball(const Integer& low, const Integer& high) {
  const Integer centre = divided_down(positive(low) + positive(high), 2);
  return {centre, largest(positive(high) - centre, centre - positive(low))};
}

/// g v - unit e_r.
Row scaled_row(const Integer& g, const Integer& unit, std::size_t r, const Row& v) {
  Row row = v;
  for (Integer& x : row) x *= g;
  row[r] -= unit;
  return row;
}

Integer reach(const Row& row, std::size_t base) {
  return abs(row[base]) + norm(row);
}

/// The least bound of an error off the trigger: `off_check`, the second half of `row_check`.
Rational off_trigger(const Row& row, const Integer& key, int length, const Integer& u) {
  const Integer low = std::min(ordinary(row), row[1]) - norm(row),
                high = largest(ordinary(row), row[1]) + norm(row);
  const Integer offset = largest(abs(row[0] - low), abs(row[0] - high)), one = Integer(1) << 80;
  return {abs(row[0]) * one + Integer(length - 1) * key * offset, one * u};
}

/// `dual_check` for fixed a and H: queries once, then any bound.
class DualCheck {
 public:
  DualCheck(const IntegerMap& scores, const IntegerMap& values, int length, const Integer& a,
            const Integer& reach, const Integer& bos)
      : scores_(scores),
        values_(values),
        most_keys_(length - 1),
        a_(a),
        limit_(reach * values.denominator),
        bos_(bos) {
    four_ = 4 * a * values.denominator;
    cut_ = std::max(0, static_cast<int>(msb(four_)) - 40);
    const Integer& u = values.denominator;
    negative_ = u * squares(-1, scores.entries);
    positive_ = u * squares(1, scores.entries);
    query_maximum(scores.entries, 1, [&](const std::vector<int>& signs, const Row& row) {
      Query query{signs, {}, 0, u * (row[1] - ordinary(row))};
      for (std::size_t l = 0; l < signs.size(); ++l) {
        query.slopes.push_back(u * row[2 + l]);
        query.norm += abs(query.slopes.back());
        query.self += signs[l] * query.slopes.back();
      }
      queries_.push_back(std::move(query));
      return Integer(0);
    });
  }

  bool accepts(const Fraction& bound) const {
    std::vector<DualRow> rows;
    for (std::size_t r = 0; r < values_.entries.size(); ++r) {
      for (const int sign : {1, -1}) rows.push_back(row_of(bound, r, sign));
    }
    return std::all_of(queries_.begin(), queries_.end(), [&](const Query& query) {
      return std::all_of(rows.begin(), rows.end(),
                         [&](const DualRow& row) { return is_settled(query, row); });
    });
  }

 private:
  static constexpr int fine_bits = 12;
  struct Query {
    std::vector<int> signs;
    Row slopes;
    Integer norm, self;
  };
  struct DualRow {
    Row errors, values;  ///< of the contents
    Integer error_n, error_t, value_n, value_t, bos_part, limit, goal;
  };

  /// BOS, the trigger and J - 1 ordinary keys stay within J times the goal, for 2 <= J <= L - 1.
  bool mean_ok(const DualRow& row, const Integer& self, const Integer& each) const {
    return row.bos_part + self + each <= 2 * row.goal &&
           row.bos_part + self + (most_keys_ - 1) * each <= most_keys_ * row.goal;
  }

  static Integer dot_of(const std::vector<int>& signs, const Row& contents) {
    Integer sum = 0;
    for (std::size_t l = 0; l < signs.size(); ++l) sum += signs[l] * contents[l];
    return sum;
  }

  Integer slope(const Integer& q) const {
    return divided_down((Integer(positive(q) >> cut_) + 1) << fine_bits, four_ >> cut_) + 1;
  }

  /// Signed by `sign`: the largest error + Q^2 / (4 alpha) where Q >= 0.
  Integer side(const DualRow& row, const Row& sums, const Integer& centre, int sign) const {
    Integer norm = 0;
    for (const Integer& x : sums) norm += abs(x);
    const Integer q = sign * centre, k = slope(q + norm);
    Integer total = row.error_n + k * q;
    for (std::size_t l = 0; l < sums.size(); ++l) total += abs(row.errors[l] + k * sign * sums[l]);
    return total;
  }

  bool is_settled_at(const Query& query, const DualRow& row, const Row& sums, const Integer& shift) const {
    const Integer centre = shift + row.value_n;
    const Integer each = largest(side(row, sums, centre, 1), side(row, sums, centre, -1));
    const Integer self = shift + row.value_t + dot_of(query.signs, row.values) + query.self;
    const Integer reach = positive(largest(self + negative_, positive_ - self));
    return mean_ok(row, row.error_t + dot_of(query.signs, row.errors) + slope(reach) * reach, each) &&
           query.norm + abs(shift) <= limit_ && query.self + negative_ + shift <= limit_ &&
           positive_ - query.self - shift <= limit_;
  }

  bool is_settled(const Query& query, const DualRow& row) const {
    if (largest(query.norm, largest(query.self + negative_, positive_ - query.self)) <= row.limit)
      return true;
    Row sums = query.slopes;
    for (std::size_t l = 0; l < sums.size(); ++l) sums[l] += row.values[l];
    if (is_settled_at(query, row, sums, 0)) return true;
    const Integer room = positive(limit_ - query.norm);
    const Integer wanted =
        divided_down(side(row, sums, row.value_n, -1) - side(row, sums, row.value_n, 1), 2 << fine_bits);
    return is_settled_at(query, row, sums, largest(-room, std::min(room, wanted)));
  }

  DualRow row_of(const Fraction& bound, std::size_t r, int sign) const {
    const Row& v = values_.entries[r];
    const Integer &su = scores_.denominator, &u = values_.denominator, one = Integer(1) << 80;
    const Integer second = divided_down(limit_ * limit_, 2 * (su * u - limit_)) + 1;
    const Integer most = largest(abs(ordinary(v)), abs(v[1])) + norm(v);
    const Integer goal = divided_down(bound.numerator * su * u, bound.denominator) -
                         (divided_down(limit_ * second, four_) + 1) -
                         (divided_down(most * second, 2 * u) + 1) -
                         (divided_down(a_ * most * most * (limit_ + second), 4 * su * u * u) + 1);
    const Row error = scaled_row(1, u, r, v);
    DualRow row;
    const Integer error_unit = (su << fine_bits) * sign, value_unit = a_ * sign;
    for (std::size_t l = 2; l + 1 < v.size(); ++l) {
      row.errors.push_back(error_unit * error[l]);
      row.values.push_back(value_unit * v[l]);
    }
    row.error_n = error_unit * ordinary(error);
    row.error_t = error_unit * error[1];
    row.value_n = value_unit * ordinary(v);
    row.value_t = value_unit * v[1];
    row.goal = goal << fine_bits;
    row.bos_part = (divided_down(bos_ * (abs(v[0]) + most) * su, one) + 1) << fine_bits;
    const Integer worst = largest(row.error_n, row.error_t) + abs(error_unit) * norm(error);
    const Integer left = row.goal - divided_down(row.bos_part, 2) - 1 - worst;
    const Integer spare = divided_down(positive(left) * four_, Integer(1) << fine_bits);
    const Integer q = sqrt(spare) - divided_down(3 * four_, Integer(1) << fine_bits);
    const Integer each = worst + slope(q) * q;
    row.limit = q >= 0 && mean_ok(row, each, each) ? std::min(limit_, Integer(q - a_ * most)) : Integer(-1);
    return row;
  }

  const IntegerMap &scores_, &values_;
  Integer most_keys_, a_, limit_, bos_, four_, negative_, positive_;
  int cut_ = 0;
  std::vector<Query> queries_;
};

}  // namespace

Fraction rounded_up(const Rational& value) {
  const Integer top = boost::multiprecision::numerator(value),
                bottom = boost::multiprecision::denominator(value);
  const auto at = [&](const Integer& denominator) {
    return Fraction{-divided_down(-top * denominator, bottom), denominator};
  };
  Fraction result = at(1);
  if (top == 0) return result;
  for (int digits = 0; digits < 30; ++digits) {
    const Fraction next = at(result.denominator * 10);
    if (next.numerator > 999'999) break;
    result = next;
  }
  return result;
}

std::optional<Fraction> coq_loss(const CoqHead& head, CoqLevel level, int length) {
  const IntegerMap a = score_map(head), v = value_map(head);
  const Extent e = extent(a.entries, level);
  const auto bos = coq_exp_upper(e.bos_excess, a.denominator),
             key = coq_exp_upper(e.key_excess, a.denominator);
  if (!bos || !key) return std::nullopt;
  const Integer one = Integer(1) << 80, &scores = a.denominator, &u = v.denominator;
  Rational worst = 0;
  for (std::size_t r = 0; r < v.entries.size(); ++r) {
    const Row& row = v.entries[r];
    const Integer spread = norm(row), low = std::min(ordinary(row), row[1]) - spread,
                  high = largest(ordinary(row), row[1]) + spread;
    const Integer offset = largest(abs(row[0] - low), abs(row[0] - high));
    const Row error = scaled_row(1, u, r, row);
    const Integer deviation = largest(abs(ordinary(error)), abs(error[1])) + norm(error);
    worst = std::max(
        worst, Rational(*bos * offset * scores + (high - low) * e.spread * one + 2 * one * scores * deviation,
                        2 * one * scores * u));
    worst = std::max(worst, off_trigger(row, *key, length, u));
  }
  return rounded_up(worst);
}

std::optional<DualLoss> coq_dual_loss(const CoqHead& head, int length, const Fraction& by_vertices) {
  const IntegerMap a = score_map(head), v = value_map(head);
  const Extent e = extent(a.entries, CoqLevel::vertices);
  const auto bos = coq_exp_upper(e.bos_excess, a.denominator),
             key = coq_exp_upper(e.key_excess, a.denominator);
  // Near its best choices.
  const Integer multiplier = divided_down(95 * e.spread, 100), reach = divided_down(110 * e.spread, 100);
  if (!bos || !key || multiplier <= 0 || reach >= a.denominator || by_vertices.numerator < 1000) {
    return std::nullopt;
  }
  Rational off = 0;
  for (const Row& row : v.entries) off = std::max(off, off_trigger(row, *key, length, v.denominator));
  const DualCheck check(a, v, length, multiplier, reach, *bos);
  const auto accepts = [&](const Fraction& bound) { return off <= bound.value() && check.accepts(bound); };
  // Four digits: each more costs three passes.
  const Integer denominator = divided_down(by_vertices.denominator + 99, 100);
  Integer low = 0, high = -divided_down(-by_vertices.numerator, 100);
  if (!accepts({high, denominator})) return std::nullopt;
  while (high - low > 1) {
    const Integer middle = divided_down(low + high, 2);
    (accepts({middle, denominator}) ? high : low) = middle;
  }
  return DualLoss{multiplier, reach, {high, denominator}};
}

Fraction coq_relu_weight(const CoqHead& head, CoqLevel level) {
  const IntegerMap a = score_map(head);
  const ReluExtent e = relu_extent(a.entries, level);
  return rounded_up(Rational(positive(largest(e.off_bos, e.off_key)), a.denominator));
}

Fraction coq_relu_loss(const CoqHead& head, CoqLevel level, int length) {
  const IntegerMap a = score_map(head), v = value_map(head);
  const ReluExtent e = relu_extent(a.entries, level);
  const Integer unit = a.denominator * v.denominator;
  const Ball key = ball(e.ordinary_low, e.ordinary_high), self = ball(e.self_low, e.self_high),
             bos = ball(e.bos_low, e.bos_high);
  const Integer first = positive(a.entries[0][0]), l = length;
  Rational worst = 0;
  const auto take = [&](const Integer& top, const Integer& bottom) {
    worst = std::max(worst, Rational(top, bottom));
  };
  for (std::size_t r = 0; r < v.entries.size(); ++r) {
    const Row& row = v.entries[r];
    const std::size_t n = row.size() - 1;
    const Integer each = key.radius * reach(row, n) + reach(scaled_row(key.centre, unit, r, row), n);
    const Row error = scaled_row(self.centre, unit, r, row);
    const Integer once = bos.radius * abs(row[0]) + self.radius * reach(row, 1) +
                         abs(bos.centre * row[0] + error[1]) + norm(error);
    take(once + each, 2 * unit);
    take(once + (l - 2) * each, (l - 1) * unit);
    take(positive(e.off_bos) * abs(row[0]) + positive(e.off_key) * largest(reach(row, 1), reach(row, n)),
         unit);
    take(first * abs(row[0]), unit);
  }
  return rounded_up(worst);
}

}  // namespace sinkproof::certify
