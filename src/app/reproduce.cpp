#include <filesystem>
#include <map>

#include <unistd.h>

#include <fmt/core.h>

#include "app/report.hpp"
#include "app/reproduction_figures.hpp"
#include "app/reproduction_page.hpp"
#include "errors.hpp"
#include "figures/render.hpp"

namespace sinkproof::app {
namespace {

namespace fs = std::filesystem;

#ifdef __clang__
constexpr const char* compiler = __VERSION__;  // names itself
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

struct ReproduceFlags {
  CommonFlags common;
  std::string from_weights;
  long steps = 0;
};

/// The commands that give this report, the same weights, and each model's certificate again.
std::vector<std::string> commands_of(const ReproduceFlags& flags, const Reproduction& reproduction) {
  std::string again =
      fmt::format("sinkproof reproduce --seed {} --out {}", flags.common.seed, flags.common.out);
  if (!flags.from_weights.empty()) again += " --from-weights " + flags.from_weights;
  if (flags.steps > 0) again += fmt::format(" --steps {}", flags.steps);
  std::vector<std::string> commands{again};
  if (flags.from_weights.empty()) {
    for (const train::Preset& preset : train::presets()) {
      commands.push_back(fmt::format("sinkproof train --preset {} --seed {} --out {}/{}{}", preset.name,
                                     flags.common.seed, flags.common.out, preset.name,
                                     flags.steps > 0 ? fmt::format(" --steps {}", flags.steps) : ""));
    }
  }
  for (const ModelShown& model : reproduction.models) {
    commands.push_back(fmt::format("sinkproof check {} --attention {} --seed {}{} --loss-at-most 1/200",
                                   model.path, model.softmax() ? "softmax" : "relu", flags.common.seed,
                                   model.single() && model.softmax() ? " --sink-at-least 99/100" : ""));
  }
  return commands;
}

std::vector<std::string> lines_of(const ReproduceFlags& flags, const Reproduction& reproduction) {
  const auto& parameters = reproduction.models.front().checked.parameters;
  std::vector<std::string> lines{
      fmt::format("L = {}, n = {} (d = {}). {} Seed {}. {:.0f} s in all{}.", parameters.length(),
                  parameters.dimension(), parameters.content(),
                  flags.from_weights.empty() ? "All models were trained by this program in float32."
                                             : "The weights were read from " + flags.from_weights + ".",
                  flags.common.seed, reproduction.seconds,
                  flags.from_weights.empty()
                      ? fmt::format(", {:.0f} s of them training", reproduction.training_seconds)
                      : std::string()),
      fmt::format("sinkproof {}, compiled by {}, Cairo {}{}.", SINKPROOF_VERSION, compiler,
                  figures::cairo_version(),
                  flags.from_weights.empty()
                      ? ", instruction set " + std::string(to_string(train::chosen_instruction_set()))
                      : std::string())};
  if (flags.steps > 0) {
    lines.push_back(fmt::format("A rehearsal: no model was trained for more than {} steps.", flags.steps));
  }
  return lines;
}

std::vector<std::string> write_figures(const std::string& out, const std::vector<NamedDrawing>& drawings) {
  std::vector<std::string> files;
  const std::string folder = (fs::path(out) / "figures").string();
  for (const NamedDrawing& one : drawings) {
    for (const auto& [ending, format] :
         {std::pair{".png", figures::Format::png}, std::pair{".svg", figures::Format::svg},
          std::pair{".pdf", figures::Format::pdf}}) {
      write_file(folder, one.name + ending, render(one.drawing, format));
      files.push_back("figures/" + one.name + ending);
    }
  }
  return files;
}

Json model_json(const ModelShown& model) {
  const train::Settings& settings = model.settings;
  const WeightsChecked& checked = model.checked;
  Json json{{"name", settings.name()},
            {"figure", figure_name(model.preset)},
            {"file", {{"path", model.path}, {"sha256", checked.sha256}}},
            {"model",
             {{"attention", model.softmax() ? "softmax" : "relu"},
              {"layers", settings.layers},
              {"heads", settings.heads},
              {"length", checked.parameters.length()},
              {"dimension", checked.parameters.dimension()},
              {"residual", settings.residual()}}}};
  if (model.training) {
    const Training& training = *model.training;
    json["training"] = {{"steps", training.steps},
                        {"stop_reason", train::to_string(training.reason)},
                        {"seconds", training.seconds}};
    if (!training.log.empty()) {
      const train::LogRecord& last = training.log.back();
      json["training"]["loss"] = to_json(theory::Quantity{"", theory::Sampled{last.loss}});
      json["training"]["linf"] = to_json(theory::Quantity{"", theory::Sampled{last.linf}});
      json["training"]["leak_max"] = to_json(theory::Quantity{"", theory::Sampled{last.leak_max}});
    }
    json["training"]["certified"] = Json::array();
    for (const Waypoint& point : training.way) {
      json["training"]["certified"].push_back({{"step", point.step},
                                               {"loss", to_json(point.loss.quantity(""))},
                                               {"leak", to_json(point.leak.quantity(""))}});
    }
  }
  json["quantities"] = {{"loss", to_json(checked.loss.quantity(""))},
                        {model.softmax() ? "leak" : "weight_off_bos", to_json(checked.leak.quantity(""))}};
  if (model.relu_sink_at_most) {
    json["quantities"]["weight_on_bos"] =
        to_json(theory::Quantity{"", theory::Between{0, numeric::exact(*model.relu_sink_at_most)}});
  }
  json["sinking_heads"] = model.sinking_heads();
  json["heads"] = Json::array();
  for (std::size_t i = 0; i < model.heads.size(); ++i) {
    const HeadShown& head = model.heads[i];
    Json entry{{"layer", head.layer}, {"head", head.head}};
    entry["sink_mean"] = {{"sampled", head.sink_mean}};
    entry["sink_rate"] = {{"sampled", head.sink_rate}};
    entry["sink_at_trigger"] = {{"sampled", head.at_trigger}};
    if (i < checked.sampled.heads.size()) {
      entry["least_sink_weight"] = to_json(checked.sampled.heads[i].least_sink_weight);
      entry["largest_sink_weight"] = to_json(checked.sampled.heads[i].largest_sink_weight);
    }
    json["heads"].push_back(entry);
  }
  return json;
}

std::string text_of(const ReproduceFlags& flags, const Reproduction& reproduction,
                    const std::vector<theory::Claim>& claims) {
  const auto ends = [](const Bound& bound) {
    return bound.certified
               ? fmt::format("[{}, {}]", numeric::decimal(bound.attained, numeric::Direction::down, 4),
                             numeric::decimal(*bound.certified, numeric::Direction::up, 4))
               : ">= " + numeric::decimal(bound.attained, numeric::Direction::down, 4);
  };
  std::string text = fmt::format("{:<28}{:<8}{:<16}{:<24}{:<24}{}\n", "model", "steps", "heads that sink",
                                 "  leak off trigger", "  worst-case loss", "  seconds");
  for (const ModelShown& model : reproduction.models) {
    text += fmt::format("{:<28}{:<8}{:<16}  {:<22}  {:<22}  {}\n", title_of(model.settings),
                        model.training ? std::to_string(model.training->steps) : "-",
                        fmt::format("{} of {}", model.sinking_heads(), model.heads.size()),
                        ends(model.checked.leak), ends(model.checked.loss),
                        model.training ? fmt::format("{:.1f}", model.training->seconds) : "-");
  }
  text +=
      "\nA head sinks if its BOS weight is above 1/2 at most non-trigger positions (sampled). The leak of a "
      "stack is its\n"
      "worst head's; of ReLU attention, which has none, the largest weight off BOS.\n";
  for (const std::string& missing : reproduction.missing) text += "missing: " + missing + "\n";
  text += "\n" + to_text(claims);
  return text + fmt::format("\nreport: {}   figures: {}\n",
                            (fs::path(flags.common.out) / "reproduce.html").string(),
                            (fs::path(flags.common.out) / "figures").string());
}

/// The progress of all runs on one line of a terminal.
Progress progress_on_terminal() {
  auto at = std::make_shared<std::map<std::string, std::pair<long, long>>>();
  return [at](const std::string& name, long step, long steps) {
    (*at)[name] = {step, steps};
    std::string line;
    for (const auto& [model, where] : *at) line += fmt::format("  {} {}", model, where.first);
    fmt::print(stderr, "\r\033[K{:.120}", line);
    std::fflush(stderr);
  };
}

int reproduce_verb(const ReproduceFlags& flags) {
  const std::string& out = flags.common.out;
  if (!flags.from_weights.empty() && !fs::is_directory(flags.from_weights)) {
    throw InputError("--from-weights " + flags.from_weights +
                     ": is no folder: name one with softmax_1h1d.npz ...");
  }
  // Before anything is trained: can the folders be written? Where weights are refused, none is left behind.
  const fs::path figures = fs::path(out) / "figures", weights = fs::path(out) / "weights";
  const bool new_out = !fs::exists(out), new_figures = !fs::exists(figures);
  std::vector<fs::path> folders{figures};
  if (flags.from_weights.empty()) folders.push_back(weights);
  for (const fs::path& folder : folders) {
    write_file(folder.string(), ".sinkproof", "");
    fs::remove(folder / ".sinkproof");
  }
  if (!flags.from_weights.empty() && new_figures) fs::remove(figures);
  if (!flags.from_weights.empty() && new_out) fs::remove(out);
  const bool terminal = !flags.common.quiet && isatty(STDERR_FILENO) != 0;
  const Reproduction reproduction = reproduce(
      {.out = out,
       .from_weights = flags.from_weights,
       .seed = flags.common.seed,
       .threads = flags.common.thread_count(),
       .most_steps = flags.steps},
      terminal ? progress_on_terminal() : [](const std::string&, long, long) {});
  if (terminal) fmt::print(stderr, "\r\033[K");

  Report report{.verb = "reproduce"};
  report.fields["seed"] = flags.common.seed;
  report.fields["trained"] = flags.from_weights.empty();
  report.fields["steps_limit"] = flags.steps > 0 ? Json(flags.steps) : Json(nullptr);
  report.fields["models"] = Json::array();
  for (const ModelShown& model : reproduction.models) {
    report.fields["models"].push_back(model_json(model));
    for (theory::Claim& claim : claims_of(model)) report.claims.push_back(std::move(claim));
  }
  report.fields["missing"] = reproduction.missing;
  std::vector<std::string> files = write_figures(out, figures_of(reproduction));
  const std::vector<std::string> commands = commands_of(flags, reproduction);
  write_file(out, "reproduce.html",
             to_html(page_of(reproduction, report.claims, lines_of(flags, reproduction), commands)));
  files.emplace_back("reproduce.html");
  report.fields["files"] = files;
  report.fields["commands"] = commands;
  report.fields["seconds"] = {{"training", reproduction.training_seconds}, {"all", reproduction.seconds}};
  deliver(report, text_of(flags, reproduction, report.claims), flags.common);
  return all_proved;  // the job is the report; its claims were not asked for
}

}  // namespace

void add_reproduce(CLI::App& program, Run& run) {
  auto flags = std::make_shared<ReproduceFlags>();
  flags->common.out = "reproduction";
  CLI::App* verb = program.add_subcommand(
      "reproduce",
      "the paper, end to end: train its models, certify, draw its figures, and write one report");
  verb->add_option("--from-weights", flags->from_weights,
                   "a folder of trained weights (softmax_1h1d.npz ...) to show instead of training")
      ->type_name("DIR");
  verb->add_option("--steps", flags->steps, "train no model for longer: a rehearsal")
      ->check(CLI::Range(1L, 1L << 40))
      ->type_name("N");
  flags->common.add_output(*verb);
  verb->get_option("--out")->capture_default_str();
  flags->common.add_computing(*verb);
  verb->footer(
      "Writes DIR/reproduce.html (one file, opens from disk), DIR/reproduce.json, and all figures as PNG, "
      "SVG and PDF;\n"
      "the exit code is 0 once that is done, whatever the verdicts in it.\n"
      "examples:\n"
      "  sinkproof reproduce --out reproduction\n"
      "  sinkproof reproduce --from-weights data/weights --out reproduction");
  verb->callback([flags, &run] { run = [flags] { return reproduce_verb(*flags); }; });
}

}  // namespace sinkproof::app
