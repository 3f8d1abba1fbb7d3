#include "figures/page_svg.hpp"

#include <string_view>

#include <fmt/core.h>

#include "figures/html.hpp"
#include "figures/render.hpp"

namespace sinkproof::figures {
namespace {

std::string_view class_of(Role role) {
  switch (role) {
    case Role::ink:
      return "ink";
    case Role::quiet:
      return "quiet";
    case Role::grid:
      return "grid";
    case Role::masked:
      return "masked";
  }
  return "ink";
}

/// ` fill="#0072b2"` or ` class="f-ink"`.
std::string painted(const Paint& paint, std::string_view property) {
  if (const Rgb* rgb = std::get_if<Rgb>(&paint)) {
    return fmt::format(" {}=\"#{:02x}{:02x}{:02x}\"", property, rgb->red, rgb->green, rgb->blue);
  }
  return fmt::format(" class=\"{}-{}\"", property[0], class_of(std::get<Role>(paint)));
}

std::string list_of(const std::vector<Point>& points) {
  std::string list;
  for (const Point& point : points)
    list += fmt::format("{}{:.6g},{:.6g}", list.empty() ? "" : " ", point.x, point.y);
  return list;
}

std::string element(const Line& line) {
  std::string dash;
  for (const double length : line.dash) dash += fmt::format("{}{:g}", dash.empty() ? "" : " ", length);
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke-width=\"{:g}\"{}{}/>",
                     list_of(line.points), line.width,
                     dash.empty() ? "" : " stroke-dasharray=\"" + dash + "\"", painted(line.paint, "stroke"));
}

std::string element(const Area& area) {
  return fmt::format("<polygon points=\"{}\"{}{}/>", list_of(area.corners),
                     area.opacity < 1 ? fmt::format(" opacity=\"{:g}\"", area.opacity) : "",
                     painted(area.fill, "fill"));
}

std::string element(const Text& text) {
  const std::string_view anchor = text.anchor == Anchor::start    ? ""
                                  : text.anchor == Anchor::middle ? " text-anchor=\"middle\""
                                                                  : " text-anchor=\"end\"";
  const std::string at =
      text.upward ? fmt::format("transform=\"translate({:.6g} {:.6g}) rotate(-90)\"", text.at.x, text.at.y)
                  : fmt::format("x=\"{:.6g}\" y=\"{:.6g}\"", text.at.x, text.at.y);
  return fmt::format("<text {} font-size=\"{:g}\"{}{}{}>{}</text>", at, text.size, anchor,
                     text.bold ? " font-weight=\"bold\"" : "", painted(text.paint, "fill"),
                     escaped(text.text));
}

std::string element(const Cells& cells) {
  return fmt::format(
      "<image{} x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{:.6g}\" preserveAspectRatio=\"none\" "
      "href=\"data:image/png;base64,{}\"/>",
      cells.map >= 0 ? fmt::format(" data-map=\"{}\"", cells.map) : "", cells.box.x, cells.box.y,
      cells.box.width, cells.box.height, base64(png_of(cells)));
}

}  // namespace

std::string page_svg(const Drawing& drawing) {
  std::string svg = fmt::format(
      "<svg viewBox=\"0 0 {:.6g} {:.6g}\" style=\"max-width:{:.0f}px\" role=\"img\" aria-label=\"{}\">\n",
      drawing.width, drawing.height, 1.9 * drawing.width, escaped(drawing.description));
  for (const auto& shape : drawing.shapes) {
    svg += std::visit([](const auto& one) { return element(one); }, shape) + "\n";
  }
  return svg + "</svg>\n";
}

std::string page_svg_style() {
  std::string style =
      "svg { display: block; width: 100%; height: auto; font-family: system-ui, 'DejaVu Sans', sans-serif; "
      "}\n"
      "svg image { image-rendering: pixelated; }\n"
      "svg * { pointer-events: none; }\n"
      "svg image[data-map] { pointer-events: auto; cursor: crosshair; }\n"
      "svg polyline { stroke-linejoin: round; }\n";
  for (const Role role : {Role::ink, Role::quiet, Role::grid, Role::masked}) {
    style += fmt::format(".f-{0} {{ fill: var(--{0}); }} .s-{0} {{ stroke: var(--{0}); }}\n", class_of(role));
  }
  return style;
}

}  // namespace sinkproof::figures
