#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "attention/weights.hpp"
#include "formats/file.hpp"

namespace sinkproof::formats {

/// What the caller says about a weights file (the flags of the same names); what is left out, the file must
/// settle.
struct WeightsOptions {
  /// "paper", "transformer-lens" or "torch-mha". Needed for bare keys `W_Q`, whose side of multiplication
  /// their name leaves open; refused when it contradicts the keys.
  std::optional<std::string> layout = std::nullopt;
  /// What multiplies the scores q.k: "none" (1), "sqrt" (1/sqrt(d_head)) or a positive exact number ("1/4",
  /// "0.25"). Left out, the layout's own: none for the paper's code, sqrt for the two others.
  std::optional<std::string> scale = std::nullopt;
  /// Heads in a layer. Needed for torch-mha, whose file does not say; elsewhere checked against the shapes.
  std::optional<int> heads = std::nullopt;
};

/// Reads trained attention weights from an .npz or .safetensors file, told apart by content. Keys (l = 0, 1,
/// ...):
///
/// - paper (y = W x, no scaling of scores): `W_Q.weight`, `W_K.weight`, `W_V.weight`, `W_O.weight`, all [n,
/// n], one head;
///   or stacks `layers.{l}.W_Q.weight` (W_K, W_V) [H*n, n] and `layers.{l}.W_O.weight` [n, H*n]: head h is
///   rows (for W_O columns) h*n .. (h+1)*n - 1. Biases `W_Q.bias` ... may be there as zeros.
/// - transformer-lens (y = x W, scores / sqrt(d_head)): `blocks.{l}.attn.W_Q` (W_K, W_V) [H, n, d_head] and
///   `blocks.{l}.attn.W_O` [H, d_head, n]; `b_Q` ... may be there as zeros.
/// - torch-mha (y = W x, scores / sqrt(n/H)): `in_proj_weight` [3n, n] (queries, keys, values),
/// `out_proj.weight` [n, n],
///   after `layers.{l}.self_attn.` or another prefix that ends in `attn.`; `in_proj_bias`, `out_proj.bias`
///   may be zeros.
/// - bare `W_Q` ..., also after `layers.{l}.` or `attn.`: as `options.layout` says, paper or transformer-lens
/// ([n, d_head]
///   then means one head).
///
/// A model whose keys carry a layer index has residual layers; one without an index is a single layer without
/// residual. All fields of the result are filled; its entries are the stored floats, finite. Buffers named
/// `mask` or `IGNORE`, and arrays of other types than floats that no key above names, are passed over (masks
/// are causal by the model's definition). Everything else is refused, with an InputError that names the file,
/// the key and the mend: a missing key or layer, a wrong shape, n < 3, NaN or infinity, a bias that is not
/// zero, keys of two layouts or two models, grouped-query or rotary attention, and any part the
/// attention-only model does not have (norms, MLPs, embeddings).
attention::Weights read_weights(const std::filesystem::path& path, const WeightsOptions& options = {});
attention::Weights read_weights(const File& file, const WeightsOptions& options = {});

/// Writes the paper's layout, .npz or .safetensors by the path's extension: float32 when that holds every
/// entry, else float64; read_weights gives the same model back. Throws InputError on a model this layout
/// cannot say (d_head other than n, scaled scores, one layer that is a single head with residual, or no
/// residual and more than that), on weights that read_weights would refuse, and when the file cannot be
/// written.
void write_weights(const std::filesystem::path& path, const attention::Weights& weights);

}  // namespace sinkproof::formats
