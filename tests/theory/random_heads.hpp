#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "attention/forward.hpp"
#include "numeric/enclosure.hpp"
#include "task/instance.hpp"

/// Random heads with normalised causal attention whose losses are known exactly, for the tests of Theorems 1
/// and 1'.
namespace sinkproof::theory::testing {

using numeric::Matrix, numeric::Rational;
using task::Instance, task::Parameters;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : bits_(seed) {}
  int integer(int low, int high) {
    return low + static_cast<int>(bits_() % static_cast<std::uint64_t>(high - low + 1));
  }
  /// A multiple of 1/12 in [-1, 1].
  Rational signed_unit() { return Rational(integer(-12, 12), 12); }
  Rational unit() { return Rational(integer(0, 12), 12); }

 private:
  std::mt19937_64 bits_;
};

/// One head whose attention depends on the trigger position alone, [L, L] for each j = 3..L.
struct Head {
  std::vector<Matrix<Rational>> attention;
  Matrix<Rational> value;
  const Matrix<Rational>& at(int trigger) const { return attention[static_cast<std::size_t>(trigger - 3)]; }
  Matrix<Rational>& at(int trigger) { return attention[static_cast<std::size_t>(trigger - 3)]; }
};

inline attention::Model<Rational> model(const Matrix<Rational>& weights, const Matrix<Rational>& value) {
  return attention::single_head<Rational>(
      {.attention = attention::GivenAttention<Rational>{weights}, .value = value});
}

/// max_i |o_i - y_i| on one instance, through the library's forward pass.
inline Rational error(const Parameters& p, const attention::Model<Rational>& m, const Instance<Rational>& x) {
  const Matrix<Rational> difference = attention::forward(m, task::tokens(p, x)).output - task::target(p, x);
  Rational largest = 0;
  for (Eigen::Index k = 0; k < difference.size(); ++k) {
    largest = numeric::max(largest, Rational(abs(difference.data()[k])));
  }
  return largest;
}

/// sup over the content of max_i |o_i - y_i| for trigger j, exactly: for fixed attention o_i - y_i is affine
/// in the content, so each coordinate is at most |constant| + sum |coefficients|, attained at a vertex.
inline Rational loss(const Parameters& p, const Head& head, int j) {
  const Matrix<Rational>& a = head.at(j);
  Rational largest = 0;
  for (int i = 1; i <= p.length(); ++i) {
    for (int r = 0; r < p.dimension(); ++r) {
      Rational constant = 0, slack = 0;
      for (int k = 1; k <= i; ++k) {
        const Rational wanted = i == j && k >= 2 ? Rational(1, j - 1) : Rational(0);
        const int type = k == 1 ? p.bos() : k == j ? p.trigger() : p.ordinary();
        constant += a(i - 1, k - 1) * head.value(r, type) - (r == type ? wanted : Rational(0));
        for (int m = 0; k >= 2 && m < p.content(); ++m) {
          const int c = p.content_begin() + m;
          slack += abs(Rational(a(i - 1, k - 1) * head.value(r, c) - (r == c ? wanted : Rational(0))));
        }
      }
      largest = numeric::max(largest, Rational(abs(constant) + slack));
    }
  }
  return largest;
}

inline Rational loss(const Parameters& p, const Head& head) {
  Rational largest = 0;
  for (int j = 3; j <= p.length(); ++j) largest = numeric::max(largest, loss(p, head, j));
  return largest;
}

/// The largest leak at a non-trigger position i >= 2.
inline Rational largest_leak(const Parameters& p, const Matrix<Rational>& weights, int j) {
  Rational largest = 0;
  for (int i = 2; i <= p.length(); ++i) {
    if (i != j) largest = numeric::max(largest, Rational(1 - weights(i - 1, 0)));
  }
  return largest;
}

inline Rational largest_leak(const Parameters& p, const Head& head) {
  Rational largest = 0;
  for (int j = 3; j <= p.length(); ++j) largest = numeric::max(largest, largest_leak(p, head.at(j), j));
  return largest;
}

/// Random nonnegative integers over their sum, causal.
inline Matrix<Rational> random_attention(const Parameters& p, Dice& dice) {
  Matrix<Rational> a = Matrix<Rational>::Constant(p.length(), p.length(), Rational(0));
  for (int row = 0; row < p.length(); ++row) {
    Rational sum = 0;
    for (int k = 0; k <= row; ++k) sum += a(row, k) = dice.integer(k == row ? 1 : 0, 5);
    a.row(row) /= sum;
  }
  return a;
}

/// No relation to the task.
inline Head wild_head(const Parameters& p, Dice& dice) {
  Head head{{}, Matrix<Rational>(p.dimension(), p.dimension())};
  for (int j = 3; j <= p.length(); ++j) head.attention.push_back(random_attention(p, dice));
  for (Eigen::Index k = 0; k < head.value.size(); ++k) head.value.data()[k] = 2 * dice.signed_unit();
  return head;
}

/// A solution of the task with defects of size s: V = (I_W + s noise)/g with V e_B about -s (e_N + e_T), a
/// trigger row of mass g on 2..j that is nearly uniform, other rows that leak a few s, much of it on the
/// mixture of trigger and ordinary token that V e_B hides best.
inline Head near_optimal_head(const Parameters& p, Dice& dice, const Rational& s) {
  const int n = p.dimension();
  const Rational g(dice.integer(2, 4), 4);
  Head head{{}, Matrix<Rational>::Constant(n, n, Rational(0))};
  const Rational noise = dice.integer(0, 2) == 0 ? s / (2 * n) : Rational(0);
  for (int r = 0; r < n; ++r) {
    for (int c = 1; c < n; ++c) head.value(r, c) = ((r == c ? 1 : 0) + noise * dice.signed_unit()) / g;
  }
  for (const int r : {p.ordinary(), p.trigger()}) head.value(r, p.bos()) = -s * (1 + dice.unit()) / 2;
  for (int j = 3; j <= p.length(); ++j) {
    Matrix<Rational> a = Matrix<Rational>::Constant(p.length(), p.length(), Rational(0));
    for (int i = 1; i <= p.length(); ++i) {
      const Rational mass = i == j   ? g
                            : i == 1 ? Rational(0)
                                     : Rational(g * s * dice.integer(0, i > j ? 4 : 2));
      a(i - 1, 0) = 1 - mass;
      if (mass == 0) continue;
      if (i == j) {
        const Rational shift = noise * dice.unit() / (j - 1);
        for (int k = 2; k <= j; ++k) a(i - 1, k - 1) = mass / (j - 1);
        a(i - 1, 1) += shift;
        a(i - 1, 2) -= shift;
      } else if (i > j) {
        a(i - 1, j - 1) = a(i - 1, dice.integer(0, 1) == 0 ? 1 : i - 1) = mass / 2;
      } else {
        a(i - 1, i - 1) = mass;
      }
    }
    head.attention.push_back(a);
  }
  return head;
}

/// Every vertex of the content box. For small d (L-1).
template <class Visit>
void for_each_vertex(const Parameters& p, int trigger, Visit visit) {
  auto x = task::zero_instance<Rational>(p, trigger);
  const int bits = p.content() * (p.length() - 1);
  for (unsigned code = 0; code < 1u << bits; ++code) {
    for (int b = 0; b < bits; ++b) x.content(1 + b / p.content(), b % p.content()) = code >> b & 1 ? 1 : -1;
    visit(x);
  }
}

}  // namespace sinkproof::theory::testing
