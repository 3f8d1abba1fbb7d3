#include "app/parameters.hpp"

#include "errors.hpp"
#include "formats/file.hpp"

namespace sinkproof::app {

void TaskFlags::add(CLI::App& verb) {
  verb.add_option("--length", length, "sequence length L >= 4")->capture_default_str()->type_name("L");
  CLI::Option* content_option = verb.add_option("--content", content, "content coordinates d >= 0")
                                    ->capture_default_str()
                                    ->type_name("D");
  dimension_option =
      verb.add_option("--dimension", dimension, "model dimension n = d + 3, instead of --content")
          ->type_name("N")
          ->excludes(content_option);
}

task::Parameters TaskFlags::parameters() const {
  if (dimension_option->count() == 0) return {length, content};
  if (dimension < 3) {
    throw InputError("--dimension " + std::to_string(dimension) +
                     ": must be at least 3 (BOS, trigger and ordinary-token indicators); n = d + 3");
  }
  return {length, dimension - 3};
}

numeric::Rational exact_flag(const std::string& flag, const std::string& text) {
  try {
    return numeric::parse_rational(text);
  } catch (const InputError& error) {
    throw InputError(flag + ": " + formats::shown(error.what()));
  }
}

}  // namespace sinkproof::app
