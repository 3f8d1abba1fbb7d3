#pragma once

#include "theory/verify.hpp"

/// The claims of verify() that rest on a construction, built to precision eta.
namespace sinkproof::theory {

/// Theorem 3 as "theorem-3", and again as boundary row "b6".
Claim verify_relu(const VerifyParameters& parameters, const std::string& id);
Claim verify_softmax(const VerifyParameters& parameters);
Claim verify_sharp(const VerifyParameters& parameters);
/// B1-B4, B7, B8: the rows that gain precision with q. `construction` as in construction_names().
Claim verify_by_q(const VerifyParameters& parameters, const std::string& construction);
/// B5.
Claim verify_residual(const VerifyParameters& parameters);

}  // namespace sinkproof::theory
