#pragma once

#include <string>

#include "figures/drawing.hpp"

namespace sinkproof::figures {

enum class Format { png, svg, pdf };

/// The drawing as a file's bytes, on white paper; a function of the drawing, the installed Cairo and the
/// fonts alone (no dates). PNG has 2 pixels a point. Throws std::runtime_error where Cairo fails.
std::string render(const Drawing& drawing, Format format);

/// Of the library that draws: "1.16.0".
std::string cairo_version();

/// The matrix of colours as a PNG of one pixel a cell, transparent where there is no colour.
std::string png_of(const Cells& cells);

}  // namespace sinkproof::figures
