// Any bytes at all as a claims file: it is read, or refused with one line.

#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "app/claims_file.hpp"
#include "errors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int descriptor = ::memfd_create("claims", 0);
  if (descriptor < 0 || ::write(descriptor, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    const auto claims = sinkproof::app::read_claims("/proc/self/fd/" + std::to_string(descriptor));
    if (claims.parameters.empty() && claims.weights.empty() && claims.maps.empty()) std::abort();
  } catch (const sinkproof::InputError& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
  }
  ::close(descriptor);
  return 0;
}
