#include "certify/stack_bounds.hpp"

#include <algorithm>

#include "attention/forward.hpp"
#include "certify/affine_layer.hpp"

namespace sinkproof::certify {
namespace {

using Eigen::Index;
using numeric::Interval;
using numeric::Matrix;
using Model = attention::Model<Interval>;

bool is_softmax(const attention::Head<Interval>& head) {
  return std::get<attention::BilinearScores<Interval>>(head.attention).normaliser ==
         attention::Normaliser::softmax;
}

task::Instance<Interval> box(const task::Parameters& parameters, int trigger) {
  auto instance = task::zero_instance<Interval>(parameters, trigger);
  instance.content.setConstant(Interval(-1, 1));
  return instance;
}

/// Row i of the result hulls a_i1 over the non-trigger positions i >= 2.
Interval sink_range(const Matrix<Interval>& weights, int trigger) {
  Interval range = weights(1, 0);
  for (Index i = 2; i < weights.rows(); ++i)
    if (i + 1 != trigger) range = hull(range, weights(i, 0));
  return range;
}

double largest(double a, const Interval& b) {
  return b.is_undecided() ? HUGE_VAL : std::max({a, -b.lower(), b.upper()});
}

/// The tokens as forms: exact, one symbol for each content coordinate of each of the positions 2..L.
AffineStream token_forms(const task::Parameters& parameters, int trigger) {
  const int d = parameters.content(), length = parameters.length();
  AffineStream stream(static_cast<std::size_t>(length),
                      AffineForms(parameters.dimension(), static_cast<Index>(length - 1) * d));
  stream[0].terms(task::Parameters::bos(), 0) = 1;
  for (int k = 1; k < length; ++k) {
    AffineForms& x = stream[static_cast<std::size_t>(k)];
    x.terms(k + 1 == trigger ? task::Parameters::trigger() : parameters.ordinary(), 0) = 1;
    for (int m = 0; m < d; ++m) x.terms(task::Parameters::content_begin() + m, 1 + (k - 1) * d + m) = 1;
  }
  return stream;
}

/// y_j, the mean of the tokens 2..j.
AffineForms mean_forms(const AffineStream& tokens, int trigger) {
  AffineForms sum(tokens[0].size(), tokens[0].symbols());
  for (int k = 1; k < trigger; ++k) add(sum, tokens[static_cast<std::size_t>(k)]);
  Matrix<Interval> scale = Matrix<Interval>::Constant(sum.size(), sum.size(), Interval(0));
  scale.diagonal().setConstant(Interval(1) / Interval(trigger - 1));
  return linear(MidRadMatrix(scale), sum);
}

double affine_loss(const AffineStream& output, const AffineStream& tokens, bool residual, int trigger) {
  double loss = 0;
  for (std::size_t i = 0; i < output.size(); ++i) {
    AffineForms error = residual ? difference(output[i], tokens[i]) : output[i];
    if (static_cast<int>(i) + 1 == trigger) error = difference(error, mean_forms(tokens, trigger));
    for (Index r = 0; r < error.size(); ++r) loss = largest(loss, error.range(r));
  }
  return loss;
}

}  // namespace

StackBounds trivial_bounds(const Model& model) {
  StackBounds bounds;
  for (const auto& layer : model.layers)
    for (const auto& head : layer.heads)
      bounds.sink_weight.push_back(is_softmax(head) ? Interval(0, 1) : Interval::undecided());
  return bounds;
}

StackBounds interval_bounds(const Model& model, const task::Parameters& parameters, int trigger) {
  const auto instance = box(parameters, trigger);
  const attention::Trace<Interval> trace = attention::forward(model, task::tokens(parameters, instance));
  StackBounds bounds = trivial_bounds(model);
  std::size_t head = 0;
  for (const auto& layer : trace.attention)
    for (const Matrix<Interval>& weights : layer) {
      Interval& bound = bounds.sink_weight[head++];
      bound = intersection(bound, sink_range(weights, trigger));
    }
  const Matrix<Interval> target =
      model.residual ? task::residual_target(parameters, instance) : task::target(parameters, instance);
  bounds.loss = 0;
  for (Index i = 0; i < target.size(); ++i)
    bounds.loss = largest(bounds.loss, trace.output.data()[i] - target.data()[i]);
  return bounds;
}

StackBounds affine_bounds(const Model& model, const task::Parameters& parameters, int trigger,
                          const Deadline& deadline) {
  StackBounds bounds = trivial_bounds(model);
  bounds.complete = false;
  const AffineStream tokens = token_forms(parameters, trigger);
  AffineStream stream = tokens;
  Matrix<Interval> ranges = task::tokens(parameters, box(parameters, trigger));
  std::size_t head = 0;
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    if (deadline.passed()) return bounds;
    const Model layer{.layers = {model.layers[l]}, .residual = model.residual};
    attention::Trace<Interval> trace = attention::forward(layer, ranges);
    AffineStream output = affine_layer(model.layers[l], model.residual, stream, trace.attention[0]);
    for (const Matrix<Interval>& weights : trace.attention[0]) {
      Interval& bound = bounds.sink_weight[head++];
      bound = intersection(bound, sink_range(weights, trigger));
    }
    for (Index i = 0; i < ranges.rows(); ++i)
      for (Index r = 0; r < ranges.cols(); ++r)
        ranges(i, r) = intersection(trace.output(i, r), output[static_cast<std::size_t>(i)].range(r));
    stream = std::move(output);
    symbolise_errors(stream, ranges);
  }
  bounds.loss = affine_loss(stream, tokens, model.residual, trigger);
  bounds.complete = true;
  return bounds;
}

}  // namespace sinkproof::certify
