#include "numeric/enclosure.hpp"
#include "numeric/interval.hpp"

/// An interval type whose author has not declared its kind.
struct Stranger {
  double lower, upper;
};

#ifdef MUST_NOT_COMPILE
bool claim(const Stranger& x) {
  return sinkproof::numeric::contains(x, 0);
}
#else
bool claim(const sinkproof::numeric::Interval& x) {
  return sinkproof::numeric::contains(x, 0);
}
#endif
