#include <fmt/core.h>

#include "app/certificate.hpp"
#include "app/check_report.hpp"
#include "app/parameters.hpp"
#include "errors.hpp"
#include "formats/file.hpp"

namespace sinkproof::app {
namespace {

using numeric::Rational;

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

void write_stack_witnesses(const std::string& out, const WeightsChecked& checked) {
  for (const auto& head : checked.stack->heads) {
    const auto write = [&](const char* which, const certify::StackWitness& witness) {
      if (witness.value.is_undecided()) return;
      write_file(out, fmt::format("witness-{}-bos-weight-layer-{}-head-{}.txt", which, head.layer, head.head),
                 task::to_text(checked.parameters, task::convert<Rational>(witness.instance)));
    };
    write("least", head.least_sink_weight.witness);
    write("largest", head.largest_sink_weight.witness);
  }
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
  if (!flags.common.out.empty()) {
    const auto write_witness = [&](const std::string& name, const Bound& bound) {
      if (!bound.witness) return;
      write_file(flags.common.out, name,
                 task::to_text(checked.parameters, task::convert<Rational>(bound.witness->instance)));
    };
    write_witness("witness-loss.txt", checked.loss);
    write_witness("witness-leak.txt", checked.leak);
    if (checked.stack) write_stack_witnesses(flags.common.out, checked);
  }
  Report report = check_report(flags, checked);
  std::string text = check_text(flags, checked);
  if (!flags.certificate.empty()) {
    report.fields["certificate"] = flags.certificate;
    text += "\n" + write_certificate(flags.certificate, flags.request, checked);
  }
  return deliver(report, text, flags.common);
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
  CLI::Option* replay =
      verb->add_option("--replay", flags->replay, "evaluate this one instance (a witness file) only")
          ->type_name("FILE");
  verb->add_option("--certificate", flags->certificate,
                   "write a theorem about these weights for Coq, and what its check needs, to this folder")
      ->excludes(replay)
      ->type_name("DIR");
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
