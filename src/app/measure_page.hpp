#pragma once

#include "app/maps_check.hpp"
#include "figures/map_page.hpp"

/// The HTML page of `measure`: a heatmap a head.
namespace sinkproof::app {

/// Cells of the first sequence's maps, made while the maps are read.
class MapDrawer {
 public:
  explicit MapDrawer(const measure::MapsLayout& layout);

  void draw(const measure::MapIndex& index, const measure::MapRows& rows) {
    if (index.sequence != 1) return;
    at(index.layer, index.head) = figures::down_sample(rows.queries, rows.keys, block_, rows.row);
  }

  figures::Heatmap& at(int layer, int head) {
    return maps_[static_cast<std::size_t>(layer - 1) * static_cast<std::size_t>(layout_.heads) +
                 static_cast<std::size_t>(head - 1)];
  }
  int block() const { return block_; }

 private:
  measure::MapsLayout layout_;
  std::vector<figures::Heatmap> maps_;
  int block_ = 1;
};

/// Takes the heatmaps out of `drawer`.
figures::Page measure_page(const MapsRequest& request, const MapsChecked& checked, MapDrawer& drawer);

}  // namespace sinkproof::app
