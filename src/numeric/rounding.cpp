#include "numeric/rounding.hpp"

namespace sinkproof::numeric {

bool subnormals_are_kept() noexcept {
  volatile double least_normal = std::numeric_limits<double>::min();
  volatile double half = least_normal / 2;      // flush-to-zero makes this 0
  return half > 0 && half * 2 == least_normal;  // denormals-are-zero makes it compare equal to 0
}

}  // namespace sinkproof::numeric
