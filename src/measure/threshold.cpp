#include "measure/threshold.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "errors.hpp"
#include "formats/file.hpp"

namespace sinkproof::measure {

using numeric::Verdict;

namespace {

constexpr std::array<std::pair<Metric, std::string_view>, 7> names{{{Metric::sink_rate, "sink-rate"},
                                                                    {Metric::sink_weight, "sink-weight"},
                                                                    {Metric::second_half, "second-half"},
                                                                    {Metric::dormant_rate, "dormant-rate"},
                                                                    {Metric::mean_leak, "mean-leak"},
                                                                    {Metric::worst_leak, "worst-leak"},
                                                                    {Metric::entropy, "entropy"}}};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string to_string(const Range& layers) {
  return layers.first == layers.last ? fmt::format("layer {}", layers.first)
                                     : fmt::format("layers {}..{}", layers.first, layers.last);
}

}  // namespace

std::string_view to_string(Metric metric) {
  for (const auto& [known, name] : names) {
    if (known == metric) return name;
  }
  return "";
}

std::optional<Metric> parse_metric(std::string_view name) {
  for (const auto& [metric, known] : names) {
    if (known == name) return metric;
  }
  return std::nullopt;
}

Range parse_range(std::string_view text, const std::string& source) {
  const auto fail = [&] {
    throw InputError(source + ": '" + formats::shown(text) +
                     "' is no range: write 3..8 or 5, counted from 1");
  };
  const auto number = [&](std::string_view digits) {
    long value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 1 || value > 1 << 30) fail();
    return value;
  };
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) {
    const long only = number(text);
    return {only, only};
  }
  const Range range{number(text.substr(0, dots)), number(text.substr(dots + 2))};
  if (range.last < range.first) fail();
  return range;
}

Threshold parse_threshold(std::string_view text, const std::string& source) {
  const auto fail = [&](const std::string& what) {
    throw InputError(source + ": '" + formats::shown(text) + "': " + what);
  };
  Threshold threshold;
  const auto relation = std::min(text.find("<="), text.find(">="));
  if (relation == std::string_view::npos) fail("write METRIC <= NUMBER or METRIC >= NUMBER");
  threshold.at_most = text[relation] == '<';
  const auto metric = parse_metric(trimmed(text.substr(0, relation)));
  if (!metric) {
    std::string known;
    for (const auto& name : names) known += (known.empty() ? "" : ", ") + std::string(name.second);
    fail("the metric is none of " + known);
  }
  threshold.metric = metric.value();
  std::string_view rest = text.substr(relation + 2);
  for (const std::string_view word : {" in layers ", " in layer "}) {
    const auto place = rest.find(word);
    if (place == std::string_view::npos) continue;
    threshold.layers = parse_range(trimmed(rest.substr(place + word.size())), source);
    rest = rest.substr(0, place);
    break;
  }
  try {
    threshold.limit = numeric::parse_rational(trimmed(rest));
  } catch (const InputError& error) {
    fail(error.what());
  }
  threshold.id = std::string(to_string(*metric)) + (threshold.at_most ? "-at-most" : "-at-least");
  return threshold;
}

std::optional<Value> value_of(Metric metric, const Tally& tally) {
  const auto exact = [](const std::optional<Rational>& value) {
    return value ? std::optional(exactly(*value)) : std::nullopt;
  };
  switch (metric) {
    case Metric::sink_rate:
      return exact(tally.sink_rate());
    case Metric::sink_weight:
      return tally.alpha.value();
    case Metric::second_half:
      return tally.second_half.value();
    case Metric::dormant_rate:
      return exact(tally.dormant_rate());
    case Metric::mean_leak:
      return tally.leak.value();
    case Metric::worst_leak:
      return tally.worst_leak;
    case Metric::entropy:
      return tally.entropy.value();
  }
  return std::nullopt;
}

std::string definition_of(Metric metric, const Definitions& definitions) {
  const std::string weight = definitions.normalised ? "A[i,1]" : "A[i,1] / (row sum + 1e-8)";
  const std::string queries =
      definitions.queries.last >= std::numeric_limits<int>::max()
          ? fmt::format("queries i >= {}", definitions.queries.first)
          : fmt::format("queries i = {}..{}", definitions.queries.first, definitions.queries.last);
  switch (metric) {
    case Metric::sink_rate:
      return fmt::format("Gu et al.: share of maps with alpha_1 > {} (strict), alpha_1 as in sink-weight",
                         numeric::to_string(definitions.epsilon));
    case Metric::sink_weight:
      return fmt::format("Gu et al.: mean of alpha_1, the mean of {} over all queries, the first included",
                         weight);
    case Metric::second_half:
      return "Ran-Milo et al., Table 1: mean of A[i,1] over queries i > T/2; no threshold";
    case Metric::dormant_rate:
      return fmt::format(
          "Sandoval-Segura et al.: share of maps whose mean of A[i,1] over all queries exceeds tau = {} "
          "(strict)",
          numeric::to_string(definitions.tau));
    case Metric::mean_leak:
      return "sinkproof: mean of the leak 1 - A[i,1] over " + queries;
    case Metric::worst_leak:
      return "sinkproof: largest leak 1 - A[i,1] over " + queries;
    case Metric::entropy:
      return "mean over all queries of -sum_k A[i,k] ln A[i,k], in nats";
  }
  return "";
}

theory::Claim evaluate(const Threshold& threshold, const Measurement& measurement) {
  Range layers = threshold.layers;
  const int there = measurement.layout.layers;
  if (layers.last == Range{}.last) layers.last = there;
  if (layers.first < 1 || layers.first > layers.last || layers.last > there) {
    throw InputError(fmt::format("{}: {} of {}: the maps have {} layer(s)", threshold.id, to_string(layers),
                                 to_string(threshold.metric), there));
  }
  theory::Claim claim;
  claim.id = threshold.id;
  claim.title = to_string(threshold.metric);
  claim.statement =
      fmt::format("{} is at {} {} in {}", to_string(threshold.metric), threshold.at_most ? "most" : "least",
                  numeric::to_string(threshold.limit), to_string(layers));
  claim.hypothesis = definition_of(threshold.metric, measurement.definitions) + "; these maps only";
  claim.quantities = {theory::quantity("limit", threshold.limit)};
  const auto value = value_of(threshold.metric, measurement.layers(layers));
  if (!value) {
    claim.reason = measurement.definitions.normalised
                       ? "no query is left to include, so the metric has no value"
                       : "no query is left to include, or the metric needs rows that sum to 1";
    claim.quantities.push_back({"value", theory::Undecided{}});
    return claim;
  }
  if (value->exact()) {
    claim.quantities.push_back(theory::quantity("value", value->lower));
  } else {
    claim.quantities.push_back({"value", theory::Between{value->lower, value->upper}});
  }
  const bool holds = threshold.at_most ? value->upper <= threshold.limit : value->lower >= threshold.limit;
  const bool fails = threshold.at_most ? value->lower > threshold.limit : value->upper < threshold.limit;
  claim.verdict = holds ? Verdict::proved : fails ? Verdict::disproved : Verdict::undecided;
  if (fails) claim.reason = fmt::format("the value is {} the limit", threshold.at_most ? "above" : "below");
  if (!holds && !fails) claim.reason = "the enclosure of the value reaches over the limit";
  return claim;
}

}  // namespace sinkproof::measure
