#pragma once

#include <string>
#include <vector>

#include "figures/drawing.hpp"

/// Attention maps as figures: queries downward, keys to the right, positions counted from 1.
namespace sinkproof::figures {

/// A causal map: weights[i * length + k] of query i on key k (from 0); those above the diagonal are not read.
struct Map {
  int length = 0;
  std::vector<double> weights = {};
  double weight(int query, int key) const {
    return weights[static_cast<std::size_t>(query) * static_cast<std::size_t>(length) +
                   static_cast<std::size_t>(key)];
  }
};

/// What a colour means: 0 to `largest`, linear. Values beyond are never clipped silently: their cells carry a
/// triangle (up: above, down: below 0), and so does the colour bar; what is no number is crossed out.
struct Scale {
  double largest = 1;
  std::string label = "attention weight";
};

/// The largest weight on or below the diagonal that is a number; 0 where none is above it.
double largest_weight(const Map& map);

/// 1, and every step-th position: about five.
std::vector<int> tick_positions(int length);

struct MapPanel {
  std::string title;
  Map map;
  int trigger = 0;  ///< this query is pointed at; 0: none
  Scale scale = {};
  int number = -1;  ///< on a page: which map's weights to show
};

struct MapFigure {
  std::string title, note;                    ///< two lines at the top
  std::vector<std::vector<MapPanel>> panels;  /// rows of panels
  /// One colour bar (the first panel's) for all, axes labelled at the outer panels only.
  bool shared_scale = false;
  double side = 150;  ///< of a map
};
Drawing draw(const MapFigure& figure);

/// The cells of a map; the first part of a panel, apart from marks.
Cells cells_of(const Map& map, const Scale& scale, const Box& box);

}  // namespace sinkproof::figures
