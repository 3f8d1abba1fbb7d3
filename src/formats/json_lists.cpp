#include "formats/json_lists.hpp"

#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sinkproof::formats {
namespace {

constexpr std::uint64_t largest_file = 256 << 20;

/// Builds the lists as the text is parsed: no document, no recursion, memory in proportion to the file.
template <class Leaf>
class ListReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  ListReader(const File& file, std::string expected) : file_(file), expected_(std::move(expected)) {}

  std::vector<std::vector<Leaf>> lists;

  bool start_object(std::size_t) override {
    if (depth_ != 0 || in_object_) unexpected();
    return in_object_ = true;
  }
  bool key(string_t& name) override {
    if (++keys_ > 1) refuse(file_.path(), name, "is a second field: " + expected_);
    return true;
  }
  bool end_object() override {
    if (keys_ == 0) unexpected();
    return true;
  }
  bool start_array(std::size_t) override {
    if (depth_ == 2 || (depth_ == 1 && flat_)) unexpected();
    if (++depth_ == 2) lists.emplace_back();
    return true;
  }
  bool end_array() override {
    if (lists.empty() || lists.back().empty()) refuse(file_.path(), "", "has an empty list: " + expected_);
    --depth_;
    return true;
  }
  bool string(string_t& text) override {
    if constexpr (std::is_same_v<Leaf, std::string>) return add(std::move(text));
    unexpected();
  }
  bool number_unsigned(number_unsigned_t number) override {
    if constexpr (std::is_same_v<Leaf, std::int64_t>) {
      if (number <= static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
        return add(static_cast<std::int64_t>(number));
      }
    }
    unexpected();
  }
  bool number_integer(number_integer_t number) override {
    if constexpr (std::is_same_v<Leaf, std::int64_t>) return add(number);
    unexpected();
  }
  bool null() override { return unexpected(), false; }
  bool boolean(bool) override { return unexpected(), false; }
  bool number_float(number_float_t, const string_t&) override { return unexpected(), false; }
  bool binary(binary_t&) override { return unexpected(), false; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    refuse(file_.path(), "", fmt::format("is no JSON (at its byte {}): {}", position, expected_));
  }

 private:
  bool add(Leaf leaf) {
    if (depth_ == 0 || (depth_ == 1 && !flat_ && !lists.empty())) unexpected();
    if (depth_ == 1 && !flat_) {
      flat_ = true;
      lists.emplace_back();
    }
    lists.back().push_back(std::move(leaf));
    return true;
  }
  [[noreturn]] void unexpected() const { refuse(file_.path(), "", expected_); }

  const File& file_;
  std::string expected_;
  int depth_ = 0;
  int keys_ = 0;
  bool in_object_ = false;
  bool flat_ = false;
};

template <class Leaf>
std::vector<std::vector<Leaf>> read_lists(const File& file, std::string expected) {
  if (file.size() > largest_file) refuse(file.path(), "", "is beyond 256 MiB: " + expected);
  std::string text(file.size(), '\0');
  file.read_at(0, {reinterpret_cast<unsigned char*>(text.data()), text.size()});
  ListReader<Leaf> reader(file, std::move(expected));
  nlohmann::json::sax_parse(text, &reader);
  return std::move(reader.lists);
}

}  // namespace

std::vector<std::vector<std::string>> read_token_lists(const File& file) {
  return read_lists<std::string>(
      file, "write the tokens as a list of texts, [\"<s>\", \"The\"], or one such list a sequence");
}

std::vector<std::vector<std::int64_t>> read_number_lists(const File& file) {
  return read_lists<std::int64_t>(file, "write a list of whole numbers, [3, 0], or one such list a sequence");
}

}  // namespace sinkproof::formats
