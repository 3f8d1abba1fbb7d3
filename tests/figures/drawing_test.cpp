#include <cmath>
#include <limits>
#include <stdexcept>

#include <doctest/doctest.h>

#include "figures/chart.hpp"
#include "figures/colour_map.hpp"
#include "figures/map_figure.hpp"
#include "figures/numbers.hpp"
#include "figures/page_svg.hpp"
#include "figures/render.hpp"

using namespace sinkproof::figures;

namespace {

template <class Shape>
std::vector<Shape> all(const Drawing& drawing) {
  std::vector<Shape> shapes;
  for (const auto& shape : drawing.shapes) {
    if (const Shape* one = std::get_if<Shape>(&shape)) shapes.push_back(*one);
  }
  return shapes;
}

bool has_text(const Drawing& drawing, const std::string& text) {
  for (const Text& one : all<Text>(drawing)) {
    if (one.text == text) return true;
  }
  return false;
}

/// Areas with three corners whose middle lies in the box.
int triangles_in(const Drawing& drawing, const Box& box, bool up) {
  int count = 0;
  for (const Area& area : all<Area>(drawing)) {
    if (area.corners.size() != 3) continue;
    const Point tip = area.corners[2], base = area.corners[0];
    if ((tip.y < base.y) != up) continue;
    const double x = tip.x, y = (tip.y + base.y) / 2;
    if (box.x < x && x < box.right() && box.y < y && y < box.bottom()) ++count;
  }
  return count;
}

/// Everything drawn lies on the paper; of text, the longest that it may be.
void check_on_paper(const Drawing& drawing) {
  const auto inside = [&](double x, double y) {
    CAPTURE(x);
    CAPTURE(y);
    CHECK((x >= 0 && x <= drawing.width && y >= 0 && y <= drawing.height));
  };
  for (const Line& line : all<Line>(drawing)) {
    for (const Point& point : line.points) inside(point.x, point.y);
  }
  for (const Area& area : all<Area>(drawing)) {
    for (const Point& point : area.corners) inside(point.x, point.y);
  }
  for (const Cells& cells : all<Cells>(drawing)) {
    inside(cells.box.x, cells.box.y);
    inside(cells.box.right(), cells.box.bottom());
  }
  for (const Text& text : all<Text>(drawing)) {
    CAPTURE(text.text);
    const double width = width_of(text);
    const double before = text.anchor == Anchor::start    ? 0
                          : text.anchor == Anchor::middle ? width / 2
                                                          : width;
    if (text.upward) {
      inside(text.at.x - text.size, text.at.y + before);
      inside(text.at.x, text.at.y + before - width);
    } else {
      inside(text.at.x - before, text.at.y - text.size);
      inside(text.at.x - before + width, text.at.y);
    }
  }
}

Map sink_map(int length) {
  Map map{.length = length, .weights = {}};
  for (int i = 0; i < length; ++i) {
    for (int k = 0; k < length; ++k) map.weights.push_back(k == 0 ? 0.75 : k <= i ? 0.25 / (i + 1) : 7);
  }
  return map;
}

MapFigure four_panels() {
  Map odd = sink_map(8);
  odd.weights[5 * 8 + 2] = 1.5;
  odd.weights[6 * 8 + 3] = -0.1;
  odd.weights[7 * 8 + 4] = std::numeric_limits<double>::quiet_NaN();
  return {
      .title = "a title",
      .note = "a note",
      .panels = {{{.title = "plain", .map = sink_map(16), .trigger = 8}, {.title = "odd", .map = odd}},
                 {{.title = "third", .map = sink_map(64), .scale = {.largest = 0.8, .label = "deviation"}},
                  {.title = "fourth", .map = sink_map(4)}}}};
}

ChartFigure two_charts() {
  Chart chart{.x = axis_for("steps", {1, 900}), .y = axis_for("loss", {0.02, 0.7})};
  chart.curves.push_back(
      {.label = "first", .points = {{1, 0.7}, {10, 0.1}, {0, 5}, {100, 0.05}, {900, 0.02}}});
  chart.curves.push_back({.label = "second", .points = {{0.1, 0.1}, {10000, 0.1}}, .dash = {3, 2}});
  chart.regions.push_back({.label = "region", .corners = {{0.01, 0.5}, {1e5, 0.5}, {1e5, 50}, {0.01, 50}}});
  chart.spots.push_back({.label = "spot", .low = {20, 0.1}, .high = {22, 0.11}});
  return {.title = "charts", .notes = {"one", "two"}, .charts = {chart, chart}};
}

}  // namespace

TEST_CASE("viridis: its lightness grows, and beyond its ends are its ends") {
  double before = -1;
  for (int i = 0; i <= 100; ++i) {
    const Rgb rgb = viridis(i / 100.0);
    const double lightness = 0.2126 * rgb.red + 0.7152 * rgb.green + 0.0722 * rgb.blue;
    CHECK(lightness > before);
    before = lightness;
  }
  CHECK(viridis(0) == Rgb{68, 1, 84});
  CHECK(viridis(1) == Rgb{253, 231, 37});
  CHECK(viridis(0.5) == Rgb{33, 144, 141});
  CHECK(viridis(-3) == viridis(0));
  CHECK(viridis(9) == viridis(1));
}

TEST_CASE("a cell has its weight's colour; above the diagonal and for no number there is none") {
  const Map map{.length = 3, .weights = {1, 9, 9, 0.5, 0.5, 9, 0, 2, std::nan("")}};
  const Cells cells = cells_of(map, {.largest = 1}, {10, 20, 30, 30});
  CHECK(cells.colour(0, 0) == viridis(1));
  CHECK(!cells.colour(0, 1));
  CHECK(!cells.colour(0, 2));
  CHECK(!cells.colour(1, 2));
  CHECK(cells.colour(1, 0) == viridis(0.5));
  CHECK(cells.colour(2, 0) == viridis(0));
  CHECK(cells.colour(2, 1) == viridis(1));
  CHECK(!cells.colour(2, 2));
  CHECK(cells.cell(2, 1).x == 20);
  CHECK(cells.cell(2, 1).y == 40);
  CHECK(largest_weight(map) == 2);
  CHECK_THROWS_AS(cells_of({.length = 3, .weights = {1}}, {}, {}), std::invalid_argument);
}

TEST_CASE("ticks count from 1, and are about five") {
  CHECK(tick_positions(4) == std::vector<int>{1, 2, 3, 4});
  CHECK(tick_positions(16) == std::vector<int>{1, 4, 8, 12, 16});
  CHECK(tick_positions(64) == std::vector<int>{1, 16, 32, 48, 64});
  for (int length = 1; length <= 1024; ++length) {
    const auto ticks = tick_positions(length);
    CAPTURE(length);
    CHECK(ticks.front() == 1);
    CHECK(ticks.size() <= 6);
    CHECK(ticks.back() <= length);
  }
}

TEST_CASE("scales end at round numbers") {
  CHECK(round_above(0.07) == doctest::Approx(0.08));
  CHECK(round_above(1) == 1);
  CHECK(round_above(1.01) == 1.5);
  CHECK(round_above(9) == 10);
  CHECK(round_above(0) == 0.1);
  CHECK(round_above(std::nan("")) == 0.1);
  for (double value = 1e-6; value < 1e6; value *= 1.37) {
    CHECK(round_above(value) >= value);
    CHECK(round_above(value) <= 1.51 * value);
  }
}

TEST_CASE("values beyond the scale carry a mark, in the map and on the colour bar; others do not") {
  const Drawing drawing = draw(four_panels());
  std::vector<Cells> maps, bars;
  for (const Cells& cells : all<Cells>(drawing)) (cells.columns == 1 ? bars : maps).push_back(cells);
  REQUIRE(maps.size() == 4);
  REQUIRE(bars.size() == 4);
  CHECK(triangles_in(drawing, maps[0].box, true) == 0);
  CHECK(triangles_in(drawing, maps[1].box, true) == 1);
  CHECK(triangles_in(drawing, maps[1].box, false) == 1);
  CHECK(triangles_in(drawing, maps[1].cell(5, 2), true) == 1);
  CHECK(triangles_in(drawing, maps[1].cell(6, 3), false) == 1);
  int crosses = 0;
  const Box nan_cell = maps[1].cell(7, 4);
  for (const Line& line : all<Line>(drawing))
    crosses += line.points.size() == 2 && line.points[0].x == nan_cell.x &&
               std::abs(line.points[1].x - nan_cell.right()) < 1e-9;
  CHECK(crosses == 2);
  const auto tip = [&](const Cells& bar) {
    return triangles_in(drawing, {bar.box.x, bar.box.y - 12, bar.box.width, 12}, true);
  };
  CHECK(tip(bars[0]) == 0);
  CHECK(tip(bars[1]) == 2);  // the tip and the mark in it
  CHECK(has_text(drawing, "to 1.5"));
  for (const char* text : {"key position", "query position", "plain", "odd", "deviation", "16", "a title"}) {
    CAPTURE(text);
    CHECK(has_text(drawing, text));
  }
}

TEST_CASE("figures of one scale have one colour bar, and everything is on the paper") {
  MapFigure figure = four_panels();
  figure.title = std::string(90, 'x');
  figure.note = std::string(150, 'x');
  check_on_paper(draw(figure));
  figure.shared_scale = true;
  const Drawing drawing = draw(figure);
  check_on_paper(drawing);
  int bars = 0, key_labels = 0;
  for (const Cells& cells : all<Cells>(drawing)) bars += cells.columns == 1;
  for (const Text& text : all<Text>(drawing)) key_labels += text.text == "key position";
  CHECK(bars == 1);
  CHECK(key_labels == 2);
  ChartFigure charts = two_charts();
  check_on_paper(draw(charts));
  charts.title = std::string(120, 'x');
  charts.notes[1] = std::string(200, 'x');
  charts.charts[0].curves[0].label = std::string(60, 'x');
  check_on_paper(draw(charts));
}

TEST_CASE("charts: logarithmic places, curves cut at the axes, interrupted where there is no logarithm") {
  Chart chart{.x = {"x", 1, 100}, .y = {"y", 0.01, 1}};
  const Box box{100, 50, 200, 80};
  CHECK(place(chart, box, {10, 0.1}).x == doctest::Approx(200));
  CHECK(place(chart, box, {10, 0.1}).y == doctest::Approx(90));
  CHECK(place(chart, box, {1, 1}).x == doctest::Approx(100));
  CHECK(place(chart, box, {1, 1}).y == doctest::Approx(50));
  CHECK(axis_for("", {0, 3e-3, 0.5}).low == doctest::Approx(1e-3));
  CHECK(axis_for("", {0, 3e-3, 0.5}).high == doctest::Approx(1));
  CHECK(axis_for("", {}).low < axis_for("", {}).high);
  CHECK(axis_for("", {100}).high > axis_for("", {100}).low);

  const Rgb none{1, 2, 3};
  ChartFigure figure{.title = "t", .notes = {}, .charts = {chart}};
  figure.charts[0].curves = {
      {.label = "a", .points = {{0.5, 0.5}, {1000, 0.5}}, .paint = none},
      {.label = "b", .points = {{1, 0.1}, {0, 0.1}, {10, 0.1}, {100, 0.1}}, .paint = none},
      {.label = "c", .points = {{1, 5}, {100, 7}}, .paint = none}};
  std::vector<Line> lines;
  for (const Line& line : all<Line>(draw(figure))) {
    if (line.paint == Paint(none)) lines.push_back(line);
  }
  // One line each for a and b (the pieces of b: only the last two points belong together), none for c, whose
  // points lie above; then the three samples of the legend.
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].points.size() == 2);
  CHECK(lines[0].points[0].x < lines[0].points[1].x);
  CHECK(lines[1].points.size() == 2);
  CHECK(lines[1].points[0].x == doctest::Approx((lines[0].points[0].x + lines[0].points[1].x) / 2));
}

TEST_CASE("a legend names each label once, to the right of the data") {
  const ChartFigure figure = two_charts();
  const Drawing drawing = draw(figure);
  int entries = 0;
  for (const Text& text : all<Text>(drawing)) {
    for (const char* label : {"first", "second", "region", "spot"}) {
      if (text.text != label) continue;
      ++entries;
      for (const Line& line : all<Line>(drawing)) {
        if (line.points.size() < 4) continue;  // frames and curves
        for (const Point& point : line.points) CHECK((point.x < text.at.x || line.points.size() == 5));
      }
    }
  }
  CHECK(entries == 4);
}

TEST_CASE("one drawing, three files; the same drawing gives the same bytes") {
  for (const Drawing& drawing : {draw(four_panels()), draw(two_charts())}) {
    const std::string png = render(drawing, Format::png), svg = render(drawing, Format::svg),
                      pdf = render(drawing, Format::pdf);
    CHECK(png.substr(0, 8) == "\x89PNG\r\n\x1a\n");
    CHECK(svg.find("<svg") != std::string::npos);
    CHECK(pdf.substr(0, 5) == "%PDF-");
    CHECK((png == render(drawing, Format::png)));
    CHECK((svg == render(drawing, Format::svg)));
    CHECK((pdf == render(drawing, Format::pdf)));
  }
}

TEST_CASE("on a page: an image a map, text as text, escaped") {
  MapFigure figure = four_panels();
  figure.title = "<b>&\"";
  figure.panels[0][0].number = 3;
  const std::string svg = page_svg(draw(figure));
  CHECK(svg.find("<b>") == std::string::npos);
  CHECK(svg.find("&lt;b&gt;&amp;&quot;") != std::string::npos);
  CHECK(svg.find("<image data-map=\"3\"") != std::string::npos);
  CHECK(svg.find("data-map=\"-1\"") == std::string::npos);
  CHECK(svg.find("http") == std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);
}
