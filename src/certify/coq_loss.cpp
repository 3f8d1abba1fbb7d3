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
    worst = std::max(worst, Rational(abs(row[0]) * one + Integer(length - 1) * *key * offset, one * u));
  }
  return rounded_up(worst);
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
