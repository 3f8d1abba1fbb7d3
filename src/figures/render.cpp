#include "figures/render.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string_view>

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>

namespace sinkproof::figures {
namespace {

using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;
using Context = std::unique_ptr<cairo_t, decltype(&cairo_destroy)>;

constexpr double pixels_a_point = 2;

void demand(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS) {
    throw std::runtime_error(std::string("cairo: ") + cairo_status_to_string(status));
  }
}

cairo_status_t append(void* bytes, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

Rgb on_paper(const Paint& paint) {
  if (const Rgb* rgb = std::get_if<Rgb>(&paint)) return *rgb;
  switch (std::get<Role>(paint)) {
    case Role::ink:
      return {28, 35, 48};
    case Role::quiet:
      return {90, 100, 117};
    case Role::grid:
      return {222, 226, 233};
    case Role::masked:
      return {236, 238, 242};
  }
  throw std::logic_error("render: no such role");
}

void set_colour(cairo_t* context, const Paint& paint, double opacity = 1) {
  const Rgb rgb = on_paper(paint);
  cairo_set_source_rgba(context, rgb.red / 255.0, rgb.green / 255.0, rgb.blue / 255.0, opacity);
}

void trace(cairo_t* context, const std::vector<Point>& points) {
  cairo_new_path(context);
  for (const Point& point : points) cairo_line_to(context, point.x, point.y);
}

void draw(cairo_t* context, const Line& line) {
  set_colour(context, line.paint);
  cairo_set_line_width(context, line.width);
  cairo_set_line_join(context, CAIRO_LINE_JOIN_ROUND);
  cairo_set_dash(context, line.dash.data(), static_cast<int>(line.dash.size()), 0);
  trace(context, line.points);
  cairo_stroke(context);
}

void draw(cairo_t* context, const Area& area) {
  set_colour(context, area.fill, area.opacity);
  trace(context, area.corners);
  cairo_close_path(context);
  cairo_fill(context);
}

void draw(cairo_t* context, const Text& text) {
  set_colour(context, text.paint);
  cairo_select_font_face(context, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         text.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(context, text.size);
  cairo_text_extents_t extents;
  cairo_text_extents(context, text.text.c_str(), &extents);
  const double before = text.anchor == Anchor::start    ? 0
                        : text.anchor == Anchor::middle ? extents.x_advance / 2
                                                        : extents.x_advance;
  cairo_save(context);
  cairo_translate(context, text.at.x, text.at.y);
  if (text.upward) cairo_rotate(context, -1.5707963267948966);
  cairo_move_to(context, -before, 0);
  cairo_show_text(context, text.text.c_str());
  cairo_restore(context);
}

void draw(cairo_t* context, const Cells& cells) {
  // Cells reach below their later neighbours, so that no viewer blends the paper into the edges between them.
  const double overlap_x = std::min(1.0, cells.box.width / cells.columns);
  const double overlap_y = std::min(1.0, cells.box.height / cells.rows);
  cairo_set_antialias(context, CAIRO_ANTIALIAS_NONE);
  for (int row = 0; row < cells.rows; ++row) {
    for (int column = 0; column < cells.columns; ++column) {
      const auto& colour = cells.colour(row, column);
      if (!colour) continue;
      const Box box = cells.cell(row, column);
      const bool beside = column + 1 < cells.columns && cells.colour(row, column + 1);
      const bool below = row + 1 < cells.rows && cells.colour(row + 1, column);
      set_colour(context, *colour);
      cairo_rectangle(context, box.x, box.y, box.width + (beside ? overlap_x : 0),
                      box.height + (below ? overlap_y : 0));
      cairo_fill(context);
    }
  }
  cairo_set_antialias(context, CAIRO_ANTIALIAS_DEFAULT);
}

Surface surface_for(const Drawing& drawing, Format format, std::string& bytes) {
  switch (format) {
    case Format::png:
      return {cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(pixels_a_point * drawing.width),
                                         static_cast<int>(pixels_a_point * drawing.height)),
              cairo_surface_destroy};
    case Format::svg:
      return {cairo_svg_surface_create_for_stream(append, &bytes, drawing.width, drawing.height),
              cairo_surface_destroy};
    case Format::pdf: {
      Surface surface{cairo_pdf_surface_create_for_stream(append, &bytes, drawing.width, drawing.height),
                      cairo_surface_destroy};
      // Otherwise Cairo writes the time at which it ran.
      cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
      cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_TITLE, drawing.description.c_str());
      return surface;
    }
  }
  throw std::logic_error("render: no such format");
}

}  // namespace

std::string render(const Drawing& drawing, Format format) {
  std::string bytes;
  const Surface surface = surface_for(drawing, format, bytes);
  {
    const Context context{cairo_create(surface.get()), cairo_destroy};
    if (format == Format::png) cairo_scale(context.get(), pixels_a_point, pixels_a_point);
    cairo_set_source_rgb(context.get(), 1, 1, 1);
    cairo_paint(context.get());
    for (const auto& shape : drawing.shapes) {
      std::visit([&](const auto& one) { draw(context.get(), one); }, shape);
    }
    demand(cairo_status(context.get()));
  }
  if (format == Format::png) demand(cairo_surface_write_to_png_stream(surface.get(), append, &bytes));
  cairo_surface_finish(surface.get());
  demand(cairo_surface_status(surface.get()));
  // Cairo numbers its surfaces, of which this may be any: the name of the outermost group, which nothing
  // refers to.
  constexpr std::string_view name = "<g id=\"surface";
  if (const auto at = bytes.find(name); format == Format::svg && at != std::string::npos) {
    bytes.erase(at + 2, bytes.find('"', at + name.size()) - at - 1);
  }
  return bytes;
}

std::string cairo_version() {
  return cairo_version_string();
}

std::string png_of(const Cells& cells) {
  const Surface surface{cairo_image_surface_create(CAIRO_FORMAT_ARGB32, cells.columns, cells.rows),
                        cairo_surface_destroy};
  demand(cairo_surface_status(surface.get()));
  cairo_surface_flush(surface.get());
  unsigned char* data = cairo_image_surface_get_data(surface.get());
  const int stride = cairo_image_surface_get_stride(surface.get());
  for (int row = 0; row < cells.rows; ++row) {
    auto* pixels = reinterpret_cast<std::uint32_t*>(data + row * stride);
    for (int column = 0; column < cells.columns; ++column) {
      const auto& colour = cells.colour(row, column);
      pixels[column] = !colour ? 0
                               : 0xff000000u | std::uint32_t{colour->red} << 16 |
                                     std::uint32_t{colour->green} << 8 | std::uint32_t{colour->blue};
    }
  }
  cairo_surface_mark_dirty(surface.get());
  std::string bytes;
  demand(cairo_surface_write_to_png_stream(surface.get(), append, &bytes));
  return bytes;
}

}  // namespace sinkproof::figures
