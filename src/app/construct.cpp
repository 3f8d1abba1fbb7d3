#include <cmath>

#include <fmt/core.h>

#include "app/parameters.hpp"
#include "app/report.hpp"
#include "attention/weights.hpp"
#include "errors.hpp"
#include "formats/weights_file.hpp"
#include "theory/constructions.hpp"

namespace sinkproof::app {
namespace {

using numeric::Rational;

struct ConstructFlags {
  CommonFlags common;
  TaskFlags task;
  std::string name;
  std::string q = "3000";
  std::string exponent;
  std::string eta = "1/200";
  std::string v = "2";
  std::string sink_weight = "2";
  int random = 5;
  int digits = 0;
  std::string weights;
};

/// The weights of a single bilinear head as factors: W_Q = W_O = 1, W_K = A, W_V = V. A file holds floats, so
/// K = log q is rounded to a double there.
attention::Weights factors(const ConstructFlags& flags, const theory::Choice& choice) {
  const auto refuse = [&](const std::string& why) {
    return InputError("--weights: a weights file cannot hold '" + flags.name + "': " + why);
  };
  theory::Choice rational = choice;
  rational.exponent.reset();
  const auto parameters = flags.task.parameters();
  const auto construction = theory::construct<Rational>(flags.name, parameters, rational);
  const auto model = construction.model(task::zero_instance<Rational>(parameters, 3));
  if (model.layers.size() != 1 || model.layers[0].heads.size() != 1 || model.residual) {
    throw refuse("it is not a single head");
  }
  const auto& head = model.layers[0].heads[0];
  const auto* scores = std::get_if<attention::BilinearScores<Rational>>(&head.attention);
  if (!scores) throw refuse("its attention is given outright, not by scores");
  if (head.gate || model.read_out ||
      (scores->normaliser != attention::Normaliser::softmax &&
       scores->normaliser != attention::Normaliser::relu)) {
    throw refuse("it has parts besides the four matrices of a softmax or ReLU head");
  }
  double unit = 1;
  if (scores->base) {
    unit = choice.exponent ? choice.exponent->convert_to<double>()
                           : std::log(scores->base->convert_to<double>());
  }
  const int n = parameters.dimension();
  const auto as_double = [](const numeric::Matrix<Rational>& matrix) {
    return Eigen::MatrixXd(matrix.unaryExpr([](const Rational& x) { return x.convert_to<double>(); }));
  };
  attention::HeadWeights weights{.query = Eigen::MatrixXd::Identity(n, n),
                                 .key = unit * as_double(scores->matrix),
                                 .value = as_double(head.value),
                                 .output = Eigen::MatrixXd::Identity(n, n)};
  return {.layers = {{{weights}}}, .dimension = n, .residual = false, .scale = {}, .layout = "paper"};
}

template <numeric::Rigorous T>
theory::Claim evaluate(const ConstructFlags& flags, const theory::Choice& choice, std::string& text) {
  const auto parameters = flags.task.parameters();
  const auto construction = theory::construct<T>(flags.name, parameters, choice);
  const auto seen = theory::evaluate(
      construction, theory::sample_instances<T>(parameters, flags.random, flags.common.seed));
  theory::Claim claim;
  claim.id = construction.id;
  claim.title = construction.name;
  claim.statement = construction.claim;
  claim.hypothesis = fmt::format("L = {}, n = {} (d = {})", parameters.length(), parameters.dimension(),
                                 parameters.content());
  claim.verdict = numeric::Verdict::proved;  // evaluate() throws where the closed form is contradicted
  claim.quantities = {
      theory::quantity(construction.attained ? "Lambda" : "Lambda_at_most", construction.loss),
      theory::quantity("largest_error_seen", seen.largest_error),
      theory::quantity("largest_non_trigger_bos_weight_seen", seen.largest_bos_weight),
      theory::quantity("instances", Rational(seen.instances))};

  constexpr int longest_table = 64;
  if (parameters.length() <= longest_table) {
    const int trigger = parameters.length() - 1;
    const auto instance = task::zero_instance<T>(parameters, trigger);
    text += fmt::format(
        "closed form for the trigger at j = {} (each head's BOS weight; sup of the error over content)\n",
        trigger);
    for (int position = 1; position <= parameters.length(); ++position) {
      const auto at = construction.at(position, instance);
      std::string weights;
      for (const T& weight : at.bos_weights) {
        weights += (weights.empty() ? "" : ", ") + to_text(theory::quantity("", weight));
      }
      text += fmt::format("  i = {:<4} BOS {:<34} error {}{}\n", position, weights,
                          to_text(theory::quantity("", at.loss)), position == trigger ? "   (trigger)" : "");
    }
    text += "\n";
  }
  return claim;
}

int construct(const ConstructFlags& flags) {
  theory::Choice choice{.q = exact_flag("--q", flags.q),
                        .eta = exact_flag("--eta", flags.eta),
                        .v = exact_flag("--v", flags.v),
                        .sink_weight = exact_flag("--sink-weight", flags.sink_weight)};
  if (!flags.exponent.empty()) choice.exponent = exact_flag("--exponent", flags.exponent);
  Report report{.verb = "construct"};
  std::string text;
  if (!choice.exponent) {
    report.claims = {evaluate<Rational>(flags, choice, text)};
  } else if (flags.digits == 0) {
    report.claims = {evaluate<numeric::Interval>(flags, choice, text)};
  } else {
    const numeric::BigPrecision precision(static_cast<unsigned>(flags.digits));
    report.claims = {evaluate<numeric::BigInterval>(flags, choice, text)};
  }
  const auto parameters = flags.task.parameters();
  report.fields["construction"] = flags.name;
  report.fields["arithmetic"] = !choice.exponent    ? "exact"
                                : flags.digits == 0 ? "double intervals"
                                                    : "big intervals";
  report.fields["parameters"] = {{"length", parameters.length()},
                                 {"content", parameters.content()},
                                 {"dimension", parameters.dimension()}};
  if (!flags.weights.empty()) {
    formats::write_weights(flags.weights, factors(flags, choice));
    report.fields["weights"] = flags.weights;
    text += "weights written to " + flags.weights + "\n\n";
  }
  return deliver(report, text + to_text(report.claims), flags.common);
}

}  // namespace

void add_construct(CLI::App& program, Run& run) {
  auto flags = std::make_shared<ConstructFlags>();
  CLI::App* verb = program.add_subcommand(
      "construct", "build a construction of the theory, evaluate it, compare with its closed form");
  std::string names;
  for (const auto& name : theory::construction_names()) names += (names.empty() ? "" : ", ") + name;
  verb->add_option("NAME", flags->name, names)
      ->required()
      ->check(CLI::IsMember(theory::construction_names()))
      ->type_name("");
  flags->task.add(*verb);
  CLI::Option* q =
      verb->add_option("--q", flags->q, "q = e^K > 1, rational: evaluated exactly, with no exponential")
          ->capture_default_str()
          ->type_name("Q");
  CLI::Option* exponent =
      verb->add_option("--exponent", flags->exponent, "K > 0 instead of q: evaluated in interval arithmetic")
          ->type_name("K")
          ->excludes(q);
  verb->add_option("--digits", flags->digits,
                   "with --exponent: intervals of this many digits (default: double)")
      ->check(CLI::Range(1, 10'000))
      ->needs(exponent)
      ->type_name("N");
  verb->add_option("--eta", flags->eta, "the loss of 'sharp', 0 < eta < 1/2")
      ->capture_default_str()
      ->type_name("Q");
  verb->add_option("--v", flags->v, "the gain of 'residual', v >= 1")->capture_default_str()->type_name("Q");
  verb->add_option("--sink-weight", flags->sink_weight, "e^b of 'sink-logit'")
      ->capture_default_str()
      ->type_name("Q");
  verb->add_option("--random", flags->random,
                   "random instances of each kind to evaluate, besides the corners")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str()
      ->type_name("N");
  verb->add_option("--seed", flags->common.seed, "seed of the random instances")
      ->capture_default_str()
      ->type_name("N");
  verb->add_option("--weights", flags->weights, "write the head to this .npz or .safetensors file")
      ->type_name("FILE");
  flags->common.add_output(*verb);
  verb->footer(
      "examples:\n"
      "  sinkproof construct relu\n"
      "  sinkproof construct softmax --q 2985\n"
      "  sinkproof construct softmax --exponent 8 --weights softmax.npz && sinkproof check softmax.npz\n"
      "  sinkproof construct sharp --eta 1/200 --content 0");
  verb->callback([flags, &run] { run = [flags] { return construct(*flags); }; });
}

}  // namespace sinkproof::app
