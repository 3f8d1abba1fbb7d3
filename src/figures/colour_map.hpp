#pragma once

#include <span>

#include "figures/drawing.hpp"

namespace sinkproof::figures {

/// Viridis (van der Walt and Smith, matplotlib 2015, CC0) at x in [0, 1], interpolated between anchors of the
/// published table: perceptually uniform, its lightness grows all the way (it survives black-and-white
/// print), and readable with every common colour vision deficiency. Beyond [0, 1] the ends.
Rgb viridis(double x);

/// Its anchors, evenly spaced over [0, 1].
std::span<const Rgb> viridis_anchors();

/// Colours of lines, told apart with every common colour vision deficiency (Okabe and Ito 2008) and by their
/// lightness on light and on dark paper.
Rgb line_colour(std::size_t number);

}  // namespace sinkproof::figures
