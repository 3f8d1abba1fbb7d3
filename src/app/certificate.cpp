#include "app/certificate.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include <unistd.h>

#include <fmt/format.h>

#include "app/process.hpp"
#include "certify/coq_certificate.hpp"
#include "errors.hpp"
#include "formats/sha256.hpp"

namespace sinkproof::app {
namespace {

namespace fs = std::filesystem;
using certify::CertificatePart;
using numeric::Rational;

constexpr const char* coq_version = "8.16.1";
constexpr const char* schema = "sinkproof/certificate/1";

std::string name_of(certify::Quantity quantity) {
  switch (quantity) {
    case certify::Quantity::leak:
      return "leak";
    case certify::Quantity::weight_off_trigger:
      return "weight_off_trigger";
    case certify::Quantity::loss:
      break;
  }
  return "loss";
}

/// For a comment of Coq: nothing that could end it.
std::string tame(const std::string& text) {
  std::string result;
  for (const char c : text.substr(0, 200)) {
    const bool harmless = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          c == '.' || c == '-' || c == '_' || c == ' ';
    result += harmless ? c : '_';
  }
  return result;
}

/// Everything besides the weights that the certificate depends on: what certificate.json records.
struct Facts {
  std::string name;    ///< of the weights file when the certificate was written
  std::string sha256;  ///< of the weights file
  std::string layout, scale, attention, program;
  long length = 0;

  std::string copy() const {
    return fs::path(name).extension() == ".safetensors" ? "weights.safetensors" : "weights.npz";
  }
  attention::Normaliser normaliser() const {
    return attention == "relu" ? attention::Normaliser::relu : attention::Normaliser::softmax;
  }
};

std::string scale_of(const attention::Weights& weights) {
  if (weights.scale.inverse_sqrt_head_dimension) return "sqrt";
  return weights.scale.factor == 1 ? "none" : numeric::to_string(weights.scale.factor);
}

/// The two files that state something, as functions of the weights and the facts.
struct Certificate {
  std::string coq, json;
  std::vector<CertificatePart> parts;
};

Certificate certificate_of(const attention::Weights& weights, const Facts& facts) {
  const certify::CoqHead head = certify::coq_head(weights);
  const task::Parameters parameters(facts.length, head.content);
  Certificate result;
  result.parts = certify::certificate_parts(head, facts.normaliser(), parameters.length());
  result.coq = certify::certificate_text(
      head, facts.normaliser(), parameters.length(),
      {.file = facts.name, .sha256 = facts.sha256, .layout = facts.layout, .program = facts.program},
      result.parts);
  const auto best = certify::best_parts(result.parts);
  Json json{{"schema", schema},
            {"program", facts.program},
            {"weights",
             {{"name", facts.name},
              {"copy", facts.copy()},
              {"sha256", facts.sha256},
              {"layout", facts.layout},
              {"scale", facts.scale}}},
            {"attention", facts.attention},
            {"length", facts.length},
            {"content", head.content},
            {"theorem", "certificate"},
            {"bounds", Json::array()}};
  for (const CertificatePart& part : result.parts) {
    json["bounds"].push_back({{"quantity", name_of(part.quantity)},
                              {"level", part.level},
                              {"at_most", {{"exact", numeric::to_string(part.bound.value())}}},
                              {"theorem", part.theorem},
                              {"stated", std::find(best.begin(), best.end(), &part) != best.end()}});
  }
  result.json = json.dump(2) + "\n";
  return result;
}

std::string check_script(const std::vector<certify::TheoryFile>& theory) {
  std::string names;
  for (const auto& file : theory) {
    names += " " + fs::path(file.name).stem().string();
  }
  return fmt::format(
      "#!/bin/sh\n"
      "# Checks the theorem with Coq {} and prints it with the axioms it rests on.\n"
      "# It trusts that the integers in Certificate.v are those of the weights file: to check that as well, "
      "run\n"
      "# sinkproof certificate verify DIR\n"
      "set -eu\n"
      "cd \"$(dirname \"$0\")\"\n"
      "for name in{}; do\n"
      "  coqc -q -Q theory Sinkproof \"theory/$name.v\"\n"
      "done\n"
      "coqc -q -Q theory Sinkproof Certificate.v\n"
      "echo 'Require Certificate. Check Certificate.certificate. Print Assumptions Certificate.certificate.' "
      ">Statement.v\n"
      "coqc -q -Q theory Sinkproof Statement.v\n",
      coq_version, names);
}

void write_theory(const fs::path& folder, const std::vector<certify::TheoryFile>& theory) {
  fs::create_directories(folder);
  for (const auto& file : theory) formats::write_atomically(folder / file.name, file.text);
}

/// The folder appears under its name when it is whole.
void publish(const fs::path& temporary, const fs::path& folder) {
  const fs::path old = fs::path(temporary).concat(".old");
  if (fs::exists(folder)) fs::rename(folder, old);
  fs::rename(temporary, folder);
  fs::remove_all(old);
}

std::string bound_lines(const std::vector<CertificatePart>& parts) {
  std::string text;
  for (const CertificatePart& part : parts) {
    text += fmt::format("    {:<20}at most {:<14}by {}\n", name_of(part.quantity),
                        numeric::decimal(part.bound.value(), numeric::Direction::up), part.level);
  }
  return text;
}

// --- verify

/// The certificate does not prove what it states.
class Rejected : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// It was not decided.
class Undecided : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct VerifyFlags {
  CommonFlags common;
  std::string folder, weights;
  double time_limit = 1800;
};

Facts read_facts(const fs::path& path) {
  const auto broken = [&](const std::string& why) {
    return Rejected(fmt::format("{}: {}", path.string(), why));
  };
  try {
    const Json json = Json::parse(formats::read_text(path));
    if (json.at("schema") != schema) throw broken("'schema': is not " + std::string(schema));
    const Json& weights = json.at("weights");
    Facts facts{.name = tame(weights.at("name")),
                .sha256 = tame(weights.at("sha256")),
                .layout = weights.at("layout"),
                .scale = weights.at("scale"),
                .attention = json.at("attention"),
                .program = tame(json.at("program")),
                .length = json.at("length")};
    if (facts.attention != "softmax" && facts.attention != "relu") {
      throw broken("'attention': is neither softmax nor relu");
    }
    return facts;
  } catch (const Json::exception&) {
    throw broken("is not the JSON file of a certificate, or is truncated");
  }
}

/// Compares a file with what it must be.
void require_same(const fs::path& path, std::string_view wanted, const std::string& what) {
  const std::string found = formats::read_text(path);
  if (found == wanted) return;
  const auto [a, b] = std::mismatch(found.begin(), found.end(), wanted.begin(), wanted.end());
  const auto line = 1 + std::count(found.begin(), a, '\n');
  if (a == found.end()) {
    throw Rejected(fmt::format("{}: line {}: ends too early: it is truncated", path.string(), line));
  }
  throw Rejected(fmt::format("{}: line {}: is not {}", path.string(), line, what));
}

/// The names under "Axioms:" in the answer of Print Assumptions.
std::set<std::string> axioms_in(const std::string& answer) {
  std::set<std::string> axioms;
  std::istringstream lines(answer);
  std::string line;
  bool listed = false, closed = false;
  while (std::getline(lines, line)) {
    if (line.starts_with("Closed under the global context")) closed = true;
    if (listed && !line.empty() && line[0] != ' ') axioms.insert(line.substr(0, line.find(' ')));
    if (line == "Axioms:") listed = true;
  }
  if (!listed && !closed) throw std::logic_error("Print Assumptions gave no answer: " + answer);
  return axioms;
}

struct CoqAnswer {
  std::set<std::string> axioms;
  double seconds = 0;
};

/// Compiles the theory and the certificate in a folder of its own, and asks for the axioms.
CoqAnswer ask_coq(const Certificate& certificate, double time_limit) {
  const Finished version = run_program({"coqc", "--print-version"}, ".", 60);
  if (version.missing) {
    throw InputError(
        fmt::format("coqc: is not installed: install Coq {} (Debian 12: apt-get install coq)", coq_version));
  }
  if (!version.output.starts_with(std::string(coq_version) + " ")) {
    throw InputError(fmt::format("coqc: is version {}: Coq {} is needed",
                                 version.output.substr(0, version.output.find_first_of(" \n")), coq_version));
  }
  const TemporaryFolder scratch;
  const auto theory = certify::theory_files(certificate.parts);
  write_theory(scratch.path() / "theory", theory);
  formats::write_atomically(scratch.path() / "Certificate.v", certificate.coq);
  formats::write_atomically(scratch.path() / "Statement.v",
                            "Require Certificate. Print Assumptions Certificate.certificate.\n");
  CoqAnswer answer;
  const auto compile = [&](const std::string& file) {
    const Finished done = run_program({"coqc", "-q", "-Q", "theory", "Sinkproof", file}, scratch.path(),
                                      time_limit - answer.seconds);
    answer.seconds += done.seconds;
    if (done.timed_out) {
      throw Undecided(
          fmt::format("coqc: did not finish within {} s: allow more with --time-limit", time_limit));
    }
    if (done.code != 0)
      throw Rejected(fmt::format("{}: coqc rejects it: {}", file, done.output.substr(0, 300)));
    return done.output;
  };
  for (const auto& file : theory) compile("theory/" + std::string(file.name));
  compile("Certificate.v");
  answer.axioms = axioms_in(compile("Statement.v"));
  const std::vector<std::string> listed = certify::listed_axioms();
  for (const std::string& axiom : answer.axioms) {
    if (std::find(listed.begin(), listed.end(), axiom) == listed.end()) {
      throw Rejected("Certificate.v: rests on an axiom that is not listed: " + axiom);
    }
  }
  return answer;
}

struct Verified {
  Facts facts;
  std::vector<CertificatePart> parts;
  int content = 0;
  CoqAnswer coq;
};

Verified verify_certificate(const VerifyFlags& flags) {
  const fs::path folder = flags.folder;
  if (!fs::is_directory(folder)) {
    throw InputError(flags.folder + ": no such folder: give the one that check --certificate wrote");
  }
  Verified result;
  result.facts = read_facts(folder / "certificate.json");
  const Facts& facts = result.facts;
  const fs::path weights_path = flags.weights.empty() ? folder / facts.copy() : fs::path(flags.weights);
  const formats::File file(weights_path);
  const std::string sha256 = formats::sha256(file);
  if (sha256 != facts.sha256) {
    throw Rejected(fmt::format("{}: hashes to {}, but the certificate is about {}", weights_path.string(),
                               sha256, facts.sha256));
  }
  const attention::Weights weights =
      formats::read_weights(file, {.layout = facts.layout, .scale = facts.scale, .heads = 1});
  result.content = weights.dimension - 3;
  const Certificate wanted = certificate_of(weights, facts);
  result.parts = wanted.parts;
  const std::string what = fmt::format("what {} writes about {}", "sinkproof " SINKPROOF_VERSION, facts.name);
  require_same(folder / "certificate.json", wanted.json, what);
  require_same(folder / "Certificate.v", wanted.coq, what);
  for (const auto& theory : certify::theory_files(wanted.parts)) {
    require_same(folder / "theory" / theory.name, theory.text, "the theory that this program was built with");
  }
  result.coq = ask_coq(wanted, flags.time_limit);
  return result;
}

int verify(const VerifyFlags& flags) {
  Report report{.verb = "certificate-verify"};
  report.fields["folder"] = flags.folder;
  const auto fail = [&](const std::exception& error, ExitCode code) {
    report.fields["proved"] = false;
    report.fields["reason"] = error.what();
    deliver(report, "", flags.common);
    std::string line = error.what();
    std::replace(line.begin(), line.end(), '\n', ' ');
    fmt::print(stderr, "sinkproof: {}: not proved\n", line);
    return static_cast<int>(code);
  };
  try {
    const Verified verified = verify_certificate(flags);
    const Facts& facts = verified.facts;
    report.fields["proved"] = true;
    report.fields["weights"] = {{"name", facts.name}, {"sha256", facts.sha256}};
    report.fields["axioms"] = verified.coq.axioms;
    report.fields["seconds"] = verified.coq.seconds;
    std::string text = fmt::format(
        "{}\n  weights    {}, sha256 {}\n  axioms     {}\n  coqc       {:.1f} s\n\n", flags.folder,
        facts.name, facts.sha256, fmt::join(verified.coq.axioms, "\n             "), verified.coq.seconds);
    for (const CertificatePart* part : certify::best_parts(verified.parts)) {
      theory::Claim claim;
      claim.id = name_of(part->quantity) + "-at-most";
      claim.title = claim.id;
      claim.statement =
          certify::coq_statement(*part, facts.normaliser(), static_cast<int>(facts.length), verified.content);
      claim.hypothesis = facts.attention + " head with these weights, all instances of length " +
                         std::to_string(facts.length);
      claim.verdict = numeric::Verdict::proved;
      claim.quantities = {theory::quantity("at_most", part->bound.value())};
      report.claims.push_back(claim);
    }
    return deliver(report, text + to_text(report.claims), flags.common);
  } catch (const Rejected& rejected) {
    return fail(rejected, some_disproved);
  } catch (const Undecided& undecided) {
    return fail(undecided, some_undecided);
  }
}

}  // namespace

std::string write_certificate(const fs::path& folder, const WeightsRequest& request,
                              const WeightsChecked& checked) {
  fs::path target = fs::absolute(folder).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();
  if (fs::exists(target) &&
      !(fs::is_directory(target) && (fs::is_empty(target) || fs::exists(target / "certificate.json")))) {
    throw InputError("--certificate " + folder.string() +
                     ": is there and is not a certificate: choose another name");
  }
  const Facts facts{.name = tame(fs::path(request.path).filename().string()),
                    .sha256 = checked.sha256,
                    .layout = checked.weights.layout,
                    .scale = scale_of(checked.weights),
                    .attention = request.attention,
                    .program = "sinkproof " SINKPROOF_VERSION,
                    .length = request.length};
  const Certificate certificate = certificate_of(checked.weights, facts);
  for (const CertificatePart& part : certificate.parts) {
    const Rational& attained =
        part.quantity == certify::Quantity::loss ? checked.loss.attained : checked.leak.attained;
    if (part.bound.value() < attained) {
      throw std::logic_error(fmt::format("the certificate's {} bound, by {}, is below what a witness attains",
                                         name_of(part.quantity), part.level));
    }
  }
  const fs::path temporary = fs::path(target).concat(fmt::format(".{}.tmp", ::getpid()));
  try {
    const auto theory = certify::theory_files(certificate.parts);
    write_theory(temporary / "theory", theory);
    formats::write_atomically(temporary / "Certificate.v", certificate.coq);
    formats::write_atomically(temporary / "certificate.json", certificate.json);
    formats::write_atomically(temporary / "check.sh", check_script(theory));
    fs::permissions(temporary / "check.sh",
                    fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                    fs::perm_options::add);
    fs::copy_file(request.path, temporary / facts.copy());
    if (formats::sha256(temporary / facts.copy()) != facts.sha256) {
      throw InputError(request.path + ": changed while it was read: run this again");
    }
    publish(temporary, target);
  } catch (const fs::filesystem_error& error) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    throw InputError(fmt::format("--certificate {}: {}", folder.string(), error.code().message()));
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    throw;
  }
  return fmt::format("  certificate in {}; check it with: sinkproof certificate verify {}\n{}\n",
                     folder.string(), folder.string(), bound_lines(certificate.parts));
}

void add_certificate(CLI::App& program, Run& run) {
  CLI::App* verb = program.add_subcommand("certificate", "check a certificate with Coq, against its weights");
  verb->require_subcommand(1);
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App* action = verb->add_subcommand(
      "verify", "derive the certificate again from the weights, compare, run coqc, compare the axioms");
  action->add_option("DIR", flags->folder, "folder that check --certificate wrote")
      ->required()
      ->type_name("");
  action->add_option("--weights", flags->weights, "the weights file (default: the copy in DIR)")
      ->type_name("FILE");
  action->add_option("--time-limit", flags->time_limit, "seconds that coqc may take")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str()
      ->type_name("S");
  flags->common.add_output(*action);
  action->footer(
      "exit codes: 0 proved; 1 rejected; 2 coqc did not finish in time; 3 bad input, or Coq is missing\n"
      "examples:\n"
      "  sinkproof check data/weights/softmax_1h1d.npz --certificate out/softmax\n"
      "  sinkproof certificate verify out/softmax");
  action->callback([flags, &run] { run = [flags] { return verify(*flags); }; });
}

}  // namespace sinkproof::app
