#pragma once

#include <string>
#include <vector>

#include "theory/construction.hpp"

/// The constructions of theory.md by name.
namespace sinkproof::theory {

/// relu, softmax, two-head, softmax1, gated, sink-logit, residual, sharp, clip, running-mean.
const std::vector<std::string>& construction_names();

/// The construction of that name. Throws InputError on an unknown name (listing the known ones) and on a
/// choice outside the construction's domain.
template <numeric::Rigorous T>
Construction<T> construct(const std::string& name, const task::Parameters& parameters, const Choice& choice);

}  // namespace sinkproof::theory
