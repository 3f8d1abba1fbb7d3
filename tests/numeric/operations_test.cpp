// The soundness test of Interval and BigInterval: one test for both, four demands on each operation.
//   1. The exact answer is contained, for every choice of values in the operands.
//   2. A false claim is refused: what lies beyond the stated tolerance of the true range is not contained;
//   what
//      has no enclosure is undecided.
//   3. The width shrinks with the precision: the tolerance of demand 2 is a few units in the last place.
//   4. Aliased arguments agree with independent ones.
#include <optional>
#include <sstream>

#include <doctest/doctest.h>

#include "numeric/big_interval.hpp"
#include "numeric/enclosure.hpp"
#include "numeric/interval.hpp"
#include "oracle.hpp"
#include "random_numbers.hpp"

using namespace sinkproof::numeric;
using namespace sinkproof::test;

namespace {

using Ends = std::pair<double, double>;

bool contains_zero(Ends x) {
  return x.first <= 0 && 0 <= x.second;
}

/// The values of a binary operation at the four corners; its range where it is monotone in each argument.
template <class Exact>
void corners(TrueRange& range, Ends a, Ends b, Exact exact) {
  static mpfr_t x, y;
  static const bool ready = (mpfr_inits2(53, x, y, static_cast<mpfr_ptr>(nullptr)), true);
  static_cast<void>(ready);
  for (const double first : {a.first, a.second}) {
    for (const double second : {b.first, b.second}) {
      mpfr_set_d(x, first, MPFR_RNDN);
      mpfr_set_d(y, second, MPFR_RNDN);
      range.add([&](mpfr_ptr z, mpfr_rnd_t direction) { return exact(z, x, y, direction); });
      if (b.first == b.second) break;
    }
    if (a.first == a.second) break;
  }
}

// Each operation: how T computes it, its true range, where it is defined, and what an end of an Interval may
// be off by: relatively, in machine epsilons, and absolutely, in least positive numbers.
struct Operation {
  static constexpr int arity = 2;
  static constexpr bool rational = true;  // exact in rationals
  static constexpr double epsilons = 2, leasts = 2;
  static bool defined(Ends, Ends) { return true; }
};
struct Add : Operation {
  static constexpr const char* name = "a + b";
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a + b;
  }
  static void range(TrueRange& r, Ends a, Ends b) { corners(r, a, b, mpfr_add); }
};
struct Subtract : Operation {
  static constexpr const char* name = "a - b";
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a - b;
  }
  static void range(TrueRange& r, Ends a, Ends b) { corners(r, a, b, mpfr_sub); }
};
struct Multiply : Operation {
  static constexpr const char* name = "a * b";
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a * b;
  }
  static void range(TrueRange& r, Ends a, Ends b) { corners(r, a, b, mpfr_mul); }
};
struct Divide : Operation {
  static constexpr const char* name = "a / b";
  template <class T>
  T operator()(const T& a, const T& b) const {
    return a / b;
  }
  static bool defined(Ends, Ends b) { return !contains_zero(b); }
  static void range(TrueRange& r, Ends a, Ends b) { corners(r, a, b, mpfr_div); }
};
struct Max : Operation {
  static constexpr const char* name = "max(a, b)";
  static constexpr double epsilons = 0, leasts = 0;
  template <class T>
  T operator()(const T& a, const T& b) const {
    return max(a, b);
  }
  static void range(TrueRange& r, Ends a, Ends b) { corners(r, a, b, mpfr_max); }
};
struct Min : Operation {
  static constexpr const char* name = "min(a, b)";
  static constexpr double epsilons = 0, leasts = 0;
  template <class T>
  T operator()(const T& a, const T& b) const {
    return min(a, b);
  }
  static void range(TrueRange& r, Ends a, Ends b) { corners(r, a, b, mpfr_min); }
};
struct Hull : Operation {
  static constexpr const char* name = "hull(a, b)";
  static constexpr bool rational = false;
  static constexpr double epsilons = 0, leasts = 0;
  template <class T>
  T operator()(const T& a, const T& b) const {
    return hull(a, b);
  }
  static void range(TrueRange& r, Ends a, Ends b) {
    corners(r, a, b, mpfr_max);
    corners(r, a, b, mpfr_min);
  }
};

struct Unary : Operation {
  static constexpr int arity = 1;
  template <class Exact>
  static void ends(TrueRange& r, Ends a, Exact exact) {
    corners(r, a, {0, 0}, [exact](mpfr_ptr z, mpfr_srcptr x, mpfr_srcptr, mpfr_rnd_t direction) {
      return exact(z, x, direction);
    });
  }
};
struct Negate : Unary {
  static constexpr const char* name = "-a";
  static constexpr double epsilons = 0, leasts = 0;
  template <class T>
  T operator()(const T& a, const T&) const {
    return -a;
  }
  static void range(TrueRange& r, Ends a, Ends) {
    ends(r, a, [](mpfr_ptr z, mpfr_srcptr x, mpfr_rnd_t direction) { return mpfr_neg(z, x, direction); });
  }
};
struct Abs : Unary {
  static constexpr const char* name = "abs(a)";
  static constexpr double epsilons = 0, leasts = 0;
  template <class T>
  T operator()(const T& a, const T&) const {
    return abs(a);
  }
  static void range(TrueRange& r, Ends a, Ends) {
    ends(r, a, [](mpfr_ptr z, mpfr_srcptr x, mpfr_rnd_t direction) { return mpfr_abs(z, x, direction); });
    if (contains_zero(a)) r.add([](mpfr_ptr z, mpfr_rnd_t) { return mpfr_set_ui(z, 0, MPFR_RNDN); });
  }
};
struct Sqrt : Unary {
  static constexpr const char* name = "sqrt(a)";
  static constexpr bool rational = false;
  template <class T>
  T operator()(const T& a, const T&) const {
    return sqrt(a);
  }
  static bool defined(Ends a, Ends) { return a.first >= 0; }
  static void range(TrueRange& r, Ends a, Ends) { ends(r, a, mpfr_sqrt); }
};
struct Exp : Unary {
  static constexpr const char* name = "exp(a)";
  static constexpr bool rational = false;
  static constexpr double epsilons = 5.75, leasts = 1;
  template <class T>
  T operator()(const T& a, const T&) const {
    return exp(a);
  }
  static void range(TrueRange& r, Ends a, Ends) { ends(r, a, mpfr_exp); }
};
struct Log : Unary {
  static constexpr const char* name = "log(a)";
  static constexpr bool rational = false;
  static constexpr double epsilons = 1, leasts = 0;
  template <class T>
  T operator()(const T& a, const T&) const {
    return log(a);
  }
  static bool defined(Ends a, Ends) { return a.first > 0; }
  static void range(TrueRange& r, Ends a, Ends) { ends(r, a, mpfr_log); }
};

/// Operands where the operation has something to say, most of the time.
template <class T, class Op>
Ends operand(RandomNumbers& random) {
  if constexpr (std::is_same_v<Op, Exp>) {
    const double x = random.below(2) ? random.uniform(-750, 715) : random.uniform(-2, 2);
    // BigInterval goes far beyond double, up to 2^(2^20), where an oracle of doubles has no say.
    if (std::is_same_v<T, BigInterval>) return {x, x + (random.below(2) ? 0 : random.unit())};
    if (random.below(4)) return random.ends_from(x);
  }
  const Ends x = random.ends();
  if ((std::is_same_v<Op, Sqrt> || std::is_same_v<Op, Log>)&&x.second <= 0) return {-x.second, -x.first};
  return x;
}

/// What T promises: how far an end may be off, and from which magnitude on a result may be undecided.
template <class T, class Op>
struct Promise;
template <class Op>
struct Promise<Interval, Op> {
  static constexpr mpfr_prec_t first_bits = 160;
  static Interval make(Ends x) { return {x.first, x.second}; }
  double relative = Op::epsilons * machine_epsilon * (1 + 0x1p-40), absolute = Op::leasts * least_positive;
  double largest = DBL_MAX;
};
template <class Op>
struct Promise<BigInterval, Op> {
  static constexpr mpfr_prec_t first_bits = 500;
  static BigInterval make(Ends x) { return hull(BigInterval(x.first), BigInterval(x.second)); }
  explicit Promise(unsigned digits) : relative(std::pow(10.0, -static_cast<double>(digits))) {}
  double relative, absolute = 0, largest = HUGE_VAL;
};

/// What is wrong with y as an enclosure of the operation; nothing if all is well.
template <class Op, class T>
const char* complaint(const T& y, Ends a, Ends b, const Promise<T, Op>& promise) {
  if (!Op::defined(a, b)) return is_undecided(y) ? nullptr : "undefined, but not undecided";
  static TrueRange coarse(Promise<T, Op>::first_bits), fine(500);
  for (TrueRange* range : {&coarse, &fine}) {
    const bool last = range == &fine;
    range->clear();
    Op::range(*range, a, b);
    if (is_undecided(y)) {
      range->widen(promise.relative, promise.absolute);
      if (compare(range->lower, -promise.largest) < 0 || compare(range->upper, promise.largest) > 0)
        return nullptr;
      if (last) return "undecided, but the result is finite";
      continue;
    }
    if (!contains_range(y, *range)) {
      if (last) return "the true result is not contained";
      continue;
    }
    range->widen(promise.relative, promise.absolute);
    if (within_range(y, *range)) return nullptr;
  }
  return "wider than promised";
}

template <class Op, class T>
void check_operation(const Promise<T, Op>& promise, std::uint64_t seed, long count) {
  RandomNumbers random(seed);
  const Op operation;
  long decided = 0;
  for (long i = 0; i < count; ++i) {
    const Ends ends_a = operand<T, Op>(random), ends_b = Op::arity == 1 ? Ends(0, 0) : operand<T, Op>(random);
    T a = promise.make(ends_a), b = promise.make(ends_b);
    const auto mode = static_cast<size_t>(i % 4);
    T y, aliased, independent;
    const bool try_aliased = i % 8 < 4;
    {
      const RoundingMode guard(RoundingMode::all[mode]);
      hide(a);
      hide(b);
      y = operation(a, b);
      hide(y);
      if (try_aliased) {
        T copy = a;
        hide(copy);
        aliased = operation(a, a);
        independent = operation(a, copy);
        hide(aliased);
        hide(independent);
      }
    }
    const char* wrong = complaint<Op>(y, ends_a, ends_b, promise);
    if (try_aliased && !(aliased == independent) && !(is_undecided(aliased) && is_undecided(independent))) {
      wrong = "aliased arguments disagree";
    }
    if constexpr (Op::rational) {
      // Demand 1 once more, from exact rationals and the definition of "contains" itself.
      if (i % 16 < 4 && !is_undecided(y) &&
          !contains(y, Rational(operation(exact(ends_a.second), exact(ends_b.first))))) {
        wrong = "the exact rational is not contained";
      }
    }
    decided += !is_undecided(y);
    if (wrong) {
      std::ostringstream where;
      where.precision(17);
      where << Op::name << ": " << wrong << "; a = [" << ends_a.first << ", " << ends_a.second << "], b = ["
            << ends_b.first << ", " << ends_b.second << "], rounding " << RoundingMode::names[mode]
            << ", result " << to_string(y, 25) << ", trial " << i << ", seed " << seed;
      FAIL(where.str());
    }
  }
  CHECK(decided > count / 4);
}

}  // namespace

TEST_CASE_TEMPLATE("Interval is sound and tight in every rounding mode", Op, Add, Subtract, Multiply, Divide,
                   Max, Min, Hull, Negate, Abs, Sqrt, Exp, Log) {
  check_operation<Op>(Promise<Interval, Op>{}, 20240601, trials());
}

TEST_CASE_TEMPLATE("BigInterval is sound and tight at every precision", Op, Add, Subtract, Multiply, Divide,
                   Max, Min, Hull, Negate, Abs, Sqrt, Exp, Log) {
  for (const unsigned digits : {17u, 30u, 100u}) {
    CAPTURE(digits);
    const BigPrecision precision(digits);
    check_operation<Op>(Promise<BigInterval, Op>(digits), 20240602 + digits, trials(50'000));
  }
}
