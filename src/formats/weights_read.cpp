#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "errors.hpp"
#include "formats/npz.hpp"
#include "formats/safetensors.hpp"
#include "formats/weights_file.hpp"
#include "formats/weights_keys.hpp"

namespace sinkproof::formats {
namespace {

using attention::HeadWeights;
using attention::LayerWeights;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixView = Eigen::Map<const RowMajor>;

constexpr std::uint64_t smallest_dimension = 3;
constexpr std::uint64_t largest_dimension = 1 << 20;

TensorFile read_tensors(const File& file) {
  if (looks_like_safetensors(file)) return read_safetensors(file);
  std::array<unsigned char, 6> head{};
  file.read_at(0, std::span(head).first(std::min<std::uint64_t>(head.size(), file.size())));
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (text.starts_with("PK")) return read_npz(file);
  if (text == "\x93NUMPY")
    refuse(file.path(), "", "is a single .npy array: save the named weights with numpy.savez");
  if (file.path().extension() == ".safetensors") return read_safetensors(file);  // says what is wrong with it
  if (file.size() == 0) refuse(file.path(), "", "is empty: save the weights again");
  refuse(
      file.path(), "",
      "is neither .npz nor .safetensors (pickles are never loaded): export the weights with numpy.savez or "
      "safetensors.save_file");
}

class Reader {
 public:
  Reader(const File& file, const WeightsOptions& options)
      : file_(file), options_(options), keyed_(sort_by_key(read_tensors(file), file)) {}

  attention::Weights read() {
    layout_ = settle_layout();
    if (options_.heads && *options_.heads < 1) refuse("--heads", "must be at least 1");
    attention::Weights weights;
    weights.layout = to_string(layout_);
    weights.residual = keyed_.indexed;
    weights.scale = scale();
    for (std::size_t layer = 0; layer < keyed_.layers.size(); ++layer)
      weights.layers.push_back(read_layer(layer));
    weights.dimension = static_cast<int>(dimension_);
    return weights;
  }

 private:
  [[noreturn]] void refuse(std::string_view field, std::string_view message) const {
    formats::refuse(file_.path(), field, message);
  }

  [[noreturn]] void refuse_shape(const Tensor& tensor, const std::string& expected) const {
    refuse(tensor.name,
           fmt::format("shape {}, expected {}: save the weights in the {} layout (or see --layout)",
                       to_string(tensor.shape), expected, to_string(layout_)));
  }

  Layout settle_layout() const {
    std::optional<Layout> told;
    if (options_.layout) {
      told = parse_layout(*options_.layout);
      if (!told) {
        refuse("--layout", "'" + shown(*options_.layout) +
                               "' is unknown: paper, transformer-lens and torch-mha are known");
      }
    }
    const std::string key = keyed_.name(0, keyed_.layers[0].begin()->first);
    if (keyed_.layout != Layout::bare) {
      if (told && *told != keyed_.layout) {
        refuse(key,
               fmt::format("is a key of the {} layout, which --layout {} contradicts: leave --layout out",
                           to_string(keyed_.layout), to_string(*told)));
      }
      return keyed_.layout;
    }
    if (!told || *told == Layout::torch_mha) {
      refuse(key,
             "its name leaves the layout open: pass --layout paper (y = W x) or --layout transformer-lens (y "
             "= x W)");
    }
    return *told;
  }

  attention::ScoreScale scale() const {
    const std::string text = options_.scale.value_or(layout_ == Layout::paper ? "none" : "sqrt");
    if (text == "none") return {1, false};
    if (text == "sqrt") return {1, true};
    numeric::Rational factor;
    try {
      factor = numeric::parse_rational(text);
    } catch (const InputError& error) {
      refuse("--scale", shown(error.what()) + ", or none, or sqrt");
    }
    if (factor <= 0) refuse("--scale", "'" + shown(text) + "' is not positive: it multiplies the scores q.k");
    return {factor, false};
  }

  const Tensor& part(std::size_t layer, const std::string& name) const {
    const auto found = keyed_.layers[layer].find(name);
    if (found == keyed_.layers[layer].end()) {
      refuse(keyed_.name(layer, name), "is missing: save all weights of the layer");
    }
    const Tensor& tensor = found->second;
    for (std::size_t i = 0; i < tensor.values.size(); ++i) {
      if (!std::isfinite(tensor.values[i])) {
        refuse(tensor.name,
               fmt::format("entry {} of {} (row-major) is {}: nothing can be proved about it, train again", i,
                           to_string(tensor.shape), tensor.values[i]));
      }
    }
    return tensor;
  }

  void settle_dimension(const Tensor& tensor, std::uint64_t dimension) {
    if (dimension > largest_dimension)
      refuse(tensor.name, fmt::format("model dimension {} is beyond 2^20", dimension));
    if (dimension < smallest_dimension) {
      refuse(tensor.name, fmt::format("model dimension {}: the task needs n = d + 3 >= {}", dimension,
                                      smallest_dimension));
    }
    if (dimension_ != 0 && dimension != dimension_) {
      refuse(tensor.name, fmt::format("model dimension {}, but {} in layer 0: save the layers of one model",
                                      dimension, dimension_));
    }
    dimension_ = dimension;
  }

  void settle_heads(const Tensor& tensor, std::uint64_t heads) {
    if (options_.heads && static_cast<std::uint64_t>(*options_.heads) != heads) {
      refuse(tensor.name, fmt::format("has {} heads by its shape, but --heads says {}: leave it out", heads,
                                      *options_.heads));
    }
    if (heads_ != 0 && heads != heads_) {
      refuse(tensor.name,
             fmt::format("has {} heads, but layer 0 has {}: save the layers of one model", heads, heads_));
    }
    heads_ = heads;
  }

  void demand_shape(const Tensor& tensor, const Shape& expected) const {
    if (tensor.shape != expected) {
      refuse_shape(tensor, fmt::format("{} (n = {}, {} heads)", to_string(expected), dimension_, heads_));
    }
  }

  LayerWeights read_layer(std::size_t layer) {
    LayerWeights result = layout_ == Layout::paper              ? read_paper(layer)
                          : layout_ == Layout::transformer_lens ? read_transformer_lens(layer)
                                                                : read_torch(layer);
    keyed_.layers[layer].clear();  // the matrices are copies: at no time is the whole file there twice
    return result;
  }

  static MatrixView view(const double* values, std::uint64_t rows, std::uint64_t columns) {
    return MatrixView(values, static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
  }

  /// Heads from matrices applied as y = W x: queries, keys and values [heads*d, n], outputs [n, heads*d].
  LayerWeights split_heads(const MatrixView& q, const MatrixView& k, const MatrixView& v,
                           const MatrixView& o) const {
    LayerWeights result;
    const Eigen::Index d = q.rows() / static_cast<Eigen::Index>(heads_);
    for (Eigen::Index row = 0; row < q.rows(); row += d) {
      result.heads.push_back(
          {q.middleRows(row, d), k.middleRows(row, d), v.middleRows(row, d), o.middleCols(row, d)});
    }
    return result;
  }

  LayerWeights read_paper(std::size_t layer) {
    const Tensor& query = part(layer, "W_Q");
    if (query.shape.size() != 2 || query.shape[1] == 0 || query.shape[0] == 0 ||
        query.shape[0] % query.shape[1] != 0 || (!keyed_.indexed && query.shape[0] != query.shape[1])) {
      refuse_shape(query, keyed_.indexed
                              ? "[H*n, n]"
                              : "a square [n, n] (one head; stacks have keys 'layers.0.W_Q.weight')");
    }
    const std::uint64_t n = query.shape[1];
    settle_dimension(query, n);
    settle_heads(query, query.shape[0] / n);
    std::vector<MatrixView> views;
    for (const char* name : {"W_Q", "W_K", "W_V", "W_O"}) {
      const Tensor& tensor = part(layer, name);
      demand_shape(tensor, name[2] == 'O' ? Shape{n, heads_ * n} : Shape{heads_ * n, n});
      views.push_back(view(tensor.values.data(), tensor.shape[0], tensor.shape[1]));
    }
    return split_heads(views[0], views[1], views[2], views[3]);
  }

  LayerWeights read_transformer_lens(std::size_t layer) {
    // A bare [n, d_head] is one head.
    for (auto& [name, tensor] : keyed_.layers[layer]) {
      if (keyed_.layout == Layout::bare && tensor.shape.size() == 2)
        tensor.shape.insert(tensor.shape.begin(), 1);
    }
    const Tensor& query = part(layer, "W_Q");
    if (query.shape.size() != 3 || query.values.empty()) refuse_shape(query, "[H, n, d_head]");
    const std::uint64_t heads = query.shape[0], n = query.shape[1], d = query.shape[2];
    settle_dimension(query, n);
    settle_heads(query, heads);
    std::vector<const Tensor*> tensors;
    for (const char* name : {"W_Q", "W_K", "W_V", "W_O"}) {
      const Tensor& tensor = part(layer, name);
      if (tensor.shape.size() == 3 && tensor.shape[0] < heads && (name[2] == 'K' || name[2] == 'V')) {
        refuse(
            tensor.name,
            fmt::format("has {} heads for {} query heads (grouped-query attention), which is not supported: "
                        "use a model with as many key as query heads",
                        tensor.shape[0], heads));
      }
      demand_shape(tensor, name[2] == 'O' ? Shape{heads, d, n} : Shape{heads, n, d});
      tensors.push_back(&tensor);
    }
    LayerWeights result;
    for (std::uint64_t h = 0; h < heads; ++h) {
      const auto head = [&](int which, std::uint64_t rows, std::uint64_t columns) {
        return Eigen::MatrixXd(
            view(tensors[which]->values.data() + h * rows * columns, rows, columns).transpose());
      };
      result.heads.push_back({head(0, n, d), head(1, n, d), head(2, n, d), head(3, d, n)});
    }
    return result;
  }

  LayerWeights read_torch(std::size_t layer) {
    const Tensor& in = part(layer, "in_proj");
    const Tensor& out = part(layer, "out_proj");
    if (in.shape.size() != 2 || in.shape[1] == 0 || in.shape[0] % 3 != 0 || in.shape[0] / 3 != in.shape[1]) {
      refuse_shape(in, "[3n, n]");
    }
    const std::uint64_t n = in.shape[1];
    settle_dimension(in, n);
    if (!options_.heads) refuse(in.name, "the file does not say how many heads there are: pass --heads");
    settle_heads(in, *options_.heads);
    if (n % heads_ != 0)
      refuse("--heads", fmt::format("{} heads do not divide n = {}: pass the model's number", heads_, n));
    demand_shape(out, {n, n});
    const double* rows = in.values.data();
    return split_heads(view(rows, n, n), view(rows + n * n, n, n), view(rows + 2 * n * n, n, n),
                       view(out.values.data(), n, n));
  }

  const File& file_;
  const WeightsOptions& options_;
  KeyedTensors keyed_;
  Layout layout_ = Layout::paper;
  std::uint64_t dimension_ = 0;
  std::uint64_t heads_ = 0;
};

}  // namespace

attention::Weights read_weights(const File& file, const WeightsOptions& options) {
  return Reader(file, options).read();
}

attention::Weights read_weights(const std::filesystem::path& path, const WeightsOptions& options) {
  return read_weights(File(path), options);
}

}  // namespace sinkproof::formats
