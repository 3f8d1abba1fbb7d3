#pragma once

#include "attention/model.hpp"
#include "certify/head.hpp"
#include "certify/supremum.hpp"

/// Rigorous evaluation of one row of one head on one instance: memory and time O(L n), so that a witness of
/// any length can be proved. It agrees with attention::forward<Interval>, which evaluates all rows.
namespace sinkproof::certify {

/// Encloses sum_{k>=2} a_ik at `position` i: the leak of a softmax head.
numeric::Interval leak_at(const HeadMaps& head, const task::Instance<double>& instance, int position);

/// Encloses max_{k>=2} a_ik of the ReLU head at `position` i.
numeric::Interval largest_weight_at(const HeadMaps& head, const task::Instance<double>& instance,
                                    int position);

/// Encloses |(o_i - y_i)_r|.
numeric::Interval error_at(const HeadMaps& head, attention::Normaliser normaliser,
                           const task::Instance<double>& instance, int position, int coordinate);

}  // namespace sinkproof::certify
