#include "app/claims_file.hpp"

#include <filesystem>
#include <set>

#include <toml++/toml.h>

#include <fmt/core.h>

#include "errors.hpp"
#include "formats/file.hpp"
#include "theory/verify.hpp"

namespace sinkproof::app {
namespace {

/// One table of the file; remembers which keys were read, so that the others can be refused.
class Table {
 public:
  Table(const std::string& path, const std::string& kind, const toml::table& table)
      : path_(path), kind_(kind), table_(table) {}

  /// "claims.toml: line 3: [[weights]] 'file'"
  std::string place(const std::string& key) const {
    const toml::node* node = table_.get(key);
    return fmt::format("{}: line {}: [[{}]] '{}'", path_,
                       (node ? node->source() : table_.source()).begin.line, kind_, formats::shown(key));
  }

  [[noreturn]] void refuse(const std::string& key, const std::string& what) const {
    throw InputError(place(key) + ": " + what);
  }

  std::string text(const std::string& key, const std::optional<std::string>& otherwise = std::nullopt) {
    const toml::node* node = take(key, otherwise.has_value());
    if (!node) return *otherwise;
    const auto value = node->value_exact<std::string>();
    if (!value) refuse(key, "must be a string in quotes");
    return *value;
  }

  long integer(const std::string& key, std::optional<long> otherwise = std::nullopt) {
    const toml::node* node = take(key, otherwise.has_value());
    if (!node) return *otherwise;
    const auto value = node->value_exact<std::int64_t>();
    if (!value) refuse(key, "must be an integer");
    return *value;
  }

  /// Exact numbers are strings ("1/200", "5e-3") or integers: a TOML float is rounded before we see it.
  std::optional<numeric::Rational> number(const std::string& key) {
    const toml::node* node = take(key, true);
    if (!node) return std::nullopt;
    if (const auto value = node->value_exact<std::int64_t>()) return numeric::Rational(*value);
    const auto value = node->value_exact<std::string>();
    if (!value) refuse(key, "must be an exact number in quotes, such as \"1/200\" or \"5e-3\"");
    try {
      return numeric::parse_rational(*value);
    } catch (const InputError& error) {
      refuse(key, formats::shown(error.what()));
    }
  }

  Asked asked(const std::string& key, const Asked& otherwise) {
    return {text(key, otherwise.text), place(key)};
  }

  std::string path_text(const std::string& key, const std::filesystem::path& folder, bool optional = false) {
    const std::filesystem::path file = optional ? text(key, "") : text(key);
    return file.empty() || file.is_absolute() ? file.string() : (folder / file).string();
  }

  std::vector<std::string> texts(const std::string& key, const std::string& what) {
    const toml::node* node = take(key, true);
    std::vector<std::string> values;
    if (!node) return values;
    const toml::array* array = node->as_array();
    if (!array || array->empty()) refuse(key, "must be a list of " + what);
    for (const toml::node& entry : *array) {
      const auto value = entry.value_exact<std::string>();
      if (!value) refuse(key, "must hold strings only");
      values.push_back(*value);
    }
    return values;
  }

  bool has(const std::string& key) const { return table_.contains(key); }

  /// Every key must have been read.
  void finish() const {
    for (const auto& [key, node] : table_) {
      if (!known_.contains(std::string(key.str()))) {
        std::string names;
        for (const auto& name : known_) names += (names.empty() ? "" : ", ") + name;
        refuse(std::string(key.str()), "unknown key; the keys are " + names);
      }
    }
  }

 private:
  const toml::node* take(const std::string& key, bool optional) {
    known_.insert(key);
    const toml::node* node = table_.get(key);
    if (!node && !optional) refuse(key, "is missing");
    return node;
  }

  const std::string& path_;
  const std::string& kind_;
  const toml::table& table_;
  std::set<std::string> known_;
};

ParameterClaims parameter_claims(Table& table, std::size_t index) {
  ParameterClaims claims;
  claims.name = table.text("name", fmt::format("parameters {}", index));
  claims.length = table.integer("length");
  if (table.has("dimension") == table.has("content")) {
    table.refuse("content", "give either content (d) or dimension (n = d + 3)");
  }
  claims.content = table.has("content") ? table.integer("content", 0) : table.integer("dimension", 0) - 3;
  // Both are known keys, whichever was given.
  table.integer("content", 0);
  table.integer("dimension", 0);
  const theory::VerifyParameters paper{.task = {4, 0}};
  claims.eta = table.number("eta").value_or(paper.eta);
  claims.epsilon = table.number("epsilon").value_or(paper.epsilon);
  claims.delta = table.number("delta").value_or(paper.delta);
  claims.depth = static_cast<int>(table.integer("depth", 1));
  if (claims.depth < 1 || claims.depth > 1000) table.refuse("depth", "must be between 1 and 1000");
  claims.ids = table.texts("claims", "claim ids, such as [\"theorem-1\"]");
  return claims;
}

WeightClaims weight_claims(Table& table, std::size_t index, const std::filesystem::path& folder) {
  WeightClaims claims;
  claims.name = table.text("name", fmt::format("weights {}", index));
  claims.file = table.path_text("file", folder);
  claims.sha256 = table.text("sha256");
  claims.attention = table.text("attention");
  if (claims.attention != "softmax" && claims.attention != "relu") {
    table.refuse("attention", "must be \"softmax\" or \"relu\"");
  }
  claims.length = table.integer("length");
  claims.layout = table.text("layout", "");
  claims.scale = table.text("scale", "");
  claims.effort = table.text("effort", "tight");
  if (claims.effort != "fast" && claims.effort != "tight")
    table.refuse("effort", "must be \"fast\" or \"tight\"");
  claims.heads = static_cast<int>(table.integer("heads", 0));
  if (claims.heads < 0 || claims.heads > (1 << 20)) table.refuse("heads", "must be positive");
  claims.leak_at_most = table.number("leak_at_most");
  claims.loss_at_most = table.number("loss_at_most");
  claims.sink_at_least = table.number("sink_at_least");
  if (!claims.leak_at_most && !claims.loss_at_most && !claims.sink_at_least) {
    table.refuse("leak_at_most", "no claim: give leak_at_most, loss_at_most or sink_at_least");
  }
  return claims;
}

MapClaims map_claims(Table& table, std::size_t index, const std::filesystem::path& folder) {
  MapClaims claims;
  MapsRequest& request = claims.request;
  claims.name = table.text("name", fmt::format("maps {}", index));
  request.path = table.path_text("file", folder);
  request.sha256 = table.text("sha256");
  request.array = table.text("array", "");
  request.axes = table.text("axes", "");
  request.normaliser = table.text("normaliser", request.normaliser);
  if (request.normaliser != "softmax" && request.normaliser != "none")
    table.refuse("normaliser", "must be \"softmax\" or \"none\"");
  request.epsilon = table.asked("epsilon", request.epsilon);
  request.tau = table.asked("tau", request.tau);
  request.row_tolerance = table.asked("row_tolerance", request.row_tolerance);
  request.queries = table.asked("queries", request.queries);
  request.bos_column = table.asked("bos_column", request.bos_column);
  request.pad = table.path_text("pad", folder, true);
  if (!request.pad.empty() && !request.bos_column.text.empty())
    table.refuse("pad", "excludes bos_column: give one of them");
  for (const std::string& text :
       table.texts("claims", "claims, such as [\"sink-rate <= 1/4 in layers 3..8\"]"))
    request.claims.push_back({text, table.place("claims")});
  if (request.claims.empty()) table.refuse("claims", "is missing");
  return claims;
}

}  // namespace

ClaimsFile read_claims(const std::string& path) {
  const toml::table parsed = [&] {
    const std::string text = formats::read_text(path);
    try {
      return toml::parse(text, path);
    } catch (const toml::parse_error& error) {
      throw InputError(fmt::format("{}: line {}: not TOML: {}", path, error.source().begin.line,
                                   formats::shown(error.description())));
    }
  }();
  ClaimsFile file;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (const auto& [key, node] : parsed) {
    const std::string kind(key.str());
    const auto refuse = [&, line = node.source().begin.line](const std::string& what) {
      return InputError(fmt::format("{}: line {}: '{}': {}", path, line, formats::shown(kind), what));
    };
    if (kind != "parameters" && kind != "weights" && kind != "maps") {
      throw refuse("unknown key; a claims file holds [[parameters]], [[weights]] and [[maps]] tables");
    }
    const toml::array* tables = node.as_array();
    if (!tables) throw refuse("write [[" + kind + "]] with double brackets");
    for (const toml::node& entry : *tables) {
      if (!entry.is_table()) throw refuse("write [[" + kind + "]] tables");
      Table table(path, kind, *entry.as_table());
      if (kind == "parameters") {
        file.parameters.push_back(parameter_claims(table, file.parameters.size() + 1));
      } else if (kind == "weights") {
        file.weights.push_back(weight_claims(table, file.weights.size() + 1, folder));
      } else {
        file.maps.push_back(map_claims(table, file.maps.size() + 1, folder));
      }
      table.finish();
    }
  }
  if (file.parameters.empty() && file.weights.empty() && file.maps.empty()) {
    throw InputError(path + ": claims nothing: add a [[parameters]], [[weights]] or [[maps]] table");
  }
  return file;
}

}  // namespace sinkproof::app
