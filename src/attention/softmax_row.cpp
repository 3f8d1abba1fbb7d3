#include "attention/normalise.hpp"

namespace sinkproof::attention {

using numeric::above;
using numeric::below;
using numeric::Interval;

// With e_k in [l_k, u_k] >= 0 and the sink's s in [s_l, s_u] >= 0, the weight e_k / (s + sum e) rises with
// e_k and falls with the others, so it ranges over
//   [ l_k / (s_u + sum u - (u_k - l_k)),  u_k / (s_l + sum l + (u_k - l_k)) ].
// A float sum of m nonnegative terms is off by at most a factor (1 +- eps)^m in any rounding mode (sums do
// not underflow inexactly); (m + 4) eps covers it and the multiplication that applies it.
void softmax_row(std::span<const Interval> scores, const Interval& sink_weight, std::span<Interval> weights) {
  const bool with_sink = !(sink_weight.is_point() && sink_weight.lower() == 0);
  // Any finite pivot is right; this one keeps every exponential, and the sink's, at most about 1.
  double pivot = with_sink ? std::max(0.0, std::log(std::max(1.0, sink_weight.upper()))) : -HUGE_VAL;
  for (const Interval& s : scores) pivot = std::max(pivot, s.upper());
  if (!std::isfinite(pivot)) pivot = 0;
  for (std::size_t k = 0; k < scores.size(); ++k) weights[k] = scores[k] - Interval(pivot);
  numeric::exp_all(weights, weights.data());

  double lower_sum = 0, upper_sum = 0;
  for (const Interval& e : weights) {
    lower_sum += e.lower();
    upper_sum += e.upper();
  }
  if (with_sink) {
    const Interval sink = sink_weight * exp(Interval(-pivot));
    lower_sum += std::max(sink.lower(), 0.0);
    upper_sum += sink.upper();
  }
  const double slack = (static_cast<double>(scores.size()) + 4) * numeric::machine_epsilon;
  lower_sum *= 1 - slack;
  upper_sum *= 1 + slack;

  for (Interval& weight : weights) {
    const double l = weight.lower(), u = weight.upper();
    const double gap = std::max(below(u - l), 0.0);
    const double least = below(lower_sum + gap);
    const double lower = l == 0 ? 0 : below(l / above(upper_sum - gap));
    const double upper = least > 0 ? above(u / least) : 1;
    weight = Interval(std::max(lower, 0.0), std::min(upper, 1.0));
    // An undecided exponential, anywhere in the row, leaves upper_sum NaN.
    if (!(upper_sum > 0)) weight = Interval::undecided();
  }
}

}  // namespace sinkproof::attention
