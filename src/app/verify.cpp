#include "theory/verify.hpp"

#include <fmt/core.h>

#include "app/parameters.hpp"
#include "app/report.hpp"
#include "errors.hpp"

namespace sinkproof::app {
namespace {

struct VerifyFlags {
  CommonFlags common;
  TaskFlags task;
  std::string eta = "1/200";
  std::string epsilon = "1/20";
  std::string delta = "1/10";
  int depth = 2;
};

int verify(const VerifyFlags& flags) {
  const theory::VerifyParameters parameters{.task = flags.task.parameters(),
                                            .eta = exact_flag("--eta", flags.eta),
                                            .epsilon = exact_flag("--epsilon", flags.epsilon),
                                            .delta = exact_flag("--delta", flags.delta),
                                            .depth = flags.depth};
  Report report{.verb = "verify"};
  report.claims = theory::verify(parameters);
  report.fields["parameters"] = {{"length", parameters.task.length()},
                                 {"content", parameters.task.content()},
                                 {"dimension", parameters.task.dimension()},
                                 {"eta", numeric::to_string(parameters.eta)},
                                 {"epsilon", numeric::to_string(parameters.epsilon)},
                                 {"delta", numeric::to_string(parameters.delta)},
                                 {"depth", parameters.depth}};
  const std::string head =
      fmt::format("L = {}, n = {} (d = {}), loss eta = {}, leak epsilon = {}, delta = {}, depth {}\n\n",
                  parameters.task.length(), parameters.task.dimension(), parameters.task.content(),
                  numeric::to_string(parameters.eta), numeric::to_string(parameters.epsilon),
                  numeric::to_string(parameters.delta), parameters.depth);
  return deliver(report, head + to_text(report.claims), flags.common);
}

}  // namespace

void add_verify(CLI::App& program, Run& run) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App* verb = program.add_subcommand(
      "verify", "check every theorem's conditions at given parameters, and compute its constants");
  flags->task.add(*verb);
  verb->add_option("--eta", flags->eta, "the loss: worst case, and expected in Theorem 1'")
      ->capture_default_str()
      ->type_name("Q");
  verb->add_option("--epsilon", flags->epsilon, "the leak wanted")->capture_default_str()->type_name("Q");
  verb->add_option("--delta", flags->delta, "the probability of exceptions allowed in Theorem 1'")
      ->capture_default_str()
      ->type_name("Q");
  verb->add_option("--depth", flags->depth, "layers of Theorem 2's stack")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->type_name("D");
  flags->common.add_output(*verb);
  verb->footer(
      "Numbers Q are exact: 1/200, 0.005 and 5e-3 are the same.\n"
      "examples:\n"
      "  sinkproof verify\n"
      "  sinkproof verify --length 64 --dimension 32 --eta 1/1000\n"
      "  sinkproof verify --length 16 --content 13 --epsilon 1/20 --delta 1/10 --json");
  verb->callback([flags, &run] { run = [flags] { return verify(*flags); }; });
}

}  // namespace sinkproof::app
