#include <chrono>
#include <mutex>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "app/parameters.hpp"
#include "app/report.hpp"
#include "errors.hpp"
#include "figures/map_page.hpp"
#include "formats/json_lists.hpp"
#include "measure/measurement.hpp"
#include "measure/threshold.hpp"

namespace sinkproof::app {
namespace {

using measure::Measurement;
using measure::Metric;
using measure::Range;
using measure::Tally;
using measure::Value;
using numeric::Rational;

constexpr Metric all_metrics[] = {Metric::sink_rate,    Metric::sink_weight, Metric::second_half,
                                  Metric::dormant_rate, Metric::mean_leak,   Metric::worst_leak,
                                  Metric::entropy};
constexpr int most_heads_in_text = 160;
constexpr std::size_t page_bytes = 10'500'000;  ///< of cells: 14 MB as base64, within a page of 20 MB
constexpr std::size_t page_bytes_a_head = 900;  ///< of text

struct MeasureFlags {
  CommonFlags common;
  std::string maps, array, axes;
  std::string normaliser = "softmax";
  std::string epsilon = "0.3", tau = "0.5", row_tolerance;
  std::string layers, queries = "2..";
  std::string bos_column, pad, tokens;
  std::vector<std::string> claims;
};

/// Token texts: none, one list for all sequences, or one a sequence.
using Tokens = std::vector<std::vector<std::string>>;

struct Result {
  Measurement measurement;
  Range layers;
  Tokens tokens;
  std::vector<std::string> notes;
};

Range query_range(const std::string& text) {
  if (text.ends_with("..")) {
    return {measure::parse_range(text.substr(0, text.size() - 2), "--queries").first};
  }
  return measure::parse_range(text, "--queries");
}

measure::Definitions definitions_of(const MeasureFlags& flags) {
  measure::Definitions definitions{.epsilon = exact_flag("--epsilon", flags.epsilon),
                                   .tau = exact_flag("--tau", flags.tau),
                                   .normalised = flags.normaliser == "softmax",
                                   .queries = query_range(flags.queries)};
  if (!flags.row_tolerance.empty()) {
    definitions.row_tolerance = exact_flag("--row-tolerance", flags.row_tolerance);
  }
  return definitions;
}

measure::Windows windows_of(const MeasureFlags& flags, const measure::MapsLayout& layout) {
  if (!flags.pad.empty()) return measure::read_padding(formats::File(flags.pad), layout);
  if (flags.bos_column.empty()) return {};
  if (flags.bos_column == "auto") return {.kind = measure::Windows::Kind::automatic};
  long key = 0;
  try {
    const Range range = measure::parse_range(flags.bos_column, "--bos-column");
    if (range.first == range.last) key = range.first;
  } catch (const InputError&) {
  }
  if (key < 1 || key > layout.keys) {
    throw InputError(
        fmt::format("--bos-column {}: write auto or a key from 1 to {}", flags.bos_column, layout.keys));
  }
  return {.kind = measure::Windows::Kind::from_key, .key = static_cast<int>(key)};
}

Range layers_of(const MeasureFlags& flags, const measure::MapsLayout& layout) {
  if (flags.layers.empty()) return {1, layout.layers};
  const Range layers = measure::parse_range(flags.layers, "--layers");
  if (layers.last > layout.layers) {
    throw InputError(fmt::format("--layers {}: the maps have {} layer(s)", flags.layers, layout.layers));
  }
  return layers;
}

Tokens tokens_of(const MeasureFlags& flags, const measure::MapsLayout& layout) {
  if (flags.tokens.empty()) return {};
  Tokens tokens = formats::read_token_lists(formats::File(flags.tokens));
  const auto sequences = static_cast<std::size_t>(layout.sequences);
  if (tokens.size() != 1 && tokens.size() != sequences) {
    throw InputError(
        fmt::format("{}: has {} lists of tokens for {} sequence(s): write one for all or one for each",
                    flags.tokens, tokens.size(), sequences));
  }
  for (const auto& list : tokens) {
    if (list.size() != static_cast<std::size_t>(layout.keys)) {
      throw InputError(fmt::format("{}: has a list of {} tokens for {} keys: write one a key", flags.tokens,
                                   list.size(), layout.keys));
    }
  }
  return tokens;
}

// ---- What is shown.

/// To four decimals, rounded; the exact value stands in the JSON report.
std::string shown(const std::optional<Value>& value) {
  if (!value) return "-";
  return fmt::format("{:.4f}", Rational((value->lower + value->upper) / 2).convert_to<double>());
}

bool is_rate(Metric metric) {
  return metric == Metric::sink_rate || metric == Metric::dormant_rate;
}

std::string shown(Metric metric, const Tally& tally) {
  const auto value = measure::value_of(metric, tally);
  if (!value || !is_rate(metric)) return shown(value);
  return fmt::format("{:.2f} %", Rational(100 * value->lower).convert_to<double>());
}

std::string token_at(const Result& result, std::size_t sequence, long position) {
  if (result.tokens.empty() || position < 1 || position > result.measurement.layout.keys) return "";
  const auto& list = result.tokens[result.tokens.size() == 1 ? 0 : sequence];
  return list[static_cast<std::size_t>(position - 1)];
}

/// "1 '<s>' (12 of 16)": the key that is strongest in most of the maps, counted from the sink key.
std::string strongest_text(const Result& result, const Tally& tally) {
  const auto [key, count] = tally.strongest();
  if (key == 0) return "-";
  std::string text = std::to_string(key);
  const std::string token = token_at(result, 0, result.measurement.windows[0].first + key - 1);
  if (!token.empty()) text += " '" + formats::shown(token) + "'";
  return count == tally.maps ? text : text + fmt::format(" ({} of {})", count, tally.maps);
}

std::string worst_text(const Measurement& measurement, const Tally& tally) {
  if (!tally.worst_leak) return "-";
  std::string text = shown(tally.worst_leak) + fmt::format(" at i = {}", tally.worst_query);
  return measurement.layout.sequences > 1 ? text + fmt::format(" of sequence {}", tally.worst_sequence)
                                          : text;
}

std::string sink_key_text(const Measurement& measurement) {
  const auto& windows = measurement.windows;
  long least = windows[0].first, largest = least;
  for (const Range& window : windows) {
    least = std::min(least, window.first);
    largest = std::max(largest, window.first);
  }
  return least == largest ? fmt::format("key {}", least)
                          : fmt::format("keys {} to {}, by sequence (left padding)", least, largest);
}

std::string maps_text(const measure::MapsLayout& layout) {
  const std::string arrays = layout.arrays.size() == 1 ? "'" + formats::shown(layout.arrays[0]) + "'"
                                                       : fmt::format("'{}' .. '{}' (a layer each)",
                                                                     formats::shown(layout.arrays.front()),
                                                                     formats::shown(layout.arrays.back()));
  return fmt::format("{}, {}, axes {}: {} sequence(s), {} layer(s) x {} head(s), {} queries on {} keys",
                     arrays, to_string(layout.dtype), layout.axes, layout.sequences, layout.layers,
                     layout.heads, layout.queries, layout.keys);
}

double tolerance_of(const Measurement& measurement, const Tally& all) {
  const auto& given = measurement.definitions.row_tolerance;
  return given ? given->convert_to<double>() : measure::row_tolerance(all.precision, measurement.layout.keys);
}

std::string rows_text(const Measurement& measurement, const Tally& all) {
  if (all.queries == 0) return "all are fully masked (NaN or 0) and excluded";
  std::string text = fmt::format("sum to {:.6g} .. {:.6g}", all.least_row_sum, all.largest_row_sum);
  if (measurement.definitions.normalised) {
    text += fmt::format(" ({} values: tolerance {:.2g})", to_string(all.precision),
                        tolerance_of(measurement, all));
  } else {
    text += " (--normaliser none: no sum is demanded)";
  }
  text += fmt::format("; {} included", all.queries);
  if (all.nan_rows > 0) text += fmt::format(", {} of NaN excluded", all.nan_rows);
  if (all.zero_rows > 0) {
    text += fmt::format(", {} all zero {}", all.zero_rows,
                        measurement.definitions.normalised ? "excluded (fully masked)" : "(included)");
  }
  return text;
}

void add_notes(Result& result, const Tally& all) {
  const Measurement& measurement = result.measurement;
  const auto& windows = measurement.windows;
  const long length = windows[0].last - windows[0].first + 1;
  if (measurement.layout.queries == measurement.layout.keys && length <= 1000) {
    Rational uniform = 0;
    for (long i = 1; i <= length; ++i) uniform += Rational(1, i);
    uniform /= length;
    if (uniform > measurement.definitions.epsilon) {
      result.notes.push_back(fmt::format(
          "at T = {} uniform causal attention alone has alpha_1 = H_T/T = {:.4f} > epsilon: the sink "
          "rate does not tell a sink from no preference; use longer sequences",
          length, uniform.convert_to<double>()));
    }
  }
  if (all.near_epsilon > 0) {
    result.notes.push_back(fmt::format(
        "in {} map(s) alpha_1 is as close to epsilon as the stored numbers are rounded (0.2 is not 1/5 in "
        "binary): the comparison is exact for what is stored, whatever was meant",
        all.near_epsilon));
  }
  for (std::size_t b = 0; b < windows.size(); ++b) {
    const std::string first = token_at(result, b, windows[b].first);
    if (first.empty() || first != token_at(result, b, windows[b].first + 1)) continue;
    result.notes.push_back(fmt::format(
        "double BOS in sequence {}: keys {} and {} are both '{}', and may share the sink (a head's mean "
        "weight on the "
        "second is up to {:.4f}); tokenise once with add_special_tokens",
        b + 1, windows[b].first, windows[b].first + 1, formats::shown(first), all.largest_second_key));
    break;
  }
  const auto [key, count] = all.strongest();
  if (key > 1 && 2 * count > all.maps) {
    result.notes.push_back(
        fmt::format("key {} (from the sink key as 1) receives most in {} of {} maps: if the sink is there, "
                    "give --bos-column {}",
                    key, count, all.maps, windows[0].first + key - 1));
  }
}

std::string text_report(const MeasureFlags& flags, const Result& result, const Tally& all) {
  const Measurement& measurement = result.measurement;
  const auto& definitions = measurement.definitions;
  std::string text = fmt::format("{}\n  maps       {}\n", flags.maps, maps_text(measurement.layout));
  text += fmt::format("  sink key   {}: position 1 below; T = {}\n", sink_key_text(measurement),
                      measurement.windows[0].last - measurement.windows[0].first + 1);
  text += fmt::format("  rows       {}\n", rows_text(measurement, all));
  for (const std::string& note : result.notes) text += "  note       " + note + "\n";
  text += fmt::format("\nlayers {}..{}, all heads and sequences (exact sums, shown to 4 decimals)\n",
                      result.layers.first, result.layers.last);
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
                              worst_text(measurement, tally), strongest_text(result, tally));
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

// ---- JSON and CSV.

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

void fill_json(Json& fields, const MeasureFlags& flags, const Result& result, const Tally& all) {
  const Measurement& measurement = result.measurement;
  const auto& layout = measurement.layout;
  const auto& definitions = measurement.definitions;
  fields["file"] = {{"path", flags.maps}};
  fields["maps"] = {
      {"arrays", layout.arrays},       {"axes", layout.axes},     {"dtype", to_string(layout.dtype)},
      {"sequences", layout.sequences}, {"layers", layout.layers}, {"heads", layout.heads},
      {"queries", layout.queries},     {"keys", layout.keys},     {"bytes", layout.bytes}};
  fields["definitions"] = {{"normaliser", flags.normaliser},
                           {"epsilon", numeric::to_string(definitions.epsilon)},
                           {"tau", numeric::to_string(definitions.tau)},
                           {"leak_queries", json_of(definitions.queries)},
                           {"layers", json_of(result.layers)}};
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
  fields["notes"] = result.notes;
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
}

std::string csv_of(const Measurement& measurement) {
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

// ---- The page.

/// Cells of the first sequence's maps, made while the maps are read.
class MapDrawer {
 public:
  explicit MapDrawer(const measure::MapsLayout& layout)
      : layout_(layout),
        maps_(static_cast<std::size_t>(layout.layers) * static_cast<std::size_t>(layout.heads)) {
    const std::size_t text = std::min(page_bytes / 2, page_bytes_a_head * maps_.size());
    block_ = figures::block_within(layout.queries, layout.keys, maps_.size(), page_bytes - text);
  }

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
  const measure::MapsLayout& layout_;
  std::vector<figures::Heatmap> maps_;
  int block_ = 1;
};

figures::Page page_of(const MeasureFlags& flags, const Result& result, const Tally& all,
                      const std::vector<theory::Claim>& claims, MapDrawer& drawer) {
  const Measurement& measurement = result.measurement;
  const auto& layout = measurement.layout;
  figures::Page page;
  page.title = "Attention sinks in " + std::filesystem::path(flags.maps).filename().string();
  page.lines = {maps_text(layout), "sink key: " + sink_key_text(measurement),
                "rows " + rows_text(measurement, all)};
  for (const std::string& note : result.notes) page.lines.push_back("Note: " + note);
  figures::PageTable overall{
      fmt::format("Layers {}..{}, all heads and sequences", result.layers.first, result.layers.last),
      {"metric", "value", "definition and queries"},
      {}};
  for (const Metric metric : all_metrics) {
    overall.rows.push_back({std::string(measure::to_string(metric)), shown(metric, all),
                            definition_of(metric, measurement.definitions)});
  }
  page.tables.push_back(overall);
  if (!claims.empty()) {
    figures::PageTable table{"Claims", {"claim", "verdict", "because"}, {}};
    for (const auto& claim : claims) {
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
        worst_text(measurement, tally),  shown(tally.entropy.value()),       strongest_text(result, tally)};
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
  if (!result.tokens.empty()) page.tokens = result.tokens[0];
  return page;
}

int measure_verb(const MeasureFlags& flags) {
  const measure::Definitions definitions = definitions_of(flags);
  std::vector<measure::Threshold> thresholds;
  for (const std::string& claim : flags.claims)
    thresholds.push_back(measure::parse_threshold(claim, "--claim"));

  const formats::File file(flags.maps);
  measure::MapsOptions options;
  if (!flags.array.empty()) options.array = flags.array;
  if (!flags.axes.empty()) options.axes = flags.axes;
  const measure::MapsFile maps(file, options);
  const Range layers = layers_of(flags, maps.layout());
  Tokens tokens = tokens_of(flags, maps.layout());
  const measure::Windows windows = windows_of(flags, maps.layout());

  std::optional<MapDrawer> drawer;
  measure::Visitor draw;
  if (!flags.common.out.empty()) {
    drawer.emplace(maps.layout());
    draw = [&](const measure::MapIndex& index, const measure::MapRows& rows) { drawer->draw(index, rows); };
  }
  const auto start = std::chrono::steady_clock::now();
  Result result{.measurement = measure_maps(maps, windows, definitions, flags.common.thread_count(), draw),
                .layers = layers,
                .tokens = std::move(tokens),
                .notes = {}};
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double gigabytes = 1e-9 * static_cast<double>(maps.layout().bytes);
  if (!flags.common.quiet && gigabytes > 0.1) {
    fmt::print(stderr, "read {:.2f} GB in {:.2f} s: {:.2f} GB/s\n", gigabytes, seconds, gigabytes / seconds);
  }

  const Tally all = result.measurement.layers(layers);
  add_notes(result, all);
  Report report{.verb = "measure"};
  for (std::size_t i = 0; i < thresholds.size(); ++i) {
    report.claims.push_back(evaluate(thresholds[i], result.measurement));
    if (thresholds.size() > 1) report.claims.back().id = fmt::format("{}-{}", i + 1, report.claims.back().id);
  }
  fill_json(report.fields, flags, result, all);
  if (drawer) {
    write_file(flags.common.out, "measure.csv", csv_of(result.measurement));
    write_file(flags.common.out, "measure.html",
               to_html(page_of(flags, result, all, report.claims, *drawer)));
  }
  std::string text = text_report(flags, result, all);
  if (!report.claims.empty()) text += "\n" + to_text(report.claims);
  return deliver(report, text, flags.common);
}

}  // namespace

void add_measure(CLI::App& program, Run& run) {
  auto flags = std::make_shared<MeasureFlags>();
  CLI::App* verb = program.add_subcommand(
      "measure",
      "sink metrics of attention maps dumped from any model, by every published definition at once");
  verb->add_option("MAPS", flags->maps, ".npy, .npz or .safetensors file of attention weights")
      ->required()
      ->type_name("");
  verb->add_option("--array", flags->array, "the array of the file, where it has several")->type_name("NAME");
  verb->add_option("--axes", flags->axes,
                   "one letter an axis: b sequence, l layer, h head, q query, k key; needed for 4 or 5 axes")
      ->type_name("AXES");
  verb->add_option("--normaliser", flags->normaliser,
                   "softmax: rows must sum to 1; none: ReLU or sigmoid attention")
      ->check(CLI::IsMember({"softmax", "none"}))
      ->capture_default_str()
      ->type_name("KIND");
  verb->add_option("--epsilon", flags->epsilon, "Gu et al.'s threshold of alpha_1")
      ->capture_default_str()
      ->type_name("Q");
  verb->add_option("--tau", flags->tau, "a head is dormant if its mean A[i,1] exceeds this (our default)")
      ->capture_default_str()
      ->type_name("Q");
  verb->add_option("--layers", flags->layers, "layers of the overall numbers, from 1 (default: all)")
      ->type_name("A..B");
  verb->add_option("--queries", flags->queries, "queries that the leak includes, from 1; A.. is open")
      ->capture_default_str()
      ->type_name("A..B");
  auto* column =
      verb->add_option("--bos-column", flags->bos_column,
                       "the sink key: auto (after left padding), or its position for all sequences")
          ->type_name("K");
  verb->add_option(
          "--pad", flags->pad,
          "JSON: padding tokens before each sequence [3, 0], or their attention masks [[0, 1, 1], ...]")
      ->excludes(column)
      ->type_name("FILE");
  verb->add_option("--tokens", flags->tokens, "JSON: the tokens' texts, one list or one a sequence")
      ->type_name("FILE");
  verb->add_option("--row-tolerance", flags->row_tolerance,
                   "how far a row's sum may be from 1 (default: by precision)")
      ->type_name("Q");
  verb->add_option("--claim", flags->claims,
                   "a claim: METRIC <= Q or METRIC >= Q, maybe followed by: in layers A..B; repeat for more")
      ->type_name("CLAIM")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  flags->common.add_output(*verb);
  verb->add_option("--threads", flags->common.threads,
                   "worker threads; results do not depend on it (default: all cores)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  verb->footer(
      "Metrics of claims: sink-rate, sink-weight, second-half, dormant-rate, mean-leak, worst-leak, "
      "entropy.\n"
      "--out DIR writes measure.json, measure.csv and measure.html (a heatmap a head, in one file).\n"
      "src/measure/IMPORT.md shows how to dump maps from PyTorch, Hugging Face and TransformerLens.\n"
      "examples:\n"
      "  sinkproof measure maps.npy --axes lhqk --tokens tokens.json --out out\n"
      "  sinkproof measure maps.safetensors --axes blhqk --bos-column auto --layers 4..11\n"
      "  sinkproof measure maps.npy --claim 'sink-rate <= 1/4' --claim 'worst-leak <= 0.05 in layers 3..8'");
  verb->callback([flags, &run] { run = [flags] { return measure_verb(*flags); }; });
}

}  // namespace sinkproof::app
