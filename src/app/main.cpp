#include <exception>
#include <new>
#include <string>

#include <fmt/core.h>

#include "app/session.hpp"
#include "errors.hpp"
#include "numeric/rounding.hpp"

namespace {

using namespace sinkproof::app;

/// One line on stderr; newlines from elsewhere would make it several.
int complain(const std::string& message, ExitCode code) {
  std::string line = message;
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  fmt::print(stderr, "sinkproof: {}\n", line);
  return code;
}

int run(int argc, char** argv) {
  CLI::App program{
      "Proofs, not samples, about attention sinks: does a theorem's condition hold for these parameters; "
      "does a trained attention head obey its bounds?",
      "sinkproof"};
  program.set_version_flag("--version", "sinkproof " SINKPROOF_VERSION);
  program.set_help_flag("--help", "print this help");
  program.require_subcommand(1);
  program.footer(
      "exit codes: 0 all requested claims proved, or the job done; 1 some claim disproved; 2 some claim\n"
      "undecided; 3 bad input or usage; 4 an internal check failed (a bug: please report it).\n"
      "'sinkproof VERB --help' shows a verb's flags and examples.");

  Run chosen;
  add_verify(program, chosen);
  add_construct(program, chosen);
  add_check(program, chosen);
  add_certificate(program, chosen);
  add_ci(program, chosen);
  add_train(program, chosen);
  add_measure(program, chosen);
  add_reproduce(program, chosen);
  add_completion(program, chosen);

  // CLI11 would only say that a verb is missing.
  if (argc > 1 && argv[1][0] != '-') {
    std::string verbs;
    bool known = false;
    for (const CLI::App* verb : program.get_subcommands({})) {
      known = known || verb->get_name() == argv[1];
      verbs += (verbs.empty() ? "" : ", ") + verb->get_name();
    }
    if (!known)
      return complain("unknown verb '" + std::string(argv[1]) + "': the verbs are " + verbs, bad_input);
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return program.exit(success);  // --help, --version
  } catch (const CLI::ParseError& error) {
    const auto verbs = program.get_subcommands();
    const std::string help =
        verbs.empty() ? "sinkproof --help" : "sinkproof " + verbs.front()->get_name() + " --help";
    return complain(std::string(error.what()) + " (see '" + help + "')", bad_input);
  }
  return chosen();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (!sinkproof::numeric::subnormals_are_kept()) {
      return complain(
          "this process flushes subnormal numbers to zero (-ffast-math in some library?): "
          "enclosures would be unsound",
          internal_error);
    }
    return run(argc, argv);
  } catch (const sinkproof::InputError& error) {
    return complain(error.what(), bad_input);
  } catch (const std::bad_alloc&) {
    return complain("out of memory: ask for smaller sizes", bad_input);
  } catch (const std::exception& error) {
    return complain(std::string("internal error, a bug: ") + error.what(), internal_error);
  }
}
