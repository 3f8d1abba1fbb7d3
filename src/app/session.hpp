#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

/// The command line: one file a verb. Only this folder prints or exits.
namespace sinkproof::app {

/// Exit codes of every verb.
enum ExitCode : int {
  all_proved = 0,      ///< all requested claims are proved, or the job is done
  some_disproved = 1,  ///< some claim is disproved
  some_undecided = 2,  ///< none is disproved, some claim is undecided
  bad_input = 3,       ///< bad input or usage; one line on stderr names the file, the field and the mend
  internal_error = 4,  ///< an internal check failed: a bug
};

/// Flags that verbs share; each verb offers the ones it honours.
struct CommonFlags {
  bool json = false;
  bool quiet = false;
  int threads = 0;  ///< 0: as many as the machine has
  std::uint64_t seed = 1;
  std::string out;  ///< folder for files; empty: none are written

  void add_output(CLI::App& verb);     ///< --json, --quiet, --out
  void add_computing(CLI::App& verb);  ///< --threads, --seed
  int thread_count() const;
};

/// What the chosen verb runs after parsing; returns the exit code.
using Run = std::function<int()>;

void add_verify(CLI::App& program, Run& run);
void add_construct(CLI::App& program, Run& run);
void add_check(CLI::App& program, Run& run);
void add_certificate(CLI::App& program, Run& run);
void add_ci(CLI::App& program, Run& run);
void add_train(CLI::App& program, Run& run);
void add_measure(CLI::App& program, Run& run);
void add_reproduce(CLI::App& program, Run& run);
void add_completion(CLI::App& program, Run& run);

}  // namespace sinkproof::app
