#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/report.hpp"
#include "attention/weights.hpp"
#include "certify/certify.hpp"
#include "certify/float32.hpp"
#include "certify/sample.hpp"
#include "certify/stack.hpp"
#include "formats/weights_file.hpp"

namespace sinkproof::app {

/// What is asked about a weights file, by `check` and by the [[weights]] tables of `ci`.
struct WeightsRequest {
  std::string path;
  std::string attention = "softmax";  ///< or "relu": the file does not say
  formats::WeightsOptions options;
  long length = 16;
  certify::Options certify;
  std::size_t samples = 1000;         ///< random instances to evaluate besides
  std::size_t vertices = 1000;        ///< and corners
  std::optional<std::string> sha256;  ///< what the file must hash to
  std::optional<numeric::Rational> leak_at_most, loss_at_most, sink_at_least;
};

/// The supremum of a quantity over all instances: attained <= supremum <= certified.
struct Bound {
  numeric::Rational attained = 0;                   ///< by `witness`, rigorously evaluated
  std::optional<numeric::Rational> certified = {};  ///< nothing where undecided
  std::optional<certify::Witness> witness = {};

  theory::Quantity quantity(std::string name) const;
};
/// Without its witness.
Bound bound_of(const certify::Supremum& supremum);

/// What Theorem 1 and Corollary 5 say of this head, from its certified Lambda; beside what the head does.
struct TheoremCheck {
  numeric::Rational leak_at_most;         ///< by Theorem 1
  numeric::BigInterval logit_gap_needed;  ///< by Corollary 5
  numeric::Interval logit_gap;            ///< A_NB - A_NN of the head
};

struct WeightsChecked {
  attention::Weights weights;
  std::string sha256;
  task::Parameters parameters;
  bool normalised = true;  ///< rows sum to 1: softmax
  certify::SampleReport sampled = {};
  std::vector<task::Instance<double>> instances = {};  ///< the sampled ones
  Bound leak = {};  ///< softmax: of every head; ReLU: the largest weight off BOS, which stands in for it
  Bound loss = {};
  std::optional<certify::Certificate> certificate = {};  ///< of a single head
  std::optional<certify::StackCertificate> stack = {};   ///< of any other model
  std::optional<certify::Float32Bounds> float32 = {};    ///< how far float32 execution can be off
  std::optional<TheoremCheck> theorem = {};              ///< of a softmax head with a small enough Lambda
  std::vector<theory::Claim> claims = {};
};

/// Reads, evaluates and certifies. Throws InputError for bad input, std::logic_error where two results
/// contradict each other: a bug of this program.
WeightsChecked check_weights(const WeightsRequest& request);

/// Opens the file once, so that what is hashed is what is read. Throws InputError for bad input, a hash that
/// does not match, and a claim about the leak of ReLU attention, which has none.
WeightsChecked load_weights(const WeightsRequest& request);

/// Evaluates checked.instances, where there are any, and takes the worst of them into the bounds.
void evaluate_instances(WeightsChecked& checked, const WeightsRequest& request);

/// The requested claims, decided by the bounds: attained above the limit disproves, certified below it
/// proves.
std::vector<theory::Claim> claims_of(const WeightsRequest& request, const Bound& leak, const Bound& loss);

/// "B", "T", "N", "content 3".
std::string coordinate_name(const task::Parameters& parameters, int coordinate);

}  // namespace sinkproof::app
