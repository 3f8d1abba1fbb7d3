#include "app/session.hpp"

#include <algorithm>
#include <thread>

namespace sinkproof::app {

void CommonFlags::add_output(CLI::App& verb) {
  verb.add_flag("--json", json, "print the report as JSON (src/app/JSON.md documents it)");
  verb.add_flag("--quiet", quiet, "print nothing; the exit code tells");
  verb.add_option("--out", out, "also write the report and other files into this folder")->type_name("DIR");
}

void CommonFlags::add_computing(CLI::App& verb) {
  verb.add_option("--threads", threads, "worker threads; results do not depend on it (default: all cores)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  verb.add_option("--seed", seed, "seed of every random choice")->type_name("N")->capture_default_str();
}

int CommonFlags::thread_count() const {
  return threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace sinkproof::app
