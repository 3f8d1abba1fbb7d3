#pragma once

#include "theory/construction.hpp"

namespace sinkproof::theory {

/// Theorem 3 (theory.md section 4), boundary row B6: the ReLU head with A = e_T (e_T + e_N)^T and V the
/// identity on W has o_i = y_i exactly, and attention 0 in every non-trigger row. `relu`.
template <numeric::Rigorous T>
Construction<T> relu(const task::Parameters& parameters);

}  // namespace sinkproof::theory
