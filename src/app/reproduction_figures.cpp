#include "app/reproduction_figures.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "figures/chart.hpp"
#include "figures/colour_map.hpp"
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

const char* word_of(Statistic statistic) {
  return statistic == Statistic::mean ? "mean attention" : "standard deviation";
}

MapPanel panel_of(const AttentionStatistics& head, Statistic statistic, const Scale& scale,
                  std::string title) {
  return {
      .title = std::move(title), .map = map_of(head, statistic), .trigger = shown_trigger, .scale = scale};
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

std::string examples_note() {
  return fmt::format("{} examples with the trigger at position {} (pointed at)", shown_examples,
                     shown_trigger);
}

std::vector<const ModelShown*> models_of(const Reproduction& reproduction, const std::string& preset) {
  std::vector<const ModelShown*> models;
  for (const ModelShown& model : reproduction.models) {
    if (model.preset == preset) models.push_back(&model);
  }
  return models;
}

MapFigure heads_figure(const std::vector<const ModelShown*>& models) {
  MapFigure figure{.title = "Attention of a single head: softmax sinks, ReLU does not",
                   .note = examples_note(),
                   .panels = {}};
  for (const ModelShown* model : models) {
    const std::string kind = model->softmax() ? "softmax" : "ReLU";
    figure.panels.push_back(
        {panel_of(model->maps[0][0], Statistic::mean, scale_of(*model, Statistic::mean), kind + ": mean"),
         panel_of(model->maps[0][0], Statistic::deviation, scale_of(*model, Statistic::deviation),
                  kind + ": standard deviation")});
  }
  return figure;
}

MapFigure stack_figure(const ModelShown& model, Statistic statistic) {
  MapFigure figure{.title = fmt::format("{}: {}", title_of(model.settings), word_of(statistic)),
                   .note = examples_note(),
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

}  // namespace sinkproof::app
