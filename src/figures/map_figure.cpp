#include "figures/map_figure.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/core.h>

#include "figures/colour_map.hpp"
#include "figures/numbers.hpp"

namespace sinkproof::figures {
namespace {

constexpr double title_height = 14, tick_length = 3, tick_size = 7, label_size = 8;
constexpr double left_of_map = 32, below_map = 28, bar_gap = 8, bar_width = 9, right_of_bar = 40;
constexpr Rgb mark_colour{0, 0, 0}, over_colour{213, 94, 0};

/// A triangle in the middle of `box` that points up or down.
Area triangle(const Box& box, bool up, const Paint& paint) {
  const double size = std::min({box.width, box.height, 6.0}) * 0.62;
  const double x = box.x + box.width / 2, y = box.y + box.height / 2, half = size / 2;
  const double tip = up ? y - half : y + half, base = up ? y + half : y - half;
  return {{{x - half, base}, {x + half, base}, {x, tip}}, paint};
}

void mark_cells(Drawing& drawing, const MapPanel& panel, const Cells& cells) {
  for (int i = 0; i < panel.map.length; ++i) {
    for (int k = 0; k <= i; ++k) {
      const double weight = panel.map.weight(i, k);
      const Box cell = cells.cell(i, k);
      if (weight > panel.scale.largest) {
        drawing.shapes.emplace_back(triangle(cell, true, mark_colour));
      } else if (weight < 0) {
        drawing.shapes.emplace_back(triangle(cell, false, Rgb{255, 255, 255}));
      } else if (std::isnan(weight)) {
        drawing.shapes.emplace_back(Line{{{cell.x, cell.y}, {cell.right(), cell.bottom()}}, Role::ink, 0.6});
        drawing.shapes.emplace_back(Line{{{cell.x, cell.bottom()}, {cell.right(), cell.y}}, Role::ink, 0.6});
      }
    }
  }
}

struct Labels {
  bool key = true, query = true;
};

/// A map with its title above and its axes around.
void add_map(Drawing& drawing, const Box& box, const MapPanel& panel, const Labels& labels) {
  auto& shapes = drawing.shapes;
  shapes.emplace_back(Text{.at = {box.x + box.width / 2, box.y - 5},
                           .text = panel.title,
                           .size = 9,
                           .anchor = Anchor::middle,
                           .bold = true});
  shapes.emplace_back(Area{corners(box), Role::masked});
  Cells cells = cells_of(panel.map, panel.scale, box);
  cells.map = panel.number;
  shapes.emplace_back(cells);
  mark_cells(drawing, panel, cells);
  auto frame = corners(box);
  frame.push_back(frame.front());
  shapes.emplace_back(Line{frame, Role::quiet, 0.6});

  for (const int position : tick_positions(panel.map.length)) {
    const Box cell = cells.cell(position - 1, position - 1);
    const double x = cell.x + cell.width / 2, y = cell.y + cell.height / 2;
    shapes.emplace_back(Line{{{x, box.bottom()}, {x, box.bottom() + tick_length}}, Role::quiet, 0.6});
    shapes.emplace_back(Text{.at = {x, box.bottom() + tick_length + tick_size},
                             .text = std::to_string(position),
                             .size = tick_size,
                             .anchor = Anchor::middle});
    shapes.emplace_back(Line{{{box.x - tick_length, y}, {box.x, y}}, Role::quiet, 0.6});
    shapes.emplace_back(Text{.at = {box.x - tick_length - 5.5, y + tick_size * 0.36},
                             .text = std::to_string(position),
                             .size = tick_size,
                             .anchor = Anchor::end});
  }
  if (panel.trigger > 0) {
    const Box cell = cells.cell(panel.trigger - 1, 0);
    const double y = cell.y + cell.height / 2, tip = box.x - 1;
    shapes.emplace_back(Area{{{tip, y}, {tip - 6, y - 3}, {tip - 6, y + 3}}, over_colour});
  }
  if (labels.key) {
    shapes.emplace_back(Text{.at = {box.x + box.width / 2, box.bottom() + tick_length + tick_size + 11},
                             .text = "key position",
                             .size = label_size,
                             .anchor = Anchor::middle});
  }
  if (labels.query) {
    shapes.emplace_back(Text{.at = {box.x - tick_length - 19, box.y + box.height / 2},
                             .text = "query position",
                             .size = label_size,
                             .anchor = Anchor::middle,
                             .upward = true});
  }
}

/// The colours' meaning, with a tip on top where values exceed it: `largest_seen` is the largest.
void add_bar(Drawing& drawing, const Box& box, const Scale& scale, double largest_seen) {
  constexpr int steps = 128, ticks = 4;
  // Small scales are labelled in a power of ten.
  const int exponent = scale.largest < 0.05 ? static_cast<int>(std::floor(std::log10(scale.largest))) : 0;
  const double unit = std::pow(10, exponent);
  Cells ramp{.box = box, .rows = steps, .columns = 1, .colours = {}};
  for (int i = 0; i < steps; ++i) ramp.colours.emplace_back(viridis((steps - 0.5 - i) / steps));
  auto& shapes = drawing.shapes;
  shapes.emplace_back(ramp);
  std::vector<Point> outline = corners(box);
  if (largest_seen > scale.largest) {
    const Point tip{box.x + box.width / 2, box.y - box.width};
    shapes.emplace_back(Area{{{box.x, box.y}, {box.right(), box.y}, tip}, viridis(1)});
    shapes.emplace_back(triangle({box.x, box.y - 6, box.width, 6}, true, mark_colour));
    outline = {{box.x, box.y}, tip, {box.right(), box.y}, {box.right(), box.bottom()}, {box.x, box.bottom()}};
    shapes.emplace_back(Text{.at = {box.right() + 3, box.y - 5},
                             .text = fmt::format("to {:.3g}", largest_seen / unit),
                             .size = tick_size});
  }
  outline.push_back(outline.front());
  shapes.emplace_back(Line{outline, Role::quiet, 0.6});
  for (int i = 0; i <= ticks; ++i) {
    const double y = box.bottom() - box.height * i / ticks;
    shapes.emplace_back(Line{{{box.right(), y}, {box.right() + tick_length, y}}, Role::quiet, 0.6});
    shapes.emplace_back(Text{.at = {box.right() + tick_length + 2, y + tick_size * 0.36},
                             .text = fmt::format("{:.4g}", scale.largest / unit * i / ticks),
                             .size = tick_size});
  }
  shapes.emplace_back(Text{.at = {box.right() + right_of_bar - 6, box.y + box.height / 2},
                           .text = exponent == 0 ? scale.label : scale.label + " / " + power_of_ten(exponent),
                           .size = label_size,
                           .anchor = Anchor::middle,
                           .upward = true});
}

}  // namespace

double largest_weight(const Map& map) {
  double largest = 0;
  for (int i = 0; i < map.length; ++i) {
    for (int k = 0; k <= i; ++k) {
      const double weight = map.weight(i, k);
      if (weight > largest) largest = weight;
    }
  }
  return largest;
}

std::vector<int> tick_positions(int length) {
  int step = 1;
  for (const int next : {1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 500, 512, 1024}) {
    step = next;
    if (length / step <= 5) break;
  }
  std::vector<int> positions{1};
  for (int position = step == 1 ? 2 : step; position <= length; position += step)
    positions.push_back(position);
  return positions;
}

Cells cells_of(const Map& map, const Scale& scale, const Box& box) {
  if (map.length < 1 ||
      map.weights.size() != static_cast<std::size_t>(map.length) * static_cast<std::size_t>(map.length)) {
    throw std::invalid_argument("figures: a map needs length x length weights");
  }
  Cells cells{.box = box, .rows = map.length, .columns = map.length, .colours = {}};
  cells.colours.resize(map.weights.size());
  for (int i = 0; i < map.length; ++i) {
    for (int k = 0; k <= i; ++k) {
      const double weight = map.weight(i, k);
      if (std::isnan(weight)) continue;
      cells.colours[static_cast<std::size_t>(i) * static_cast<std::size_t>(map.length) +
                    static_cast<std::size_t>(k)] = viridis(weight / scale.largest);
    }
  }
  return cells;
}

Drawing draw(const MapFigure& figure) {
  std::size_t columns = 0;
  double largest = 0;
  for (const auto& row : figure.panels) {
    columns = std::max(columns, row.size());
    for (const MapPanel& panel : row) largest = std::max(largest, largest_weight(panel.map));
  }
  const double beside = figure.shared_scale ? 0 : bar_gap + bar_width + right_of_bar;
  const double left = figure.shared_scale ? 20 : left_of_map, below = figure.shared_scale ? 16 : below_map;
  const double outer_left = figure.shared_scale ? 14 : 4, outer_below = figure.shared_scale ? 16 : 4;
  const double top = (figure.title.empty() ? 0 : 18) + (figure.note.empty() ? 0 : 13) + 6;
  const double cell_width = left + figure.side + beside, cell_height = title_height + figure.side + below;
  const double rows = static_cast<double>(figure.panels.size());
  Drawing drawing{.width = outer_left + static_cast<double>(columns) * cell_width +
                           (figure.shared_scale ? bar_gap + 4 + bar_width + right_of_bar : 0),
                  .height = top + rows * cell_height + outer_below,
                  .description = figure.title.empty() && !figure.panels.empty() ? figure.panels[0][0].title
                                                                                : figure.title};
  const Text title{.at = {outer_left + 4, 17}, .text = figure.title, .size = 11, .bold = true};
  const Text note{.at = {outer_left + 4, 30}, .text = figure.note, .size = 8, .paint = Role::quiet};
  for (const Text& text : {title, note}) {
    if (text.text.empty()) continue;
    drawing.shapes.emplace_back(text);
    drawing.width = std::max(drawing.width, text.at.x + width_of(text));
  }
  for (std::size_t r = 0; r < figure.panels.size(); ++r) {
    for (std::size_t c = 0; c < figure.panels[r].size(); ++c) {
      const MapPanel& panel = figure.panels[r][c];
      const Box box{outer_left + static_cast<double>(c) * cell_width + left,
                    top + static_cast<double>(r) * cell_height + title_height, figure.side, figure.side};
      const bool last_row = r + 1 == figure.panels.size();
      add_map(drawing, box, panel,
              {.key = !figure.shared_scale || last_row, .query = !figure.shared_scale || c == 0});
      if (!figure.shared_scale) {
        add_bar(drawing, {box.right() + bar_gap, box.y, bar_width, box.height}, panel.scale,
                largest_weight(panel.map));
      }
    }
  }
  if (figure.shared_scale && columns > 0) {
    const double height = rows * cell_height - title_height - below;
    add_bar(drawing,
            {outer_left + static_cast<double>(columns) * cell_width + bar_gap + 4, top + title_height,
             bar_width, std::min(height, 2 * figure.side)},
            figure.panels[0][0].scale, largest);
  }
  return drawing;
}

}  // namespace sinkproof::figures
