#pragma once

// What the names in a weights file mean; the layouts are described in weights_file.hpp.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/file.hpp"
#include "formats/tensor.hpp"

namespace sinkproof::formats {

/// `bare` is a key W_Q whose layout its name leaves open.
enum class Layout { paper, transformer_lens, torch_mha, bare };

std::string_view to_string(Layout layout);  ///< as --layout spells it
std::optional<Layout> parse_layout(std::string_view text);

/// A key taken apart: "layers.0.W_Q.weight" is {paper, "layers.{}.", 0, "W_Q"}.
struct Key {
  Layout layout = Layout::paper;
  std::string stem;          ///< what stands before the part, the layer index replaced by {}
  std::optional<int> layer;  ///< the index in the stem
  std::string part;          ///< W_Q, W_K, W_V, W_O; in_proj, out_proj; or "bias" for any bias
};

/// The key's meaning, or nothing when it is none of a supported layout.
std::optional<Key> parse_key(std::string_view name);

/// The tensors of a file that make up one model of one layout: layers[l][part].
struct KeyedTensors {
  Layout layout = Layout::paper;
  std::string stem;
  bool indexed = false;  ///< the keys carry layer indices
  std::vector<std::map<std::string, Tensor>> layers;

  /// The file's key for a part, for messages.
  std::string name(std::size_t layer, std::string_view part) const;
};

/// Sorts the file's tensors by layer and part. Throws InputError on keys of two layouts or prefixes, missing
/// layers, biases that are not zero, and parts the attention-only model does not have.
KeyedTensors sort_by_key(TensorFile content, const File& file);

}  // namespace sinkproof::formats
