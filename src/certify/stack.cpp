#include "certify/stack.hpp"

#include <algorithm>
#include <stdexcept>

#include "certify/affine_layer.hpp"
#include "certify/vertices.hpp"
#include "errors.hpp"

namespace sinkproof::certify {
namespace {

using numeric::Interval;
using Model = attention::Model<Interval>;

/// Whether no weight is undecided or so large that bounds of a few layers would overflow.
bool is_moderate(const Model& model) {
  const auto moderate = [](const numeric::Matrix<Interval>& matrix) {
    for (const Interval& x : matrix.reshaped())
      if (!(abs(x).upper() <= 0x1p100)) return false;
    return true;
  };
  for (const auto& layer : model.layers)
    for (const auto& head : layer.heads)
      if (!moderate(std::get<attention::BilinearScores<Interval>>(head.attention).matrix) ||
          !moderate(head.value))
        return false;
  return true;
}

constexpr double memory_limit = 0x1p30;  // bytes

/// Attention matrices of all heads, in intervals.
bool forward_fits(const Model& model, double length) {
  double heads = 0;
  for (const auto& layer : model.layers) heads += static_cast<double>(layer.heads.size());
  return 16 * length * length * heads <= memory_limit / 4;
}

/// The forms of the last layer: the stream and, for each head, queries (twice) and values.
bool affine_fits(const Model& model, const task::Parameters& parameters, int threads) {
  const double length = parameters.length(), n = parameters.dimension();
  const auto layers = static_cast<double>(model.layers.size());
  double heads = 0;
  for (const auto& layer : model.layers) heads = std::max(heads, static_cast<double>(layer.heads.size()));
  const double symbols = length * parameters.content() + layers * length * n;
  return 8 * length * n * symbols * (3 * heads + 4) * std::max(threads, 1) <= memory_limit;
}

/// What `next` adds to the trigger positions so far: bounds hold for all only if they hold for each.
void take(StackBounds& bounds, bool& first, const StackBounds& next) {
  if (first) {
    bounds = next;
    first = false;
    return;
  }
  for (std::size_t h = 0; h < next.sink_weight.size(); ++h)
    bounds.sink_weight[h] = hull(bounds.sink_weight[h], next.sink_weight[h]);
  bounds.loss = std::max(bounds.loss, next.loss);
  bounds.complete = bounds.complete && next.complete;
}

struct DomainBounds {
  StackBounds interval, best;
};

/// Over all trigger positions: interval arithmetic, and its intersection with affine forms.
DomainBounds bound_domain(const Model& model, const task::Parameters& parameters, int threads,
                          const Deadline& deadline) {
  DomainBounds result;
  std::vector<StackBounds> interval, best;
  for (int trigger = 3; trigger <= parameters.length(); ++trigger) {
    const bool late = deadline.passed();
    interval.push_back(late ? trivial_bounds(model) : interval_bounds(model, parameters, trigger));
    interval.back().complete = !late;
    best.push_back(interval.back());
  }
  const bool fits = affine_fits(model, parameters, threads);
  for_each_block(best.size(), threads, [&](std::uint64_t k, int) {
    best[k].complete = best[k].complete && fits;
    if (!fits) return true;
    const StackBounds affine = affine_bounds(model, parameters, static_cast<int>(k) + 3, deadline);
    for (std::size_t h = 0; h < affine.sink_weight.size(); ++h)
      best[k].sink_weight[h] = intersection(best[k].sink_weight[h], affine.sink_weight[h]);
    best[k].loss = std::min(best[k].loss, affine.loss);
    best[k].complete = best[k].complete && affine.complete;
    return true;
  });
  bool first = true;
  for (const StackBounds& bounds : interval) take(result.interval, first, bounds);
  first = true;
  for (const StackBounds& bounds : best) take(result.best, first, bounds);
  return result;
}

StackMethod method_of(double best, double interval, double trivial) {
  if (best != interval) return StackMethod::affine;
  return best == trivial ? StackMethod::none : StackMethod::interval;
}

}  // namespace

std::string_view to_string(StackMethod method) {
  switch (method) {
    case StackMethod::none:
      return "none";
    case StackMethod::interval:
      return "interval";
    case StackMethod::affine:
      return "affine";
  }
  return "none";
}

bool StackCertificate::is_contradiction() const {
  return loss.is_contradiction() ||
         std::any_of(heads.begin(), heads.end(), [](const StackHeadCertificate& head) {
           return head.least_sink_weight.is_contradiction() || head.largest_sink_weight.is_contradiction();
         });
}

StackCertificate certify_stack(const attention::Weights& weights, attention::Normaliser normaliser,
                               const task::Parameters& parameters, const StackOptions& options) {
  if (normaliser != attention::Normaliser::softmax && normaliser != attention::Normaliser::relu)
    throw InputError("stack certificates are for softmax and relu attention only");
  if (weights.dimension != parameters.dimension())
    throw InputError("the weights have model dimension " + std::to_string(weights.dimension) +
                     ", not d + 3 = " + std::to_string(parameters.dimension()) +
                     ": give the matching --content");
  // A time limit is shared, so that neither side goes empty-handed.
  const Deadline deadline(options.time_limit);
  const Deadline of_bounds(options.time_limit * 0.6);
  const Model model = attention::model_from<Interval>(weights, normaliser);
  const bool moderate = is_moderate(model) && forward_fits(model, parameters.length());
  const bool softmax = normaliser == attention::Normaliser::softmax;

  DomainBounds bounds{trivial_bounds(model), trivial_bounds(model)};
  bounds.best.complete = false;
  StackWitnesses witnesses;
  if (moderate) {
    bounds = bound_domain(model, parameters, options.threads, of_bounds);
    witnesses = attack_stack(attention::model_from<double>(weights, normaliser), model, parameters,
                             options.seed, options.restarts, options.threads, deadline);
  }

  StackCertificate certificate;
  certificate.complete = bounds.best.complete && !deadline.passed();
  const auto attained = [](const StackWitness& witness, double otherwise, bool upper) {
    if (witness.value.is_undecided()) return otherwise;
    return upper ? witness.value.upper() : witness.value.lower();
  };
  const double highest = softmax ? 1 : HUGE_VAL;
  std::size_t index = 0;
  for (std::size_t layer = 0; layer < model.layers.size(); ++layer) {
    for (std::size_t head = 0; head < model.layers[layer].heads.size(); ++head, ++index) {
      const Interval best = bounds.best.sink_weight[index], plain = bounds.interval.sink_weight[index];
      const auto lower = [](const Interval& x) { return x.is_undecided() ? 0 : std::max(x.lower(), 0.0); };
      const auto upper = [&](const Interval& x) { return x.is_undecided() ? highest : x.upper(); };
      StackHeadCertificate& entry = certificate.heads.emplace_back();
      entry.layer = static_cast<int>(layer + 1);
      entry.head = static_cast<int>(head + 1);
      entry.least_sink_weight = {.lower = lower(best),
                                 .upper = highest,
                                 .method = method_of(lower(best), lower(plain), 0),
                                 .witness = {}};
      entry.largest_sink_weight = {.lower = 0,
                                   .upper = upper(best),
                                   .method = method_of(upper(best), upper(plain), highest),
                                   .witness = {}};
      if (!moderate) continue;
      entry.least_sink_weight.witness = witnesses.least_sink_weight[index];
      entry.least_sink_weight.upper = attained(entry.least_sink_weight.witness, highest, true);
      entry.largest_sink_weight.witness = witnesses.largest_sink_weight[index];
      entry.largest_sink_weight.lower = attained(entry.largest_sink_weight.witness, 0, false);
    }
  }
  certificate.loss = {.lower = attained(witnesses.loss, 0, false),
                      .upper = bounds.best.loss,
                      .method = method_of(bounds.best.loss, bounds.interval.loss, HUGE_VAL),
                      .witness = witnesses.loss};
  return certificate;
}

}  // namespace sinkproof::certify
