#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "numeric/rational.hpp"
#include "task/instance.hpp"

namespace sinkproof::app {

/// --length and --content (or --dimension): the paper's L = 16, n = 16 unless given.
struct TaskFlags {
  long length = 16;
  long content = 13;
  long dimension = 16;
  CLI::Option* dimension_option = nullptr;

  void add(CLI::App& verb);
  task::Parameters parameters() const;
};

/// The exact number that a flag was given; InputError names the flag.
numeric::Rational exact_flag(const std::string& flag, const std::string& text);

}  // namespace sinkproof::app
