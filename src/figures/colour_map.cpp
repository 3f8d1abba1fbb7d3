#include "figures/colour_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace sinkproof::figures {
namespace {

constexpr std::array<Rgb, 9> anchors{{{68, 1, 84},
                                      {71, 44, 122},
                                      {59, 81, 139},
                                      {44, 113, 142},
                                      {33, 144, 141},
                                      {39, 173, 129},
                                      {92, 200, 99},
                                      {170, 220, 50},
                                      {253, 231, 37}}};

// Without the two ends of the palette, black and yellow, which light or dark paper swallows.
constexpr std::array<Rgb, 6> lines{
    {{0, 114, 178}, {213, 94, 0}, {0, 158, 115}, {204, 121, 167}, {86, 180, 233}, {230, 159, 0}}};

std::uint8_t between(std::uint8_t a, std::uint8_t b, double part) {
  return static_cast<std::uint8_t>(std::lround(a + part * (b - a)));
}

}  // namespace

Rgb viridis(double x) {
  const double at = std::clamp(x, 0.0, 1.0) * (anchors.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(at), anchors.size() - 2);
  const double part = at - static_cast<double>(i);
  const Rgb &a = anchors[i], &b = anchors[i + 1];
  return {between(a.red, b.red, part), between(a.green, b.green, part), between(a.blue, b.blue, part)};
}

std::span<const Rgb> viridis_anchors() {
  return anchors;
}

Rgb line_colour(std::size_t number) {
  return lines[number % lines.size()];
}

}  // namespace sinkproof::figures
