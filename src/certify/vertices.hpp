#pragma once

#include <cstdint>
#include <functional>

#include "numeric/matrix.hpp"

/// Affine functions on the box [-1, 1]^d at all its 2^d vertices.
namespace sinkproof::certify {

/// A double close to the middle of x. Float, no promise.
inline double middle(const numeric::Interval& x) {
  return x.lower() + (x.upper() - x.lower()) * 0.5;
}

/// What a sum in double is off by, relatively to the largest partial result, and with room for products of
/// such errors (up to 2^40 sums).
inline constexpr double per_sum = 1.01 * numeric::machine_epsilon;

/// f_k(c) = constant_k + sum_m c_m slope_mk, k < size(), in floating point with a proved error: at every
/// vertex that sweep() visits, |f_k(c) - its exact value| <= error(k), for every choice of the enclosed
/// coefficients.
class AffineFamily {
 public:
  /// constant [K], slope [d, K]; all entries decided and below 2^400 in absolute value.
  AffineFamily(const numeric::Vector<numeric::Interval>& constant,
               const numeric::Matrix<numeric::Interval>& slope);

  int size() const { return static_cast<int>(constant_.size()); }
  int content() const { return static_cast<int>(slope_.rows()); }  ///< d
  double error(int k) const { return error_[k]; }
  /// An upper bound of |f_k| on the whole box.
  double magnitude(int k) const { return magnitude_[k]; }
  /// f at any c in the box; float, no promise.
  numeric::Vector<double> at(const numeric::Vector<double>& c) const {
    return constant_ + slope_.transpose() * c;
  }
  const numeric::Matrix<double>& slope() const { return slope_; }

  /// Vertices are visited in blocks of at most 2^block_bits, in Gray-code order within a block.
  static constexpr int block_bits = 10;
  std::uint64_t blocks() const;
  /// Calls visit(c, f) at each vertex of a block, c [d] of -1 and 1, f [K].
  using Visit = std::function<void(const numeric::Vector<double>& c, const numeric::Vector<double>& f)>;
  void sweep(std::uint64_t block, const Visit& visit) const;

 private:
  numeric::Vector<double> constant_, error_, magnitude_;
  numeric::Matrix<double> slope_;
};

/// Runs work(block, thread) for every block < blocks on `threads` threads; which thread takes which block is
/// not determined. work returns false to stop all threads (a deadline). Returns whether every block was done.
bool for_each_block(std::uint64_t blocks, int threads,
                    const std::function<bool(std::uint64_t block, int thread)>& work);

}  // namespace sinkproof::certify
