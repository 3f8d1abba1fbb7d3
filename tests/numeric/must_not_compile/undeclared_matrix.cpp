#include "numeric/matrix.hpp"

/// An interval type whose author has not declared its kind.
struct Stranger {
  double lower, upper;
};

#ifdef MUST_NOT_COMPILE
using Scalar = Stranger;
#else
using Scalar = sinkproof::numeric::Interval;
#endif
sinkproof::numeric::Matrix<Scalar> matrix();
