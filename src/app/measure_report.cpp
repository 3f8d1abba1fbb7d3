#include "app/measure_report.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "app/measure_words.hpp"

namespace sinkproof::app {

using measure::Measurement;
using measure::Metric;
using measure::Range;
using measure::Tally;
using measure::Value;
using numeric::Rational;

namespace {

constexpr int most_heads_in_text = 160;

std::string tables_text(const MapsRequest& request, const MapsChecked& checked) {
  const Measurement& measurement = checked.measurement;
  const Tally& all = checked.all;
  const auto& definitions = measurement.definitions;
  std::string text = fmt::format("{}\n  maps       {}\n", request.path, maps_text(measurement.layout));
  text += fmt::format("  sink key   {}: position 1 below; T = {}\n", sink_key_text(measurement),
                      measurement.windows[0].last - measurement.windows[0].first + 1);
  text += fmt::format("  rows       {}\n", rows_text(measurement, all));
  for (const std::string& note : notes_of(checked)) text += "  note       " + note + "\n";
  text += fmt::format("\nlayers {}..{}, all heads and sequences (exact sums, shown to 4 decimals)\n",
                      checked.layers.first, checked.layers.last);
  for (const Metric metric : all_metrics) {
    text += fmt::format("  {:<13} {:>9}  {}\n", measure::to_string(metric), shown(metric, all),
                        definition_of(metric, definitions));
  }

  constexpr std::string_view columns = "{:<6}{:<6}{:>9}{:>9}{:>13}{:>10}{:>10}{:>11}{:>9}  {:<22} {}\n";
  const auto line = [&](const std::string& layer, const std::string& head, const Tally& tally) {
    return "  " + fmt::format(fmt::runtime(columns), layer, head, shown(Metric::sink_rate, tally),
                              shown(tally.alpha.value()), shown(tally.second_half.value()),
                              shown(tally.first_key.value()), shown(Metric::dormant_rate, tally),
                              shown(tally.leak.value()), shown(tally.entropy.value()),
                              worst_text(measurement, tally), strongest_text(checked, tally));
  };
  const std::string header =
      "  " + fmt::format(fmt::runtime(columns), "layer", "head", "sinks", "alpha_1", "2nd half", "A[i,1]",
                         "dormant", "mean leak", "entropy", "worst leak", "strongest key");
  text += "\n" + header;
  for (int layer = 1; layer <= measurement.layout.layers; ++layer) {
    text += line(std::to_string(layer), "all", measurement.layers({layer, layer}));
  }
  if (measurement.layout.layers * measurement.layout.heads > most_heads_in_text) {
    text += fmt::format("  ({} heads: see --json, or --out DIR for CSV and HTML)\n",
                        measurement.layout.layers * measurement.layout.heads);
    return text;
  }
  text += "\n" + header;
  for (std::size_t layer = 0; layer < measurement.heads.size(); ++layer) {
    for (std::size_t head = 0; head < measurement.heads[layer].size(); ++head) {
      text += line(std::to_string(layer + 1), std::to_string(head + 1), measurement.heads[layer][head]);
    }
  }
  return text;
}

Json json_of(const std::optional<Value>& value) {
  if (!value) return {{"undecided", true}};
  if (value->exact()) return to_json(theory::quantity("", value->lower));
  return to_json(theory::Quantity{"", theory::Between{value->lower, value->upper}});
}

Json json_of(const Measurement& measurement, const Tally& tally) {
  Json json{{"maps", tally.maps},
            {"queries", tally.queries},
            {"excluded_nan_rows", tally.nan_rows},
            {"all_zero_rows", tally.zero_rows},
            {"near_epsilon", tally.near_epsilon}};
  const auto name = [](Metric metric) {
    std::string text(measure::to_string(metric));
    std::replace(text.begin(), text.end(), '-', '_');
    return text;
  };
  for (const Metric metric : all_metrics) {
    const bool leak_like =
        metric == Metric::mean_leak || metric == Metric::worst_leak || metric == Metric::entropy;
    if (leak_like && !measurement.definitions.normalised) continue;
    json[name(metric)] = json_of(measure::value_of(metric, tally));
  }
  json["first_key"] = json_of(tally.first_key.value());
  if (tally.worst_leak) {
    json["worst_leak"]["sequence"] = tally.worst_sequence;
    json["worst_leak"]["query"] = tally.worst_query;
  }
  const auto [key, count] = tally.strongest();
  if (key > 0) {
    json["strongest_key"] = {
        {"key", key}, {"maps", count}, {"share", json_of(tally.strongest_share.value())}};
  } else {
    json["strongest_key"] = nullptr;
  }
  json["keys_above"] = Json::array();
  for (const auto& [above, maps] : tally.keys_above)
    json["keys_above"].push_back({{"key", above}, {"maps", maps}});
  return json;
}

Json json_of(const Range& range) {
  const bool open = range.last == Range{}.last;
  return {{"first", range.first}, {"last", open ? Json(nullptr) : Json(range.last)}};
}

}  // namespace

std::string measure_text(const MapsRequest& request, const MapsChecked& checked) {
  const std::string text = tables_text(request, checked);
  return checked.claims.empty() ? text : text + "\n" + to_text(checked.claims);
}

Report measure_report(const MapsRequest& request, const MapsChecked& checked) {
  Report report{.verb = "measure"};
  report.claims = checked.claims;
  Json& fields = report.fields;
  const Measurement& measurement = checked.measurement;
  const Tally& all = checked.all;
  const auto& layout = measurement.layout;
  const auto& definitions = measurement.definitions;
  fields["file"] = {{"path", request.path}};
  fields["maps"] = {
      {"arrays", layout.arrays},       {"axes", layout.axes},     {"dtype", to_string(layout.dtype)},
      {"sequences", layout.sequences}, {"layers", layout.layers}, {"heads", layout.heads},
      {"queries", layout.queries},     {"keys", layout.keys},     {"bytes", layout.bytes}};
  fields["definitions"] = {{"normaliser", request.normaliser},
                           {"epsilon", numeric::to_string(definitions.epsilon)},
                           {"tau", numeric::to_string(definitions.tau)},
                           {"leak_queries", json_of(definitions.queries)},
                           {"layers", json_of(checked.layers)}};
  for (const Metric metric : all_metrics) {
    fields["definitions"][std::string(measure::to_string(metric))] = definition_of(metric, definitions);
  }
  fields["windows"] = Json::array();
  for (const Range& window : measurement.windows) fields["windows"].push_back(json_of(window));
  fields["checks"] = {{"precision", to_string(all.precision)}};
  if (all.queries > 0) {
    fields["checks"]["row_sum"] = {
        {"sampled", {{"lower", all.least_row_sum}, {"upper", all.largest_row_sum}}}};
  }
  if (definitions.normalised) fields["checks"]["tolerance"] = tolerance_of(measurement, all);
  fields["notes"] = notes_of(checked);
  fields["overall"] = json_of(measurement, all);
  fields["layers"] = Json::array();
  fields["heads"] = Json::array();
  for (int layer = 1; layer <= layout.layers; ++layer) {
    Json entry{{"layer", layer}};
    entry.update(json_of(measurement, measurement.layers({layer, layer})));
    fields["layers"].push_back(entry);
    const auto& heads = measurement.heads[static_cast<std::size_t>(layer - 1)];
    for (std::size_t head = 0; head < heads.size(); ++head) {
      Json of_head{{"layer", layer}, {"head", head + 1}};
      of_head.update(json_of(measurement, heads[head]));
      fields["heads"].push_back(of_head);
    }
  }
  return report;
}

std::string measure_csv(const Measurement& measurement) {
  std::string csv = "layer,head,maps,queries";
  for (const Metric metric : all_metrics) csv += "," + std::string(measure::to_string(metric));
  csv += ",first-key,worst-query,strongest-key,strongest-share\n";
  const auto number = [](const std::optional<Value>& value) {
    return value ? fmt::format("{:.12g}", Rational((value->lower + value->upper) / 2).convert_to<double>())
                 : std::string();
  };
  const auto line = [&](const std::string& layer, const std::string& head, const Tally& tally) {
    csv += fmt::format("{},{},{},{}", layer, head, tally.maps, tally.queries);
    for (const Metric metric : all_metrics) csv += "," + number(measure::value_of(metric, tally));
    csv += fmt::format(",{},{},{},{}\n", number(tally.first_key.value()),
                       tally.worst_leak ? std::to_string(tally.worst_query) : "",
                       tally.strongest().first > 0 ? std::to_string(tally.strongest().first) : "",
                       number(tally.strongest_share.value()));
  };
  for (int layer = 1; layer <= measurement.layout.layers; ++layer) {
    const auto& heads = measurement.heads[static_cast<std::size_t>(layer - 1)];
    for (std::size_t head = 0; head < heads.size(); ++head) {
      line(std::to_string(layer), std::to_string(head + 1), heads[head]);
    }
    line(std::to_string(layer), "all", measurement.layers({layer, layer}));
  }
  line("all", "all", measurement.layers({1, measurement.layout.layers}));
  return csv;
}

}  // namespace sinkproof::app
