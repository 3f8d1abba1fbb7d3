#include "measure/maps_file.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace sinkproof::measure {

using formats::refuse;
using formats::StoredArray;

namespace {

constexpr int largest_extent = 1 << 24;
constexpr std::int64_t most_sequences = 1 << 20;
constexpr std::int64_t most_heads = 1 << 16;  ///< of all layers; each keeps a tally

/// A name as texts with the numbers between them: "blocks.3.attn" is {"blocks.", ".attn"} and {3}.
struct NumberedName {
  std::vector<std::string> texts{""};
  std::vector<std::uint64_t> numbers;
};

NumberedName split(const std::string& name) {
  NumberedName result;
  bool in_number = false;
  for (const char c : name) {
    if (c >= '0' && c <= '9') {
      if (!in_number) {
        result.numbers.push_back(0);
        result.texts.emplace_back();
      }
      result.numbers.back() = result.numbers.back() * 10 + static_cast<std::uint64_t>(c - '0');
    } else {
      result.texts.back() += c;
    }
    in_number = c >= '0' && c <= '9';
  }
  return result;
}

/// The arrays in the order of the one number in which their names differ; nothing where they differ
/// otherwise.
std::vector<std::size_t> by_number(const std::vector<StoredArray>& arrays) {
  std::vector<NumberedName> names;
  for (const StoredArray& array : arrays) names.push_back(split(array.name));
  std::optional<std::size_t> place;
  for (const NumberedName& name : names) {
    if (name.texts != names[0].texts) return {};
    for (std::size_t i = 0; i < name.numbers.size(); ++i) {
      if (name.numbers[i] == names[0].numbers[i]) continue;
      if (place && *place != i) return {};
      place = i;
    }
  }
  if (!place) return {};
  std::vector<std::size_t> order(arrays.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto number = [&](std::size_t i) { return names[i].numbers[*place]; };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return number(a) < number(b); });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (number(order[i]) == number(order[i - 1])) return {};
  }
  return order;
}

std::string names_of(const std::vector<StoredArray>& arrays) {
  constexpr std::size_t most = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, arrays.size()); ++i) {
    text += (i ? ", " : "") + formats::shown(arrays[i].name);
  }
  return arrays.size() > most ? text + fmt::format(", ... ({} in all)", arrays.size()) : text;
}

}  // namespace

std::vector<std::size_t> MapsFile::choose_arrays(const MapsOptions& options) const {
  const auto& arrays = arrays_.arrays();
  if (arrays.empty()) {
    const auto& skipped = arrays_.skipped();
    refuse(file().path(), "",
           skipped.empty()
               ? "holds no array: save the attention maps to it"
               : fmt::format("holds no floats: '{}' {}", formats::shown(skipped[0].name), skipped[0].reason));
  }
  if (options.array) {
    const auto found = std::find_if(arrays.begin(), arrays.end(),
                                    [&](const StoredArray& array) { return array.name == *options.array; });
    if (found == arrays.end()) {
      refuse(file().path(), *options.array, "is not there (--array): choose one of " + names_of(arrays));
    }
    return {static_cast<std::size_t>(found - arrays.begin())};
  }
  if (arrays.size() == 1) return {0};
  const auto order = by_number(arrays);
  if (order.empty()) {
    refuse(file().path(), "",
           "holds several arrays: choose one with --array NAME, of " + names_of(arrays) +
               " (arrays whose names differ in one number are taken for layers)");
  }
  for (const std::size_t i : order) {
    if (arrays[i].shape != arrays[order[0]].shape ||
        arrays[i].encoding.dtype != arrays[order[0]].encoding.dtype ||
        arrays[i].encoding.column_major != arrays[order[0]].encoding.column_major ||
        arrays[i].encoding.order != arrays[order[0]].encoding.order) {
      refuse(file().path(), arrays[i].name,
             fmt::format("is {} {}, but '{}' is {} {}: layers must be alike; choose one array with --array",
                         formats::to_string(arrays[i].encoding.dtype), formats::to_string(arrays[i].shape),
                         formats::shown(arrays[order[0]].name),
                         formats::to_string(arrays[order[0]].encoding.dtype),
                         formats::to_string(arrays[order[0]].shape)));
    }
  }
  return order;
}

void MapsFile::read_axes(const StoredArray& array, const MapsOptions& options) {
  const auto fail = [&](const std::string& message) { refuse(file().path(), array.name, message); };
  const std::string shape = formats::to_string(array.shape);
  const bool many = chosen_.size() > 1;
  if (options.axes) {
    layout_.axes = *options.axes;
  } else if (array.shape.size() == 2) {
    layout_.axes = "qk";
  } else if (array.shape.size() == 3) {
    layout_.axes = "hqk";
  } else if (array.shape.size() == 4 && many) {
    layout_.axes = "bhqk";
  } else if (array.shape.size() == 4) {
    fail(fmt::format(
        "shape {}: its first axis may be the layer or the sequence; give --axes lhqk or --axes bhqk", shape));
  } else if (array.shape.size() == 5 && !many) {
    fail(fmt::format(
        "shape {}: give --axes blhqk where sequences come first, --axes lbhqk where layers do (as "
        "stacked from Hugging Face's attentions)",
        shape));
  } else {
    fail(fmt::format("shape {}: maps have 2 to 5 axes [sequence, layer, head, query, key]; select or reshape",
                     shape));
  }

  std::string axes = layout_.axes;
  const bool letters = std::all_of(axes.begin(), axes.end(), [&](char c) {
    return std::string_view("blhqk").find(c) != std::string_view::npos &&
           std::count(axes.begin(), axes.end(), c) == 1;
  });
  if (!letters || axes.find('q') == std::string::npos || axes.find('k') == std::string::npos) {
    fail(fmt::format(
        "--axes {}: write each of q (query), k (key) and, where they are there, b (sequence), l (layer), "
        "h (head) once, such as lhqk",
        formats::shown(axes)));
  }
  if (axes.size() != array.shape.size()) {
    fail(fmt::format("--axes {} has {} letters, but shape {} has {} axes: write one letter an axis", axes,
                     axes.size(), shape, array.shape.size()));
  }
  if (many && axes.find('l') != std::string::npos) {
    fail(fmt::format(
        "--axes {}: the layers are the {} arrays of the file already; leave out l, or choose one array "
        "with --array",
        axes, chosen_.size()));
  }
  formats::Shape extents = array.shape;
  if (array.encoding.column_major) {
    std::reverse(axes.begin(), axes.end());
    std::reverse(extents.begin(), extents.end());
  }
  const std::string last = axes.size() < 2 ? "" : axes.substr(axes.size() - 2);
  if (last != "qk" && last != "kq") {
    fail(array.encoding.column_major
             ? "is stored in Fortran order, so that a map's entries lie apart: save numpy.ascontiguousarray "
               "of it"
             : fmt::format(
                   "--axes {}: a map's entries lie apart; move q and k to the end (numpy.moveaxis) and save "
                   "again",
                   axes));
  }
  key_first_ = last == "kq";
  leading_ = axes.substr(0, axes.size() - 2);

  layout_.layers = static_cast<int>(chosen_.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (extents[i] == 0 || extents[i] > largest_extent) {
      fail(fmt::format("shape {}: an extent is {}; save maps of at least one and at most {} positions", shape,
                       extents[i] == 0 ? "0" : "too large", largest_extent));
    }
    const auto extent = static_cast<int>(extents[i]);
    switch (axes[i]) {
      case 'b':
        layout_.sequences = extent;
        break;
      case 'l':
        layout_.layers = extent;
        break;
      case 'h':
        layout_.heads = extent;
        break;
      case 'q':
        layout_.queries = extent;
        break;
      default:
        layout_.keys = extent;
    }
  }
  if (layout_.sequences > most_sequences || std::int64_t{layout_.layers} * layout_.heads > most_heads) {
    fail(fmt::format(
        "shape {} as axes {} has {} sequence(s), {} layer(s) and {} head(s), beyond any model: check "
        "--axes, or measure parts",
        shape, layout_.axes, layout_.sequences, layout_.layers, layout_.heads));
  }
  if (layout_.keys < layout_.queries) {
    fail(fmt::format(
        "shape {} has {} queries but only {} keys: cross-attention, or axes in another order (--axes)", shape,
        layout_.queries, layout_.keys));
  }
}

MapsFile::MapsFile(const formats::File& file, const MapsOptions& options) : arrays_(file) {
  chosen_ = choose_arrays(options);
  const StoredArray& array = arrays_.arrays()[chosen_[0]];
  encoding_ = array.encoding;
  layout_.dtype = encoding_.dtype;
  for (const std::size_t i : chosen_) layout_.arrays.push_back(arrays_.arrays()[i].name);
  read_axes(array, options);
  const std::uint64_t entries = *formats::entry_count(array.shape);
  layout_.bytes = entries * formats::entry_bytes(encoding_.dtype) * chosen_.size();
  // One map at a time is held, as stored. A damaged or bloated archive may claim more than makes sense.
  const auto map_entries =
      static_cast<std::uint64_t>(layout_.queries) * static_cast<std::uint64_t>(layout_.keys);
  formats::AllocationBudget(file).take(map_entries * formats::entry_bytes(encoding_.dtype) / sizeof(double),
                                       array.name);
}

std::string MapsFile::name_of(const MapIndex& index) const {
  const auto layer = static_cast<std::size_t>(index.layer - 1);
  std::string text = layout_.arrays[layout_.arrays.size() > 1 ? layer : 0];
  if (layout_.sequences > 1) text += fmt::format(", sequence {}", index.sequence);
  if (layout_.layers > 1) text += fmt::format(", layer {}", index.layer);
  return text + fmt::format(", head {}", index.head);
}

MapRows MapsFile::rows(const StoredMap& map) const {
  const auto keys = static_cast<std::size_t>(layout_.keys);
  const auto queries = static_cast<std::size_t>(layout_.queries);
  const std::size_t width = formats::entry_bytes(encoding_.dtype);
  const std::span<const unsigned char> bytes = map.bytes;
  MapRows result{layout_.queries, layout_.keys, {}};
  if (!key_first_) {
    result.row = [bytes, keys, width, encoding = encoding_](int i, std::span<double> values) {
      decode_entries(encoding, bytes.subspan(static_cast<std::size_t>(i) * keys * width, keys * width),
                     values);
    };
  } else {
    result.row = [bytes, keys, queries, width, encoding = encoding_](int i, std::span<double> values) {
      for (std::size_t k = 0; k < keys; ++k) {
        decode_entries(encoding, bytes.subspan((k * queries + static_cast<std::size_t>(i)) * width, width),
                       values.subspan(k, 1));
      }
    };
  }
  return result;
}

bool MapsFile::Reader::next(StoredMap& map) {
  const MapsLayout& layout = maps_.layout_;
  if (number_ == layout.maps()) return false;
  const std::uint64_t in_array = layout.maps() / maps_.chosen_.size();
  const std::uint64_t array = number_ / in_array;
  std::uint64_t rest = number_ % in_array;
  if (rest == 0) source_ = maps_.arrays_.stream(maps_.chosen_[array]);
  map.number = number_++;
  map.index = {};
  if (maps_.chosen_.size() > 1) map.index.layer = static_cast<int>(array) + 1;
  for (std::size_t i = maps_.leading_.size(); i-- > 0;) {  // the last letter runs fastest
    const char letter = maps_.leading_[i];
    const int extent = letter == 'b' ? layout.sequences : letter == 'l' ? layout.layers : layout.heads;
    int& place = letter == 'b' ? map.index.sequence : letter == 'l' ? map.index.layer : map.index.head;
    place = static_cast<int>(rest % static_cast<std::uint64_t>(extent)) + 1;
    rest /= static_cast<std::uint64_t>(extent);
  }
  map.bytes.resize(static_cast<std::size_t>(layout.queries) * static_cast<std::size_t>(layout.keys) *
                   entry_bytes(maps_.encoding_.dtype));
  source_(map.bytes);
  return true;
}

}  // namespace sinkproof::measure
