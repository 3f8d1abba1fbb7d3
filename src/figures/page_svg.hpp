#pragma once

#include <string>

#include "figures/drawing.hpp"

namespace sinkproof::figures {

/// The drawing as an svg element within a page: text stays text, roles become the page's colours (they follow
/// light and dark), cells an image of one pixel a weight, which costs the browser little whatever the length.
std::string page_svg(const Drawing& drawing);

/// The style rules that page_svg's classes need.
std::string page_svg_style();

}  // namespace sinkproof::figures
