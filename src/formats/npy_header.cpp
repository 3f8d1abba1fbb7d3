#include "formats/npy_header.hpp"

#include <charconv>
#include <stdexcept>

namespace sinkproof::formats {
namespace {

constexpr std::size_t most_axes = 64;  // NumPy's own limit

[[noreturn]] void fail(const std::string& what) {
  throw std::invalid_argument(what);
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  NpyHeader header() {
    NpyHeader result;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !has_descr) {
        has_descr = true;
        if (peek() == '[' || peek() == '(') {
          result.structured = true;
          result.descr = std::string(rest_);
          return result;
        }
        result.descr = quoted();
      } else if (key == "fortran_order" && !has_order) {
        has_order = true;
        result.fortran_order = boolean();
      } else if (key == "shape" && !has_shape) {
        has_shape = true;
        result.shape = shape();
      } else {
        fail("the header has an unknown or repeated key '" + key + "'");
      }
      if (!take(',') && peek() != '}') fail("the header is not a dictionary");
    }
    skip_space();
    if (!rest_.empty()) fail("the header goes on after its dictionary");
    if (!has_descr || !has_order || !has_shape) fail("the header lacks 'descr', 'fortran_order' or 'shape'");
    return result;
  }

 private:
  void skip_space() {
    while (!rest_.empty() && std::string_view(" \t\n\r").find(rest_.front()) != std::string_view::npos) {
      rest_.remove_prefix(1);
    }
  }

  char peek() {
    skip_space();
    return rest_.empty() ? '\0' : rest_.front();
  }

  bool take(char c) {
    if (peek() != c || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!take(c)) fail(std::string("the header lacks a '") + c + "' where one belongs");
  }

  bool take_word(std::string_view word) {
    skip_space();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("the header lacks a quoted text where one belongs");
    const auto end = rest_.find(quote, 1);
    if (end == std::string_view::npos) fail("the header has a quote that does not end");
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool boolean() {
    if (take_word("True")) return true;
    if (take_word("False")) return false;
    fail("'fortran_order' is neither True nor False");
  }

  Shape shape() {
    Shape result;
    expect('(');
    while (!take(')')) {
      skip_space();
      std::uint64_t extent = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (error != std::errc()) fail("'shape' has an extent that is no size");
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      if (!rest_.empty() && rest_.front() == 'L') rest_.remove_prefix(1);  // written by Python 2
      result.push_back(extent);
      if (result.size() > most_axes) fail("'shape' has more than 64 axes");
      if (!take(',') && peek() != ')') fail("'shape' is not a tuple");
    }
    return result;
  }

  std::string_view rest_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text) {
  return Parser(text).header();
}

}  // namespace sinkproof::formats
