#pragma once

#include <string>
#include <vector>

#include "figures/drawing.hpp"

/// Charts with two logarithmic axes. What has no logarithm (0, negative, no number) interrupts a curve.
namespace sinkproof::figures {

struct Axis {
  std::string label;
  double low = 1, high = 10;  ///< 0 < low < high
};

/// The axis from the power of ten at or below the least positive of `values` to the one at or above their
/// largest; 1 to 10 where there is none.
Axis axis_for(std::string label, const std::vector<double>& values);

struct Curve {
  std::string label;  ///< in the legend, once; empty: none
  std::vector<Point> points;
  Paint paint = Role::ink;
  std::vector<double> dash = {};
  double width = 1.4;
  bool ends_marked = false;  ///< a ring where it starts, a disc where it ends
};

/// Filled, within the axes.
struct Region {
  std::string label;
  std::vector<Point> corners;
  Paint paint = Role::quiet;
};

/// A value known to lie in a rectangle: the rectangle, and a diamond around it so that it is seen.
struct Spot {
  std::string label;
  Point low, high;
  Paint paint = Role::ink;
};

struct Chart {
  Axis x, y;
  std::vector<Region> regions = {};
  std::vector<Curve> curves = {};
  std::vector<Spot> spots = {};
};

/// Charts one above the other, all of one size, with one legend to their right: it covers no data.
struct ChartFigure {
  std::string title;
  std::vector<std::string> notes;  ///< lines below the title
  std::vector<Chart> charts;
  double width = 400, height = 150;  ///< of a chart's inside
};
Drawing draw(const ChartFigure& figure);

/// Where a point of the data lies in the box that the axes span.
Point place(const Chart& chart, const Box& box, const Point& point);

}  // namespace sinkproof::figures
