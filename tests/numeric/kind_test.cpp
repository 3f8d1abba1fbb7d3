// What rigorous code does with each kind of scalar is settled at compile time.
#include "numeric/kind.hpp"

#include <doctest/doctest.h>

#include "numeric/enclosure.hpp"
#include "numeric/matrix.hpp"

using namespace sinkproof::numeric;

namespace {

/// An interval type whose author has not declared its kind.
struct Stranger {
  double lower, upper;
};

template <class T>
concept Contains = requires(const T& x, const Rational& value) {
  contains(x, value);
};
template <class A, class B>
concept Compares = requires(const A& a, const B& b) {
  at_most(a, b);
  at_least(a, b);
  less_than(a, b);
  equal(a, b);
};
template <class T>
concept PrintsAsEnclosure = requires(const T& x) {
  to_string(x, 6);
};
template <class T>
concept Prints = requires(const T& x) {
  to_string(x);
};
template <class T>
concept FillsMatrices = requires {
  typename Matrix<T>;
};
template <class T>
concept HasDoor = requires {
  from_double<T>(0.5);
};

}  // namespace

TEST_CASE("kinds, and what compiles with them (must_not_compile holds the twins)") {
  static_assert(kind_of<Rational> == Kind::exact && kind_of<Interval> == Kind::enclosed &&
                kind_of<BigInterval> == Kind::enclosed && kind_of<double> == Kind::floating &&
                kind_of<Stranger> == Kind::undeclared && kind_of<long double> == Kind::undeclared);

  static_assert(Contains<Rational> && Contains<Interval> && Contains<BigInterval>);
  static_assert(!Contains<double> && !Contains<Stranger>);
  static_assert(Compares<Rational, Interval> && Compares<Interval, BigInterval>);
  static_assert(!Compares<double, Interval> && !Compares<Interval, double> && !Compares<Stranger, Stranger>);
  static_assert(PrintsAsEnclosure<Interval> && PrintsAsEnclosure<BigInterval>);
  static_assert(!PrintsAsEnclosure<Rational> && !PrintsAsEnclosure<double> && !PrintsAsEnclosure<Stranger>);
  static_assert(Prints<Rational> && Prints<Interval> && !Prints<double> && !Prints<Stranger>);
  static_assert(FillsMatrices<double> && FillsMatrices<Rational> && FillsMatrices<Interval>);
  static_assert(!FillsMatrices<Stranger> && !HasDoor<Stranger>);

  static_assert(!std::is_convertible_v<Interval, double> && !std::is_convertible_v<Interval, bool>);
  static_assert(!std::is_convertible_v<Verdict, bool> && !std::totally_ordered<Interval>);
  CHECK(kind_of<Stranger> == Kind::undeclared);
}
