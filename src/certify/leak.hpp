#pragma once

#include <vector>

#include "certify/head.hpp"
#include "certify/supremum.hpp"

/// The leak m_i = 1 - a_i1 of a single softmax head over every instance: statement C2 of theory.md.
namespace sinkproof::certify {

enum class Side { before, after };  ///< of the trigger: i < j (2 <= i <= L - 1), i > j (4 <= i <= L)

/// The supremum of m_i over all instances with the trigger on that side of position i.
struct LeakClass {
  Side side = Side::before;
  int position = 0;  ///< i
  double upper = 1;
};

struct LeakBounds {
  /// Over all non-trigger positions i >= 2. Attained at i = L: see `classes`.
  double upper = 1;
  /// Every class where L <= 32; else the ends and the powers of two of each side. Nondecreasing in i on each
  /// side, so that a class that is not listed is bounded by the next one that is.
  std::vector<LeakClass> classes;
  /// A content vertex of the query x_L where the bound is largest: where a search for a witness should start.
  numeric::Vector<double> query;
  /// Whether all 2^d vertices were visited; else the bounds are relaxations (d too large, or out of time).
  bool complete = false;
};

/// Certified upper bounds: each is at least the supremum of the leak. Cost 2^d (d + number of classes),
/// independent of L; relaxations of cost d^3 beyond `enumeration_limit` or past the deadline.
LeakBounds bound_leak(const HeadMaps& head, int length, int threads, const Deadline& deadline);

inline constexpr int enumeration_limit = 26;

}  // namespace sinkproof::certify
