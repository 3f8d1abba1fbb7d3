#pragma once

#include "certify/branch.hpp"

/// Upper bounds that need no enumeration of vertices, for many content coordinates.
namespace sinkproof::certify {

/// An upper bound of max |sum_lm c_l b_lm s_m| over c, s with entries in [-1, 1]: the smaller one of the sum
/// of absolute values and of a spectral bound. Undecided where an entry of b is.
numeric::Interval bilinear_maximum(const numeric::Matrix<numeric::Interval>& b);

/// An upper bound, over c in [-1, 1]^d, of x^T A (e_plus - e_minus) + ||(A^T x)_C||_1 for x = e_base + iota c
/// (minus < 0: of x^T A e_plus + ...); over a part of the box where one is given.
numeric::Interval maximum_of_norm(const HeadMaps& head, int base, int plus, int minus, const Part& part = {});

}  // namespace sinkproof::certify
