#include "figures/report_page.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "figures/page_svg.hpp"

namespace sinkproof::figures {
namespace {

constexpr std::string_view style_part = R"(
:root { color-scheme: light dark; --grid: #dee2e9; --masked: #eceef2; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ef; --quiet: #a3adbd; --rule: #333b49; --paper: #14181f; --grid: #2b323e; --masked: #3a4250; }
}
body { max-width: 1080px; }
h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid var(--rule); padding-bottom: .2rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 .2rem; }
p { margin: .4rem 0; max-width: 76ch; }
.wide { overflow-x: auto; }
td:first-child { white-space: nowrap; }
figure { margin: 1rem 0 1.6rem; }
figcaption { color: var(--quiet); font-size: .9rem; max-width: 90ch; margin-top: .4rem; }
.panels { display: grid; gap: .6rem; grid-template-columns: repeat(var(--columns), minmax(0, 430px)); }
.panels.chart { grid-template-columns: minmax(0, 1fr); }
.panels.one { grid-template-columns: minmax(0, 1fr); }
.panels.one svg { max-width: 560px; }
@media (max-width: 640px) { .wide table { min-width: 620px; } .panels { grid-template-columns: repeat(min(var(--columns), 2), minmax(0, 1fr)); } .chart { overflow-x: auto; } .chart svg { min-width: 560px; } }
@media (max-width: 480px) { .panels { grid-template-columns: minmax(0, 1fr); } }
.switches { display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; margin: .5rem 0; }
.switches[hidden] { display: none; }
.switches span { display: inline-flex; align-items: center; gap: .25rem; }
.switches button { font: inherit; font-size: .85rem; color: var(--ink); background: none; border: 1px solid var(--grid); border-radius: 4px; padding: .05rem .55rem; cursor: pointer; }
.switches button[aria-pressed=true] { background: var(--ink); color: var(--paper); border-color: var(--ink); }
details { margin: .6rem 0; }
pre { background: var(--masked); padding: .6rem .8rem; border-radius: 4px; overflow-x: auto; font-size: .85rem; }
#seen { position: fixed; z-index: 1; pointer-events: none; background: var(--ink); color: var(--paper); font-size: .85rem; padding: .15rem .5rem; border-radius: 4px; font-variant-numeric: tabular-nums; }
#seen[hidden] { display: none; }
</style>
)";

constexpr std::string_view script_part = R"(<script>
'use strict';
const maps = JSON.parse(document.getElementById('maps').textContent);
const seen = document.getElementById('seen');
function point(event) {
  const image = event.target instanceof Element && event.target.closest('image[data-map]');
  seen.hidden = !image;
  if (!image) return;
  const map = maps[image.dataset.map], box = image.getBoundingClientRect(), n = map.length;
  const at = (from, size) => Math.min(n - 1, Math.max(0, Math.floor(from / size * n)));
  const i = at(event.clientY - box.top, box.height), k = at(event.clientX - box.left, box.width);
  seen.textContent = 'query ' + (i + 1) + ', key ' + (k + 1) + ': ' + (k > i ? 'above the diagonal' : map.weights[i * (i + 1) / 2 + k]);
  seen.style.left = Math.min(event.clientX + 14, innerWidth - seen.offsetWidth - 8) + 'px';
  seen.style.top = Math.min(event.clientY + 16, innerHeight - seen.offsetHeight - 8) + 'px';
}
document.addEventListener('pointermove', point);
document.addEventListener('pointerdown', point);
for (const switches of document.querySelectorAll('.switches')) {
  const figure = switches.closest('figure'), chosen = {layer: '0', head: '0'};
  const show = () => {
    for (const panels of figure.querySelectorAll('.panels')) {
      let shown = 0;
      for (const panel of panels.children) {
        panel.hidden = ['layer', 'head'].some(kind => chosen[kind] !== '0' && panel.dataset[kind] !== chosen[kind]);
        if (!panel.hidden) ++shown;
      }
      panels.classList.toggle('one', shown === 1);
    }
    for (const button of switches.querySelectorAll('button')) {
      button.setAttribute('aria-pressed', chosen[button.dataset.kind] === button.dataset.value);
    }
  };
  switches.addEventListener('click', event => {
    const button = event.target.closest('button');
    if (!button) return;
    chosen[button.dataset.kind] = button.dataset.value;
    show();
  });
  switches.hidden = false;
  show();
}
</script>
)";

std::string shown_weight(double weight) {
  return std::isfinite(weight) ? fmt::format("{:.4g}", weight) : fmt::format("\"{}\"", weight);
}

/// [{"length": 16, "weights": [...]}, ...], the weights row after row up to the diagonal.
std::string json_of(const std::vector<Map>& maps) {
  std::string json = "[";
  for (const Map& map : maps) {
    json += fmt::format("{}{{\"length\":{},\"weights\":[", json.size() > 1 ? "," : "", map.length);
    for (int i = 0; i < map.length; ++i) {
      for (int k = 0; k <= i; ++k) json += (i == 0 ? "" : ",") + shown_weight(map.weight(i, k));
    }
    json += "]}";
  }
  return json + "]";
}

std::string switch_of(std::string_view kind, int last) {
  std::string html = fmt::format("<span>{}", kind);
  for (int value = 0; value <= last; ++value) {
    html += fmt::format("<button type=button data-kind={} data-value={} aria-pressed=false>{}</button>", kind,
                        value, value == 0 ? "all" : std::to_string(value));
  }
  return html + "</span>";
}

std::string panels_of(const std::vector<ReportPanel>& panels, int columns) {
  std::string html = fmt::format("<div class=\"panels{}\" style=\"--columns:{}\">\n",
                                 panels.size() == 1 ? " chart" : "", columns);
  for (const ReportPanel& panel : panels) {
    html += fmt::format("<div data-layer={} data-head={}>{}</div>\n", panel.layer, panel.head,
                        page_svg(panel.drawing));
  }
  return html + "</div>\n";
}

std::string to_html(const ReportFigure& figure) {
  int layers = 0, heads = 0;
  for (const ReportPanel& panel : figure.panels) {
    layers = std::max(layers, panel.layer);
    heads = std::max(heads, panel.head);
  }
  std::string html = figure.title.empty() ? "" : "<h3>" + escaped(figure.title) + "</h3>\n";
  html += "<figure>\n";
  if (layers > 1 || heads > 1) {
    html +=
        "<div class=switches hidden>" + switch_of("layer", layers) + switch_of("head", heads) + "</div>\n";
  }
  html += panels_of(figure.panels, figure.columns);
  html += "<figcaption>" + escaped(figure.caption) + "</figcaption>\n";
  if (!figure.folded.empty()) {
    html += "<details><summary>" + escaped(figure.folded_title) + "</summary>\n" +
            panels_of(figure.folded, figure.columns) + "</details>\n";
  }
  return html + "</figure>\n";
}

std::string to_html(const ReportSection& section) {
  std::string html = "<h2>" + escaped(section.title) + "</h2>\n";
  for (const std::string& paragraph : section.paragraphs) html += "<p>" + escaped(paragraph) + "</p>\n";
  for (const ReportFigure& figure : section.figures) html += to_html(figure);
  for (const PageTable& table : section.tables) html += "<div class=wide>" + to_html(table) + "</div>\n";
  if (!section.commands.empty()) {
    html += "<pre>";
    for (const std::string& command : section.commands) html += escaped(command) + "\n";
    html += "</pre>\n";
  }
  return html;
}

}  // namespace

std::string to_html(const ReportPage& report) {
  std::string html = page_start() + page_svg_style();
  html += style_part;
  html +=
      "<title>" + escaped(report.title) + "</title></head><body>\n<h1>" + escaped(report.title) + "</h1>\n";
  for (const std::string& line : report.lines) html += "<p class=quiet>" + escaped(line) + "</p>\n";
  for (const ReportSection& section : report.sections) html += to_html(section);
  html += "<div id=seen hidden></div>\n<script type=\"application/json\" id=maps>" +
          script_safe(json_of(report.maps)) + "</script>\n";
  html += script_part;
  return html + "</body></html>\n";
}

}  // namespace sinkproof::figures
