#include "figures/chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <set>

#include "figures/numbers.hpp"

namespace sinkproof::figures {
namespace {

constexpr double tick_size = 7.5, label_size = 8.5, tick_length = 3;
constexpr double left_of_chart = 54, below_chart = 38, right_of_chart = 14;
constexpr double legend_line = 14, legend_sample = 24, legend_size = 8;

bool drawable(const Point& point) {
  return point.x > 0 && point.y > 0 && std::isfinite(point.x) && std::isfinite(point.y);
}

double part(const Axis& axis, double value) {
  return std::log(value / axis.low) / std::log(axis.high / axis.low);
}

/// The part of the segment from a to b within the box (Liang and Barsky), or nothing.
std::optional<std::pair<Point, Point>> clipped(const Point& a, const Point& b, const Box& box) {
  double from = 0, to = 1;
  const double dx = b.x - a.x, dy = b.y - a.y;
  for (const auto& [step, room] : {std::pair{-dx, a.x - box.x}, std::pair{dx, box.right() - a.x},
                                   std::pair{-dy, a.y - box.y}, std::pair{dy, box.bottom() - a.y}}) {
    if (step == 0 && room < 0) return std::nullopt;
    if (step < 0) from = std::max(from, room / step);
    if (step > 0) to = std::min(to, room / step);
  }
  if (from > to) return std::nullopt;
  return std::pair{Point{a.x + from * dx, a.y + from * dy}, Point{a.x + to * dx, a.y + to * dy}};
}

/// The polygon within the box (Sutherland and Hodgman).
std::vector<Point> clipped(std::vector<Point> polygon, const Box& box) {
  const auto cut = [&](auto inside, auto crossing) {
    std::vector<Point> kept;
    for (std::size_t i = 0; i < polygon.size(); ++i) {
      const Point &a = polygon[i], &b = polygon[(i + 1) % polygon.size()];
      if (inside(a)) kept.push_back(a);
      if (inside(a) != inside(b)) kept.push_back(crossing(a, b));
    }
    polygon = std::move(kept);
  };
  const auto at_x = [](double x) {
    return [x](const Point& a, const Point& b) {
      return Point{x, a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x)};
    };
  };
  const auto at_y = [](double y) {
    return [y](const Point& a, const Point& b) {
      return Point{a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y), y};
    };
  };
  cut([&](const Point& p) { return p.x >= box.x; }, at_x(box.x));
  cut([&](const Point& p) { return p.x <= box.right(); }, at_x(box.right()));
  cut([&](const Point& p) { return p.y >= box.y; }, at_y(box.y));
  cut([&](const Point& p) { return p.y <= box.bottom(); }, at_y(box.bottom()));
  return polygon;
}

std::vector<Point> disc(const Point& centre, double radius) {
  constexpr int corners = 20;
  std::vector<Point> points;
  for (int i = 0; i < corners; ++i) {
    const double angle = 2 * std::numbers::pi * i / corners;
    points.push_back({centre.x + radius * std::cos(angle), centre.y + radius * std::sin(angle)});
  }
  return points;
}

std::vector<Point> diamond(const Point& centre, double radius) {
  return {{centre.x - radius, centre.y},
          {centre.x, centre.y - radius},
          {centre.x + radius, centre.y},
          {centre.x, centre.y + radius}};
}

std::vector<Point> closed(std::vector<Point> points) {
  points.push_back(points.front());
  return points;
}

struct Tick {
  double value;
  std::string label;  ///< empty: a small tick
};

std::vector<Tick> ticks_of(const Axis& axis) {
  const int first = static_cast<int>(std::floor(std::log10(axis.low) + 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(axis.high) - 1e-9));
  const int step = last - first > 9 ? 2 : 1;
  std::vector<Tick> ticks;
  for (int exponent = first; exponent <= last; ++exponent) {
    const double power = std::pow(10, exponent);
    for (int digit = 1; digit <= 9; ++digit) {
      const double value = digit * power;
      if (value < axis.low * (1 - 1e-9) || value > axis.high * (1 + 1e-9)) continue;
      if (digit == 1) {
        ticks.push_back({value, (exponent - first) % step == 0 ? power_of_ten(exponent) : ""});
      } else if (last - first <= 5) {
        ticks.push_back({value, ""});
      }
    }
  }
  return ticks;
}

void add_axes(Drawing& drawing, const Chart& chart, const Box& box, bool x_label) {
  auto& shapes = drawing.shapes;
  for (const Tick& tick : ticks_of(chart.x)) {
    const double x = box.x + box.width * part(chart.x, tick.value);
    if (!tick.label.empty()) shapes.emplace_back(Line{{{x, box.y}, {x, box.bottom()}}, Role::grid, 0.6});
    const double length = tick.label.empty() ? tick_length / 2 : tick_length;
    shapes.emplace_back(Line{{{x, box.bottom()}, {x, box.bottom() + length}}, Role::quiet, 0.6});
    if (tick.label.empty()) continue;
    shapes.emplace_back(Text{.at = {x, box.bottom() + tick_length + tick_size + 2},
                             .text = tick.label,
                             .size = tick_size,
                             .anchor = Anchor::middle});
  }
  for (const Tick& tick : ticks_of(chart.y)) {
    const double y = box.bottom() - box.height * part(chart.y, tick.value);
    if (!tick.label.empty()) shapes.emplace_back(Line{{{box.x, y}, {box.right(), y}}, Role::grid, 0.6});
    const double length = tick.label.empty() ? tick_length / 2 : tick_length;
    shapes.emplace_back(Line{{{box.x - length, y}, {box.x, y}}, Role::quiet, 0.6});
    if (tick.label.empty()) continue;
    shapes.emplace_back(Text{.at = {box.x - tick_length - 2, y + tick_size * 0.36},
                             .text = tick.label,
                             .size = tick_size,
                             .anchor = Anchor::end});
  }
  if (x_label) {
    shapes.emplace_back(Text{.at = {box.x + box.width / 2, box.bottom() + 28},
                             .text = chart.x.label,
                             .size = label_size,
                             .anchor = Anchor::middle});
  }
  shapes.emplace_back(Text{.at = {box.x - 36, box.y + box.height / 2},
                           .text = chart.y.label,
                           .size = label_size,
                           .anchor = Anchor::middle,
                           .upward = true});
}

void add_data(Drawing& drawing, const Chart& chart, const Box& box) {
  auto& shapes = drawing.shapes;
  for (const Curve& curve : chart.curves) {
    std::vector<Point> run;
    const auto flush = [&] {
      if (run.size() > 1) shapes.emplace_back(Line{run, curve.paint, curve.width, curve.dash});
      run.clear();
    };
    for (std::size_t i = 0; i + 1 < curve.points.size(); ++i) {
      if (!drawable(curve.points[i]) || !drawable(curve.points[i + 1])) {
        flush();
        continue;
      }
      const auto segment =
          clipped(place(chart, box, curve.points[i]), place(chart, box, curve.points[i + 1]), box);
      if (!segment) {
        flush();
        continue;
      }
      const auto& [from, to] = *segment;
      if (!run.empty() && std::hypot(run.back().x - from.x, run.back().y - from.y) > 1e-6) flush();
      if (run.empty()) run.push_back(from);
      run.push_back(to);
    }
    flush();
    if (!curve.ends_marked) continue;
    const auto within = [&](const Point& point) {
      if (!drawable(point)) return false;
      const Point at = place(chart, box, point);
      return at.x >= box.x && at.x <= box.right() && at.y >= box.y && at.y <= box.bottom();
    };
    if (!curve.points.empty() && within(curve.points.front())) {
      shapes.emplace_back(Line{closed(disc(place(chart, box, curve.points.front()), 3)), curve.paint, 1.2});
    }
    if (!curve.points.empty() && within(curve.points.back())) {
      shapes.emplace_back(Area{disc(place(chart, box, curve.points.back()), 3), curve.paint});
    }
  }
  for (const Spot& spot : chart.spots) {
    const Point low = place(chart, box, spot.low), high = place(chart, box, spot.high);
    shapes.emplace_back(
        Area{corners({low.x, high.y, std::max(high.x - low.x, 0.5), std::max(low.y - high.y, 0.5)}),
             spot.paint, 0.6});
    const Point centre{(low.x + high.x) / 2, (low.y + high.y) / 2};
    shapes.emplace_back(Line{closed(diamond(centre, 5)), spot.paint, 1.3});
  }
}

constexpr double region_opacity = 0.22;

void add_legend(Drawing& drawing, const std::vector<Chart>& charts, Point at) {
  std::set<std::string> seen;
  auto& shapes = drawing.shapes;
  const auto entry = [&](const std::string& label, auto add_sample) {
    if (label.empty() || !seen.insert(label).second) return;
    add_sample(at.y - 3);
    shapes.emplace_back(Text{.at = {at.x + legend_sample + 6, at.y}, .text = label, .size = legend_size});
    at.y += legend_line;
  };
  for (const Chart& chart : charts) {
    for (const Region& region : chart.regions) {
      entry(region.label, [&](double y) {
        shapes.emplace_back(Area{corners({at.x, y - 4, legend_sample, 8}), region.paint, region_opacity});
      });
    }
    for (const Curve& curve : chart.curves) {
      entry(curve.label, [&](double y) {
        shapes.emplace_back(
            Line{{{at.x, y}, {at.x + legend_sample, y}}, curve.paint, curve.width, curve.dash});
        if (curve.ends_marked) shapes.emplace_back(Area{disc({at.x + legend_sample, y}, 3), curve.paint});
      });
    }
    for (const Spot& spot : chart.spots) {
      entry(spot.label, [&](double y) {
        shapes.emplace_back(Line{closed(diamond({at.x + legend_sample / 2, y}, 5)), spot.paint, 1.3});
      });
    }
  }
}

/// Wide enough for the longest label.
double legend_width(const std::vector<Chart>& charts) {
  double longest = 0;
  const auto take = [&](const std::string& label) {
    longest = std::max(longest, width_of(Text{.at = {}, .text = label, .size = legend_size}));
  };
  for (const Chart& chart : charts) {
    for (const Region& region : chart.regions) take(region.label);
    for (const Curve& curve : chart.curves) take(curve.label);
    for (const Spot& spot : chart.spots) take(spot.label);
  }
  return legend_sample + 6 + longest + 4;
}

}  // namespace

Axis axis_for(std::string label, const std::vector<double>& values) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const double value : values) {
    if (!(value > 0) || !std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (high == 0) return {std::move(label), 1, 10};
  const double first = std::floor(std::log10(low)), last = std::ceil(std::log10(high));
  return {std::move(label), std::pow(10, first), std::pow(10, last > first ? last : first + 1)};
}

Point place(const Chart& chart, const Box& box, const Point& point) {
  return {box.x + box.width * part(chart.x, point.x), box.bottom() - box.height * part(chart.y, point.y)};
}

Drawing draw(const ChartFigure& figure) {
  const double top = 26 + 12 * static_cast<double>(figure.notes.size()) + 6;
  const auto count = static_cast<double>(figure.charts.size());
  constexpr double between_charts = 24;
  Drawing drawing{.width = left_of_chart + figure.width + right_of_chart + legend_width(figure.charts),
                  .height = top + count * figure.height + (count - 1) * between_charts + below_chart,
                  .description = figure.title};
  std::vector<Text> lines{{.at = {14, 18}, .text = figure.title, .size = 11, .bold = true}};
  for (std::size_t i = 0; i < figure.notes.size(); ++i) {
    lines.push_back({.at = {14, 32 + 12 * static_cast<double>(i)},
                     .text = figure.notes[i],
                     .size = 8,
                     .paint = Role::quiet});
  }
  for (const Text& line : lines) {
    drawing.shapes.emplace_back(line);
    drawing.width = std::max(drawing.width, line.at.x + width_of(line));
  }
  for (std::size_t i = 0; i < figure.charts.size(); ++i) {
    const Chart& chart = figure.charts[i];
    const Box box{left_of_chart, top + static_cast<double>(i) * (figure.height + between_charts),
                  figure.width, figure.height};
    for (const Region& region : chart.regions) {
      std::vector<Point> polygon;
      for (const Point& point : region.corners) polygon.push_back(place(chart, box, point));
      polygon = clipped(std::move(polygon), box);
      if (!polygon.empty()) drawing.shapes.emplace_back(Area{polygon, region.paint, region_opacity});
    }
    add_axes(drawing, chart, box, i + 1 == figure.charts.size());
    add_data(drawing, chart, box);
    drawing.shapes.emplace_back(Line{closed(corners(box)), Role::quiet, 0.8});
  }
  add_legend(drawing, figure.charts, {left_of_chart + figure.width + right_of_chart, top + 10});
  return drawing;
}

}  // namespace sinkproof::figures
