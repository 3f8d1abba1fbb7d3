#include "certify/affine.hpp"

#include <cmath>
#include <stdexcept>

#include "numeric/rounding.hpp"

// The rounding, once for all operations. eps = 2^-52 bounds the relative error of each operation in any
// rounding mode, eta = 2^-1074 the absolute error of a product that underflows (rounding.hpp).
//
// Upper bounds are sums and products of nonnegative doubles; each passes through fewer than 2^21 roundings
// (sizes are below 2^20, which every operation asks for), so that the computed bound is at least (1 -
// eps)^(2^21) of the true one, less 2^21 eta: rounded_up() makes up for both, with room for its own rounding.
//
// A computed sum of k products, in any order, fused or not, is off by at most gamma_k = k eps / (1 - k eps)
// times the sum of the products' absolute values, plus 2 k eta. slack(k) = (k + 4) eps exceeds gamma_k for k
// < 2^21, and 2^-900 in rounded_up() covers the underflow of every coefficient of a form.
//
// Nothing overflows: magnitudes beyond 2^250 are infinite, errors included, and what has an infinite
// magnitude has an infinite error. A NaN fails the comparison and is infinite too.
namespace sinkproof::certify {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using numeric::Interval;
using numeric::machine_epsilon;
using numeric::Matrix;

constexpr double largest_magnitude = 0x1p250;
constexpr Index largest_size = Index{1} << 20;

double rounded_up(double bound) {
  return bound * (1 + 0x1p-30) + 0x1p-900;
}
double moderate_or_infinite(double bound) {
  return bound <= largest_magnitude ? bound : HUGE_VAL;
}
double slack(Index count) {
  return (static_cast<double>(count) + 4) * machine_epsilon;
}
void require(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(what);
}

}  // namespace

VectorXd AffineForms::magnitude() const {
  require(size() < largest_size && symbols() < largest_size, "affine forms: too many");
  VectorXd result = terms.cwiseAbs().rowwise().sum() + error;
  for (double& bound : result) bound = moderate_or_infinite(rounded_up(bound));
  return result;
}

VectorXd AffineForms::radius() const {
  require(size() < largest_size && symbols() < largest_size, "affine forms: too many");
  VectorXd result = terms.rightCols(symbols()).cwiseAbs().rowwise().sum() + error;
  for (double& bound : result) bound = moderate_or_infinite(rounded_up(bound));
  return result;
}

Interval AffineForms::range(Index a) const {
  const double bound =
      moderate_or_infinite(rounded_up(terms.row(a).tail(symbols()).cwiseAbs().sum() + error[a]));
  return Interval(terms(a, 0)) + Interval(-bound, bound);
}

MidRadMatrix::MidRadMatrix(const Matrix<Interval>& matrix)
    : middle(matrix.rows(), matrix.cols()), radius(matrix.rows(), matrix.cols()) {
  for (Index i = 0; i < matrix.size(); ++i) {
    const Interval x = matrix.data()[i];
    const double m = x.is_undecided() ? 0 : x.lower() / 2 + x.upper() / 2;
    middle.data()[i] = m;
    radius.data()[i] = x.is_undecided() ? HUGE_VAL : abs(x - Interval(m)).upper();
  }
}

// Every term is a sum of m products; its rounding errors add up to slack(m) |M| |terms| over all symbols.
AffineForms linear(const MidRadMatrix& matrix, const AffineForms& x) {
  require(matrix.middle.cols() == x.size(), "affine forms: the shapes of a linear map do not fit");
  const VectorXd magnitude = x.magnitude();
  AffineForms result;
  result.terms.noalias() = matrix.middle * x.terms;
  result.error.resize(matrix.middle.rows());
  for (Index p = 0; p < result.size(); ++p) {
    double bound = 0;
    double size = 0;
    for (Index a = 0; a < x.size(); ++a) {
      const double m = std::fabs(matrix.middle(p, a)), r = matrix.radius(p, a);
      bound += m * x.error[a] + (slack(x.size()) * m + r) * magnitude[a];
      size += (m + r) * magnitude[a];
    }
    result.error[p] = size <= largest_magnitude ? rounded_up(bound) : HUGE_VAL;
  }
  return result;
}

AffineForms difference(const AffineForms& x, const AffineForms& y) {
  require(x.size() == y.size() && x.symbols() >= y.symbols(), "affine forms: a difference does not fit");
  const VectorXd size = x.magnitude() + y.magnitude();
  AffineForms result = x;
  result.terms.leftCols(1 + y.symbols()) -= y.terms;
  for (Index a = 0; a < x.size(); ++a)
    result.error[a] = rounded_up(x.error[a] + y.error[a] + slack(1) * size[a]);
  return result;
}

void add(AffineForms& x, const AffineForms& y) {
  require(x.size() == y.size() && x.symbols() == y.symbols(), "affine forms: a sum does not fit");
  const VectorXd size = x.magnitude() + y.magnitude();
  x.terms += y.terms;
  for (Index a = 0; a < x.size(); ++a) x.error[a] = rounded_up(x.error[a] + y.error[a] + slack(1) * size[a]);
}

Factor::Factor(AffineForms given)
    : forms(std::move(given)), linear(forms.terms), radius(forms.radius()), magnitude(forms.magnitude()) {
  linear.col(0).setZero();
}

// With centres x0, y0, linear parts X, Y and errors d, e:
//   (x0 + X + d)(y0 + Y + e) = x0 (y0 + Y) + y0 X + [ x0 e + y0 d + (X + d)(Y + e) ],
// and the bracket is at most |x0| e + |y0| d + radius(x) radius(y). A term is a sum of 2 count products, its
// rounding bounded by slack times the sum of |x0| |y0 + Y| + |y0| |X|.
void dot(const Factor& x, const Factor& y, Index count, AffineForms& result, Index row) {
  require(count <= x.forms.size() && count <= y.forms.size() && x.forms.symbols() == result.symbols() &&
              y.forms.symbols() == result.symbols(),
          "affine forms: the shapes of a dot product do not fit");
  const auto x_centre = x.forms.terms.col(0).head(count), y_centre = y.forms.terms.col(0).head(count);
  result.terms.row(row).noalias() = x_centre.transpose() * y.forms.terms.topRows(count);
  result.terms.row(row).noalias() += y_centre.transpose() * x.linear.topRows(count);
  double bound = 0;
  double size = 0;
  for (Index a = 0; a < count; ++a) {
    const double x0 = std::fabs(x_centre[a]), y0 = std::fabs(y_centre[a]);
    bound += x.radius[a] * y.radius[a] + x0 * y.forms.error[a] + y0 * x.forms.error[a] +
             slack(2 * count) * (x0 * y.magnitude[a] + y0 * x.magnitude[a]);
    size += x.magnitude[a] * y.magnitude[a];
  }
  result.error[row] = size <= largest_magnitude ? rounded_up(bound) : HUGE_VAL;
}

}  // namespace sinkproof::certify
