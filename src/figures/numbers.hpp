#pragma once

#include <string>

namespace sinkproof::figures {

/// "10⁻³", and the two next to it in full: "1", "10".
std::string power_of_ten(int exponent);

/// The least of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten that is at least `value`; 0.1 where that is not
/// positive and finite.
double round_above(double value);

}  // namespace sinkproof::figures
