#include "app/measure_page.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "app/measure_words.hpp"

namespace sinkproof::app {

using measure::Measurement;
using measure::Metric;
using measure::Tally;

namespace {

constexpr std::size_t page_bytes = 10'500'000;  ///< of cells: 14 MB as base64, within a page of 20 MB
constexpr std::size_t page_bytes_a_head = 900;  ///< of text

}  // namespace

MapDrawer::MapDrawer(const measure::MapsLayout& layout)
    : layout_(layout),
      maps_(static_cast<std::size_t>(layout.layers) * static_cast<std::size_t>(layout.heads)) {
  const std::size_t text = std::min(page_bytes / 2, page_bytes_a_head * maps_.size());
  block_ = figures::block_within(layout.queries, layout.keys, maps_.size(), page_bytes - text);
}

figures::Page measure_page(const MapsRequest& request, const MapsChecked& checked, MapDrawer& drawer) {
  const Measurement& measurement = checked.measurement;
  const Tally& all = checked.all;
  const auto& layout = measurement.layout;
  figures::Page page;
  page.title = "Attention sinks in " + std::filesystem::path(request.path).filename().string();
  page.lines = {maps_text(layout), "sink key: " + sink_key_text(measurement),
                "rows " + rows_text(measurement, all)};
  for (const std::string& note : notes_of(checked)) page.lines.push_back("Note: " + note);
  figures::PageTable overall{
      fmt::format("Layers {}..{}, all heads and sequences", checked.layers.first, checked.layers.last),
      {"metric", "value", "definition and queries"},
      {}};
  for (const Metric metric : all_metrics) {
    overall.rows.push_back({std::string(measure::to_string(metric)), shown(metric, all),
                            definition_of(metric, measurement.definitions)});
  }
  page.tables.push_back(overall);
  if (!checked.claims.empty()) {
    figures::PageTable table{"Claims", {"claim", "verdict", "because"}, {}};
    for (const auto& claim : checked.claims) {
      table.rows.push_back({claim.statement, std::string(to_string(claim.verdict)), claim.reason});
    }
    page.tables.push_back(table);
  }
  figures::PageTable layers{"By layer",
                            {"layer", "sink rate", "alpha_1", "second half", "A[i,1]", "dormant", "mean leak",
                             "worst leak", "entropy", "strongest key"},
                            {}};
  const auto cells = [&](const Tally& tally) {
    return std::vector<std::string>{
        shown(Metric::sink_rate, tally), shown(tally.alpha.value()),         shown(tally.second_half.value()),
        shown(tally.first_key.value()),  shown(Metric::dormant_rate, tally), shown(tally.leak.value()),
        worst_text(measurement, tally),  shown(tally.entropy.value()),       strongest_text(checked, tally)};
  };
  for (int layer = 1; layer <= layout.layers; ++layer) {
    auto row = cells(measurement.layers({layer, layer}));
    row.insert(row.begin(), std::to_string(layer));
    layers.rows.push_back(row);
  }
  page.tables.push_back(layers);
  page.maps_note = fmt::format(
      "{}Captions give the head and its alpha_1. {}",
      layout.sequences > 1
          ? fmt::format("These are sequence 1's maps; the numbers are over all {} sequences. ",
                        layout.sequences)
          : std::string(),
      drawer.block() > 1 ? fmt::format("A cell stands for {} x {} weights and shows the largest of them.",
                                       drawer.block(), drawer.block())
                         : std::string("A cell is one weight."));
  for (int layer = 1; layer <= layout.layers; ++layer) {
    for (int head = 1; head <= layout.heads; ++head) {
      const Tally& tally =
          measurement.heads[static_cast<std::size_t>(layer - 1)][static_cast<std::size_t>(head - 1)];
      figures::PageHead entry{.layer = layer,
                              .head = head,
                              .summary = shown(tally.alpha.value()),
                              .marked = 2 * tally.sinks > tally.maps,
                              .facts = {},
                              .map = std::move(drawer.at(layer, head))};
      const auto values = cells(tally);
      for (std::size_t i = 0; i < values.size(); ++i)
        entry.facts.emplace_back(layers.header[i + 1], values[i]);
      page.heads.push_back(std::move(entry));
    }
  }
  if (!checked.tokens.empty()) page.tokens = checked.tokens[0];
  return page;
}

}  // namespace sinkproof::app
