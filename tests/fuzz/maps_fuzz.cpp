// Any bytes at all as a file of maps, with axes and sink key chosen by the last byte: it is measured, or
// refused with one line.

#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "errors.hpp"
#include "measure/measurement.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sinkproof;
  if (size == 0) return 0;
  const unsigned choice = data[--size];
  const int descriptor = ::memfd_create("maps", 0);
  if (descriptor < 0 || ::write(descriptor, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    const formats::File file("/proc/self/fd/" + std::to_string(descriptor));
    constexpr const char* axes[] = {"", "lhqk", "bhqk", "blhqk", "lbhkq", "hkq"};
    measure::MapsOptions options;
    if (choice % 8 >= 1 && choice % 8 <= 5) options.axes = axes[choice % 8];
    const measure::MapsFile maps(file, options);
    const measure::Windows windows{.kind = choice & 8 ? measure::Windows::Kind::automatic
                                                      : measure::Windows::Kind::whole};
    const auto measurement = measure_maps(maps, windows, {.normalised = (choice & 16) == 0}, 1);
    const auto all = measurement.layers({1, maps.layout().layers});
    // What must hold of every measurement.
    if (const auto rate = all.sink_rate(); rate && (*rate < 0 || *rate > 1)) std::abort();
    if (const auto alpha = all.alpha.value(); alpha && alpha->lower > alpha->upper) std::abort();
    if (all.maps != static_cast<int>(maps.layout().maps())) std::abort();
  } catch (const InputError& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
  }
  ::close(descriptor);
  return 0;
}
