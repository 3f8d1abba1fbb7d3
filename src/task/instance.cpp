#include "task/instance.hpp"

#include <sstream>

#include "errors.hpp"

namespace sinkproof::task {
namespace {

constexpr long largest_size = 1L << 20;
constexpr const char* first_line = "sinkproof-instance 1";

}  // namespace

Parameters::Parameters(long length, long content)
    : length_(static_cast<int>(length)), content_(static_cast<int>(content)) {
  if (length < 4 || length > largest_size) {
    throw InputError("length " + std::to_string(length) + ": the sequence length L must be between 4 and " +
                     std::to_string(largest_size));
  }
  if (content < 0 || content > largest_size) {
    throw InputError("content " + std::to_string(content) +
                     ": the number of content coordinates d = n - 3 must be between 0 and " +
                     std::to_string(largest_size));
  }
}

std::string to_text(const Parameters& parameters, const Instance<numeric::Rational>& instance) {
  std::string text = std::string(first_line) + "\nlength " + std::to_string(parameters.length()) +
                     " content " + std::to_string(parameters.content()) + " trigger " +
                     std::to_string(instance.trigger) + "\n";
  for (int position = 2; position <= parameters.length(); ++position) {
    text += std::to_string(position) + ":";
    for (int m = 0; m < parameters.content(); ++m) {
      text += " " + numeric::to_string(instance.content(position - 1, m));
    }
    text += "\n";
  }
  return text;
}

ParsedInstance parse_instance(std::string_view text, const std::string& name) {
  const auto refuse = [&](const std::string& what) -> InputError { return InputError(name + ": " + what); };
  std::istringstream lines{std::string(text)};
  std::string line;
  if (!std::getline(lines, line) || line != first_line) {
    throw refuse("line 1: not an instance file: its first line must be '" + std::string(first_line) + "'");
  }
  std::string word_length, word_content, word_trigger, rest;
  long length = 0, content = 0, trigger = 0;
  std::getline(lines, line);
  std::istringstream header(line);
  if (!(header >> word_length >> length >> word_content >> content >> word_trigger >> trigger) ||
      word_length != "length" || word_content != "content" || word_trigger != "trigger" || header >> rest) {
    throw refuse("line 2: must read 'length L content d trigger j'");
  }
  // A line has at least 3 characters, 2 a coordinate: sizes that the text cannot hold are refused
  // unallocated.
  if (length > static_cast<long>(text.size()) || content > static_cast<long>(text.size())) {
    throw refuse("line 2: the file is too short for length " + std::to_string(length) + ", content " +
                 std::to_string(content));
  }
  const Parameters parameters = [&] {
    try {
      return Parameters(length, content);
    } catch (const InputError& error) {
      throw refuse(std::string("line 2: ") + error.what());
    }
  }();
  if (trigger < 3 || trigger > length) {
    throw refuse("line 2: trigger " + std::to_string(trigger) + " must be between 3 and the length");
  }
  if (length * content > static_cast<long>(text.size())) {
    throw refuse("line 2: the file is too short for length " + std::to_string(length) + ", content " +
                 std::to_string(content));
  }
  auto instance = zero_instance<numeric::Rational>(parameters, static_cast<int>(trigger));
  for (int position = 2; position <= parameters.length(); ++position) {
    const std::string where = "line " + std::to_string(position + 1) + ": ";
    std::string label, coordinate;
    std::getline(lines, line);
    std::istringstream row(line);
    if (!lines || !(row >> label) || label != std::to_string(position) + ":") {
      throw refuse(where + "must begin with '" + std::to_string(position) + ":'");
    }
    for (int m = 0; m < parameters.content(); ++m) {
      if (!(row >> coordinate)) {
        throw refuse(where + "has " + std::to_string(m) + " of " + std::to_string(content) + " coordinates");
      }
      try {
        instance.content(position - 1, m) = numeric::parse_rational(coordinate);
      } catch (const InputError& error) {
        throw refuse(where + error.what());
      }
      if (abs(instance.content(position - 1, m)) > 1) {
        throw refuse(where + coordinate + " lies outside the content box [-1, 1]");
      }
    }
    if (row >> rest) throw refuse(where + "has more than " + std::to_string(content) + " coordinates");
  }
  while (std::getline(lines, line)) {
    if (!line.empty()) throw refuse("more lines than positions");
  }
  return {parameters, instance};
}

}  // namespace sinkproof::task
