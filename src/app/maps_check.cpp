#include "app/maps_check.hpp"

#include <chrono>

#include <fmt/core.h>

#include "app/parameters.hpp"
#include "errors.hpp"
#include "formats/json_lists.hpp"
#include "formats/sha256.hpp"
#include "measure/threshold.hpp"

namespace sinkproof::app {
namespace {

using measure::Range;
using numeric::Rational;

Range query_range(const Asked& queries) {
  const std::string& text = queries.text;
  if (text.ends_with("..")) {
    return {measure::parse_range(text.substr(0, text.size() - 2), queries.source).first};
  }
  return measure::parse_range(text, queries.source);
}

Rational exact(const Asked& number) {
  return exact_flag(number.source, number.text);
}

measure::Definitions definitions_of(const MapsRequest& request) {
  measure::Definitions definitions{.epsilon = exact(request.epsilon),
                                   .tau = exact(request.tau),
                                   .normalised = request.normaliser == "softmax",
                                   .queries = query_range(request.queries)};
  if (!request.row_tolerance.text.empty()) {
    definitions.row_tolerance = exact(request.row_tolerance);
  }
  return definitions;
}

measure::Windows windows_of(const MapsRequest& request, const measure::MapsLayout& layout) {
  if (!request.pad.empty()) return measure::read_padding(formats::File(request.pad), layout);
  if (request.bos_column.text.empty()) return {};
  if (request.bos_column.text == "auto") return {.kind = measure::Windows::Kind::automatic};
  long key = 0;
  try {
    const Range range = measure::parse_range(request.bos_column.text, request.bos_column.source);
    if (range.first == range.last) key = range.first;
  } catch (const InputError&) {
  }
  if (key < 1 || key > layout.keys) {
    throw InputError(fmt::format("{} {}: write auto or a key from 1 to {}", request.bos_column.source,
                                 request.bos_column.text, layout.keys));
  }
  return {.kind = measure::Windows::Kind::from_key, .key = static_cast<int>(key)};
}

Range layers_of(const MapsRequest& request, const measure::MapsLayout& layout) {
  if (request.layers.text.empty()) return {1, layout.layers};
  const Range layers = measure::parse_range(request.layers.text, request.layers.source);
  if (layers.last > layout.layers) {
    throw InputError(fmt::format("{} {}: the maps have {} layer(s)", request.layers.source,
                                 request.layers.text, layout.layers));
  }
  return layers;
}

Tokens tokens_of(const MapsRequest& request, const measure::MapsLayout& layout) {
  if (request.tokens.empty()) return {};
  Tokens tokens = formats::read_token_lists(formats::File(request.tokens));
  const auto sequences = static_cast<std::size_t>(layout.sequences);
  if (tokens.size() != 1 && tokens.size() != sequences) {
    throw InputError(
        fmt::format("{}: has {} lists of tokens for {} sequence(s): write one for all or one for each",
                    request.tokens, tokens.size(), sequences));
  }
  for (const auto& list : tokens) {
    if (list.size() != static_cast<std::size_t>(layout.keys)) {
      throw InputError(fmt::format("{}: has a list of {} tokens for {} keys: write one a key", request.tokens,
                                   list.size(), layout.keys));
    }
  }
  return tokens;
}

}  // namespace

MapsChecked check_maps(const MapsRequest& request, const Watch& watch) {
  const measure::Definitions definitions = definitions_of(request);
  std::vector<measure::Threshold> thresholds;
  for (const Asked& claim : request.claims)
    thresholds.push_back(measure::parse_threshold(claim.text, claim.source));

  const formats::File file(request.path);
  if (request.sha256) formats::sha256(file, request.sha256);
  measure::MapsOptions options;
  if (!request.array.empty()) options.array = request.array;
  if (!request.axes.empty()) options.axes = request.axes;
  const measure::MapsFile maps(file, options);
  const Range layers = layers_of(request, maps.layout());
  Tokens tokens = tokens_of(request, maps.layout());
  const measure::Windows windows = windows_of(request, maps.layout());

  const measure::Visitor visitor = watch ? watch(maps.layout()) : measure::Visitor();
  const auto start = std::chrono::steady_clock::now();
  MapsChecked checked{.measurement = measure_maps(maps, windows, definitions, request.threads, visitor),
                      .layers = layers,
                      .all = {},
                      .tokens = std::move(tokens),
                      .claims = {}};
  checked.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  checked.all = checked.measurement.layers(layers);
  for (std::size_t i = 0; i < thresholds.size(); ++i) {
    checked.claims.push_back(evaluate(thresholds[i], checked.measurement));
    if (thresholds.size() > 1)
      checked.claims.back().id = fmt::format("{}-{}", i + 1, checked.claims.back().id);
  }
  return checked;
}

}  // namespace sinkproof::app
