#include "figures/html.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "figures/colour_map.hpp"

namespace sinkproof::figures {

std::string escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t there = std::min<std::size_t>(3, bytes.size() - i);
    unsigned block = 0;
    for (std::size_t j = 0; j < 3; ++j)
      block = block << 8 | (j < there ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j) text += j <= there ? digits[block >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

std::string script_safe(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string to_html(const PageTable& table) {
  constexpr std::size_t longest = 16;
  const bool folded = table.rows.size() > longest;
  const std::string caption = escaped(table.caption);
  std::string html = folded ? "<details><summary>" + caption + "</summary><table>"
                            : "<table><caption>" + caption + "</caption>";
  html += "<thead><tr>";
  for (const std::string& cell : table.header) html += "<th scope=col>" + escaped(cell) + "</th>";
  html += "</tr></thead><tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (const std::string& cell : row) html += "<td>" + escaped(cell) + "</td>";
    html += "</tr>\n";
  }
  return html + "</tbody></table>" + (folded ? "</details>\n" : "\n");
}

std::string page_start() {
  return R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light; --ink: #1c2330; --quiet: #5a6475; --rule: #e1e5ec; --paper: #fff; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem auto; max-width: 1180px; padding: 0 1rem; color: var(--ink); background: var(--paper); }
h1 { font-size: 1.35rem; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p { margin: .15rem 0; overflow-wrap: anywhere; }
.quiet { color: var(--quiet); }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
summary { font-weight: 600; cursor: pointer; }
caption { text-align: left; font-weight: 600; padding-bottom: .3rem; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { font-weight: 600; color: var(--quiet); }
)";
}

std::string anchors_script() {
  std::string script = "const anchors = [";  // of viridis
  for (const Rgb& rgb : viridis_anchors()) {
    script += fmt::format("[{},{},{}],", rgb.red, rgb.green, rgb.blue);
  }
  return script + "];\n";
}

}  // namespace sinkproof::figures
