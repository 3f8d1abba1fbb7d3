#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/maps_check.hpp"
#include "numeric/rational.hpp"

namespace sinkproof::app {

/// [[parameters]]: which statements of the theory must be proved at these parameters.
struct ParameterClaims {
  std::string name;
  long length = 0, content = 0;
  numeric::Rational eta, epsilon, delta;
  int depth = 1;
  std::vector<std::string> ids;  ///< claim ids of verify; empty: all
};

/// [[weights]]: what must be proved of these trained weights.
struct WeightClaims {
  std::string name;
  std::string file;    ///< resolved against the claims file's folder
  std::string sha256;  ///< the hash the weights must have
  std::string attention;
  long length = 0;
  std::string layout, scale, effort;  ///< empty: as `check` takes it
  int heads = 0;
  std::optional<numeric::Rational> leak_at_most, loss_at_most, sink_at_least;
};

/// [[maps]]: what must hold of a file of attention maps.
struct MapClaims {
  std::string name;
  MapsRequest request;  ///< paths resolved against the claims file's folder
};

/// A claims file (TOML), checked whole: an unknown key, a wrong type, a missing field, a number that is not
/// exact, or no claim at all is an InputError that names the file, the line and the mend.
struct ClaimsFile {
  std::vector<ParameterClaims> parameters;
  std::vector<WeightClaims> weights;
  std::vector<MapClaims> maps;
};
ClaimsFile read_claims(const std::string& path);

}  // namespace sinkproof::app
