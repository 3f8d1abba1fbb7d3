#pragma once

#include <string>
#include <utility>
#include <vector>

#include "figures/heatmap.hpp"
#include "figures/html.hpp"

namespace sinkproof::figures {

/// One head on the page. All text is plain; the page escapes it.
struct PageHead {
  int layer = 1, head = 1;
  std::string summary;  ///< a few characters under the thumbnail
  bool marked = false;  ///< a sink: the thumbnail is framed, and the page can show these only
  std::vector<std::pair<std::string, std::string>> facts;
  Heatmap map;
};

struct Page {
  std::string title;
  std::vector<std::string> lines;  ///< about the file
  std::vector<PageTable> tables;
  std::string maps_note;            ///< which maps are drawn, and how
  std::vector<PageHead> heads;      ///< in the order of layers and heads; all of one shape
  std::vector<std::string> tokens;  ///< a label a key, or none
};

/// One self-contained HTML file: no network (its own policy forbids it), thumbnails first and drawn as they
/// come into view, a head's full map on demand.
std::string to_html(const Page& page);

}  // namespace sinkproof::figures
