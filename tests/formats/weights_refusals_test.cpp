#include <cmath>

#include "formats/npz.hpp"
#include "formats/weights_file.hpp"
#include "support.hpp"

using namespace sinkproof::formats;
using namespace sinkproof::test;

namespace {

using Tensors = std::vector<Tensor>;

Tensor filled(const std::string& name, const Shape& shape, double value = 1) {
  return {name, Dtype::f32, shape, std::vector<double>(entry_count(shape).value(), value)};
}

/// A layer of the paper's layout.
Tensors paper(const std::string& prefix = "", std::uint64_t n = 3, std::uint64_t heads = 1) {
  return {filled(prefix + "W_Q.weight", {heads * n, n}), filled(prefix + "W_K.weight", {heads * n, n}),
          filled(prefix + "W_V.weight", {heads * n, n}), filled(prefix + "W_O.weight", {n, heads * n})};
}

Tensors lens(const std::string& prefix = "blocks.0.attn.", std::uint64_t heads = 2, std::uint64_t n = 4) {
  return {filled(prefix + "W_Q", {heads, n, 2}), filled(prefix + "W_K", {heads, n, 2}),
          filled(prefix + "W_V", {heads, n, 2}), filled(prefix + "W_O", {heads, 2, n})};
}

Tensors torch(const std::string& prefix = "", std::uint64_t n = 4) {
  return {filled(prefix + "in_proj_weight", {3 * n, n}), filled(prefix + "out_proj.weight", {n, n})};
}

Tensors operator+(Tensors tensors, const Tensors& more) {
  tensors.insert(tensors.end(), more.begin(), more.end());
  return tensors;
}

Tensors without(Tensors tensors, std::size_t index) {
  tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(index));
  return tensors;
}

Tensors with(Tensors tensors, std::size_t index, const Tensor& tensor) {
  tensors[index] = tensor;
  return tensors;
}

void refused(const Tensors& tensors, const std::vector<std::string>& words,
             const WeightsOptions& options = {}) {
  const Folder folder;
  write_npz(folder / "w.npz", tensors);
  check_refused([&] { read_weights(folder / "w.npz", options); }, folder / "w.npz", words);
}

}  // namespace

TEST_CASE("a missing key or layer is named") {
  const char* names[] = {"W_Q", "W_K", "W_V", "W_O"};
  for (std::size_t i = 0; i < 4; ++i) {
    refused(without(paper(), i), {"'" + std::string(names[i]) + ".weight'", "missing"});
    refused(paper("layers.0.") + without(paper("layers.1."), i),
            {"'layers.1." + std::string(names[i]) + ".weight'", "missing"});
    refused(without(lens(), i), {"'blocks.0.attn." + std::string(names[i]) + "'", "missing"});
  }
  refused(without(torch(), 0), {"'in_proj_weight'", "missing"}, {.heads = 1});
  refused(without(torch("layers.0.self_attn."), 1), {"'layers.0.self_attn.out_proj.weight'", "missing"},
          {.heads = 1});
  refused(paper("layers.0.") + paper("layers.2."), {"'layers.1.W_", "layer 1 is missing", "layer 2"});
  refused(paper("layers.1."), {"'layers.0.W_", "layer 0 is missing"});
  refused(paper("layers.0.") + paper("layers.00."), {"'layers.00.W_Q.weight'", "no key of a layout"});
}

TEST_CASE("a wrong shape is named with the expected one") {
  refused(with(paper(), 0, filled("W_Q.weight", {6, 3})), {"'W_Q.weight'", "[6, 3]", "square"});
  refused(with(paper(), 0, filled("W_Q.weight", {9})), {"'W_Q.weight'", "[9]"});
  refused(with(paper(), 0, filled("W_Q.weight", {0, 3})), {"'W_Q.weight'", "[0, 3]"});
  refused(with(paper(), 2, filled("W_V.weight", {4, 3})), {"'W_V.weight'", "[4, 3]", "expected [3, 3]"});
  refused(with(paper("layers.0.", 3, 2), 3, filled("layers.0.W_O.weight", {6, 3})),
          {"'layers.0.W_O.weight'", "[6, 3]", "expected [3, 6]"});
  refused(with(paper("layers.0.", 3, 2), 0, filled("layers.0.W_Q.weight", {5, 3})),
          {"'layers.0.W_Q.weight'", "[H*n, n]"});
  refused(with(lens(), 0, filled("blocks.0.attn.W_Q", {4, 4})), {"'blocks.0.attn.W_Q'", "[H, n, d_head]"});
  refused(with(lens(), 3, filled("blocks.0.attn.W_O", {2, 4, 2})),
          {"'blocks.0.attn.W_O'", "expected [2, 2, 4]"});
  refused(with(torch(), 0, filled("in_proj_weight", {8, 4})), {"'in_proj_weight'", "[3n, n]"}, {.heads = 2});
  refused(with(torch(), 1, filled("out_proj.weight", {4, 8})), {"'out_proj.weight'", "expected [4, 4]"},
          {.heads = 2});
  refused(paper("", 2), {"'W_Q.weight'", "dimension 2", "n = d + 3"});
  refused(lens("blocks.0.attn.", 1, 2), {"'blocks.0.attn.W_Q'", "dimension 2"});
  refused(torch("", 2), {"'in_proj_weight'", "dimension 2"}, {.heads = 1});
  refused(paper("layers.0.", 3) + paper("layers.1.", 4),
          {"'layers.1.W_Q.weight'", "dimension 4", "3 in layer 0"});
  refused(paper("layers.0.", 3, 2) + paper("layers.1.", 3, 1),
          {"'layers.1.W_Q.weight'", "1 heads", "layer 0 has 2"});
}

TEST_CASE("NaN and infinities in a weight are refused, naming the entry") {
  for (const double value : {std::nan(""), double{INFINITY}, -double{INFINITY}}) {
    Tensors tensors = paper();
    tensors[1].values[4] = value;
    refused(tensors, {"'W_K.weight'", "entry 4 of [3, 3]"});
    tensors = lens();
    tensors[3].values[0] = value;
    refused(tensors, {"'blocks.0.attn.W_O'", "entry 0"});
    tensors = torch();
    tensors[1].values[0] = value;
    refused(tensors, {"'out_proj.weight'", "entry 0"}, {.heads = 2});
  }
}

TEST_CASE("biases must be zero") {
  refused(paper() + Tensors{filled("W_Q.bias", {3}, 0.5)}, {"'W_Q.bias'", "0.5", "no biases"});
  for (const char* name : {"b_Q", "b_K", "b_V", "b_O"}) {
    const std::string key = std::string("blocks.0.attn.") + name;
    refused(lens() + Tensors{filled(key, {4}, -1)}, {"'" + key + "'", "no biases"});
    refused(lens() + Tensors{filled(key, {4}, std::nan(""))}, {"'" + key + "'", "no biases"});
  }
  refused(torch() + Tensors{filled("in_proj_bias", {12}, 1e-30F)}, {"'in_proj_bias'", "no biases"},
          {.heads = 2});
  refused(torch() + Tensors{filled("out_proj.bias", {4})}, {"'out_proj.bias'", "no biases"}, {.heads = 2});
}

TEST_CASE("parts that the attention-only model does not have are refused") {
  for (const char* name :
       {"blocks.0.mlp.W_in", "blocks.0.ln1.w", "ln_final.b", "embed.W_E", "unembed.W_U", "pos_embed.W_pos"}) {
    refused(lens() + Tensors{filled(name, {1})},
            {"'" + std::string(name) + "'", "does not describe", "export only"});
  }
  for (const char* name : {"layers.0.linear1.weight", "layers.0.norm1.weight"}) {
    refused(torch("layers.0.self_attn.") + Tensors{filled(name, {1})}, {name, "export only"}, {.heads = 2});
  }
  for (const char* name : {"blocks.0.attn.rotary_sin", "blocks.0.attn.rotary_cos", "rotary_emb.inv_freq"}) {
    refused(lens() + Tensors{filled(name, {1})}, {"'" + std::string(name) + "'", "rotary"});
  }
  refused(without(lens(), 1) + Tensors{filled("blocks.0.attn._W_K", {1, 4, 2})},
          {"'blocks.0.attn._W_K'", "grouped-query"});
  refused(with(lens(), 1, filled("blocks.0.attn.W_K", {1, 4, 2})), {"'blocks.0.attn.W_K'", "grouped-query"});
  refused(torch() + Tensors{filled("bias_k", {1})}, {"'bias_k'", "add_bias_kv"}, {.heads = 2});
  refused(paper() + Tensors{filled("head_sink", {1})}, {"'head_sink'", "no key of a layout"});
  refused(paper() + Tensors{filled("layers.0.1.W_Q.weight", {3, 3})},
          {"'layers.0.1.W_Q.weight'", "no key of a layout"});
}

TEST_CASE("keys of two layouts or two models are refused") {
  refused(paper() + lens(), {"'blocks.0.attn.W_Q'", "'W_Q.weight'", "one model a file"});
  refused(paper() + paper("layers.0."), {"'layers.0.W_Q.weight'", "'W_Q.weight'", "one model a file"});
  refused(paper() + torch(), {"'in_proj_weight'", "'W_Q.weight'"}, {.heads = 1});
  refused(torch("encoder.layers.0.self_attn.") + torch("decoder.layers.0.self_attn."),
          {"'decoder.layers.0.self_attn.in_proj_weight'", "one model a file"}, {.heads = 1});
  refused(torch("layers.0.multihead_attn."),
          {"'layers.0.multihead_attn.in_proj_weight'", "no key of a layout"}, {.heads = 1});
  refused({filled("wte.weight", {3, 3})}, {"'wte.weight'", "no key of a layout"});
}

TEST_CASE("what the file leaves open is demanded, what contradicts it refused") {
  const Tensors bare{filled("W_Q", {3, 3}), filled("W_K", {3, 3}), filled("W_V", {3, 3}),
                     filled("W_O", {3, 3})};
  refused(bare, {"'W_", "--layout paper", "--layout transformer-lens"});
  refused(bare, {"'W_", "--layout paper"}, {.layout = "torch-mha"});
  refused(bare, {"'--layout'", "'keras'", "paper, transformer-lens and torch-mha"}, {.layout = "keras"});
  refused(paper(), {"'W_K.weight'", "--layout transformer-lens contradicts"}, {.layout = "transformer-lens"});
  refused(torch(), {"'in_proj_weight'", "--heads"});
  refused(torch(), {"'--heads'", "3 heads do not divide n = 4"}, {.heads = 3});
  refused(torch(), {"'--heads'", "do not divide"}, {.heads = 8});
  refused(torch(), {"'--heads'", "at least 1"}, {.heads = 0});
  refused(torch(), {"'--heads'", "at least 1"}, {.heads = -2});
  refused(paper(), {"'W_Q.weight'", "1 heads", "--heads says 2"}, {.heads = 2});
  refused(lens(), {"'blocks.0.attn.W_Q'", "2 heads", "--heads says 4"}, {.heads = 4});
  for (const char* scale : {"", "half", "1/0", "nan", "1e99999"})
    refused(paper(), {"'--scale'", "none, or sqrt"}, {.scale = scale});
  for (const char* scale : {"0", "-1"}) refused(paper(), {"'--scale'", "not positive"}, {.scale = scale});
}

TEST_CASE("a weight that is no float is refused, and so is an object array anywhere") {
  const Folder folder;
  const std::string ones = npy_f4("(3, 3)", std::vector<float>(9, 1));
  const auto with_entry = [&](const std::string& name, const std::string& data) {
    return folder.file("w.npz", zip_bytes({{.name = "W_K.weight.npy", .data = ones},
                                           {.name = name + ".npy", .data = data}}));
  };
  const auto integers =
      with_entry("W_Q.weight", npy("{'descr': '<i2', 'fortran_order': False, 'shape': (1,), }", "  "));
  check_refused([&] { read_weights(integers); }, integers, {"'W_Q.weight'", "integers", "float32"});
  const auto quantised =
      with_entry("mlp.W_in", npy("{'descr': '|i1', 'fortran_order': False, 'shape': (1,), }", " "));
  check_refused([&] { read_weights(quantised); }, quantised, {"'mlp.W_in'", "does not describe"});
  const auto object =
      with_entry("notes", npy("{'descr': '|O', 'fortran_order': False, 'shape': (), }", "N."));
  check_refused([&] { read_weights(object); }, object, {"'notes'", "object array"});
}

TEST_CASE("files of other formats are refused with the mend") {
  const Folder folder;
  const auto check = [&](const char* name, const std::string& bytes, const char* word) {
    const auto path = folder.file(name, bytes);
    check_refused([&] { read_weights(path); }, path, {word});
  };
  check("empty.npz", "", "empty");
  check("empty.safetensors", "", "empty");
  check("single.npy", npy_f4("(3, 3)", std::vector<float>(9)), "numpy.savez");
  check("model.pt", "\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.", "pickles are never loaded");
  check("text.npz", "W_Q = [[1, 2], [3, 4]]", "neither .npz nor .safetensors");
  check("cut.npz", std::string("PK\x03\x04\x14\0\0\0", 8), "truncated or damaged");
  check("cut.safetensors", little(1000, 8) + "{\"a", "truncated");
  check("nothing.safetensors", safetensors("{}", ""), "no attention weights");
  check("only_text.npz", zip_bytes({{.name = "a.txt", .data = "x"}}), "no attention weights");
  check_refused([&] { read_weights(folder.path()); }, folder.path(), {"directory"});
  check_refused([&] { read_weights(folder / "absent"); }, folder / "absent", {"no such file"});
}
