// Any bytes at all: a reader returns, or throws InputError with one line.

#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "errors.hpp"
#include "formats/json_lists.hpp"
#include "formats/npy.hpp"
#include "formats/npz.hpp"
#include "formats/safetensors.hpp"
#include "formats/weights_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int descriptor = ::memfd_create("input", 0);
  if (descriptor < 0 || ::write(descriptor, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    const sinkproof::formats::File file("/proc/self/fd/" + std::to_string(descriptor));
    static_cast<void>(sinkproof::formats::SINKPROOF_READER(file));
  } catch (const sinkproof::InputError& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
  }
  ::close(descriptor);
  return 0;
}
