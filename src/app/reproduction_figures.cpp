#include "app/reproduction_figures.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>

#include "figures/chart.hpp"
#include "figures/colour_map.hpp"
#include "figures/map_figure.hpp"
#include "figures/numbers.hpp"
#include "theory/proposition1s.hpp"
#include "theory/proposition4.hpp"
#include "theory/theorem1.hpp"

namespace sinkproof::app {
namespace {

using attention::AttentionStatistics;
using figures::Curve;
using figures::Map;
using figures::MapFigure;
using figures::MapPanel;
using figures::Point;
using figures::Rgb;
using figures::Role;
using figures::Scale;
using numeric::Rational;

enum class Statistic { mean, deviation };

Map map_of(const numeric::Matrix<double>& weights) {
  return {.length = static_cast<int>(weights.rows()),
          .weights = {weights.data(), weights.data() + weights.size()}};
}

Map map_of(const AttentionStatistics& head, Statistic statistic) {
  return map_of(statistic == Statistic::mean ? head.mean : head.deviation);
}

/// Means are shown from 0 to 1; deviations from 0 to a round number above all of the model's.
Scale scale_of(const ModelShown& model, Statistic statistic) {
  if (statistic == Statistic::mean) return {.largest = 1, .label = "mean attention weight"};
  double largest = 0;
  for (const auto& layer : model.maps) {
    for (const auto& head : layer) largest = std::max(largest, largest_weight(map_of(head, statistic)));
  }
  return {.largest = figures::round_above(largest), .label = "standard deviation"};
}

std::string note() {
  return fmt::format("{} examples with the trigger at position {} (pointed at)", shown_examples,
                     shown_trigger);
}

const char* word_of(Statistic statistic) {
  return statistic == Statistic::mean ? "mean attention" : "standard deviation";
}

MapPanel panel_of(const AttentionStatistics& head, Statistic statistic, const Scale& scale,
                  std::string title) {
  return {
      .title = std::move(title), .map = map_of(head, statistic), .trigger = shown_trigger, .scale = scale};
}

std::vector<const ModelShown*> models_of(const Reproduction& reproduction, const std::string& preset) {
  std::vector<const ModelShown*> models;
  for (const ModelShown& model : reproduction.models) {
    if (model.preset == preset) models.push_back(&model);
  }
  return models;
}

/// Single heads: a row each, mean and deviation side by side.
MapFigure heads_figure(const std::vector<const ModelShown*>& models) {
  MapFigure figure{
      .title = "Attention of a single head: softmax sinks, ReLU does not", .note = note(), .panels = {}};
  for (const ModelShown* model : models) {
    const std::string kind = model->softmax() ? "softmax" : "ReLU";
    figure.panels.push_back(
        {panel_of(model->maps[0][0], Statistic::mean, scale_of(*model, Statistic::mean), kind + ": mean"),
         panel_of(model->maps[0][0], Statistic::deviation, scale_of(*model, Statistic::deviation),
                  kind + ": standard deviation")});
  }
  return figure;
}

/// A stack: a row of panels for each layer.
MapFigure stack_figure(const ModelShown& model, Statistic statistic) {
  MapFigure figure{.title = fmt::format("{}: {}", title_of(model.settings), word_of(statistic)),
                   .note = note(),
                   .panels = {},
                   .shared_scale = true,
                   .side = model.settings.heads > 2 ? 96.0 : 140.0};
  const Scale scale = scale_of(model, statistic);
  for (std::size_t l = 0; l < model.maps.size(); ++l) {
    auto& row = figure.panels.emplace_back();
    for (std::size_t h = 0; h < model.maps[l].size(); ++h) {
      row.push_back(
          panel_of(model.maps[l][h], statistic, scale, fmt::format("layer {}, head {}", l + 1, h + 1)));
    }
  }
  return figure;
}

// --- the plane

Point as_point(const Rational& x, const Rational& y) {
  return {x.convert_to<double>(), y.convert_to<double>()};
}

/// `count` values from low to high, evenly spaced on a logarithmic axis.
std::vector<double> spread(double low, double high, int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(low * std::pow(high / low, i / (count - 1.0)));
  return values;
}

std::size_t number_of(const Reproduction& reproduction, const ModelShown& model) {
  return static_cast<std::size_t>(&model - reproduction.models.data());
}

figures::Spot spot_of(std::string label, const Bound& loss, const Bound& leak, const figures::Paint& paint) {
  return {.label = std::move(label),
          .low = as_point(loss.attained, leak.attained),
          .high = as_point(*loss.certified, *leak.certified),
          .paint = paint};
}

bool drawable(const Bound& bound) {
  return bound.certified && bound.attained > 0;
}

}  // namespace

std::string figure_name(const std::string& preset) {
  return preset == "fig3" ? "figure 3" : "figures " + preset.substr(3);
}

figures::Drawing loss_leak_plane(const Reproduction& reproduction) {
  const task::Parameters& parameters = reproduction.models.front().checked.parameters;
  std::vector<double> losses{1e-2, 1}, leaks{1e-3, 1};
  std::vector<Curve> paths;
  std::vector<figures::Spot> spots;
  for (const ModelShown& model : reproduction.models) {
    if (!model.softmax()) continue;
    const Rgb colour = figures::line_colour(number_of(reproduction, model));
    if (model.training) {
      Curve path{.label = model.single() ? "training: softmax, one head"
                                         : fmt::format("training: softmax, {} x {} (not covered)",
                                                       model.settings.layers, model.settings.heads),
                 .points = {},
                 .paint = colour,
                 .dash = model.single() ? std::vector<double>{} : std::vector<double>{4, 2},
                 .width = model.single() ? 1.6 : 1.2,
                 .ends_marked = true};
      for (const train::LogRecord& record : model.training->log) {
        path.points.push_back({record.linf, record.leak_max});
        losses.push_back(record.linf);
        leaks.push_back(record.leak_max);
      }
      paths.push_back(std::move(path));
      for (const Waypoint& point : model.training->way) {
        if (!drawable(point.loss) || !drawable(point.leak)) continue;
        spots.push_back(spot_of("certified: one head, on its way", point.loss, point.leak, Role::quiet));
      }
    }
    if (model.single() && drawable(model.checked.loss) && drawable(model.checked.leak)) {
      spots.push_back(
          spot_of("certified: the trained head", model.checked.loss, model.checked.leak, Role::ink));
    }
  }
  for (const figures::Spot& spot : spots) {
    losses.insert(losses.end(), {spot.low.x, spot.high.x});
    leaks.insert(leaks.end(), {spot.low.y, spot.high.y});
  }
  figures::Chart chart{
      .x = figures::axis_for("largest error: worst-case loss \xce\x9b, or of one batch (training)", losses),
      .y = figures::axis_for("largest leak off trigger", leaks)};

  const double limit = Rational(theory::kappa(parameters) / 2).convert_to<double>();
  Curve theorem{.label = "Theorem 1: leak \xe2\x89\xa4 \xce\xb7/(\xce\xba \xe2\x88\x92 \xce\xb7)",
                .points = {},
                .paint = Role::ink};
  for (const double eta : spread(chart.x.low, limit * (1 - 1e-9), 120)) {
    theorem.points.push_back(
        as_point(numeric::exact(eta), theory::leak_bound(parameters, numeric::exact(eta))));
  }
  figures::Region forbidden{
      .label = "impossible for one head, by Theorem 1", .corners = theorem.points, .paint = Rgb{213, 94, 0}};
  forbidden.corners.push_back({limit, chart.y.high});
  forbidden.corners.push_back({chart.x.low, chart.y.high});
  Curve sharp{.label = "Proposition 1s: attained", .points = {}, .paint = Role::ink, .dash = {5, 2}};
  for (const double eta : spread(chart.x.low, 0.5 * (1 - 1e-9), 120)) {
    sharp.points.push_back(as_point(numeric::exact(eta), theory::sharp_leak(numeric::exact(eta))));
  }
  Curve softmax{.label = "Proposition 4: softmax, any q", .points = {}, .paint = Role::ink, .dash = {1, 2}};
  for (const double q : spread(1e-3, 1e9, 160)) {
    const Rational exact_q = numeric::exact(q);
    softmax.points.push_back(as_point(theory::softmax_loss(parameters, exact_q),
                                      1 - theory::least_sink_weight(parameters, exact_q)));
  }
  chart.regions = {forbidden};
  chart.curves = {theorem, sharp, softmax};
  chart.curves.insert(chart.curves.end(), paths.begin(), paths.end());
  chart.spots = spots;
  return figures::draw(figures::ChartFigure{
      .title = "Loss and leak: small loss forces a sink",
      .notes =
          {"Curves of the theory are for the worst-case loss over all instances. A training path shows what "
           "a "
           "batch and a probe set saw (sampled):",
           "its loss is below the worst case. Theorem 1 speaks of one head without residual; stacks are not "
           "covered (their leak: the worst head's)."},
      .charts = {chart},
      .width = 400,
      .height = 330});
}

figures::Drawing training_curves(const Reproduction& reproduction) {
  std::vector<double> steps, losses, errors, leaks;
  std::vector<Curve> of_loss, of_error, of_leak;
  for (const ModelShown& model : reproduction.models) {
    if (!model.training) continue;
    Curve curve{.label = title_of(model.settings),
                .points = {},
                .paint = figures::line_colour(number_of(reproduction, model)),
                .dash = model.softmax() ? std::vector<double>{} : std::vector<double>{4, 2}};
    Curve loss = curve, error = curve, leak = curve;
    for (const train::LogRecord& record : model.training->log) {
      const auto step = static_cast<double>(record.step);
      steps.push_back(step);
      losses.push_back(record.loss);
      errors.push_back(record.linf);
      leaks.push_back(record.leak_max);
      loss.points.push_back({step, record.loss});
      error.points.push_back({step, record.linf});
      leak.points.push_back({step, record.leak_max});
    }
    of_loss.push_back(loss);
    of_error.push_back(error);
    of_leak.push_back(leak);
  }
  const figures::Axis step = figures::axis_for("step", steps);
  return figures::draw(figures::ChartFigure{
      .title = "Training",
      .notes =
          {"Loss and largest error of each step's batch; the largest leak off trigger on a fixed probe set,",
           "over all heads (ReLU: weight off BOS). What is exactly 0 is not drawn."},
      .charts = {{.x = step, .y = figures::axis_for("mean squared error", losses), .curves = of_loss},
                 {.x = step, .y = figures::axis_for("largest error", errors), .curves = of_error},
                 {.x = step, .y = figures::axis_for("largest leak", leaks), .curves = of_leak}},
      .height = 140});
}

std::vector<NamedDrawing> figures_of(const Reproduction& reproduction) {
  std::vector<NamedDrawing> drawings;
  for (const train::Preset& preset : train::presets()) {
    const auto models = models_of(reproduction, std::string(preset.name));
    if (models.empty()) continue;
    const std::string name =
        "figure" + std::string(preset.name == "fig3" ? "" : "s") + std::string(preset.name.substr(3));
    if (models.front()->single()) {
      drawings.push_back({name, draw(heads_figure(models))});
      continue;
    }
    for (const ModelShown* model : models) {
      const std::string of_model = name + (model->softmax() ? "_softmax" : "_relu");
      drawings.push_back({of_model + "_mean", draw(stack_figure(*model, Statistic::mean))});
      drawings.push_back({of_model + "_deviation", draw(stack_figure(*model, Statistic::deviation))});
    }
  }
  if (std::any_of(reproduction.models.begin(), reproduction.models.end(),
                  [](const ModelShown& model) { return model.training.has_value(); })) {
    drawings.push_back({"training", training_curves(reproduction)});
  }
  drawings.push_back({"loss-leak", loss_leak_plane(reproduction)});
  return drawings;
}

// --- the page

namespace {

using figures::PageTable;
using figures::ReportFigure;
using figures::ReportPage;
using figures::ReportPanel;
using figures::ReportSection;

std::string down(const Rational& value) {
  return numeric::decimal(value, numeric::Direction::down, 4);
}
std::string up(const Rational& value) {
  return numeric::decimal(value, numeric::Direction::up, 4);
}

/// "[0.01912, 0.01927]", "at least 0.2634".
std::string shown(const Bound& bound) {
  return bound.certified ? "in [" + down(bound.attained) + ", " + up(*bound.certified) + "]"
                         : "at least " + down(bound.attained);
}

std::string percent(double part) {
  return fmt::format("{:.4g} %", 100 * part);
}

/// What the paper's own code needed in the runs behind data/weights.
std::string steps_of_the_paper(const train::Settings& settings) {
  if (settings.name() == "softmax_1h1d") return "960";
  if (settings.name() == "relu_1h1d") return "687";
  if (settings.name() == "softmax_2h2d") return "15,070";
  if (settings.name() == "relu_2h2d") return "13,110";
  if (settings.name() == "softmax_4h4d") return "9,000, cut off there with an error of about 0.02";
  return "not at hand";
}

std::string verdict_of(const std::vector<theory::Claim>& claims, const ModelShown& model,
                       const std::string& kind) {
  for (const theory::Claim& claim : claims) {
    if (claim.title == title_of(model.settings) && claim.id.ends_with(kind))
      return std::string(to_string(claim.verdict));
  }
  return "undecided";
}

const HeadShown* extreme(const ModelShown& model, bool least) {
  const auto by_mean = [](const HeadShown& a, const HeadShown& b) { return a.sink_mean < b.sink_mean; };
  const auto found = least ? std::min_element(model.heads.begin(), model.heads.end(), by_mean)
                           : std::max_element(model.heads.begin(), model.heads.end(), by_mean);
  return &*found;
}

std::string named(const HeadShown& head) {
  return fmt::format("layer {}, head {}", head.layer, head.head);
}

/// The rows "paper -> ours" of one model.
std::vector<std::vector<std::string>> findings_of(const ModelShown& model,
                                                  const std::vector<theory::Claim>& claims) {
  const std::string figure = figure_name(model.preset);
  std::vector<std::vector<std::string>> rows;
  const auto& checked = model.checked;
  if (model.single() && model.softmax()) {
    rows.push_back(
        {figure, "The softmax head rests on BOS at every position except the trigger.",
         fmt::format(
             "Every non-trigger position i >= 2 sinks: its leak 1 - a_i1 is at most {} on every instance "
             "(certified), and {} is attained. On {} examples the mean BOS weight is {:.6f}; at the trigger "
             "it "
             "is {:.2g}.",
             checked.leak.certified ? up(*checked.leak.certified) : "(not certified)",
             down(checked.leak.attained), shown_examples, model.heads[0].sink_mean,
             model.heads[0].at_trigger),
         verdict_of(claims, model, "sink-at-least") + ": all sink weights are at least 99/100"});
  } else if (model.single()) {
    const std::string sink =
        model.relu_sink_at_most ? up(numeric::exact(*model.relu_sink_at_most)) : "(not certified)";
    rows.push_back(
        {figure, "The ReLU head does not attend off the trigger, to BOS or anything else.",
         fmt::format(
             "At non-trigger positions i >= 2, on every instance, a weight off BOS is at most {} and a "
             "weight on BOS at most {} (certified).",
             checked.leak.certified ? up(*checked.leak.certified) : "(not certified)", sink),
         verdict_of(claims, model, "off-trigger-at-most") + ": all are at most 1/100"});
  } else if (model.softmax()) {
    const HeadShown *least = extreme(model, true), *most = extreme(model, false);
    rows.push_back({figure, "Softmax stacks with residual sink off the trigger, but not every head needs to.",
                    fmt::format("{} of {} heads sink (BOS weight above 1/2 at most non-trigger positions). "
                                "Mean BOS weight off the "
                                "trigger: from {:.3f} ({}) to {:.3f} ({}).",
                                model.sinking_heads(), model.heads.size(), least->sink_mean, named(*least),
                                most->sink_mean, named(*most)),
                    verdict_of(claims, model, "not-all-heads-sink") +
                        ": some head does not sink at some position. The rest is "
                        "evidence: no theorem covers "
                        "stacks with residual or several heads"});
  } else {
    const HeadShown* most = extreme(model, false);
    rows.push_back(
        {figure, "ReLU stacks do not attend off the trigger.",
         fmt::format(
             "Mean BOS weight off the trigger: at most {:.3g} ({}). The largest single weight off BOS "
             "there is {}.",
             most->sink_mean, named(*most), shown(checked.leak)),
         "evidence: nothing is certified of stacks"});
  }
  std::string steps = "Weights were read, not trained";
  if (model.training) {
    const Training& training = *model.training;
    const double linf = training.log.empty() ? 0 : training.log.back().linf;
    steps = fmt::format(
        "{} after {} steps, with a largest error of {:.2g} in the last batch; the paper's code, as run "
        "for data/weights: {}",
        training.reason == train::StopReason::stop_error ? "Stopped by the rule" : "Ended without it",
        training.steps, linf, steps_of_the_paper(model.settings));
  }
  rows.push_back(
      {figure,
       fmt::format("{}: trained until one batch's largest error is below 1/200.", title_of(model.settings)),
       steps + fmt::format(". The worst case over all instances, Lambda, is {}.", shown(checked.loss)),
       verdict_of(claims, model, "loss-at-most") + ": Lambda is at most 1/200"});
  return rows;
}

PageTable heads_table(const ModelShown& model) {
  PageTable table{title_of(model.settings) + ": weight on BOS, head by head",
                  {"layer", "head", "mean, off trigger", "above 1/2, off trigger", "least seen",
                   "largest seen", "mean, at the trigger"},
                  {}};
  const auto& bounds = model.checked.sampled.heads;
  for (std::size_t i = 0; i < model.heads.size(); ++i) {
    const HeadShown& head = model.heads[i];
    const auto end = [](const numeric::Interval& value, bool lower) {
      if (value.is_undecided()) return std::string("undecided");
      return numeric::decimal(numeric::exact(lower ? value.lower() : value.upper()),
                              lower ? numeric::Direction::down : numeric::Direction::up, 6);
    };
    table.rows.push_back({std::to_string(head.layer), std::to_string(head.head),
                          fmt::format("{:.4g}", head.sink_mean), percent(head.sink_rate),
                          i < bounds.size() ? end(bounds[i].least_sink_weight.value, true) : "",
                          i < bounds.size() ? end(bounds[i].largest_sink_weight.value, false) : "",
                          fmt::format("{:.4g}", head.at_trigger)});
  }
  return table;
}

ReportPanel report_panel(ReportPage& report, MapPanel panel, int layer, int head) {
  panel.number = static_cast<int>(report.maps.size());
  report.maps.push_back(panel.map);
  figures::Drawing drawing = draw(MapFigure{.title = "", .note = "", .panels = {{panel}}, .side = 116});
  return {.layer = layer, .head = head, .drawing = std::move(drawing)};
}

std::vector<ReportPanel> report_panels(ReportPage& report, const MapFigure& figure, bool stack) {
  std::vector<ReportPanel> panels;
  for (std::size_t r = 0; r < figure.panels.size(); ++r) {
    for (std::size_t c = 0; c < figure.panels[r].size(); ++c) {
      panels.push_back(report_panel(report, figure.panels[r][c], stack ? static_cast<int>(r) + 1 : 0,
                                    stack ? static_cast<int>(c) + 1 : 0));
    }
  }
  return panels;
}

PageTable claims_table(const std::vector<theory::Claim>& claims) {
  PageTable table{"Verdicts", {"claim", "verdict", "says", "because"}, {}};
  for (const theory::Claim& claim : claims) {
    table.rows.push_back({claim.id, std::string(to_string(claim.verdict)), claim.statement, claim.reason});
  }
  return table;
}

PageTable models_table(const Reproduction& reproduction) {
  PageTable table{"Models", {"model", "trained", "ended because", "seconds", "weights", "SHA-256"}, {}};
  for (const ModelShown& model : reproduction.models) {
    table.rows.push_back({title_of(model.settings),
                          model.training ? fmt::format("{} steps", model.training->steps) : "no: read",
                          model.training ? std::string(train::to_string(model.training->reason)) : "",
                          model.training ? fmt::format("{:.1f}", model.training->seconds) : "",
                          std::filesystem::path(model.path).filename().string(),
                          model.checked.sha256.substr(0, 16) + "…"});
  }
  return table;
}

}  // namespace

ReportPage page_of(const Reproduction& reproduction, const std::vector<theory::Claim>& claims,
                   const std::vector<std::string>& lines, const std::vector<std::string>& commands) {
  ReportPage report{.title = "Attention sinks, reproduced: softmax heads must sink, ReLU heads need not",
                    .lines = lines,
                    .sections = {},
                    .maps = {}};
  ReportSection findings{
      .title = "What the paper shows, and what was found here",
      .paragraphs = {
          "A head must return the mean of the tokens so far at a trigger token, and zero elsewhere "
          "(arXiv:2603.11487). \"Certified\" and the verdicts hold for every possible input; means are over "
          "sampled examples, and say nothing beyond them."}};
  for (const std::string& missing : reproduction.missing)
    findings.paragraphs.push_back("Missing: " + missing + ".");
  PageTable table{"", {"figure", "the paper", "found here", "verdict"}, {}};
  for (const ModelShown& model : reproduction.models) {
    for (auto& row : findings_of(model, claims)) table.rows.push_back(std::move(row));
  }
  findings.tables.push_back(std::move(table));
  report.sections.push_back(std::move(findings));

  for (const train::Preset& preset : train::presets()) {
    const auto models = models_of(reproduction, std::string(preset.name));
    if (models.empty()) continue;
    std::string title = figure_name(std::string(preset.name)) + ": " + std::string(preset.shows);
    title[0] = 'F';
    ReportSection section{.title = title};
    if (models.front()->single()) {
      const MapFigure figure = heads_figure(models);
      section.figures.push_back({.title = "Softmax and ReLU",
                                 .caption = figure.note + ". Point at a map to read a weight.",
                                 .panels = report_panels(report, figure, false),
                                 .columns = 2,
                                 .folded_title = ""});
    } else {
      section.paragraphs.push_back(
          "These models have several heads and a residual stream. Theorem 2 is about stacks of single heads "
          "without "
          "residual, and does not cover them: two heads can cancel each other (boundary row B1), and so can "
          "two residual "
          "layers (B5), without any sink. What is seen here is evidence, not an instance of the theorem.");
      for (const ModelShown* model : models) {
        section.figures.push_back(
            {.title = title_of(model->settings),
             .caption = "Mean attention over " + note() + ". Point at a map to read a weight.",
             .panels = report_panels(report, stack_figure(*model, Statistic::mean), true),
             .columns = static_cast<int>(model->settings.heads),
             .folded_title = "Standard deviations",
             .folded = report_panels(report, stack_figure(*model, Statistic::deviation), true)});
      }
    }
    for (const ModelShown* model : models) section.tables.push_back(heads_table(*model));
    report.sections.push_back(std::move(section));
  }

  ReportSection plane{.title = "Loss and leak"};
  plane.figures.push_back(
      {.title = "",
       .caption =
           "Certified heads are rectangles from the attained to the certified value of both quantities, "
           "often "
           "mere points: diamonds surround them. ReLU rows do not sum to 1: they have no leak, and are not "
           "here.",
       .panels = {{.drawing = loss_leak_plane(reproduction)}},
       .folded_title = ""});
  report.sections.push_back(std::move(plane));
  ReportSection training{.title = "Training"};
  if (std::any_of(reproduction.models.begin(), reproduction.models.end(),
                  [](const ModelShown& model) { return model.training.has_value(); })) {
    training.figures.push_back({.title = "",
                                .caption = "",
                                .panels = {{.drawing = training_curves(reproduction)}},
                                .folded_title = ""});
  }
  training.tables.push_back(models_table(reproduction));
  report.sections.push_back(std::move(training));

  report.sections.push_back(
      {.title = "Verdicts",
       .paragraphs = {"Proved: for every input, in exact or outward-rounded arithmetic. Disproved: "
                      "an instance violates it. Undecided: neither."},
       .tables = {claims_table(claims)}});
  report.sections.push_back({.title = "Again, from a shell", .commands = commands});
  return report;
}

}  // namespace sinkproof::app
