#include "figures/report_page.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>

#include <doctest/doctest.h>

#include "support.hpp"

using namespace sinkproof::figures;
using support::occurrences;

namespace {

ReportPanel panel_of(ReportPage& page, const Map& map, int layer, int head, const std::string& title) {
  const MapPanel panel{
      .title = title, .map = map, .trigger = 3, .number = static_cast<int>(page.maps.size())};
  page.maps.push_back(map);
  return {
      .layer = layer, .head = head, .drawing = draw(MapFigure{.title = "", .note = "", .panels = {{panel}}})};
}

/// A page of layers x heads maps.
ReportPage page_of(int length, int layers, int heads) {
  ReportPage page{.title = "maps", .lines = {"a line"}, .sections = {}, .maps = {}};
  ReportFigure figure{.title = "a stack", .caption = "", .panels = {}, .columns = heads, .folded_title = ""};
  for (int layer = 1; layer <= layers; ++layer) {
    for (int head = 1; head <= heads; ++head) {
      Map map{.length = length, .weights = {}};
      for (int i = 0; i < length; ++i) {
        for (int k = 0; k < length; ++k)
          map.weights.push_back(k <= i ? ((layer * i + head * k) % 17) / 16.0 : 0);
      }
      figure.panels.push_back(panel_of(page, map, layer, head, "a head"));
    }
  }
  page.sections.push_back({.title = "stacks", .figures = {figure}});
  return page;
}

}  // namespace

TEST_CASE("every panel is on the page, with its weights up to the diagonal, and switches where they choose") {
  const std::string html = to_html(page_of(4, 2, 3));
  CHECK(occurrences(html, "<svg") == 6);
  CHECK(occurrences(html, "<image data-map=") == 6);
  CHECK(occurrences(html, "\"length\":4,\"weights\":[") == 6);
  CHECK(html.find("\"weights\":[0,0.0625,0.125,0.125,0.1875,0.25,0.1875,0.25,0.3125,0.375]") !=
        std::string::npos);
  CHECK(occurrences(html, "data-kind=layer") == 3);  // all, 1, 2
  CHECK(occurrences(html, "data-kind=head") == 4);
  CHECK(occurrences(to_html(page_of(4, 1, 1)), "data-kind=layer") == 0);
}

TEST_CASE("weights that are no number, or infinite, are text") {
  ReportPage page = page_of(2, 1, 1);
  page.maps[0].weights = {std::nan(""), 0, std::numeric_limits<double>::infinity(), 0.5};
  CHECK(to_html(page).find("\"weights\":[\"nan\",\"inf\",0.5]") != std::string::npos);
}

TEST_CASE("text of foreign origin cannot leave its place, and nothing is fetched") {
  const std::string evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&\"'";
  ReportPage page{.title = evil, .lines = {evil}, .sections = {}, .maps = {}};
  ReportSection section{.title = evil, .paragraphs = {evil}, .commands = {evil}};
  section.tables = {{evil, {evil}, {{evil}}}};
  ReportFigure figure{.title = evil, .caption = evil, .panels = {}, .folded_title = evil};
  const Map map{.length = 1, .weights = {1}};
  figure.panels = {panel_of(page, map, 1, 1, evil)};
  figure.folded = {panel_of(page, map, 1, 1, evil)};
  section.figures = {figure};
  page.sections = {section};
  const std::string html = to_html(page);
  CHECK(occurrences(html, "alert(1)") == 16);
  CHECK(occurrences(html, "<script>alert") == 0);
  CHECK(occurrences(html, "<img") == 0);
  CHECK(occurrences(html, "</script>") == 2);  // the maps' and the program's
  for (const char* fetch : {"http:", "https:", "url(", "@import", "href=\"/", "href=\"h"}) {
    CAPTURE(fetch);
    CHECK(occurrences(html, fetch) == 0);
  }
  CHECK(html.find("default-src 'none'") != std::string::npos);
}

TEST_CASE("32 maps of 64 positions: one image a map, and a page of moderate size") {
  const std::string html = to_html(page_of(64, 4, 8));
  CHECK(occurrences(html, "<image data-map=") == 32);
  CHECK(occurrences(html, "<") < 4000);  // elements, about twice
  CHECK(html.size() < 1'500'000);
  // For the test in a browser.
  if (const char* path = std::getenv("SINKPROOF_PAGE")) std::ofstream(path) << html;
}
