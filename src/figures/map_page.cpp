#include "figures/map_page.hpp"

#include <string_view>

#include <nlohmann/json.hpp>

namespace sinkproof::figures {
namespace {

using Json = nlohmann::ordered_json;

std::string_view text_of(const std::vector<std::uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string data_of(const Page& page) {
  Json heads = Json::array();
  for (const PageHead& head : page.heads) {
    Json facts = Json::array();
    for (const auto& [name, value] : head.facts) facts.push_back({name, value});
    Json entry{{"layer", head.layer},   {"head", head.head}, {"summary", head.summary},
               {"marked", head.marked}, {"facts", facts},    {"largest", base64(text_of(head.map.largest))}};
    if (!head.map.smallest.empty()) entry["smallest"] = base64(text_of(head.map.smallest));
    heads.push_back(std::move(entry));
  }
  Json data{{"heads", std::move(heads)}, {"tokens", page.tokens}};
  if (!page.heads.empty()) {
    data["queries"] = page.heads[0].map.queries;
    data["keys"] = page.heads[0].map.keys;
    data["block"] = page.heads[0].map.block;
  }
  const std::string json = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  return script_safe(json);
}

constexpr std::string_view style_part =
    R"(.bar { display: flex; flex-wrap: wrap; gap: 1rem; align-items: center; margin: .5rem 0; }
.legend { display: inline-flex; align-items: center; gap: .4rem; font-size: .85rem; }
#ramp { width: 180px; height: 12px; border: 1px solid #c8ced8; }
.layer { display: flex; gap: .5rem; margin: .35rem 0; content-visibility: auto; contain-intrinsic-size: auto 105px; }
.layer > span { flex: 0 0 4.2rem; font-size: .85rem; color: #5a6475; padding-top: .2rem; }
.row { display: flex; flex-wrap: wrap; gap: .45rem; }
.thumb { border: 2px solid #d5dae3; border-radius: 3px; background: none; padding: 1px; font: 11px/1.3 system-ui, sans-serif; color: #1c2330; cursor: pointer; }
.thumb.marked { border-color: #d4651a; }
.thumb:focus-visible { outline: 2px solid #1a66d4; }
.thumb canvas { display: block; width: 72px; height: 72px; background: #440154; }
.sinks-only .thumb:not(.marked) { display: none; }
dialog { border: 1px solid #c8ced8; border-radius: 6px; padding: 1rem; max-width: 96vw; }
dialog::backdrop { background: rgba(20, 26, 38, .5); }
.full { display: flex; flex-wrap: wrap; gap: 1.2rem; }
#map { cursor: crosshair; max-width: 92vw; }
#facts { max-width: 22rem; margin: 0; }
#facts table { margin: .3rem 0; }
#seen { min-height: 2.9em; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; max-width: 22rem; }
button, label { font: inherit; font-size: .9rem; }
</style>
)";

constexpr std::string_view script_part = R"(
const data = JSON.parse(document.getElementById('data').textContent);
const get = id => document.getElementById(id);
const make = (name, text) => { const e = document.createElement(name); if (text !== undefined) e.textContent = text; return e; };
const T = data.queries, S = data.keys, block = data.block;
const rows = Math.ceil(T / block), columns = Math.ceil(S / block);
const cellsIn = row => Math.floor((Math.min((row + 1) * block, T) - 1 + S - T) / block) + 1;
const starts = [0];
for (let r = 0; r < rows; ++r) starts.push(starts[r] + cellsIn(r));

const colours = [], last = anchors.length - 1;
for (let v = 0; v < 256; ++v) {
  const x = v / 255 * last, i = Math.min(last - 1, Math.floor(x)), f = x - i;
  colours.push(anchors[i].map((a, c) => Math.round(a + f * (anchors[i + 1][c] - a))));
}
const bytesOf = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
function draw(canvas, codes) {
  canvas.width = columns; canvas.height = rows;
  const context = canvas.getContext('2d'), image = context.createImageData(columns, rows);
  for (let r = 0; r < rows; ++r) for (let c = 0; c < columns; ++c) {
    const at = 4 * (r * columns + c), inside = c < starts[r + 1] - starts[r];
    const rgb = inside ? colours[codes[starts[r] + c]] : [236, 238, 242];
    image.data[at] = rgb[0]; image.data[at + 1] = rgb[1]; image.data[at + 2] = rgb[2]; image.data[at + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}
const weight = code => (code / 255) ** 2;

// Thumbnails, drawn when they come near the view.
const observer = new IntersectionObserver(entries => {
  for (const entry of entries) if (entry.isIntersecting) {
    observer.unobserve(entry.target);
    draw(entry.target, bytesOf(data.heads[entry.target.dataset.number].largest));
  }
}, {rootMargin: '300px'});
let row = null, layer = 0;
data.heads.forEach((head, number) => {
  if (head.layer !== layer) {
    layer = head.layer;
    const line = make('div'); line.className = 'layer';
    line.append(make('span', 'layer ' + layer));
    row = make('div'); row.className = 'row'; line.append(row); get('grid').append(line);
  }
  const thumb = make('button'), canvas = make('canvas');
  thumb.className = head.marked ? 'thumb marked' : 'thumb';
  thumb.title = 'layer ' + head.layer + ', head ' + head.head;
  canvas.dataset.number = number;
  thumb.append(canvas, make('div', head.head + ': ' + head.summary));
  thumb.onclick = () => open(number);
  row.append(thumb);
  observer.observe(canvas);
});
{
  const ramp = get('ramp'), context = ramp.getContext('2d'), image = context.createImageData(256, 1);
  for (let v = 0; v < 256; ++v) image.data.set([...colours[v], 255], 4 * v);
  ramp.width = 256; ramp.height = 1; context.putImageData(image, 0, 0);
}
get('sinks').onchange = event => get('grid').classList.toggle('sinks-only', event.target.checked);

// The full map of one head.
let current = 0, codes = null;
const token = k => data.tokens.length ? ' “' + data.tokens[k - 1] + '”' : '';
const clipped = text => text.length > 10 ? text.slice(0, 9) + '…' : text;
const size = () => Math.max(240, Math.min(640, innerWidth - 60, innerHeight - 90));
const labelled = () => data.tokens.length && S <= 48 && block === 1;
const margin = () => labelled() ? 74 : 0;
function show() {
  const head = data.heads[current], small = get('least').checked && head.smallest !== undefined;
  const both = {largest: bytesOf(head.largest), smallest: head.smallest === undefined ? null : bytesOf(head.smallest)};
  codes = both;
  const cells = make('canvas'); draw(cells, small ? both.smallest : both.largest);
  const map = get('map'), ratio = devicePixelRatio || 1, side = size(), edge = margin();
  const width = side, height = Math.max(24, Math.round((side - edge) * rows / columns)) + edge;
  map.width = width * ratio; map.height = height * ratio;
  map.style.width = width + 'px'; map.style.height = height + 'px';
  const context = map.getContext('2d');
  context.scale(ratio, ratio);
  context.imageSmoothingEnabled = false;
  context.drawImage(cells, edge, edge, width - edge, height - edge);
  if (edge) {
    const cell = (width - edge) / S;
    context.font = Math.max(7, Math.min(12, cell * .9)) + 'px system-ui, sans-serif';
    context.fillStyle = '#1c2330'; context.textBaseline = 'middle'; context.textAlign = 'right';
    for (let i = 0; i < T; ++i) context.fillText(clipped(data.tokens[i + S - T]), edge - 4, edge + (i + .5) * cell);
    context.textAlign = 'left';
    for (let k = 0; k < S; ++k) {
      context.save(); context.translate(edge + (k + .5) * cell, edge - 4); context.rotate(-Math.PI / 2);
      context.fillText(clipped(data.tokens[k]), 0, 0); context.restore();
    }
  }
  get('name').textContent = 'Layer ' + head.layer + ', head ' + head.head;
  const table = make('table');
  for (const [name, value] of head.facts) {
    const line = make('tr'); line.append(make('td', name), make('td', value)); table.append(line);
  }
  get('facts').replaceChildren(table);
  get('seen').textContent = 'Point at the map: rows are queries, columns are keys.';
}
function open(number) { current = number; show(); if (!get('dialog').open) get('dialog').showModal(); }
function step(by) { current = (current + by + data.heads.length) % data.heads.length; show(); }
const span = (cell, count, shift) => {
  const first = cell * block + 1 + shift, last = Math.min((cell + 1) * block, count) + shift;
  return first === last ? first + token(first) : first + '–' + last;
};
get('map').onmousemove = event => {
  const box = get('map').getBoundingClientRect(), edge = margin();
  const c = Math.floor((event.clientX - box.left - edge) / (box.width - edge) * columns);
  const r = Math.floor((event.clientY - box.top - edge) / (box.height - edge) * rows);
  if (r < 0 || c < 0 || r >= rows || c >= columns) return;
  let value = 'above the diagonal';
  if (c < starts[r + 1] - starts[r]) {
    const at = starts[r] + c, largest = weight(codes.largest[at]).toPrecision(2);
    value = codes.smallest ? 'weights from about ' + weight(codes.smallest[at]).toPrecision(2) + ' to ' + largest : 'weight about ' + largest;
  }
  get('seen').textContent = 'query ' + span(r, T, S - T) + ', key ' + span(c, S, 0) + ': ' + value;
};
get('least').onchange = show;
get('previous').onclick = () => step(-1);
get('next').onclick = () => step(1);
get('close').onclick = () => get('dialog').close();
get('dialog').onkeydown = event => { if (event.key === 'ArrowLeft') step(-1); if (event.key === 'ArrowRight') step(1); };
if (block === 1) get('least').parentElement.hidden = true;
const asked = /^#layer(\d+)head(\d+)$/.exec(location.hash);
if (asked) { const n = data.heads.findIndex(h => h.layer === +asked[1] && h.head === +asked[2]); if (n >= 0) open(n); }
</script>
)";

constexpr std::string_view body_part = R"(<div class="bar">
<span class="legend">0 <canvas id="ramp" width="256" height="1"></canvas> 1 (square-root scale: the middle is 0.25)</span>
<label><input type="checkbox" id="sinks"> sinks only (orange frame)</label>
</div>
<div id="grid"></div>
<noscript><p>The maps are drawn by a script within this file; the tables above need none.</p></noscript>
<dialog id="dialog"><div class="bar"><strong id="name"></strong>
<button id="previous">← previous</button><button id="next">next →</button>
<label><input type="checkbox" id="least"> show the smallest weight of each cell</label>
<button id="close">close</button></div>
<div class="full"><canvas id="map"></canvas><div><p id="seen"></p><div id="facts"></div></div></div>
</dialog>
)";

}  // namespace

std::string to_html(const Page& page) {
  std::string html = page_start();
  html += style_part;
  html += "<title>" + escaped(page.title) + "</title></head><body>\n<h1>" + escaped(page.title) + "</h1>\n";
  for (const std::string& line : page.lines) html += "<p class=quiet>" + escaped(line) + "</p>\n";
  for (const PageTable& table : page.tables) html += to_html(table);
  html += "<h2>Maps</h2>\n<p class=quiet>" + escaped(page.maps_note) + "</p>\n";
  html += body_part;
  html += "<script type=\"application/json\" id=\"data\">" + data_of(page) + "</script>\n";
  html += "<script>\n'use strict';\n" + anchors_script();
  html += script_part;
  return html + "</body></html>\n";
}

}  // namespace sinkproof::figures
