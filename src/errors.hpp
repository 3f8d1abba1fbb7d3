#pragma once

#include <stdexcept>
#include <string>

namespace sinkproof {

/// What the caller gave cannot be used. `what()` is one line that names the file (or flag), the field, and
/// the mend. The program turns it into exit code 3; the library never prints and never exits.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace sinkproof
