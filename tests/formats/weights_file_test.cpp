#include "formats/weights_file.hpp"

#include <cmath>

#include "formats/npz.hpp"
#include "formats/safetensors.hpp"
#include "support.hpp"

using namespace sinkproof::formats;
using namespace sinkproof::test;
using sinkproof::attention::HeadWeights;
using sinkproof::attention::Weights;
using sinkproof::numeric::Rational;

namespace {

/// Distinct entries start, start + 1, ... so that a wrong place shows.
Tensor counted(const std::string& name, const Shape& shape, double start) {
  Tensor tensor{name, Dtype::f32, shape, {}};
  for (std::uint64_t i = 0; i < entry_count(shape); ++i)
    tensor.values.push_back(start + static_cast<double>(i));
  return tensor;
}

Weights model(int layers, int heads, int n, bool residual, double start = 1) {
  Weights weights;
  weights.dimension = n;
  weights.residual = residual;
  for (int l = 0; l < layers; ++l) {
    weights.layers.emplace_back();
    for (int h = 0; h < heads; ++h) {
      HeadWeights head;
      for (auto* matrix : {&head.query, &head.key, &head.value, &head.output}) {
        matrix->resize(n, n);
        for (int i = 0; i < n; ++i) {
          for (int j = 0; j < n; ++j) (*matrix)(i, j) = start++;
        }
      }
      weights.layers.back().heads.push_back(head);
    }
  }
  return weights;
}

void check_same(const Weights& a, const Weights& b) {
  CHECK(a.dimension == b.dimension);
  CHECK(a.residual == b.residual);
  REQUIRE(a.layers.size() == b.layers.size());
  for (std::size_t l = 0; l < a.layers.size(); ++l) {
    REQUIRE(a.layers[l].heads.size() == b.layers[l].heads.size());
    for (std::size_t h = 0; h < a.layers[l].heads.size(); ++h) {
      const HeadWeights &x = a.layers[l].heads[h], &y = b.layers[l].heads[h];
      CHECK(x.query == y.query);
      CHECK(x.key == y.key);
      CHECK(x.value == y.value);
      CHECK(x.output == y.output);
    }
  }
}

}  // namespace

TEST_CASE("the trained weights of the paper's code are read") {
  const std::filesystem::path folder = std::filesystem::path(SINKPROOF_DATA_DIR) / "weights";
  struct Row {
    const char* name;
    std::size_t layers, heads;
  };
  for (const Row& row : {Row{"softmax_1h1d", 1, 1}, Row{"relu_1h1d", 1, 1}, Row{"softmax_2h2d", 2, 2},
                         Row{"relu_2h2d", 2, 2}, Row{"softmax_4h4d", 4, 4}}) {
    CAPTURE(row.name);
    const auto path = folder / (std::string(row.name) + ".npz");
    const Weights weights = read_weights(path);
    CHECK(weights.layout == "paper");
    CHECK(weights.dimension == 16);
    CHECK(weights.residual == (row.layers > 1));
    CHECK(weights.scale.factor == 1);
    CHECK_FALSE(weights.scale.inverse_sqrt_head_dimension);
    REQUIRE(weights.layers.size() == row.layers);
    const TensorFile raw = read_npz(path);
    for (std::size_t l = 0; l < row.layers; ++l) {
      REQUIRE(weights.layers[l].heads.size() == row.heads);
      for (std::size_t h = 0; h < row.heads; ++h) {
        const HeadWeights& head = weights.layers[l].heads[h];
        for (std::size_t i = 0; i < 16; ++i) {
          for (std::size_t j = 0; j < 16; ++j) {
            CHECK(head.query(i, j) == raw.tensors[4 * l].values[(16 * h + i) * 16 + j]);
            CHECK(head.key(i, j) == raw.tensors[4 * l + 1].values[(16 * h + i) * 16 + j]);
            CHECK(head.value(i, j) == raw.tensors[4 * l + 2].values[(16 * h + i) * 16 + j]);
            CHECK(head.output(i, j) == raw.tensors[4 * l + 3].values[i * 16 * row.heads + 16 * h + j]);
          }
        }
      }
    }
    const Folder scratch;
    for (const char* name : {"copy.npz", "copy.safetensors"}) {
      write_weights(scratch / name, weights);
      check_same(read_weights(scratch / name), weights);
    }
  }
}

TEST_CASE("TransformerLens: per head, multiplied from the right, so transposed") {
  const Folder folder;
  const std::vector<Tensor> tensors{counted("blocks.0.attn.W_Q", {2, 3, 5}, 0),
                                    counted("blocks.0.attn.W_K", {2, 3, 5}, 100),
                                    counted("blocks.0.attn.W_V", {2, 3, 5}, 200),
                                    counted("blocks.0.attn.W_O", {2, 5, 3}, 300),
                                    {"blocks.0.attn.b_Q", Dtype::f32, {2, 5}, std::vector<double>(10, -0.0)},
                                    {"blocks.0.attn.IGNORE", Dtype::f32, {}, {-INFINITY}},
                                    {"blocks.0.attn.mask", Dtype::f32, {2, 2}, {1, 0, 1, 1}}};
  write_safetensors(folder / "x.safetensors", tensors);
  const Weights weights = read_weights(folder / "x.safetensors");
  CHECK(weights.layout == "transformer-lens");
  CHECK(weights.dimension == 3);
  CHECK(weights.residual);
  CHECK(weights.scale.inverse_sqrt_head_dimension);
  REQUIRE(weights.layers.at(0).heads.size() == 2);
  const HeadWeights& head = weights.layers[0].heads[1];
  REQUIRE(head.query.rows() == 5);
  REQUIRE(head.query.cols() == 3);
  REQUIRE(head.output.rows() == 3);
  REQUIRE(head.output.cols() == 5);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 5; ++j) {
      CHECK(head.query(j, i) == 15 + 5 * i + j);
      CHECK(head.key(j, i) == 115 + 5 * i + j);
      CHECK(head.value(j, i) == 215 + 5 * i + j);
      CHECK(head.output(i, j) == 315 + 3 * j + i);
    }
  }
}

TEST_CASE("torch MultiheadAttention: heads from the caller, rows of in_proj, columns of out_proj") {
  const Folder folder;
  const auto path = folder / "x.npz";
  for (const std::string prefix : {"", "self_attn.", "layers.0.self_attn.", "encoder.layers.0.self_attn."}) {
    CAPTURE(prefix);
    write_npz(path,
              std::vector<Tensor>{counted(prefix + "in_proj_weight", {12, 4}, 0),
                                  counted(prefix + "out_proj.weight", {4, 4}, 100),
                                  {prefix + "in_proj_bias", Dtype::f32, {12}, std::vector<double>(12)}});
    const Weights weights = read_weights(path, {.heads = 2});
    CHECK(weights.layout == "torch-mha");
    CHECK(weights.dimension == 4);
    CHECK(weights.residual == (prefix.find('0') != std::string::npos));
    CHECK(weights.scale.inverse_sqrt_head_dimension);
    REQUIRE(weights.layers.at(0).heads.size() == 2);
    const HeadWeights& head = weights.layers[0].heads[1];
    REQUIRE(head.query.rows() == 2);
    REQUIRE(head.output.cols() == 2);
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 4; ++j) {
        CHECK(head.query(i, j) == 4 * (2 + i) + j);
        CHECK(head.key(i, j) == 4 * (4 + 2 + i) + j);
        CHECK(head.value(i, j) == 4 * (8 + 2 + i) + j);
        CHECK(head.output(j, i) == 100 + 4 * j + 2 + i);
      }
    }
  }
}

TEST_CASE("bare keys are read as --layout says") {
  const Folder folder;
  const auto path = folder / "x.npz";
  std::vector<Tensor> tensors;
  for (const char* name : {"W_Q", "W_K", "W_V", "W_O"}) tensors.push_back(counted(name, {3, 3}, 0));
  write_npz(path, tensors);
  const Weights left = read_weights(path, {.layout = "paper"});
  const Weights right = read_weights(path, {.layout = "transformer-lens"});
  CHECK(left.layout == "paper");
  CHECK(right.layout == "transformer-lens");
  CHECK(left.layers.at(0).heads.at(0).query(0, 1) == 1);
  CHECK(right.layers.at(0).heads.at(0).query(1, 0) == 1);
  CHECK(right.layers.at(0).heads.at(0).output(1, 0) == 1);
  CHECK_FALSE(left.residual);
  CHECK_FALSE(right.residual);

  for (Tensor& tensor : tensors) tensor.name = "layers.0." + tensor.name;
  write_npz(path, tensors);
  for (const char* layout : {"paper", "transformer-lens"}) {
    CAPTURE(layout);
    const Weights stack = read_weights(path, {.layout = layout});
    CHECK(stack.residual);
    CHECK(stack.scale.inverse_sqrt_head_dimension == (stack.layout == "transformer-lens"));
  }
}

TEST_CASE("layers come in the order of their numbers") {
  const Folder folder;
  const Weights weights = model(11, 1, 3, true);
  write_weights(folder / "x.npz", weights);
  auto shuffled = read_npz(folder / "x.npz").tensors;
  std::reverse(shuffled.begin(), shuffled.end());
  write_npz(folder / "y.npz", shuffled);
  check_same(read_weights(folder / "y.npz"), weights);
}

TEST_CASE("--scale: none, sqrt or an exact factor; the layout's own when left out") {
  const Folder folder;
  const auto path = folder / "x.npz";
  write_weights(path, model(1, 1, 3, false));
  CHECK(read_weights(path, {.scale = "sqrt"}).scale.inverse_sqrt_head_dimension);
  CHECK(read_weights(path, {.scale = "0.1"}).scale.factor == Rational(1, 10));
  CHECK(read_weights(path, {.scale = "1/3"}).scale.factor == Rational(1, 3));
  write_npz(path,
            std::vector<Tensor>{counted("in_proj_weight", {9, 3}, 0), counted("out_proj.weight", {3, 3}, 0)});
  const auto none = read_weights(path, {.scale = "none", .heads = 1}).scale;
  CHECK_FALSE(none.inverse_sqrt_head_dimension);
  CHECK(none.factor == 1);
}

TEST_CASE("the format is told by content, not by name") {
  const Folder folder;
  const Weights weights = model(1, 1, 3, false);
  write_weights(folder / "a.npz", weights);
  write_weights(folder / "a.safetensors", weights);
  std::filesystem::copy_file(folder / "a.npz", folder / "b.safetensors");
  std::filesystem::copy_file(folder / "a.safetensors", folder / "c.npz");
  check_same(read_weights(folder / "b.safetensors"), weights);
  check_same(read_weights(folder / "c.npz"), weights);
}

TEST_CASE("integer buffers that no key names do no harm") {
  const Folder folder;
  std::vector<ZipEntry> entries;
  for (const char* name : {"W_Q", "W_K", "W_V", "W_O"}) {
    entries.push_back(
        {.name = std::string(name) + ".weight.npy", .data = npy_f4("(3, 3)", std::vector<float>(9, 1))});
  }
  entries.push_back({.name = "step.npy",
                     .data = npy("{'descr': '<i8', 'fortran_order': False, 'shape': (), }", little(7, 8))});
  CHECK(read_weights(folder.file("x.npz", zip_bytes(entries))).dimension == 3);
}

TEST_CASE("weights are written as float32 when that is exact, else as float64") {
  const Folder folder;
  Weights weights = model(2, 2, 4, true);
  write_weights(folder / "x.npz", weights);
  CHECK(read_npz(folder / "x.npz").tensors.at(0).dtype == Dtype::f32);
  check_same(read_weights(folder / "x.npz"), weights);
  weights.layers[1].heads[1].output(3, 3) = 0.1;
  write_weights(folder / "x.safetensors", weights);
  CHECK(read_safetensors(folder / "x.safetensors").tensors.at(0).dtype == Dtype::f64);
  check_same(read_weights(folder / "x.safetensors"), weights);
}

TEST_CASE("models that the paper layout cannot say are not written") {
  const Folder folder;
  const auto path = folder / "x.npz";
  const auto refused = [&](const Weights& weights, const char* field, const char* word) {
    check_refused([&] { write_weights(path, weights); }, path, {field, word});
  };
  refused(model(1, 1, 3, true), "'residual'", "single head");
  refused(model(2, 1, 3, false), "'residual'", "stacks");
  refused(model(1, 2, 3, false), "'residual'", "several heads");
  refused(model(1, 1, 2, false), "'dimension'", "n >= 3");
  refused(model(0, 1, 3, false), "'layers'", "none");
  Weights narrow = model(1, 1, 3, false);
  narrow.layers[0].heads[0].query.conservativeResize(2, 3);
  refused(narrow, "'layers.0'", "d_head = n = 3");
  Weights uneven = model(2, 2, 3, true);
  uneven.layers[1].heads.pop_back();
  refused(uneven, "'layers.1'", "same number of heads");
  Weights scaled = model(1, 1, 3, false);
  scaled.scale.inverse_sqrt_head_dimension = true;
  refused(scaled, "'scale'", "no scaling");
  scaled.scale = {Rational(1, 2), false};
  refused(scaled, "'scale'", "no scaling");
  Weights nan = model(1, 1, 3, false);
  nan.layers[0].heads[0].key(0, 0) = std::nan("");
  refused(nan, "'layers.0'", "NaN");
  CHECK(std::filesystem::is_empty(folder.path()));
  check_refused([&] { write_weights(folder / "x.bin", model(1, 1, 3, false)); }, folder / "x.bin",
                {".npz or .safetensors"});
}
