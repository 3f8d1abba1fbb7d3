#pragma once

#include <string_view>
#include <vector>

#include "certify/coq_certificate.hpp"

/// Files of proofs/ that are built into the program: coq_theory.cmake writes the source.
namespace sinkproof::certify::coq_theory {

std::vector<TheoryFile> files();
std::string_view assumptions();  ///< assumptions.txt

}  // namespace sinkproof::certify::coq_theory
