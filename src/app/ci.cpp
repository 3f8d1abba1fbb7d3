#include <algorithm>
#include <chrono>

#include <fmt/core.h>

#include "app/claims_file.hpp"
#include "app/junit.hpp"
#include "app/report.hpp"
#include "app/weights_check.hpp"
#include "errors.hpp"
#include "theory/verify.hpp"

namespace sinkproof::app {
namespace {

struct CiFlags {
  CommonFlags common;
  std::string claims;
  std::string junit;
};

std::vector<theory::Claim> decide(const ParameterClaims& table, const std::string& path) {
  const theory::VerifyParameters parameters{.task = {table.length, table.content},
                                            .eta = table.eta,
                                            .epsilon = table.epsilon,
                                            .delta = table.delta,
                                            .depth = table.depth};
  const std::vector<theory::Claim> all = theory::verify(parameters);
  if (table.ids.empty()) return all;
  std::vector<theory::Claim> chosen;
  for (const std::string& id : table.ids) {
    const auto claim = std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.id == id; });
    if (claim == all.end()) {
      std::string ids;
      for (const auto& known : all) ids += (ids.empty() ? "" : ", ") + known.id;
      throw InputError(fmt::format("{}: '{}': unknown claim '{}'; the claims are {}", path, table.name,
                                   formats::shown(id), ids));
    }
    chosen.push_back(*claim);
  }
  return chosen;
}

std::vector<theory::Claim> decide(const WeightClaims& table, const CommonFlags& flags) {
  WeightsRequest request;
  request.path = table.file;
  request.attention = table.attention;
  if (!table.layout.empty()) request.options.layout = table.layout;
  if (!table.scale.empty()) request.options.scale = table.scale;
  if (table.heads > 0) request.options.heads = table.heads;
  request.length = table.length;
  request.sha256 = table.sha256;
  request.leak_at_most = table.leak_at_most;
  request.loss_at_most = table.loss_at_most;
  request.sink_at_least = table.sink_at_least;
  request.certify.effort = table.effort == "fast" ? certify::Effort::fast : certify::Effort::tight;
  request.certify.threads = flags.thread_count();
  request.certify.seed = flags.seed;
  return check_weights(request).claims;
}

std::vector<theory::Claim> decide(const MapClaims& table, const CommonFlags& flags) {
  MapsRequest request = table.request;
  request.threads = flags.thread_count();
  return check_maps(request).claims;
}

int ci(const CiFlags& flags) {
  const ClaimsFile file = read_claims(flags.claims);
  std::vector<Suite> suites;
  const auto add = [&](const std::string& name, const auto& decide_claims) {
    const auto start = std::chrono::steady_clock::now();
    Suite suite{.name = name, .claims = decide_claims(), .seconds = 0};
    suite.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    suites.push_back(std::move(suite));
  };
  for (const auto& table : file.parameters) {
    add(table.name, [&] { return decide(table, flags.claims); });
  }
  for (const auto& table : file.weights) {
    add(table.name, [&] { return decide(table, flags.common); });
  }
  for (const auto& table : file.maps) {
    add(table.name, [&] { return decide(table, flags.common); });
  }

  Report report{.verb = "ci"};
  report.fields["file"] = flags.claims;
  report.fields["suites"] = Json::array();
  std::string text;
  for (const Suite& suite : suites) {
    report.fields["suites"].push_back(
        {{"name", printable(suite.name)}, {"claims", suite.claims.size()}, {"seconds", suite.seconds}});
    for (const theory::Claim& claim : suite.claims) {
      report.claims.push_back(claim);
      report.claims.back().title = printable(suite.name);
      text += fmt::format("{:<10} {}: {}: {}{}\n", to_string(claim.verdict), printable(suite.name), claim.id,
                          claim.statement, claim.reason.empty() ? "" : " (" + claim.reason + ")");
    }
  }
  text += counted(report.claims);
  if (!flags.junit.empty()) formats::write_atomically(flags.junit, junit_xml(suites));
  return deliver(report, text, flags.common);
}

}  // namespace

void add_ci(CLI::App& program, Run& run) {
  auto flags = std::make_shared<CiFlags>();
  CLI::App* verb =
      program.add_subcommand("ci", "decide every claim of a claims file; the exit code is the worst verdict");
  verb->add_option("CLAIMS", flags->claims, "claims file (TOML; src/app/CLAIMS.md documents it)")
      ->required()
      ->type_name("");
  verb->add_option("--junit", flags->junit, "also write JUnit XML to this file")->type_name("FILE");
  flags->common.add_output(*verb);
  flags->common.add_computing(*verb);
  verb->footer(
      "examples:\n"
      "  sinkproof ci data/claims.toml\n"
      "  sinkproof ci claims.toml --junit sinkproof.xml --json");
  verb->callback([flags, &run] { run = [flags] { return ci(*flags); }; });
}

}  // namespace sinkproof::app
