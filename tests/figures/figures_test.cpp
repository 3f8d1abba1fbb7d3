#include <algorithm>
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "figures/heatmap.hpp"
#include "figures/map_page.hpp"
#include "support.hpp"

using namespace sinkproof::figures;
using support::occurrences;

TEST_CASE("a sink of one column and a hole of one weight survive down-sampling") {
  constexpr int length = 100, block = 7;
  const Heatmap map = down_sample(length, length, block, [](int i, std::span<double> row) {
    std::fill(row.begin(), row.end(), 0.01);
    if (i == 50) row[24] = 0;
    row[3] = 1;
  });
  std::size_t cell = 0;
  for (int row = 0; row * block < length; ++row) {
    const int count = cells_in_row(length, length, block, row);
    CHECK(count == row + 1);
    for (int column = 0; column < count; ++column, ++cell) {
      CHECK(map.largest[cell] == (column == 0 ? 255 : std::lround(255 * std::sqrt(0.01))));
      CHECK(map.smallest[cell] ==
            (row == 50 / block && column == 24 / block ? 0 : std::lround(255 * std::sqrt(0.01))));
    }
  }
  CHECK(cell == map.largest.size());
  CHECK(cell == map.smallest.size());
}

TEST_CASE("codes keep zero apart from the least weight, and take what is no weight for 0") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::vector<double>> rows{
      {1, 0, 0, 0}, {1e-30, 1, 0, 0}, {0, nan, 2, 0}, {0.25, -1, 0, 0.5}};
  const Heatmap map = down_sample(4, 4, 1, [&](int i, std::span<double> row) {
    std::copy(rows[static_cast<std::size_t>(i)].begin(), rows[static_cast<std::size_t>(i)].end(),
              row.begin());
  });
  CHECK(map.largest == std::vector<std::uint8_t>{255, 1, 255, 0, 0, 255, 128, 0, 0, 180});
  CHECK(map.smallest.empty());
  // Two queries on five keys.
  CHECK(cells_in_row(2, 5, 1, 0) == 4);
  CHECK(cells_in_row(2, 5, 1, 1) == 5);
  CHECK(cells_in_row(2, 5, 2, 0) == 3);
}

TEST_CASE("the page of 32 x 32 heads at T = 512 stays under 20 MB whatever the weights are") {
  constexpr int heads = 1024, length = 512;
  constexpr std::size_t budget = 10'000'000;
  const int block = block_within(length, length, heads, budget);
  const Heatmap map = down_sample(length, length, block, [](int i, std::span<double> row) {
    for (std::size_t k = 0; k < row.size(); ++k)
      row[k] = static_cast<double>((static_cast<std::size_t>(i) * 31 + k * 17) % 97) / 97;
  });
  CHECK(heads * (map.largest.size() + map.smallest.size()) <= budget);
  CHECK(block <= 8);
  Page page{.title = "t", .lines = {}, .tables = {}, .maps_note = "", .heads = {}, .tokens = {}};
  page.heads.assign(heads, PageHead{.summary = "0.1234", .facts = {{"alpha_1", "0.1234"}}, .map = map});
  const std::string html = to_html(page);
  CHECK(html.size() < 20'000'000);
  CHECK(html.size() > heads * map.largest.size());
  CHECK(block_within(16, 16, 4, budget) == 1);
}

TEST_CASE("text of foreign origin cannot leave its place, and nothing is fetched") {
  const std::string evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&\"'";
  Page page{.title = evil,
            .lines = {evil},
            .tables = {{evil, {evil}, {{evil}}}},
            .maps_note = evil,
            .heads = {},
            .tokens = {evil, "<s>", "\xff"}};
  page.heads = {PageHead{.summary = evil,
                         .facts = {{evil, evil}},
                         .map = down_sample(1, 1, 1, [](int, std::span<double> row) { row[0] = 1; })}};
  const std::string html = to_html(page);
  CHECK(occurrences(html, "alert(1)") == 11);
  CHECK(occurrences(html, "<script>alert") == 0);
  CHECK(occurrences(html, "<img") == 0);
  CHECK(occurrences(html, "</script>") == 2);  // the data's and the program's
  CHECK(occurrences(html, "\\u003cs>") == 1);
  for (const char* fetch : {"http:", "https:", "src=", "url(", "@import", "href"}) {
    CAPTURE(fetch);
    CHECK(occurrences(html, fetch) == occurrences(evil, fetch) * occurrences(html, "alert(1)"));
  }
  CHECK(html.find("default-src 'none'") != std::string::npos);
}
