#pragma once

#include <optional>

#include "certify/coq_leak.hpp"

/// The checkers of proofs/CertificateGruess.v and proofs/CertificateRelu.v once more, in the same integers,
/// to find the least bounds that they accept. Untrusted: only Coq's answer counts.
namespace sinkproof::certify {

enum class CoqLevel { sums, vertices };  ///< any d; 2^d queries, tighter

/// What `gruess_check` accepts for the worst-case loss of a softmax head; nothing where an exponential is
/// beyond all use.
std::optional<Fraction> coq_loss(const CoqHead& head, CoqLevel level, int length);

/// What `dual_check` accepts, with the two integers it takes: untrusted choices. Nothing where the logits at
/// the trigger are too large for it, or it is no better than `by_vertices`, the bound of coq_loss. Cost 2^d
/// n.
struct DualLoss {
  numeric::Integer multiplier, reach;  ///< a and H, in units of 1 / the denominator of the scores
  Fraction loss;
};
std::optional<DualLoss> coq_dual_loss(const CoqHead& head, int length, const Fraction& by_vertices);

/// What `relu_weight_check` and `relu_loss_check` accept.
Fraction coq_relu_weight(const CoqHead& head, CoqLevel level);
Fraction coq_relu_loss(const CoqHead& head, CoqLevel level, int length);

/// The least fraction of at most 6 digits that is at least `value` >= 0.
Fraction rounded_up(const numeric::Rational& value);

}  // namespace sinkproof::certify
