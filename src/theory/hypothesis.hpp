#pragma once

#include <string>

#include "errors.hpp"

namespace sinkproof::theory {

/// The parameters lie outside a statement's hypotheses, so it says nothing; `what()` names the hypothesis and
/// the numbers that fail it.
class NotApplicable : public InputError {
 public:
  using InputError::InputError;
};

inline void require(bool hypothesis, const std::string& failure) {
  if (!hypothesis) throw NotApplicable(failure);
}

}  // namespace sinkproof::theory
