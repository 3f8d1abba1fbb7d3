#pragma once

#include <stdexcept>

#include <Eigen/Core>
#include <boost/multiprecision/eigen.hpp>

#include "numeric/big_interval.hpp"
#include "numeric/interval.hpp"
#include "numeric/kind.hpp"
#include "numeric/rational.hpp"

namespace Eigen {

/// Interval arithmetic in Eigen's generic code: no SIMD packets, no epsilon, costs of a compound type.
template <class T>
struct NumTraitsOfEnclosure : GenericNumTraits<T> {
  using Real = T;
  using NonInteger = T;
  using Nested = T;
  using Literal = T;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = 2,
    AddCost = 4,
    MulCost = 16
  };
};
template <>
struct NumTraits<sinkproof::numeric::Interval> : NumTraitsOfEnclosure<sinkproof::numeric::Interval> {};
template <>
struct NumTraits<sinkproof::numeric::BigInterval> : NumTraitsOfEnclosure<sinkproof::numeric::BigInterval> {};

}  // namespace Eigen

namespace sinkproof::numeric {

/// Row-major, so that a row of an attention matrix is contiguous.
template <Scalar T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <Scalar T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// The matrix product a [m, k] b [k, n], of the kind of its scalar. Throws std::invalid_argument if the
/// shapes do not fit.
template <Scalar T>
Matrix<T> product(const Matrix<T>& a, const Matrix<T>& b) {
  if (a.cols() != b.rows()) throw std::invalid_argument("product: the shapes do not fit");
  if constexpr (Rigorous<T>) {
    return a.lazyProduct(b);  // Eigen's blocked product would multiply each entry by one once more
  } else {
    return a * b;
  }
}
/// Encloses the product. Fast: midpoints are multiplied in floating point and an a-priori bound covers the
/// rounding; the radius is at most 1.5 times the optimal one, plus about k eps |a| |b|. Where an entry is
/// undecided or beyond 2^500, it is the interval arithmetic of the entries.
template <>
Matrix<Interval> product(const Matrix<Interval>& a, const Matrix<Interval>& b);

/// sum_k a_k b_k, of the kind of its scalar. Throws std::invalid_argument if the lengths differ.
template <Scalar T>
T dot(const Vector<T>& a, const Vector<T>& b) {
  if (a.size() != b.size()) throw std::invalid_argument("dot: the lengths differ");
  T sum(0);
  for (Eigen::Index k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

/// The entrywise door from stored floats to a rigorous scalar. NaN and infinities: an exact T throws
/// InputError, an enclosure is undecided.
template <Scalar T>
T from_double(double value) {
  if constexpr (Exact<T>) {
    return exact(value);
  } else {
    return T(value);
  }
}
template <Scalar T>
T from_rational(const Rational& value) {
  if constexpr (Exact<T>) {
    return value;
  } else if constexpr (Enclosed<T>) {
    return T::enclosing(value);
  } else {
    return static_cast<T>(value.convert_to<double>());
  }
}
template <Scalar T, Scalar U>
Matrix<T> convert(const Matrix<U>& from) {
  return from.unaryExpr([](const U& x) {
    if constexpr (std::is_same_v<U, Rational>) {
      return from_rational<T>(x);
    } else {
      static_assert(std::is_same_v<U, double>);
      return from_double<T>(x);
    }
  });
}

}  // namespace sinkproof::numeric
