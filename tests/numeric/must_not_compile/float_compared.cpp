#include "numeric/enclosure.hpp"
#include "numeric/interval.hpp"

#ifdef MUST_NOT_COMPILE
using Scalar = double;
#else
using Scalar = sinkproof::numeric::Interval;
#endif
sinkproof::numeric::Verdict claim(const Scalar& x, const sinkproof::numeric::Interval& y) {
  return sinkproof::numeric::at_most(x, y);
}
