#pragma once

#include <mpfr.h>

#include "numeric/enclosure.hpp"
#include "numeric/interval.hpp"

/// The true results that the enclosures answer to: MPFR at high precision, rounded to both sides.
namespace sinkproof::test {

/// Bounds of a set of real numbers, its own bounds rounded outward to `bits` bits. As the ends of the
/// enclosures under test have fewer bits, "the bounds are contained" and "the set is contained" are the same
/// statement.
class TrueRange {
 public:
  explicit TrueRange(mpfr_prec_t bits) {
    for (mpfr_ptr x : {lower, upper, below_, above_, scratch_}) mpfr_init2(x, bits);
    clear();
  }
  ~TrueRange() {
    for (mpfr_ptr x : {lower, upper, below_, above_, scratch_}) mpfr_clear(x);
  }
  TrueRange(const TrueRange&) = delete;
  TrueRange& operator=(const TrueRange&) = delete;

  void clear() { mpfr_set_nan(lower); }
  bool empty() const { return mpfr_nan_p(lower); }

  /// Adds the value that `function` (an MPFR-like function of a result and a direction) rounds.
  template <class Function>
  void add(Function function) {
    const int inexact = function(below_, MPFR_RNDD);
    mpfr_set(above_, below_, MPFR_RNDN);
    if (inexact != 0) mpfr_nextabove(above_);
    if (empty()) {
      mpfr_set(lower, below_, MPFR_RNDN);
      mpfr_set(upper, above_, MPFR_RNDN);
    } else {
      mpfr_min(lower, lower, below_, MPFR_RNDN);
      mpfr_max(upper, upper, above_, MPFR_RNDN);
    }
  }

  /// Moves the bounds outward by `relative` of themselves and by `absolute`, rounded outward.
  void widen(double relative, double absolute) {
    for (const bool up : {false, true}) {
      mpfr_ptr end = up ? upper : lower;
      mpfr_abs(scratch_, end, MPFR_RNDU);
      mpfr_mul_d(scratch_, scratch_, relative, MPFR_RNDU);
      mpfr_add_d(scratch_, scratch_, absolute, MPFR_RNDU);
      up ? mpfr_add(end, end, scratch_, MPFR_RNDU) : mpfr_sub(end, end, scratch_, MPFR_RNDD);
    }
  }

  mpfr_t lower, upper;

 private:
  mpfr_t below_, above_, scratch_;
};

inline int compare(mpfr_srcptr x, double y) {
  return mpfr_cmp_d(x, y);
}
inline int compare(mpfr_srcptr x, const numeric::Rational& y) {
  return mpfr_cmp_q(x, y.backend().data());
}
inline double lower_of(const numeric::Interval& x) {
  return x.lower();
}
inline double upper_of(const numeric::Interval& x) {
  return x.upper();
}
template <class T>
numeric::Rational lower_of(const T& x) {
  return lower_end(x);
}
template <class T>
numeric::Rational upper_of(const T& x) {
  return upper_end(x);
}

/// contains(), for every number of a range at once.
template <class T>
bool contains_range(const T& x, const TrueRange& range) {
  return !is_undecided(x) && compare(range.lower, lower_of(x)) >= 0 && compare(range.upper, upper_of(x)) <= 0;
}
template <class T>
bool within_range(const T& x, const TrueRange& range) {
  return !is_undecided(x) && compare(range.lower, lower_of(x)) <= 0 && compare(range.upper, upper_of(x)) >= 0;
}

}  // namespace sinkproof::test
