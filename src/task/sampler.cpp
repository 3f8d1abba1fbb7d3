#include "task/sampler.hpp"

namespace sinkproof::task {

int Sampler::trigger() {
  // Rejection keeps it uniform: draws beyond the last full multiple of the count are thrown away.
  const auto count = static_cast<std::uint64_t>(parameters_.length() - 2);
  const std::uint64_t last = ~std::uint64_t{0} - ~std::uint64_t{0} % count;
  std::uint64_t draw = bits_();
  while (draw >= last) draw = bits_();
  return 3 + static_cast<int>(draw % count);
}

Instance<double> Sampler::uniform() {
  auto instance = zero_instance<double>(parameters_, trigger());
  for (int row = 1; row < parameters_.length(); ++row) {
    for (int m = 0; m < parameters_.content(); ++m) {
      instance.content(row, m) = static_cast<double>(bits_() >> 11) * 0x1p-52 - 1;
    }
  }
  return instance;
}

Instance<double> Sampler::vertex() {
  auto instance = zero_instance<double>(parameters_, trigger());
  for (int row = 1; row < parameters_.length(); ++row) {
    for (int m = 0; m < parameters_.content(); ++m) instance.content(row, m) = bits_() >> 63 ? 1 : -1;
  }
  return instance;
}

}  // namespace sinkproof::task
