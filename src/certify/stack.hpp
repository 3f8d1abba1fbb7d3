#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "attention/weights.hpp"
#include "certify/stack_attack.hpp"

/// Whole-domain certificates for multi-head residual stacks (and any other trained attention-only model):
/// every trigger position j in 3..L, every content in [-1, 1]^d.
namespace sinkproof::certify {

/// Why no theorem covers these models: for reports, beside every certificate of such a stack.
inline constexpr std::string_view stack_theorem_note =
    "Theorem 2 covers stacks of single heads without residual connections. It does not extend to several "
    "heads in "
    "a layer, nor to a residual stream: boundary rows b1 (two heads that cancel off the trigger) and b5 (two "
    "residual layers) solve the task without a sink. What is certified here holds for these weights on the "
    "whole "
    "domain; it is no consequence of a theorem.";

/// How a certified end was found.
enum class StackMethod { none, interval, affine };
/// "none", "interval", "affine".
std::string_view to_string(StackMethod method);

/// The infimum or supremum of a quantity over the domain: at least `lower`, at most `upper`. One of them is
/// certified, by `method`; the other is attained, as `witness` proves. Infinite where nothing is known.
struct StackExtreme {
  double lower = 0;
  double upper = 0;
  StackMethod method = StackMethod::none;
  StackWitness witness;

  /// A witness beyond a certified bound: a bug in the program, to be reported as such (theory.md C5).
  bool is_contradiction() const { return !(lower <= upper); }
};

struct StackHeadCertificate {
  int layer = 0, head = 0;  ///< 1-based
  /// inf and sup of the BOS weight a_i1 over all instances and non-trigger positions i >= 2.
  StackExtreme least_sink_weight, largest_sink_weight;
};

struct StackCertificate {
  std::vector<StackHeadCertificate> heads;  ///< layer by layer
  /// sup of |o_i - y_i| (with residual: against x_i + y_i) over all instances, positions and coordinates.
  StackExtreme loss;
  /// Whether everything was computed; else the time ran out, and what is said is sound but looser.
  bool complete = true;

  bool is_contradiction() const;
};

struct StackOptions {
  std::uint64_t seed = 1;  ///< of the search for witnesses
  int threads = 1;
  double time_limit = 1e9;  ///< seconds; checked between layers and between sweeps of the search
  int restarts = 8;         ///< of the search, for each extreme
};

/// Certificates and witnesses for softmax or ReLU heads of dimension n = d + 3. A function of the weights and
/// the options (but not of `threads`) unless the time limit cuts it short. Memory below 1 GiB: sequences for
/// which affine forms (about 8 L n (L d + layers L n) (3 heads + 4) bytes a thread) or attention matrices
/// would take more go without, and the certificate is not complete. Weights that are NaN, infinite or so
/// large that bounds would overflow: nothing is known, softmax weights lie in [0, 1]. Throws InputError on
/// other normalisers and where d does not fit the weights.
StackCertificate certify_stack(const attention::Weights& weights, attention::Normaliser normaliser,
                               const task::Parameters& parameters, const StackOptions& options = {});

}  // namespace sinkproof::certify
