#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sinkproof::app {

struct Finished {
  bool missing = false;    ///< there is no such program on the PATH
  bool timed_out = false;  ///< it was stopped
  int code = 0;            ///< its exit code; 128 + n where signal n ended it
  double seconds = 0;
  std::string output;  ///< standard output and standard error
};

/// Runs a program in `folder` without a shell and without input, and waits for it.
Finished run_program(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                     double time_limit);

/// A fresh folder below the system's one for temporary files, removed with all its content at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace sinkproof::app
