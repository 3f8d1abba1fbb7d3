#include "formats/weights_keys.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace sinkproof::formats {
namespace {

constexpr std::string_view expected_keys =
    "expected the paper's W_Q.weight or layers.0.W_Q.weight, TransformerLens' blocks.0.attn.W_Q, or torch's "
    "in_proj_weight";

std::vector<std::string_view> split(std::string_view name) {
  std::vector<std::string_view> components;
  for (;;) {
    const auto dot = name.find('.');
    components.push_back(name.substr(0, dot));
    if (dot == std::string_view::npos) return components;
    name.remove_prefix(dot + 1);
  }
}

/// "0", "12"; no leading zeros, no more than a million layers.
std::optional<int> layer_index(std::string_view text) {
  int index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size() || text.size() > 6) return std::nullopt;
  if (text.front() == '-' || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  return index;
}

struct Ending {
  std::string_view text;
  Layout layout;
  std::string_view part;
};

constexpr std::array endings{
    Ending{"W_Q.weight", Layout::paper, "W_Q"},
    Ending{"W_K.weight", Layout::paper, "W_K"},
    Ending{"W_V.weight", Layout::paper, "W_V"},
    Ending{"W_O.weight", Layout::paper, "W_O"},
    Ending{"W_Q.bias", Layout::paper, "bias"},
    Ending{"W_K.bias", Layout::paper, "bias"},
    Ending{"W_V.bias", Layout::paper, "bias"},
    Ending{"W_O.bias", Layout::paper, "bias"},
    Ending{"W_Q", Layout::bare, "W_Q"},
    Ending{"W_K", Layout::bare, "W_K"},
    Ending{"W_V", Layout::bare, "W_V"},
    Ending{"W_O", Layout::bare, "W_O"},
    Ending{"b_Q", Layout::bare, "bias"},
    Ending{"b_K", Layout::bare, "bias"},
    Ending{"b_V", Layout::bare, "bias"},
    Ending{"b_O", Layout::bare, "bias"},
    Ending{"in_proj_weight", Layout::torch_mha, "in_proj"},
    Ending{"out_proj.weight", Layout::torch_mha, "out_proj"},
    Ending{"in_proj_bias", Layout::torch_mha, "bias"},
    Ending{"out_proj.bias", Layout::torch_mha, "bias"},
};

bool stem_belongs(Layout layout, std::string_view stem) {
  if (stem.empty() || stem == "layers.{}.") return true;
  if (layout == Layout::paper) return false;
  if (layout == Layout::bare) return stem == "attn." || stem == "layers.{}.attn.";
  const auto components = split(stem.substr(0, stem.size() - 1));
  return components.back() == "attn" || components.back() == "self_attn";
}

/// Why a model with this key is not attention alone, when the name gives that away.
std::optional<std::string> foreign_part(std::string_view name) {
  const auto contains = [&](std::string_view text) { return name.find(text) != std::string_view::npos; };
  if (contains("rotary") || contains("inv_freq")) {
    return "the model has rotary position embeddings, which the theory does not describe: use a model "
           "without them";
  }
  const auto components = split(name);
  const std::string_view last = components.back();
  if (last == "_W_K" || last == "_W_V" || last == "_b_K" || last == "_b_V") {
    return "the model has grouped-query attention, which is not supported: use one with as many key as query "
           "heads";
  }
  if (last == "q_proj_weight" || last == "k_proj_weight" || last == "v_proj_weight" || last == "bias_k" ||
      last == "bias_v") {
    return "MultiheadAttention with kdim, vdim or add_bias_kv is not supported: export one without";
  }
  constexpr std::array starts{"mlp",    "ln",    "norm", "layernorm", "embed", "pos_embed", "unembed",
                              "linear", "W_E",   "W_U",  "W_pos",     "W_in",  "W_out",     "W_gate",
                              "b_in",   "b_out", "b_U",  "gate",      "sink"};
  for (const std::string_view component : components) {
    for (const std::string_view start : starts) {
      if (component.starts_with(start)) {
        return "is a part that the attention-only model does not describe: export only the attention weights "
               "of a model "
               "that has no other parts";
      }
    }
  }
  return std::nullopt;
}

bool is_buffer(std::string_view name) {
  const std::string_view last = split(name).back();
  return last == "mask" || last == "IGNORE";
}

void refuse_bias(const Tensor& bias, const File& file) {
  for (const double value : bias.values) {
    if (value == 0) continue;  // NaN does not pass
    refuse(file.path(), bias.name,
           fmt::format(
               "the bias holds {}, but the theory has no biases: use a model without (or with zero) biases",
               value));
  }
}

}  // namespace

std::string_view to_string(Layout layout) {
  switch (layout) {
    case Layout::paper:
      return "paper";
    case Layout::transformer_lens:
      return "transformer-lens";
    case Layout::torch_mha:
      return "torch-mha";
    case Layout::bare:
      return "bare";
  }
  return "";
}

std::optional<Layout> parse_layout(std::string_view text) {
  for (const Layout layout : {Layout::paper, Layout::transformer_lens, Layout::torch_mha}) {
    if (text == to_string(layout)) return layout;
  }
  return std::nullopt;
}

std::optional<Key> parse_key(std::string_view name) {
  for (const Ending& ending : endings) {
    if (!name.ends_with(ending.text)) continue;
    const std::string_view before = name.substr(0, name.size() - ending.text.size());
    if (!before.empty() && before.back() != '.') continue;
    Key key{ending.layout, "", std::nullopt, std::string(ending.part)};
    if (!before.empty()) {
      for (const std::string_view component : split(before.substr(0, before.size() - 1))) {
        const auto index = component.empty() ? std::nullopt : layer_index(component);
        if (index && key.layer) return std::nullopt;  // which of two is the layer?
        if (index) key.layer = index;
        key.stem += index ? "{}" : std::string(component);
        key.stem += '.';
      }
    }
    if (key.layout == Layout::bare && key.stem == "blocks.{}.attn.") key.layout = Layout::transformer_lens;
    if (key.layout == Layout::transformer_lens || stem_belongs(key.layout, key.stem)) return key;
  }
  return std::nullopt;
}

std::string KeyedTensors::name(std::size_t layer, std::string_view part) const {
  std::string text = stem;
  if (const auto hole = text.find("{}"); hole != std::string::npos)
    text.replace(hole, 2, std::to_string(layer));
  for (const Ending& ending : endings) {
    const Layout named = layout == Layout::transformer_lens ? Layout::bare : layout;
    if (ending.layout == named && ending.part == part) return text.append(ending.text);
  }
  return text.append(part);
}

KeyedTensors sort_by_key(TensorFile content, const File& file) {
  KeyedTensors result;
  std::string first;
  std::map<int, std::map<std::string, Tensor>> layers;
  for (const Skipped& skipped : content.skipped) {
    if (parse_key(skipped.name)) refuse(file.path(), skipped.name, skipped.reason + ": save it as float32");
    if (const auto reason = foreign_part(skipped.name)) refuse(file.path(), skipped.name, *reason);
  }
  for (Tensor& tensor : content.tensors) {
    if (is_buffer(tensor.name)) continue;
    if (const auto reason = foreign_part(tensor.name)) refuse(file.path(), tensor.name, *reason);
    const auto key = parse_key(tensor.name);
    if (!key) {
      refuse(file.path(), tensor.name,
             fmt::format("is no key of a layout that is read here ({}): rename it or leave it out",
                         expected_keys));
    }
    if (first.empty()) {
      first = tensor.name;
      result.layout = key->layout;
      result.stem = key->stem;
      result.indexed = key->layer.has_value();
    } else if (key->layout != result.layout || key->stem != result.stem) {
      refuse(
          file.path(), tensor.name,
          fmt::format(
              "stands beside '{}', a key of another layout or model, so it is open which is meant: save one "
              "model a file",
              shown(first)));
    }
    if (key->part == "bias") {
      refuse_bias(tensor, file);
    } else {
      layers[key->layer.value_or(0)][key->part] = std::move(tensor);
    }
  }
  if (layers.empty()) refuse(file.path(), "", fmt::format("holds no attention weights: {}", expected_keys));
  for (auto& [index, parts] : layers) {
    if (index != static_cast<int>(result.layers.size())) {
      refuse(file.path(), result.name(result.layers.size(), parts.begin()->first),
             fmt::format(
                 "layer {} is missing, though there is a layer {}: number the layers from 0 without a gap",
                 result.layers.size(), index));
    }
    result.layers.push_back(std::move(parts));
  }
  return result;
}

}  // namespace sinkproof::formats
