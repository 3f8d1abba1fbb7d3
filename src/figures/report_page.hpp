#pragma once

#include <string>
#include <vector>

#include "figures/drawing.hpp"
#include "figures/html.hpp"
#include "figures/map_figure.hpp"

namespace sinkproof::figures {

/// A drawing on the page. Its Cells name the maps whose weights appear under the pointer.
struct ReportPanel {
  int layer = 0, head = 0;  ///< 1-based, for the switches; 0: none
  Drawing drawing;
};

struct ReportFigure {
  std::string title, caption;
  std::vector<ReportPanel> panels;
  int columns = 1;
  std::string folded_title;  ///< of `folded`, which a click shows
  std::vector<ReportPanel> folded = {};
};

struct ReportSection {
  std::string title;
  std::vector<std::string> paragraphs = {};
  std::vector<ReportFigure> figures = {};
  std::vector<PageTable> tables = {};
  std::vector<std::string> commands = {};  ///< lines of a shell
};

struct ReportPage {
  std::string title;
  std::vector<std::string> lines;  ///< below the title
  std::vector<ReportSection> sections;
  std::vector<Map> maps;  ///< their weights, by number
};

/// One self-contained HTML file that opens from disk: no network, light and dark. Without scripts everything
/// is shown; with them, a weight appears under the pointer and single layers or heads can be chosen. All text
/// of the report is escaped.
std::string to_html(const ReportPage& report);

}  // namespace sinkproof::figures
