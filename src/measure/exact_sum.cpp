#include "measure/exact_sum.hpp"

#include <bit>
#include <stdexcept>

namespace sinkproof::measure {

void ExactSum::add(double term) {
  const auto bits = std::bit_cast<std::uint64_t>(term);
  const auto exponent = static_cast<int>(bits >> 52 & 0x7ff);
  if (exponent == 0x7ff) throw std::invalid_argument("ExactSum: not a finite number");
  std::uint64_t significand = bits & 0xfffffffffffff;
  if (exponent != 0) significand |= std::uint64_t{1} << 52;
  // term = significand 2^(place - 1074): subnormals share the place of the smallest normal numbers.
  const int place = exponent == 0 ? 0 : exponent - 1;
  const auto limb = static_cast<std::size_t>(place / limb_bits);
  const int shift = place % limb_bits;
  const std::uint64_t low = significand << shift;
  const std::uint64_t high = shift == 0 ? 0 : significand >> (64 - shift);
  const std::uint64_t parts[] = {low & 0xffffffff, low >> 32, high};
  const std::int64_t sign = term < 0 ? -1 : 1;
  for (std::size_t i = 0; i < 3; ++i) {
    if (parts[i] != 0) limbs_[limb + i] += sign * static_cast<std::int64_t>(parts[i]);
  }
}

numeric::Rational ExactSum::value() const {
  std::size_t low = 0, high = limbs_.size();
  while (low < high && limbs_[low] == 0) ++low;
  while (high > low && limbs_[high - 1] == 0) --high;
  numeric::Integer sum = 0;
  for (std::size_t i = high; i-- > low;) sum = (sum << limb_bits) + limbs_[i];
  const int exponent = static_cast<int>(low) * limb_bits - 1074;
  if (exponent >= 0) return numeric::Rational(sum << exponent);
  return numeric::Rational(sum, numeric::Integer(1) << -exponent);
}

}  // namespace sinkproof::measure
