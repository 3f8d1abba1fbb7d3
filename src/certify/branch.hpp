#pragma once

#include <functional>
#include <vector>

#include "certify/head.hpp"
#include "certify/supremum.hpp"

/// Branch and bound on the signs of a query's content, where its vertices are too many to visit.
namespace sinkproof::certify {

/// A part of the box [-1, 1]^d: the content's coordinate m is fixed at part[m] = -1 or 1, or free where it is
/// 0.
using Part = std::vector<int>;

/// Upper bounds of several functions over a part.
using PartBounds = std::vector<double>;

struct Branching {
  std::function<PartBounds(const Part& part)> bound;
  /// What is to become small: nondecreasing in each bound. Float; it only chooses what to split.
  std::function<double(const PartBounds& bounds)> worth;
  double goal = 0;       ///< a worth that suffices
  std::size_t most = 1;  ///< parts
};

/// How many parts a bound takes where a deadline does not end it before: a function of d alone, so that
/// results are the same on every machine; fewer where a relaxation, of cost d^3, is dear.
std::size_t most_parts(int content);

/// Bounds of parts that cover the whole box: the part of the largest worth is split, again and again, on the
/// next coordinate of `order`. Ends at the goal, at the largest number of parts, where every coordinate is
/// fixed, or at the deadline; always with a cover.
std::vector<PartBounds> cover(const std::vector<int>& order, const Branching& branching,
                              const Deadline& deadline);

/// The coordinates of the content, those first to which the head's scores are most sensitive.
std::vector<int> branching_order(const HeadMaps& head);

/// A vertex of the box at which no single flip of a sign makes f larger. Float, no promise.
numeric::Vector<double> ascend(int content, const std::function<double(const numeric::Vector<double>&)>& f);

}  // namespace sinkproof::certify
