#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include <unistd.h>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "app/report.hpp"
#include "app/train_runs.hpp"
#include "errors.hpp"
#include "train/presets.hpp"

namespace sinkproof::app {
namespace {

using attention::Normaliser;
using train::HeadProbe;
using train::LogRecord;
using train::Settings;
using train::StopReason;

struct TrainFlags {
  CommonFlags common;
  std::string preset, attention, seeds, resume;
  Settings settings;  ///< of the flags; which were given, `given` knows
  long content = 0;
  double stop_attacked = 0, stop_certified = 0;
  std::map<std::string, CLI::Option*> options;

  bool given(const std::string& flag) const { return options.at(flag)->count() > 0; }
};

struct SeedRange {
  std::uint64_t first = 0, last = 0;
};

constexpr std::uint64_t most_seeds = 10'000;

SeedRange parse_seeds(const std::string& text) {
  SeedRange range;
  const auto number = [](std::string_view part, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc() && end == part.data() + part.size();
  };
  const std::size_t dots = text.find("..");
  const std::string_view whole = text;
  const bool parsed = dots == std::string::npos ? number(whole, range.first) && number(whole, range.last)
                                                : number(whole.substr(0, dots), range.first) &&
                                                      number(whole.substr(dots + 2), range.last);
  if (!parsed || range.last < range.first || range.last - range.first >= most_seeds) {
    throw InputError(fmt::format("--seeds {}: write A..B with A <= B, at most {} seeds", text, most_seeds));
  }
  return range;
}

/// What the given flags change in `base`.
Settings merged(const TrainFlags& flags, Settings base) {
  const Settings& s = flags.settings;
  const auto take = [&](const std::string& flag, auto Settings::*member) {
    if (flags.given(flag)) base.*member = s.*member;
  };
  take("--length", &Settings::length);
  take("--dimension", &Settings::dimension);
  take("--layers", &Settings::layers);
  take("--heads", &Settings::heads);
  take("--steps", &Settings::steps);
  take("--batch", &Settings::batch);
  take("--fixed-batch", &Settings::fixed_batch);
  take("--learning-rate", &Settings::learning_rate);
  take("--beta1", &Settings::beta1);
  take("--beta2", &Settings::beta2);
  take("--adam-epsilon", &Settings::epsilon);
  take("--initial-deviation", &Settings::initial_deviation);
  take("--stop-error", &Settings::stop_error);
  take("--log-every", &Settings::log_every);
  take("--probes", &Settings::probes);
  base.seed = flags.common.seed;
  if (flags.given("--content")) {
    if (flags.content < 0 || flags.content > 1021) {
      throw InputError(fmt::format("--content {}: must be between 0 and 1021", flags.content));
    }
    base.dimension = flags.content + 3;
  }
  if (flags.given("--attention")) {
    base.normaliser = flags.attention == "relu" ? Normaliser::relu : Normaliser::softmax;
  }
  if (flags.given("--stop-attacked") || flags.given("--stop-certified")) {
    base.certified = flags.given("--stop-certified");
    base.stop_worst_case = base.certified ? flags.stop_certified : flags.stop_attacked;
    if (!flags.given("--stop-error")) base.stop_error = 0;
  }
  return base;
}

std::vector<PlannedRun> resumption(const TrainFlags& flags) {
  namespace fs = std::filesystem;
  for (const auto& [flag, option] : flags.options) {
    if (flag != "--resume" && flag != "--steps" && option->count() > 0) {
      throw InputError("--resume " + flags.resume + ": its runs have their settings: leave out " + flag);
    }
  }
  const fs::path out = flags.resume;
  const long steps = flags.given("--steps") ? flags.settings.steps : -1;
  std::vector<fs::path> folders;
  std::error_code error;
  if (fs::exists(out / "checkpoint.npz", error)) {
    folders.push_back(out);
  } else {
    for (const auto& entry : fs::directory_iterator(out, error)) {
      if (fs::exists(entry.path() / "checkpoint.npz", error)) folders.push_back(entry.path());
    }
  }
  if (folders.empty()) {
    throw InputError("--resume " + flags.resume +
                     ": holds no checkpoint.npz, nor does a folder in it: give the --out folder of a run");
  }
  std::ranges::sort(folders);
  std::vector<PlannedRun> plan;
  for (const fs::path& folder : folders) {
    const Settings settings = train::Run::resume(folder / "checkpoint.npz").settings();
    plan.push_back(
        {.name = settings.name(), .folder = folder, .settings = settings, .resumed = true, .steps = steps});
  }
  return plan;
}

std::vector<PlannedRun> new_runs(const TrainFlags& flags) {
  std::vector<Settings> models;
  if (flags.preset.empty()) {
    models.push_back(merged(flags, {}));
  } else {
    for (const Settings& model : train::find_preset(flags.preset).models) {
      const Settings settings = merged(flags, model);
      // With --attention, one of the two models is left.
      if (std::ranges::find(models, settings) == models.end()) models.push_back(settings);
    }
  }
  const SeedRange seeds =
      flags.seeds.empty() ? SeedRange{flags.common.seed, flags.common.seed} : parse_seeds(flags.seeds);
  const bool single = models.size() == 1 && seeds.first == seeds.last;
  std::vector<PlannedRun> plan;
  for (const Settings& model : models) {
    for (std::uint64_t offset = 0; offset <= seeds.last - seeds.first; ++offset) {
      Settings settings = model;
      settings.seed = seeds.first + offset;
      PlannedRun& planned = plan.emplace_back();
      planned.name = settings.name();
      planned.settings = settings;
      if (flags.common.out.empty()) continue;
      planned.folder = flags.common.out;
      if (single) continue;
      planned.folder /=
          settings.name() + (seeds.first == seeds.last ? "" : fmt::format("_seed{}", settings.seed));
    }
  }
  return plan;
}

// ---- What is shown.

Json number_json(double value) {
  return std::isfinite(value) ? Json(value) : Json{{"undecided", true}};
}

Json to_json(const LogRecord& r) {
  return {{"step", r.step},
          {"loss", number_json(r.loss)},
          {"linf", number_json(r.linf)},
          {"leak_mean", number_json(r.leak_mean)},
          {"leak_max", number_json(r.leak_max)},
          {"steps_per_second", number_json(r.steps_per_second)}};
}

Json to_json(const Settings& s) {
  Json json{{"attention", s.normaliser == Normaliser::relu ? "relu" : "softmax"},
            {"length", s.length},
            {"dimension", s.dimension},
            {"layers", s.layers},
            {"heads", s.heads},
            {"batch", s.batch},
            {"fixed_batch", s.fixed_batch},
            {"steps", s.steps},
            {"learning_rate", s.learning_rate},
            {"beta1", s.beta1},
            {"beta2", s.beta2},
            {"adam_epsilon", s.epsilon},
            {"initial_deviation", s.initial_deviation},
            {"stop_error", s.stop_error},
            {"log_every", s.log_every},
            {"probes", s.probes}};
  if (s.stop_worst_case > 0) json[s.certified ? "stop_certified" : "stop_attacked"] = s.stop_worst_case;
  return json;
}

Json to_json(const FinishedRun& run) {
  Json json{{"name", run.name}, {"seed", run.settings.seed}, {"stop", to_string(run.stop)}};
  json["final"] = run.log.empty() ? Json(nullptr) : to_json(run.log.back());
  json["settings"] = to_json(run.settings);
  json["heads"] = Json::array();
  for (const HeadProbe& h : run.heads) {
    json["heads"].push_back({{"layer", h.layer},
                             {"head", h.head},
                             {"sink_rate", number_json(h.sink_rate)},
                             {"sink_mean", number_json(h.sink_mean)},
                             {"leak_mean", number_json(h.leak_mean)},
                             {"leak_max", number_json(h.leak_max)}});
  }
  if (!run.folder.empty()) {
    json["folder"] = run.folder.string();
    json["weights_written"] = run.weights_written;
  }
  json["seconds"] = run.seconds;
  json["log"] = Json::array();
  for (const LogRecord& record : run.log) json["log"].push_back(to_json(record));
  return json;
}

/// Of one model over its seeds.
struct Summary {
  std::string name;
  std::size_t runs = 0, met_stop_rule = 0, diverged = 0;
  std::vector<double> steps = {};  ///< of the runs that met their stop rule
  std::vector<double> loss = {}, linf = {}, leak_mean = {},
                      leak_max = {};                 ///< at the end, where not diverged
  std::vector<std::vector<double>> sink_rates = {};  ///< of each head, over the same
};

std::vector<Summary> summaries(const std::vector<FinishedRun>& runs) {
  std::vector<Summary> all;
  for (const FinishedRun& run : runs) {
    auto found = std::ranges::find(all, run.name, &Summary::name);
    if (found == all.end()) {
      found = all.emplace(all.end());
      found->name = run.name;
    }
    ++found->runs;
    if (run.stop == StopReason::stop_error || run.stop == StopReason::worst_case) {
      ++found->met_stop_rule;
      found->steps.push_back(static_cast<double>(run.step));
    }
    if (run.stop == StopReason::diverged) {
      ++found->diverged;
      continue;
    }
    if (run.log.empty()) continue;
    found->loss.push_back(run.log.back().loss);
    found->linf.push_back(run.log.back().linf);
    found->leak_mean.push_back(run.log.back().leak_mean);
    found->leak_max.push_back(run.log.back().leak_max);
    found->sink_rates.resize(run.heads.size());
    for (std::size_t h = 0; h < run.heads.size(); ++h) found->sink_rates[h].push_back(run.heads[h].sink_rate);
  }
  return all;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

Json spread_json(const std::vector<double>& values) {
  if (values.empty()) return nullptr;
  return {{"least", number_json(std::ranges::min(values))},
          {"mean", number_json(mean(values))},
          {"largest", number_json(std::ranges::max(values))}};
}

Json to_json(const Summary& s) {
  Json json{{"name", s.name}, {"runs", s.runs}, {"met_stop_rule", s.met_stop_rule}, {"diverged", s.diverged}};
  json["steps"] = spread_json(s.steps);
  json["loss"] = spread_json(s.loss);
  json["linf"] = spread_json(s.linf);
  json["leak_mean"] = spread_json(s.leak_mean);
  json["leak_max"] = spread_json(s.leak_max);
  json["sink_rates"] = Json::array();
  for (const auto& rates : s.sink_rates) json["sink_rates"].push_back(spread_json(rates));
  return json;
}

std::string spread_text(const std::vector<double>& values, std::string_view format) {
  if (values.empty()) return "-";
  const auto text = [&](double value) { return fmt::format(fmt::runtime(format), value); };
  return fmt::format("{} ({} .. {})", text(mean(values)), text(std::ranges::min(values)),
                     text(std::ranges::max(values)));
}

std::string sink_rates_text(const std::vector<HeadProbe>& heads) {
  std::vector<std::string> texts;
  for (const HeadProbe& h : heads) {
    if (h.head == 1 && h.layer > 1) texts.emplace_back("|");
    texts.push_back(fmt::format("{:.2f}", h.sink_rate));
  }
  return fmt::format("{}", fmt::join(texts, " "));
}

std::string text_of(const std::vector<FinishedRun>& runs) {
  std::string text = fmt::format(
      "training, float32 ({}); errors on the last batch; leaks and sink rates sampled on fixed probes\n\n"
      "  {:<14}{:<7}{:<13}{:>8}  {:<10}{:<10}{:<10}{:<10}{:>9}  {}\n",
      to_string(train::chosen_instruction_set()), "model", "seed", "stop", "step", "loss", "linf",
      "leak mean", "leak max", "steps/s", "sink rate of each head, layer by layer");
  const auto number = [](double x) { return fmt::format("{:.3g}", x); };
  for (const FinishedRun& run : runs) {
    const LogRecord last = run.log.empty() ? LogRecord{} : run.log.back();
    text += fmt::format("  {:<14}{:<7}{:<13}{:>8}  {:<10}{:<10}{:<10}{:<10}{:>9.0f}  {}\n", run.name,
                        run.settings.seed, to_string(run.stop), run.step, number(last.loss),
                        number(last.linf), number(last.leak_mean), number(last.leak_max),
                        run.seconds > 0 ? static_cast<double>(run.step) / run.seconds : 0,
                        sink_rates_text(run.heads));
  }
  const auto all = summaries(runs);
  if (runs.size() > all.size()) {
    text += "\n  mean (least .. largest) over the seeds\n";
    for (const Summary& s : all) {
      text += fmt::format("  {}: {} of {} met the stop rule, {} diverged\n", s.name, s.met_stop_rule, s.runs,
                          s.diverged);
      text += fmt::format("    steps to stop {}   loss {}   linf {}\n", spread_text(s.steps, "{:.0f}"),
                          spread_text(s.loss, "{:.2g}"), spread_text(s.linf, "{:.2g}"));
      text += fmt::format("    leak mean {}   leak max {}\n", spread_text(s.leak_mean, "{:.2g}"),
                          spread_text(s.leak_max, "{:.2g}"));
    }
  }
  return text;
}

int train_verb(TrainFlags flags) {
  const std::vector<PlannedRun> plan = flags.resume.empty() ? new_runs(flags) : resumption(flags);
  if (!flags.resume.empty()) flags.common.out = flags.resume;
  const auto runs = carry_out(plan, {.threads = flags.common.thread_count(),
                                     .progress = !flags.common.quiet && ::isatty(STDERR_FILENO) != 0});
  Report report{.verb = "train"};
  report.fields["instructions"] = to_string(train::chosen_instruction_set());
  report.fields["runs"] = Json::array();
  for (const FinishedRun& run : runs) report.fields["runs"].push_back(to_json(run));
  report.fields["summary"] = Json::array();
  for (const Summary& summary : summaries(runs)) report.fields["summary"].push_back(to_json(summary));
  int code = deliver(report, text_of(runs), flags.common);

  for (const FinishedRun& run : runs) {
    std::string what;
    if (run.stop == StopReason::diverged) {
      what = fmt::format("diverged: the loss is not finite at step {}: lower --learning-rate", run.step);
    } else if (run.stop == StopReason::interrupted) {
      what = fmt::format("interrupted at step {}{}", run.step,
                         run.folder.empty() ? "" : ": go on with --resume " + (flags.common.out));
    } else {
      continue;
    }
    code = some_undecided;
    if (!flags.common.quiet)
      fmt::print(stderr, "sinkproof: {} seed {}: {}\n", run.name, run.settings.seed, what);
  }
  return code;
}

}  // namespace

void add_train(CLI::App& program, Run& run) {
  auto flags = std::make_shared<TrainFlags>();
  Settings& s = flags->settings;
  CLI::App* verb =
      program.add_subcommand("train", "train heads on the task: the paper's presets, or any sizes");
  const auto option = [&](const std::string& flag, auto& value, const std::string& help,
                          const std::string& type) {
    return flags->options[flag] = verb->add_option(flag, value, help)->type_name(type);
  };
  option("--preset", flags->preset, "fig3, fig4-5 or fig6-8: the models of these figures of the paper",
         "NAME");
  option("--attention", flags->attention, "softmax (default) or relu; of a preset, only this model", "KIND")
      ->check(CLI::IsMember({"softmax", "relu"}));
  option("--length", s.length, "sequence length L >= 4 (default: 16)", "L");
  option("--content", flags->content, "content coordinates d >= 0 (default: 13)", "D");
  option("--dimension", s.dimension, "model dimension n = d + 3, instead of --content", "N")
      ->excludes(flags->options["--content"]);
  option("--layers", s.layers, "layers (default: 1)", "D")->excludes(flags->options["--preset"]);
  option("--heads", s.heads, "heads a layer, of full width (default: 1)", "H")
      ->excludes(flags->options["--preset"]);
  option("--steps", s.steps, "at most so many updates (default: 20000, or the preset's)", "N");
  option("--batch", s.batch, "instances a step (default: 128)", "N");
  flags->options["--fixed-batch"] =
      verb->add_flag("--fixed-batch", s.fixed_batch, "every step sees the same batch: no sampling noise");
  option("--learning-rate", s.learning_rate, "of Adam (default: 1e-3, or the preset's)", "X");
  option("--beta1", s.beta1, "of Adam (default: 0.9)", "X");
  option("--beta2", s.beta2, "of Adam (default: 0.95)", "X");
  option("--adam-epsilon", s.epsilon, "of Adam (default: 1e-8)", "X");
  option("--initial-deviation", s.initial_deviation,
         "initial weights are normal with this deviation (default: 0.02)", "X");
  option("--stop-error", s.stop_error,
         "stop when one batch's largest error is below (default: 0.005; 0: never)", "X");
  auto* attacked = option("--stop-attacked", flags->stop_attacked,
                          "stop when the worst error that an attack finds is below, instead", "X");
  option("--stop-certified", flags->stop_certified,
         "stop when the certified worst case Lambda is below, instead (one head)", "X")
      ->excludes(attacked);
  option("--log-every", s.log_every, "steps between log records (default: 100)", "N");
  option("--probes", s.probes, "fixed instances on which leaks are logged (default: 64)", "N");
  option("--seeds", flags->seeds, "train with each of these seeds, in parallel, and summarise", "A..B");
  option("--resume", flags->resume, "go on with the runs of this --out folder", "DIR");
  flags->common.add_output(*verb);
  flags->common.add_computing(*verb);
  for (const char* flag : {"--out", "--seed"}) flags->options[flag] = verb->get_option(flag);
  verb->get_option("--seeds")->excludes("--seed");
  verb->footer(
      "exit code 2: a run diverged, or was interrupted (Ctrl-C: it leaves a checkpoint).\n"
      "With --out, a run writes weights.npz, weights.safetensors, log.csv, log.jsonl and checkpoint.npz; "
      "several\n"
      "runs have a folder each. Results are a function of the seed, whatever the threads. "
      "SINKPROOF_INSTRUCTIONS\n"
      "(baseline, avx2, avx512) chooses the instruction set: avx2 and avx512 give the same bits, baseline "
      "others.\n"
      "examples:\n"
      "  sinkproof train --preset fig3 --out out/fig3\n"
      "  sinkproof train --preset fig3 --attention softmax --seeds 1..20\n"
      "  sinkproof train --length 32 --content 5 --stop-certified 0.01 --out out/long\n"
      "  sinkproof train --resume out/fig3");
  verb->callback([flags, &run] { run = [flags] { return train_verb(*flags); }; });
}

}  // namespace sinkproof::app
