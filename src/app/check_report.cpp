#include "app/check_report.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

namespace sinkproof::app {
namespace {

using numeric::Direction;

std::string where(int position, int trigger) {
  return fmt::format("i = {}, j = {}", position, trigger);
}

// --- JSON

Json bound_json(const Bound& bound, const task::Parameters& parameters, bool is_error) {
  Json json = to_json(bound.quantity(""));
  if (bound.witness) {
    json["trigger"] = bound.witness->instance.trigger;
    json["position"] = bound.witness->position;
    if (is_error) json["coordinate"] = coordinate_name(parameters, bound.witness->coordinate);
  }
  return json;
}

/// One end of a head's BOS weight over the domain: certified on one side, attained on the other.
Json extreme_json(const certify::StackExtreme& extreme) {
  const bool bounded = std::isfinite(extreme.lower) && std::isfinite(extreme.upper);
  Json json = bounded ? to_json(theory::Quantity{"", theory::Between{numeric::exact(extreme.lower),
                                                                     numeric::exact(extreme.upper)}})
                      : to_json(theory::Quantity{"", theory::Undecided{}});
  json["method"] = certify::to_string(extreme.method);
  if (!extreme.witness.value.is_undecided()) {
    json["trigger"] = extreme.witness.instance.trigger;
    json["position"] = extreme.witness.position;
  }
  return json;
}

Json stack_json(const WeightsChecked& checked) {
  Json heads = Json::array();
  for (const auto& head : checked.stack->heads) {
    heads.push_back({{"layer", head.layer},
                     {"head", head.head},
                     {"least_sink_weight", extreme_json(head.least_sink_weight)},
                     {"largest_sink_weight", extreme_json(head.largest_sink_weight)}});
  }
  return {{"note", certify::stack_theorem_note},
          {"complete", checked.stack->complete},
          {"loss_method", certify::to_string(checked.stack->loss.method)},
          {"heads", heads}};
}

/// A bound from above, as a decimal string; null where there is none.
Json upper_json(double bound) {
  return std::isfinite(bound) ? Json(numeric::decimal(numeric::exact(bound), Direction::up, 17))
                              : Json(nullptr);
}

/// By how much float32 execution can move the leak of head h, given what is certified of the real one.
double float32_leak(const WeightsChecked& checked, std::size_t h) {
  const double real =
      checked.certificate
          ? checked.certificate->leak.upper
          : (numeric::Interval(1) - numeric::Interval(checked.stack->heads[h].least_sink_weight.lower))
                .upper();
  return checked.float32->heads[h].leak(std::min(real, 1.0));
}

Json float32_json(const WeightsChecked& checked) {
  const certify::Float32Bounds& float32 = *checked.float32;
  Json heads = Json::array();
  for (std::size_t h = 0; h < float32.heads.size(); ++h) {
    Json entry{{"layer", float32.heads[h].layer},
               {"head", float32.heads[h].head},
               {"attention_weight", upper_json(float32.heads[h].attention_weight)}};
    if (checked.normalised) entry["leak"] = upper_json(float32_leak(checked, h));
    heads.push_back(entry);
  }
  Json json{{"output", upper_json(float32.output)}, {"heads", heads}};
  json["loss"] = checked.loss.certified && std::isfinite(float32.output)
                     ? Json(numeric::decimal(*checked.loss.certified + numeric::exact(float32.output),
                                             Direction::up, 17))
                     : Json(nullptr);
  return json;
}

Json heads_json(const WeightsChecked& checked) {
  Json heads = Json::array();
  for (const auto& head : checked.sampled.heads) {
    Json entry{{"layer", head.layer},
               {"head", head.head},
               {"least_sink_weight", to_json(head.least_sink_weight)},
               {"largest_sink_weight", to_json(head.largest_sink_weight)},
               {"largest_weight_off_bos", to_json(head.largest_weight_off_bos)}};
    if (checked.normalised) entry["leak"] = to_json(head.largest_off_bos);
    heads.push_back(entry);
  }
  return heads;
}

}  // namespace

Report check_report(const CheckFlags& flags, const WeightsChecked& checked) {
  const attention::Weights& weights = checked.weights;
  Report report{.verb = "check"};
  report.claims = checked.claims;
  report.fields["file"] = {{"path", flags.request.path}, {"sha256", checked.sha256}};
  report.fields["model"] = {
      {"attention", flags.request.attention},
      {"layers", weights.layers.size()},
      {"heads", weights.layers.front().heads.size()},
      {"length", checked.parameters.length()},
      {"content", checked.parameters.content()},
      {"dimension", checked.parameters.dimension()},
      {"residual", weights.residual},
      {"layout", weights.layout},
      {"scale",
       weights.scale.inverse_sqrt_head_dimension ? "sqrt" : numeric::to_string(weights.scale.factor)}};
  report.fields["seed"] = flags.common.seed;
  report.fields["effort"] = flags.effort;
  Json quantities{
      {"loss", bound_json(checked.loss, checked.parameters, true)},
      {checked.normalised ? "leak" : "weight_off_bos", bound_json(checked.leak, checked.parameters, false)}};
  if (checked.theorem) {
    quantities["theorem_1_leak"] = to_json(theory::quantity("", checked.theorem->leak_at_most));
    quantities["corollary_5_logit_gap"] = to_json(theory::quantity("", checked.theorem->logit_gap_needed));
    quantities["logit_gap"] = to_json(theory::quantity("", checked.theorem->logit_gap));
  }
  report.fields["quantities"] = quantities;
  if (checked.certificate) {
    report.fields["leak_classes"] = Json::array();
    for (const auto& leak_class : checked.certificate->leak_classes) {
      report.fields["leak_classes"].push_back(
          {{"side", leak_class.side == certify::Side::before ? "before" : "after"},
           {"position", leak_class.position},
           {"upper", numeric::decimal(numeric::exact(leak_class.upper), Direction::up, 17)}});
    }
    report.fields["seconds"] = Json::object();
    for (const auto& timing : checked.certificate->timings) {
      report.fields["seconds"][timing.part] = {{"wall", timing.wall}, {"cpu", timing.cpu}};
    }
  }
  if (checked.stack) report.fields["stack"] = stack_json(checked);
  if (checked.float32) report.fields["float32"] = float32_json(checked);
  report.fields["sampled"] = {{"instances", checked.sampled.instances}, {"heads", heads_json(checked)}};
  return report;
}

namespace {

// --- text

std::string bound_line(const std::string& name, const Bound& bound) {
  const std::string attained = numeric::decimal(bound.attained, Direction::down);
  const std::string certified =
      bound.certified ? numeric::decimal(*bound.certified, Direction::up) : "nothing";
  std::string line = fmt::format("  {:<34}{:<14}{:<14}", name, attained, certified);
  if (bound.certified && bound.attained > 0) {
    line += fmt::format("{:<10}", numeric::decimal(*bound.certified / bound.attained, Direction::up, 5));
  } else {
    line += fmt::format("{:<10}", "");
  }
  if (bound.witness) line += where(bound.witness->position, bound.witness->instance.trigger);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// The heads of a stack: certified and attained ends of their BOS weights.
std::string stack_text(const certify::StackCertificate& stack) {
  std::string text = fmt::format("\n  {:<12}{:<44}{}\n", "BOS weight", "least over all i >= 2, i != j",
                                 "largest over all i >= 2, i != j");
  text += fmt::format("  {:<6}{:<6}{:<14}{:<14}{:<16}{:<14}{:<14}{}\n", "layer", "head", "certified",
                      "attained", "at", "attained", "certified", "at");
  const auto end = [](double value, Direction direction) {
    return std::isfinite(value) ? numeric::decimal(numeric::exact(value), direction) : "nothing";
  };
  const auto at = [](const certify::StackExtreme& extreme) {
    return extreme.witness.value.is_undecided()
               ? std::string("-")
               : where(extreme.witness.position, extreme.witness.instance.trigger);
  };
  for (const auto& head : stack.heads) {
    const auto &least = head.least_sink_weight, &largest = head.largest_sink_weight;
    text += fmt::format("  {:<6}{:<6}{:<14}{:<14}{:<16}{:<14}{:<14}{}\n", head.layer, head.head,
                        end(least.lower, Direction::down), end(least.upper, Direction::up), at(least),
                        end(largest.lower, Direction::down), end(largest.upper, Direction::up), at(largest));
  }
  if (!stack.complete) text += "  the time or the memory ran out: looser than it could be, but certified\n";
  return text + "\n" + paragraph(std::string(certify::stack_theorem_note), "  ", "  ");
}

/// What is certified of the network as executed in float32.
std::string float32_text(const WeightsChecked& checked) {
  const auto line = [](const char* name, const Bound& real, double change, const char* what) {
    if (!real.certified) return std::string();
    if (!std::isfinite(change)) return fmt::format("  {:<34}{:<14}nothing\n", name, "");
    const auto shown = [](const numeric::Rational& bound) { return numeric::decimal(bound, Direction::up); };
    return fmt::format("  {:<34}{:<14}{:<14}{} within {}\n", name, "",
                       shown(*real.certified + numeric::exact(change)), what, shown(numeric::exact(change)));
  };
  std::string text;
  if (checked.normalised) {
    double change = 0;
    for (std::size_t h = 0; h < checked.float32->heads.size(); ++h)
      change = std::max(change, float32_leak(checked, h));
    text += line("leak, executed in float32", checked.leak, change, "leaks");
  }
  return text + line("Lambda, executed in float32", checked.loss, checked.float32->output, "outputs");
}

std::string sampled_heads_text(const WeightsChecked& checked) {
  std::string text =
      fmt::format("  {:<6}{:<6}{:<30}{:<30}{}\n", "layer", "head", "least BOS weight", "largest BOS weight",
                  checked.normalised ? "largest leak" : "largest weight off BOS");
  for (const auto& head : checked.sampled.heads) {
    const certify::Seen& last = checked.normalised ? head.largest_off_bos : head.largest_weight_off_bos;
    text += fmt::format("  {:<6}{:<6}{:<30}{:<30}{} at {}\n", head.layer, head.head,
                        numeric::to_string(head.least_sink_weight.value),
                        numeric::to_string(head.largest_sink_weight.value), numeric::to_string(last.value),
                        where(last.position, last.trigger));
  }
  return text;
}

}  // namespace

std::string check_text(const CheckFlags& flags, const WeightsChecked& checked) {
  const attention::Weights& weights = checked.weights;
  std::string text = fmt::format("{}\n  sha256     {}\n", flags.request.path, checked.sha256);
  text += fmt::format(
      "  model      {} attention, {} layer(s) x {} head(s), n = {} (d = {}), {}, layout {}, scores {}\n\n",
      flags.request.attention, weights.layers.size(), weights.layers.front().heads.size(), weights.dimension,
      weights.dimension - 3, weights.residual ? "residual" : "no residual", weights.layout,
      weights.scale.inverse_sqrt_head_dimension ? std::string("/ sqrt(d_head)")
      : weights.scale.factor == 1               ? std::string("unscaled")
                                                : "times " + numeric::to_string(weights.scale.factor));

  const std::string domain = flags.replay.empty()
                                 ? fmt::format("over every instance, L = {}", checked.parameters.length())
                                 : "on the instance in " + flags.replay;
  text +=
      fmt::format("  {:<34}{:<14}{:<14}{:<10}{}\n", domain, "attained", "certified", "ratio", "witness at");
  text += bound_line(checked.normalised ? "leak 1 - a_i1, i >= 2, i != j" : "weight a_ik, k >= 2, i != j",
                     checked.leak);
  text += bound_line("worst-case loss Lambda", checked.loss);
  if (checked.theorem) {
    text += fmt::format("  {:<34}{:<14}{}\n", "leak, by Theorem 1 from Lambda", "",
                        numeric::decimal(checked.theorem->leak_at_most, Direction::up));
    text += fmt::format("  {:<34}{}, and Corollary 5 asks for {}\n", "logit gap A_NB - A_NN",
                        numeric::to_string(checked.theorem->logit_gap),
                        numeric::decimal(lower_end(checked.theorem->logit_gap_needed), Direction::down));
  }

  if (checked.float32) text += float32_text(checked);
  if (checked.stack) text += stack_text(*checked.stack);

  text += fmt::format(
      "\n  {} instance(s) evaluated, non-trigger positions i >= 2 (sampled{})\n", checked.sampled.instances,
      flags.replay.empty() ? fmt::format(": {} random, {} vertices, seed {}", flags.request.samples,
                                         flags.request.vertices, flags.common.seed)
                           : "");
  if (!checked.stack) text += sampled_heads_text(checked);
  if (!checked.claims.empty()) text += "\n" + to_text(checked.claims);
  return text;
}

}  // namespace sinkproof::app
