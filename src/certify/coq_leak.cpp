#include "certify/coq_leak.hpp"

namespace sinkproof::certify {

using numeric::Integer;

namespace {

constexpr unsigned precision = 80;
constexpr int halvings = 20;

Integer one() {
  return Integer(1) << precision;
}

/// e^self + (L - 3) e^ordinary + e^trigger over one denominator, in units of 2^-80: `odds_at_most`.
std::optional<Integer> odds(int length, const Integer& denominator, const Integer& self,
                            const Integer& ordinary, const Integer& trigger) {
  const auto s = coq_exp_upper(self, denominator), o = coq_exp_upper(ordinary, denominator),
             t = coq_exp_upper(trigger, denominator);
  if (!s || !o || !t) return std::nullopt;
  return *s + Integer(length - 3) * *o + *t;
}

/// Rows and columns B, T, content l, N by name.
class Scores {
 public:
  explicit Scores(const CoqHead& head) : map_(score_map(head)), content_(head.content) {}
  std::size_t content() const { return static_cast<std::size_t>(content_); }
  std::size_t ordinary() const { return content() + 2; }
  const Integer& operator()(std::size_t r, std::size_t s) const { return map_.entries[r][s]; }
  const Integer& denominator() const { return map_.denominator; }

 private:
  IntegerMap map_;
  int content_;
};

Integer key_sum(const Scores& a, std::size_t key) {
  const std::size_t n = a.ordinary();
  Integer sum = a(n, key) - a(n, 0);
  for (std::size_t m = 2; m < n; ++m) {
    sum += abs(a(m, key) - a(m, 0)) + abs(a(n, m));
    for (std::size_t l = 2; l < n; ++l) sum += abs(a(m, l));
  }
  return sum;
}

Integer self_sum(const Scores& a) {
  const std::size_t n = a.ordinary();
  Integer sum = a(n, n) - a(n, 0);
  for (std::size_t m = 2; m < n; ++m) {
    sum += abs(a(m, n) - a(m, 0) + a(n, m));
    for (std::size_t l = 2; l < n; ++l) sum += l == m ? std::max(Integer(0), a(m, m)) : Integer(abs(a(m, l)));
  }
  return sum;
}

/// `row_functions`.
std::vector<Integer> functions(const Scores& a, std::size_t row) {
  std::vector<Integer> values{a(row, a.ordinary()) - a(row, 0), a(row, 1) - a(row, 0)};
  for (std::size_t l = 2; l < a.ordinary(); ++l) values.push_back(a(row, l));
  return values;
}

/// The exponents of the three kinds of keys at one vertex.
struct Exponents {
  Integer self, ordinary, trigger;
};

/// `visit`: every vertex once.
template <class See>
void visit(const std::vector<std::vector<Integer>>& slopes, std::size_t left, std::vector<int>& signs,
           const std::vector<Integer>& values, const Integer& dropped, const See& see) {
  if (left == 0) {
    Integer norm = 0, dot = 0;
    for (std::size_t l = 0; l < signs.size(); ++l) {
      norm += abs(values[2 + l]);
      dot += signs[l] * values[2 + l];
    }
    see(Exponents{values[0] + dropped + dot, values[0] + norm, values[1] + norm});
    return;
  }
  for (const int sign : {1, -1}) {
    std::vector<Integer> next = values;
    for (std::size_t k = 0; k < next.size(); ++k) next[k] += sign * slopes[left - 1][k];
    signs[left - 1] = sign;
    visit(slopes, left - 1, signs, next, dropped, see);
  }
}

}  // namespace

Integer coq_exp_lower(const Integer& numerator, const Integer& denominator) {
  const Integer capped = std::min(numerator, Integer(64 * denominator));
  const Integer t = divided_down(capped * one(), denominator << halvings);
  const Integer cubic = divided_down(
      6 * one() * one() * one() + 6 * t * one() * one() + 3 * t * t * one() + t * t * t, 6 * one() * one());
  Integer m = std::max(Integer(0), cubic);
  for (int k = 0; k < halvings; ++k) m = (m * m) >> precision;
  return m;
}

std::optional<Integer> coq_exp_upper(const Integer& numerator, const Integer& denominator) {
  const Integer m = coq_exp_lower(-numerator, denominator);
  if (m == 0) return std::nullopt;
  return one() * one() / m + 1;
}

Fraction least_leak(const Integer& odds) {
  // odds (den - num) <= num one, that is num >= odds den / (odds + one).
  Fraction leak;
  for (;;) {
    const Integer denominator = leak.denominator * 10;
    const Integer numerator = -divided_down(-odds * denominator, odds + one());
    if (numerator > 999'999) break;
    leak = {numerator, denominator};
    if (leak.denominator > Integer("1000000000000000000000000000000")) break;
  }
  return leak;
}

std::optional<Fraction> coq_leak_by_sums(const CoqHead& head, int length) {
  const Scores a(head);
  const auto sum = odds(length, a.denominator(), self_sum(a), key_sum(a, a.ordinary()), key_sum(a, 1));
  if (!sum) return std::nullopt;
  const Fraction leak = least_leak(*sum);
  if (leak.numerator >= leak.denominator) return std::nullopt;
  return leak;
}

std::optional<VertexLeak> coq_leak_by_vertices(const CoqHead& head, int length) {
  const Scores a(head);
  const std::size_t n = a.ordinary();
  std::vector<std::vector<Integer>> slopes;
  Integer dropped = 0;
  for (std::size_t m = 2; m < n; ++m) {
    slopes.push_back(functions(a, m));
    dropped += std::max(Integer(0), Integer(-a(m, m)));
  }
  Integer largest = 0;
  bool bounded = true;
  std::vector<int> signs(a.content());
  visit(slopes, a.content(), signs, functions(a, n), dropped, [&](const Exponents& x) {
    const auto sum = odds(length, a.denominator(), x.self, x.ordinary, x.trigger);
    bounded = bounded && sum;
    if (sum) largest = std::max(largest, *sum);
  });
  if (!bounded) return std::nullopt;
  const Fraction leak = least_leak(largest);
  if (leak.numerator >= leak.denominator) return std::nullopt;

  // The largest threshold, in steps of 2^-20, at which L - 1 equal exponentials stay below the bound.
  const auto holds = [&](long step) {
    const Integer threshold = divided_down(Integer(step) * a.denominator(), Integer(1) << 20);
    const auto sum = odds(length, a.denominator(), threshold, threshold, threshold);
    return sum && *sum * (leak.denominator - leak.numerator) <= leak.numerator * one();
  };
  long low = -(80L << 20), high = 80L << 20;
  while (high - low > 1) {
    const long middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return VertexLeak{divided_down(Integer(low) * a.denominator(), Integer(1) << 20), leak};
}

}  // namespace sinkproof::certify
