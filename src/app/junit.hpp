#pragma once

#include <string>
#include <vector>

#include "theory/claim.hpp"

namespace sinkproof::app {

/// A named group of claims, with the seconds it took.
struct Suite {
  std::string name;
  std::vector<theory::Claim> claims;
  double seconds = 0;
};

/// JUnit XML for CI systems: a claim is a test case; disproved is a failure, undecided an error, proved
/// passes. Valid XML whatever bytes are in names: what XML cannot hold becomes U+FFFD.
std::string junit_xml(const std::vector<Suite>& suites);

}  // namespace sinkproof::app
