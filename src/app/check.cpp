#include <optional>

#include <fmt/core.h>

#include "app/parameters.hpp"
#include "app/report.hpp"
#include "attention/weights.hpp"
#include "certify/sample.hpp"
#include "errors.hpp"
#include "formats/sha256.hpp"
#include "formats/weights_file.hpp"

namespace sinkproof::app {
namespace {

using attention::Normaliser;
using numeric::Rational;
using numeric::Verdict;

struct CheckFlags {
  CommonFlags common;
  std::string weights;
  std::string attention = "softmax";
  std::string layout, scale;
  int heads = 0;
  long length = 16;
  std::size_t samples = 1000;
  std::size_t vertices = 1000;
  std::string replay;
  std::string leak_at_most, loss_at_most;
};

struct Evaluation {
  task::Parameters parameters;
  std::vector<task::Instance<double>> instances;
  certify::SampleReport report;
};

std::string read_text(const std::string& path) {
  const formats::File file(path);
  std::string text(file.size(), '\0');
  file.read_at(0, {reinterpret_cast<unsigned char*>(text.data()), text.size()});
  return text;
}

/// A replayed instance must be made of doubles: witnesses are, and a point enclosure then is the instance
/// itself.
task::Instance<double> to_double(const task::Instance<Rational>& exact, const std::string& name) {
  task::Instance<double> instance{exact.trigger, Eigen::MatrixXd(exact.content.rows(), exact.content.cols())};
  for (Eigen::Index i = 0; i < exact.content.rows(); ++i) {
    for (Eigen::Index m = 0; m < exact.content.cols(); ++m) {
      instance.content(i, m) = exact.content(i, m).convert_to<double>();
      if (numeric::exact(instance.content(i, m)) != exact.content(i, m)) {
        throw InputError(name + ": line " + std::to_string(i + 2) + ": " +
                         numeric::to_string(exact.content(i, m)) +
                         " is not a double: write a dyadic fraction such as 1/2 or 3/8");
      }
    }
  }
  return instance;
}

Evaluation evaluate(const CheckFlags& flags, const attention::Weights& weights, Normaliser normaliser) {
  Evaluation evaluation{.parameters = {flags.length, weights.dimension - 3}, .instances = {}, .report = {}};
  if (flags.replay.empty()) {
    evaluation.instances =
        certify::sample_instances(evaluation.parameters, flags.samples, flags.vertices, flags.common.seed);
  } else {
    const auto parsed = task::parse_instance(read_text(flags.replay), flags.replay);
    if (parsed.parameters.dimension() != weights.dimension) {
      throw InputError(fmt::format(
          "{}: line 2: content {} does not fit {}: its dimension n = {} needs content {}", flags.replay,
          parsed.parameters.content(), flags.weights, weights.dimension, weights.dimension - 3));
    }
    evaluation.parameters = parsed.parameters;
    evaluation.instances.push_back(to_double(parsed.instance, flags.replay));
  }
  if (evaluation.instances.empty())
    throw InputError("--samples 0 --vertices 0: nothing to evaluate; ask for one at least");
  const auto model = attention::model_from<numeric::Interval>(weights, normaliser);
  evaluation.report =
      certify::evaluate(model, evaluation.parameters, evaluation.instances, flags.common.thread_count());
  return evaluation;
}

std::string coordinate_name(const task::Parameters& parameters, int coordinate) {
  if (coordinate == task::Parameters::bos()) return "B";
  if (coordinate == task::Parameters::trigger()) return "T";
  if (coordinate == parameters.ordinary()) return "N";
  return "content " + std::to_string(coordinate - 1);
}

std::string where(const certify::Seen& seen) {
  return fmt::format("i = {}, j = {}", seen.position, seen.trigger);
}

/// A sample can disprove "at most" but never prove it.
theory::Claim at_most_claim(const std::string& id, const std::string& subject, const Rational& limit,
                            const certify::Seen& seen, std::size_t instances) {
  theory::Claim claim;
  claim.id = id;
  claim.title = subject;
  claim.statement = subject + " is at most " + numeric::to_string(limit);
  claim.hypothesis = "all instances of this length";
  claim.quantities = {theory::quantity("limit", limit), theory::quantity("largest_seen", seen.value)};
  if (numeric::at_most(seen.value, limit) == Verdict::disproved) {
    claim.verdict = Verdict::disproved;
    claim.reason = "an evaluated instance exceeds it, at " + where(seen);
  } else if (seen.value.is_undecided()) {
    claim.reason = "some value cannot be enclosed between finite ends";
  } else {
    claim.reason = fmt::format(
        "none of the {} evaluated instances exceeds it, but a sample proves nothing about all", instances);
  }
  return claim;
}

const certify::Seen& largest_leak(const certify::SampleReport& report) {
  const certify::Seen* largest = &report.heads.front().largest_off_bos;
  for (const auto& head : report.heads) {
    if (head.largest_off_bos.value.is_undecided()) return head.largest_off_bos;
    if (head.largest_off_bos.value.lower() > largest->value.lower()) largest = &head.largest_off_bos;
  }
  return *largest;
}

Json model_json(const CheckFlags& flags, const attention::Weights& weights,
                const task::Parameters& parameters) {
  return {{"attention", flags.attention},
          {"layers", weights.layers.size()},
          {"heads", weights.layers.front().heads.size()},
          {"length", parameters.length()},
          {"content", parameters.content()},
          {"dimension", parameters.dimension()},
          {"residual", weights.residual},
          {"layout", weights.layout},
          {"scale",
           weights.scale.inverse_sqrt_head_dimension ? "sqrt" : numeric::to_string(weights.scale.factor)}};
}

Json quantities_json(const Evaluation& evaluation, bool normalised) {
  const auto& report = evaluation.report;
  Json heads = Json::array();
  for (const auto& head : report.heads) {
    Json entry{{"layer", head.layer},
               {"head", head.head},
               {"least_sink_weight", to_json(head.least_sink_weight)},
               {"largest_sink_weight", to_json(head.largest_sink_weight)},
               {"largest_weight_off_bos", to_json(head.largest_weight_off_bos)}};
    if (normalised) entry["leak"] = to_json(head.largest_off_bos);
    heads.push_back(entry);
  }
  Json loss = to_json(report.loss);
  loss["coordinate"] = coordinate_name(evaluation.parameters, report.loss.coordinate);
  Json json{{"instances", report.instances}, {"loss", loss}};
  if (normalised) json["leak"] = to_json(largest_leak(report));
  json["heads"] = heads;
  return json;
}

std::string text_report(const CheckFlags& flags, const attention::Weights& weights,
                        const Evaluation& evaluation, const std::string& sha256, bool normalised,
                        const std::vector<theory::Claim>& claims) {
  const auto& report = evaluation.report;
  std::string text = fmt::format("{}\n  sha256     {}\n", flags.weights, sha256);
  text += fmt::format(
      "  model      {} attention, {} layer(s) x {} head(s), n = {} (d = {}), {}, layout {}, scores {}\n",
      flags.attention, weights.layers.size(), weights.layers.front().heads.size(), weights.dimension,
      weights.dimension - 3, weights.residual ? "residual" : "no residual", weights.layout,
      weights.scale.inverse_sqrt_head_dimension ? std::string("/ sqrt(d_head)")
      : weights.scale.factor == 1               ? std::string("unscaled")
                                                : "times " + numeric::to_string(weights.scale.factor));
  text +=
      fmt::format("  evaluated  {} instance(s) at L = {}{}; each value below encloses the truth on them\n\n",
                  report.instances, evaluation.parameters.length(),
                  flags.replay.empty() ? fmt::format(" ({} random, {} vertices, seed {})", flags.samples,
                                                     flags.vertices, flags.common.seed)
                                       : " from " + flags.replay);
  text += "  non-trigger positions i >= 2 (sampled)\n";
  text += fmt::format("  {:<6}{:<6}{:<30}{:<30}{}\n", "layer", "head", "least BOS weight",
                      "largest BOS weight", normalised ? "largest leak" : "largest weight off BOS");
  for (const auto& head : report.heads) {
    const certify::Seen& last = normalised ? head.largest_off_bos : head.largest_weight_off_bos;
    text += fmt::format("  {:<6}{:<6}{:<30}{:<30}{} at {}\n", head.layer, head.head,
                        numeric::to_string(head.least_sink_weight.value),
                        numeric::to_string(head.largest_sink_weight.value), numeric::to_string(last.value),
                        where(last));
  }
  text +=
      fmt::format("\n  largest error seen  {} at {}, coordinate {}\n", numeric::to_string(report.loss.value),
                  where(report.loss), coordinate_name(evaluation.parameters, report.loss.coordinate));
  text +=
      "  (sampled: its lower end is a proved lower bound of Lambda; nothing here bounds Lambda from above)\n";
  if (!claims.empty()) text += "\n" + to_text(claims);
  return text;
}

int check(const CheckFlags& flags) {
  std::optional<Rational> leak_limit, loss_limit;
  if (!flags.leak_at_most.empty()) leak_limit = exact_flag("--leak-at-most", flags.leak_at_most);
  if (!flags.loss_at_most.empty()) loss_limit = exact_flag("--loss-at-most", flags.loss_at_most);
  const Normaliser normaliser = flags.attention == "relu" ? Normaliser::relu : Normaliser::softmax;
  const bool normalised = normaliser == Normaliser::softmax;
  if (leak_limit && !normalised) {
    throw InputError(
        "--leak-at-most: the leak 1 - a_i1 is defined for rows that sum to 1, not for --attention relu");
  }

  // One open file: what is hashed is what is read.
  const formats::File file(flags.weights);
  formats::WeightsOptions options;
  if (!flags.layout.empty()) options.layout = flags.layout;
  if (!flags.scale.empty()) options.scale = flags.scale;
  if (flags.heads > 0) options.heads = flags.heads;
  const attention::Weights weights = formats::read_weights(file, options);
  const std::string sha256 = formats::sha256(file);
  const Evaluation evaluation = evaluate(flags, weights, normaliser);
  const certify::SampleReport& seen = evaluation.report;

  Report report{.verb = "check"};
  if (leak_limit) {
    report.claims.push_back(at_most_claim("leak-at-most",
                                          "every head's leak at every non-trigger position i >= 2",
                                          *leak_limit, largest_leak(seen), seen.instances));
  }
  if (loss_limit) {
    report.claims.push_back(
        at_most_claim("loss-at-most", "the worst-case loss Lambda", *loss_limit, seen.loss, seen.instances));
  }
  report.fields["file"] = {{"path", flags.weights}, {"sha256", sha256}};
  report.fields["model"] = model_json(flags, weights, evaluation.parameters);
  report.fields["seed"] = flags.common.seed;
  report.fields["quantities"] = quantities_json(evaluation, normalised);

  if (!flags.common.out.empty()) {
    const auto write_witness = [&](const std::string& name, const certify::Seen& witness) {
      write_file(flags.common.out, name,
                 task::to_text(evaluation.parameters,
                               task::convert<Rational>(evaluation.instances[witness.instance])));
    };
    write_witness("witness-loss.txt", seen.loss);
    if (normalised) write_witness("witness-leak.txt", largest_leak(seen));
  }
  return deliver(report, text_report(flags, weights, evaluation, sha256, normalised, report.claims),
                 flags.common);
}

}  // namespace

void add_check(CLI::App& program, Run& run) {
  auto flags = std::make_shared<CheckFlags>();
  CLI::App* verb = program.add_subcommand(
      "check", "evaluate trained weights rigorously: every attention weight and error enclosed");
  verb->add_option("WEIGHTS", flags->weights, ".npz or .safetensors file")->required()->type_name("");
  verb->add_option("--attention", flags->attention, "softmax or relu; the file does not say")
      ->check(CLI::IsMember({"softmax", "relu"}))
      ->capture_default_str()
      ->type_name("KIND");
  verb->add_option("--length", flags->length, "sequence length L >= 4; the file does not say")
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
  verb->add_option("--samples", flags->samples, "random instances to evaluate")
      ->check(CLI::Range(std::size_t{0}, std::size_t{100'000'000}))
      ->capture_default_str()
      ->type_name("N");
  verb->add_option("--vertices", flags->vertices, "random vertex instances (contents -1 and 1) to evaluate")
      ->check(CLI::Range(std::size_t{0}, std::size_t{100'000'000}))
      ->capture_default_str()
      ->type_name("N");
  verb->add_option("--replay", flags->replay, "evaluate this one instance (a witness file) instead")
      ->type_name("FILE");
  verb->add_option("--leak-at-most", flags->leak_at_most, "claim: every leak is at most Q")->type_name("Q");
  verb->add_option("--loss-at-most", flags->loss_at_most, "claim: the worst-case loss Lambda is at most Q")
      ->type_name("Q");
  flags->common.add_output(*verb);
  flags->common.add_computing(*verb);
  verb->footer(
      "examples:\n"
      "  sinkproof check data/weights/softmax_1h1d.npz\n"
      "  sinkproof check data/weights/relu_1h1d.npz --attention relu\n"
      "  sinkproof check data/weights/softmax_1h1d.npz --loss-at-most 1/200 --out out\n"
      "  sinkproof check data/weights/softmax_1h1d.npz --replay out/witness-loss.txt --loss-at-most 1/200");
  verb->callback([flags, &run] { run = [flags] { return check(*flags); }; });
}

}  // namespace sinkproof::app
