#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// A figure as a list of shapes, drawn back to front: made once, then rendered as PNG, SVG or PDF
/// (render.hpp) or put on a page (page_svg.hpp). Units are points (1/72 inch), y grows downward.
namespace sinkproof::figures {

struct Point {
  double x = 0, y = 0;
};

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

struct Rgb {
  std::uint8_t red = 0, green = 0, blue = 0;
  friend bool operator==(const Rgb&, const Rgb&) = default;
};

/// Colours by what they are for: a page gives them other values in the dark.
enum class Role {
  ink,     ///< text and axes
  quiet,   ///< secondary text
  grid,    ///< lines behind the data
  masked,  ///< the part of a map above the diagonal
};
using Paint = std::variant<Role, Rgb>;

struct Line {
  std::vector<Point> points;
  Paint paint = Role::ink;
  double width = 0.8;
  std::vector<double> dash = {};  ///< lengths on, off, ...; empty: solid
};

/// A filled polygon.
struct Area {
  std::vector<Point> corners;
  Paint fill = Role::ink;
  double opacity = 1;
};

enum class Anchor { start, middle, end };

/// One line of text; `at` is on its baseline.
struct Text {
  Point at;
  std::string text;
  double size = 8;
  Anchor anchor = Anchor::start;
  bool bold = false;
  bool upward = false;  ///< turned by 90 degrees, read from below
  Paint paint = Role::ink;
};

/// A matrix of colours; where there is none, what lies behind is seen.
struct Cells {
  Box box;
  int rows = 0, columns = 0;
  std::vector<std::optional<Rgb>> colours;  ///< row after row
  int map = -1;                             ///< on a page: which map's weights to show (ReportPage::maps)
  const std::optional<Rgb>& colour(int row, int column) const {
    return colours[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
                   static_cast<std::size_t>(column)];
  }
  Box cell(int row, int column) const {
    const double width = box.width / columns, height = box.height / rows;
    return {box.x + column * width, box.y + row * height, width, height};
  }
};

/// How far the text reaches at most, in any usual font: for layouts that must not depend on the font.
inline double width_of(const Text& text) {
  std::size_t characters = 0;
  for (const char c : text.text) characters += (c & 0xc0) != 0x80;  // not bytes of UTF-8
  return (text.bold ? 0.68 : 0.6) * text.size * static_cast<double>(characters);
}

struct Drawing {
  double width = 0, height = 0;
  std::string description;  ///< what is seen, in a sentence
  std::vector<std::variant<Line, Area, Text, Cells>> shapes = {};
};

/// The rectangle's corners, for Area.
inline std::vector<Point> corners(const Box& box) {
  return {{box.x, box.y}, {box.right(), box.y}, {box.right(), box.bottom()}, {box.x, box.bottom()}};
}

}  // namespace sinkproof::figures
