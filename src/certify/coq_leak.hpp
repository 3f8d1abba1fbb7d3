#pragma once

#include <optional>

#include "certify/coq_head.hpp"

/// The checkers of proofs/CertificateExp.v and proofs/CertificateLeak.v once more, in the same integers, to
/// find the least bound that each accepts. Untrusted: only Coq's answer counts.
namespace sinkproof::certify {

/// Units of 2^-80.
numeric::Integer coq_exp_lower(const numeric::Integer& numerator, const numeric::Integer& denominator);
std::optional<numeric::Integer> coq_exp_upper(const numeric::Integer& numerator,
                                              const numeric::Integer& denominator);

/// numerator/denominator as the certificate writes it: the denominator is a power of ten, the numerator has
/// at most 6 digits.
struct Fraction {
  numeric::Integer numerator = 1, denominator = 1;
  numeric::Rational value() const { return {numerator, denominator}; }
};

/// The least such q with odds <= q/(1-q), odds in units of 2^-80.
Fraction least_leak(const numeric::Integer& odds);

/// What `leak_by_sums` accepts for sequences of that length; nothing where no bound below 1 is.
std::optional<Fraction> coq_leak_by_sums(const CoqHead& head, int length);

/// What `leak_by_vertices` accepts, with the threshold it needs. Cost 2^d (d + 3 exponentials).
struct VertexLeak {
  numeric::Integer threshold;
  Fraction leak;
};
std::optional<VertexLeak> coq_leak_by_vertices(const CoqHead& head, int length);

/// Beyond this d the 2^d vertices take Coq more than a minute.
inline constexpr int coq_vertex_limit = 16;

}  // namespace sinkproof::certify
