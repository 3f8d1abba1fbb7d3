#include <fmt/core.h>

#include "app/parameters.hpp"
#include "app/report.hpp"
#include "app/weights_check.hpp"
#include "errors.hpp"
#include "formats/file.hpp"

namespace sinkproof::app {
namespace {

using numeric::Direction;
using numeric::Rational;

struct CheckFlags {
  CommonFlags common;
  WeightsRequest request;
  std::string layout, scale, effort = "tight";
  int heads = 0;
  std::string replay;
  std::string leak_at_most, loss_at_most, sink_at_least;
};

std::string where(int position, int trigger) {
  return fmt::format("i = {}, j = {}", position, trigger);
}

// --- one replayed instance

/// A replayed instance must be made of doubles: witnesses are, and a point enclosure then is the instance
/// itself.
task::Instance<double> to_double(const task::Instance<Rational>& exact, const std::string& name) {
  task::Instance<double> instance{exact.trigger, Eigen::MatrixXd(exact.content.rows(), exact.content.cols())};
  for (Eigen::Index i = 0; i < exact.content.rows(); ++i) {
    for (Eigen::Index m = 0; m < exact.content.cols(); ++m) {
      instance.content(i, m) = exact.content(i, m).convert_to<double>();
      if (numeric::exact(instance.content(i, m)) != exact.content(i, m)) {
        throw InputError(
            fmt::format("{}: line {}: {} is not a double: write a dyadic fraction such as 1/2 or 3/8", name,
                        i + 2, numeric::to_string(exact.content(i, m))));
      }
    }
  }
  return instance;
}

/// Evaluates the instance only: its values are attained, and nothing is certified.
WeightsChecked replay(const CheckFlags& flags) {
  WeightsChecked checked = load_weights(flags.request);
  const auto parsed = task::parse_instance(formats::read_text(flags.replay), flags.replay);
  if (parsed.parameters.dimension() != checked.weights.dimension) {
    throw InputError(
        fmt::format("{}: line 2: content {} does not fit {}: its dimension n = {} needs content {}",
                    flags.replay, parsed.parameters.content(), flags.request.path, checked.weights.dimension,
                    checked.weights.dimension - 3));
  }
  checked.parameters = parsed.parameters;
  checked.instances = {to_double(parsed.instance, flags.replay)};
  evaluate_instances(checked, flags.request);
  checked.claims = claims_of(flags.request, checked.leak, checked.loss);
  return checked;
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

void fill(Report& report, const CheckFlags& flags, const WeightsChecked& checked) {
  const attention::Weights& weights = checked.weights;
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
  report.fields["sampled"] = {{"instances", checked.sampled.instances}, {"heads", heads_json(checked)}};
}

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

std::string text_of(const CheckFlags& flags, const WeightsChecked& checked) {
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

  text += fmt::format(
      "\n  {} instance(s) evaluated, non-trigger positions i >= 2 (sampled{})\n", checked.sampled.instances,
      flags.replay.empty() ? fmt::format(": {} random, {} vertices, seed {}", flags.request.samples,
                                         flags.request.vertices, flags.common.seed)
                           : "");
  text += fmt::format("  {:<6}{:<6}{:<30}{:<30}{}\n", "layer", "head", "least BOS weight",
                      "largest BOS weight", checked.normalised ? "largest leak" : "largest weight off BOS");
  for (const auto& head : checked.sampled.heads) {
    const certify::Seen& last = checked.normalised ? head.largest_off_bos : head.largest_weight_off_bos;
    text += fmt::format("  {:<6}{:<6}{:<30}{:<30}{} at {}\n", head.layer, head.head,
                        numeric::to_string(head.least_sink_weight.value),
                        numeric::to_string(head.largest_sink_weight.value), numeric::to_string(last.value),
                        where(last.position, last.trigger));
  }
  if (!checked.claims.empty()) text += "\n" + to_text(checked.claims);
  return text;
}

int check(CheckFlags flags) {
  const auto claim = [](const char* flag, const std::string& text) -> std::optional<Rational> {
    if (text.empty()) return std::nullopt;
    return exact_flag(flag, text);
  };
  flags.request.leak_at_most = claim("--leak-at-most", flags.leak_at_most);
  flags.request.loss_at_most = claim("--loss-at-most", flags.loss_at_most);
  flags.request.sink_at_least = claim("--sink-at-least", flags.sink_at_least);
  if (!flags.layout.empty()) flags.request.options.layout = flags.layout;
  if (!flags.scale.empty()) flags.request.options.scale = flags.scale;
  if (flags.heads > 0) flags.request.options.heads = flags.heads;
  flags.request.certify.effort = flags.effort == "fast" ? certify::Effort::fast : certify::Effort::tight;
  flags.request.certify.threads = flags.common.thread_count();
  flags.request.certify.seed = flags.common.seed;

  const WeightsChecked checked = flags.replay.empty() ? check_weights(flags.request) : replay(flags);
  Report report{.verb = "check"};
  fill(report, flags, checked);
  if (!flags.common.out.empty()) {
    const auto write_witness = [&](const std::string& name, const Bound& bound) {
      if (!bound.witness) return;
      write_file(flags.common.out, name,
                 task::to_text(checked.parameters, task::convert<Rational>(bound.witness->instance)));
    };
    write_witness("witness-loss.txt", checked.loss);
    write_witness("witness-leak.txt", checked.leak);
  }
  return deliver(report, text_of(flags, checked), flags.common);
}

}  // namespace

void add_check(CLI::App& program, Run& run) {
  auto flags = std::make_shared<CheckFlags>();
  WeightsRequest& request = flags->request;
  CLI::App* verb =
      program.add_subcommand("check", "certify trained weights over every input, and look for the worst one");
  verb->add_option("WEIGHTS", request.path, ".npz or .safetensors file")->required()->type_name("");
  verb->add_option("--attention", request.attention, "softmax or relu; the file does not say")
      ->check(CLI::IsMember({"softmax", "relu"}))
      ->capture_default_str()
      ->type_name("KIND");
  verb->add_option("--length", request.length, "sequence length L >= 4; the file does not say")
      ->capture_default_str()
      ->type_name("L");
  verb->add_option("--layout", flags->layout,
                   "paper, transformer-lens or torch-mha, where the keys leave it open")
      ->type_name("NAME");
  verb->add_option("--scale", flags->scale,
                   "what multiplies the scores q.k: none, sqrt (1/sqrt(d_head)) or a number")
      ->type_name("S");
  verb->add_option("--heads", flags->heads, "heads a layer, where the file does not say (torch-mha)")
      ->check(CLI::Range(1, 1 << 20))
      ->type_name("H");
  verb->add_option("--leak-at-most", flags->leak_at_most, "claim: every leak is at most Q")->type_name("Q");
  verb->add_option("--sink-at-least", flags->sink_at_least,
                   "claim: every non-trigger sink weight is at least Q")
      ->type_name("Q");
  verb->add_option("--loss-at-most", flags->loss_at_most, "claim: the worst-case loss Lambda is at most Q")
      ->type_name("Q");
  verb->add_option("--effort", flags->effort,
                   "fast (within about 1.3 of the truth) or tight (within about 1.02)")
      ->check(CLI::IsMember({"fast", "tight"}))
      ->capture_default_str()
      ->type_name("LEVEL");
  verb->add_option("--time-limit", request.certify.time_limit, "seconds; then the best bounds so far")
      ->check(CLI::Range(0.0, 1e9))
      ->type_name("S");
  verb->add_option("--samples", request.samples, "random instances to evaluate besides")
      ->check(CLI::Range(std::size_t{0}, std::size_t{100'000'000}))
      ->capture_default_str()
      ->type_name("N");
  verb->add_option("--vertices", request.vertices,
                   "random vertex instances (contents -1 and 1) to evaluate besides")
      ->check(CLI::Range(std::size_t{0}, std::size_t{100'000'000}))
      ->capture_default_str()
      ->type_name("N");
  verb->add_option("--replay", flags->replay, "evaluate this one instance (a witness file) only")
      ->type_name("FILE");
  flags->common.add_output(*verb);
  flags->common.add_computing(*verb);
  verb->footer(
      "examples:\n"
      "  sinkproof check data/weights/softmax_1h1d.npz\n"
      "  sinkproof check data/weights/relu_1h1d.npz --attention relu\n"
      "  sinkproof check data/weights/softmax_1h1d.npz --loss-at-most 1/200 --leak-at-most 1/4000 --out out\n"
      "  sinkproof check data/weights/softmax_1h1d.npz --replay out/witness-loss.txt --loss-at-most 1/200");
  verb->callback([flags, &run] { run = [flags] { return check(*flags); }; });
}

}  // namespace sinkproof::app
