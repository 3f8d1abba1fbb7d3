#include "formats/safetensors_header.hpp"

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sinkproof::formats {
namespace {

constexpr std::size_t most_axes = 64;

/// {name: {"dtype": text, "shape": [sizes], "data_offsets": [begin, end]}, "__metadata__": {text: text}}; the
/// depth is bounded by what this accepts, and the parser itself does not recurse.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(const File& file) : file_(file) {}

  std::vector<SafetensorsEntry> entries;

  bool start_object(std::size_t) override {
    if (depth_ == 2 || in_list_) fail("is nested deeper than the format allows");
    if (depth_ == 1) {
      fields_.clear();
      metadata_ = name_ == "__metadata__";
      if (!metadata_) entries.push_back({name_, "", {}, 0, 0});
    }
    ++depth_;
    return true;
  }

  bool key(string_t& text) override {
    if (!(depth_ == 1 ? names_ : fields_).insert(text).second) {
      if (depth_ == 1) name_ = text;
      fail(depth_ == 1 ? "is there twice, so its meaning is open"
                       : "has the field '" + shown(text) + "' twice");
    }
    if (depth_ == 1) {
      name_ = text;
    } else {
      field_ = text;
      if (!metadata_ && field_ != "dtype" && field_ != "shape" && field_ != "data_offsets") {
        fail("has the unknown field '" + shown(field_) + "'");
      }
    }
    return true;
  }

  bool string(string_t& text) override {
    if (depth_ != 2 || in_list_ || (!metadata_ && field_ != "dtype")) unexpected();
    if (!metadata_) entries.back().dtype = text;
    return true;
  }

  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_list_ || metadata_ || field_ == "dtype") unexpected();
    in_list_ = true;
    list_.clear();
    return true;
  }

  bool number_unsigned(number_unsigned_t number) override {
    if (!in_list_) unexpected();
    if (list_.size() == most_axes) fail("has more than 64 axes");
    list_.push_back(number);
    return true;
  }

  bool end_array() override {
    in_list_ = false;
    if (field_ == "shape") {
      entries.back().shape = list_;
    } else {
      if (list_.size() != 2) fail("'data_offsets' is not a pair");
      entries.back().begin = list_[0];
      entries.back().end = list_[1];
    }
    return true;
  }

  bool end_object() override {
    if (depth_ == 2 && !metadata_ && fields_.size() != 3) fail("lacks 'dtype', 'shape' or 'data_offsets'");
    --depth_;
    return true;
  }

  bool null() override { unexpected(); }
  bool boolean(bool) override { unexpected(); }
  bool number_integer(number_integer_t) override { unexpected(); }
  bool number_float(number_float_t, const string_t&) override { unexpected(); }
  bool binary(binary_t&) override { unexpected(); }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    refuse(file_.path(), "",
           fmt::format("the header is no JSON (at its byte {}): save the file again", position));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    refuse(file_.path(), name_.empty() ? "header" : name_,
           what + ": save the file again (safetensors.save_file)");
  }
  [[noreturn]] void unexpected() const {
    fail(depth_ < 2 ? "is no tensor's description"
                    : "its field '" + shown(field_) + "' is not what the format has there");
  }

  const File& file_;
  int depth_ = 0;
  bool in_list_ = false;
  bool metadata_ = false;
  std::string name_, field_;
  std::set<std::string> names_, fields_;
  Shape list_;
};

}  // namespace

std::vector<SafetensorsEntry> parse_safetensors_header(const std::string& json, const File& file) {
  HeaderReader reader(file);
  nlohmann::json::sax_parse(json, &reader);
  return std::move(reader.entries);
}

}  // namespace sinkproof::formats
