#include "app/reproduction_page.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/core.h>

#include "app/reproduction_figures.hpp"

namespace sinkproof::app {
namespace {

using figures::MapFigure;
using figures::MapPanel;
using figures::PageTable;
using figures::ReportFigure;
using figures::ReportPage;
using figures::ReportPanel;
using figures::ReportSection;
using numeric::Rational;

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
    double sink = 0;
    for (const auto& head : checked.stack->heads) sink = std::max(sink, head.largest_sink_weight.upper);
    rows.push_back(
        {figure, "ReLU stacks do not attend off the trigger.",
         fmt::format("Mean BOS weight off the trigger: at most {:.3g} ({}); on every instance at most {} "
                     "(certified). The largest single weight off BOS there is {}.",
                     most->sink_mean, named(*most),
                     std::isfinite(sink) ? up(numeric::exact(sink)) : "(not certified)", shown(checked.leak)),
         "evidence: of weights off BOS nothing is certified in stacks"});
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
  PageTable table{"", {"claim", "verdict", "says", "because"}, {}};
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
          "(arXiv:2603.11487). \"Certified\" means for every possible input; means are over sampled "
          "examples, and say nothing beyond them."}};
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
          "layers (B5), without any sink. What stands here is about these weights, not an instance of the "
          "theorem.");
      for (const ModelShown* model : models) {
        section.figures.push_back(
            {.title = title_of(model->settings),
             .caption = "Mean attention over " + examples_note() + ". Point at a map to read a weight.",
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
       .paragraphs =
           {"Proved: in exact or outward-rounded arithmetic, for every input that the claim speaks of. "
            "Disproved: an instance violates it. Undecided: neither."},
       .tables = {claims_table(claims)}});
  report.sections.push_back({.title = "Again, from a shell", .commands = commands});
  return report;
}

}  // namespace sinkproof::app
