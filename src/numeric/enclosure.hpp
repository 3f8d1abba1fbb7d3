#pragma once

#include <algorithm>
#include <string>

#include "numeric/kind.hpp"
#include "numeric/rational.hpp"
#include "numeric/verdict.hpp"

/// What all enclosures share: the definition of "contains", comparisons with three answers, and printing.
namespace sinkproof::numeric {

// An exact number is an enclosure of width 0.
inline const Rational& lower_end(const Rational& x) {
  return x;
}
inline const Rational& upper_end(const Rational& x) {
  return x;
}
inline bool is_undecided(const Rational&) {
  return false;
}
inline Rational max(const Rational& a, const Rational& b) {
  return std::max(a, b);
}
inline Rational min(const Rational& a, const Rational& b) {
  return std::min(a, b);
}

/// The definition of "contains", for every kind of enclosure: lower end <= value <= upper end, compared
/// exactly. An undecided enclosure contains nothing that anyone may rely on: false.
template <Rigorous T>
bool contains(const T& enclosure, const Rational& value) {
  return !is_undecided(enclosure) && lower_end(enclosure) <= value && value <= upper_end(enclosure);
}

/// Whether the true value of a is at most the true value of b.
template <Rigorous A, Rigorous B>
Verdict at_most(const A& a, const B& b) {
  if (is_undecided(a) || is_undecided(b)) return Verdict::undecided;
  if (upper_end(a) <= lower_end(b)) return Verdict::proved;
  if (lower_end(a) > upper_end(b)) return Verdict::disproved;
  return Verdict::undecided;
}

template <Rigorous A, Rigorous B>
Verdict at_least(const A& a, const B& b) {
  return at_most(b, a);
}

template <Rigorous A, Rigorous B>
Verdict less_than(const A& a, const B& b) {
  if (is_undecided(a) || is_undecided(b)) return Verdict::undecided;
  if (upper_end(a) < lower_end(b)) return Verdict::proved;
  if (lower_end(a) >= upper_end(b)) return Verdict::disproved;
  return Verdict::undecided;
}

/// Whether the true values are equal: proved only where both enclosures are the same point.
template <Rigorous A, Rigorous B>
Verdict equal(const A& a, const B& b) {
  return both(at_most(a, b), at_most(b, a));
}

/// max(x, 0).
template <Scalar T>
T positive_part(const T& x) {
  using std::max;
  return max(x, T(0));
}

enum class Direction { down, up };

/// `value` as a decimal of `digits` significant digits, rounded in `direction`: "0.0051", "2.0628e-4", "0".
/// parse_rational reads it back to a number on that side of `value`.
std::string decimal(const Rational& value, Direction direction, int digits = 6);

/// A float is not printed as if it were exact.
std::string to_string(double) = delete;

/// "[2.0628e-4, 2.0641e-4]" with ends rounded outward, or "undecided". For people; JSON uses the ends.
template <Enclosed T>
std::string to_string(const T& x, int digits = 6) {
  if (is_undecided(x)) return "undecided";
  return "[" + decimal(lower_end(x), Direction::down, digits) + ", " +
         decimal(upper_end(x), Direction::up, digits) + "]";
}

}  // namespace sinkproof::numeric
