#include "theory/theorem2.hpp"

#include <fmt/format.h>
#include <gmp.h>

#include "numeric/enclosure.hpp"
#include "theory/hypothesis.hpp"

namespace sinkproof::theory {

using numeric::BigInterval, numeric::Integer, numeric::Rational;

namespace {

std::optional<Integer> integer_root(const Integer& x, int degree) {
  Integer root;
  const bool exact =
      mpz_root(root.backend().data(), x.backend().data(), static_cast<unsigned long>(degree)) != 0;
  return exact ? std::optional(root) : std::nullopt;
}

void require_domain(const Rational& x, int degree) {
  require(degree >= 1, fmt::format("D >= 1 fails: D = {}", degree));
  require(x >= 0, fmt::format("epsilon >= 0 fails: epsilon = {}", numeric::to_string(x)));
}

}  // namespace

std::optional<Rational> rational_root(const Rational& x, int degree) {
  require_domain(x, degree);
  // In lowest terms the root is rational exactly if both roots are integers.
  const auto above = integer_root(numerator(x), degree), below = integer_root(denominator(x), degree);
  return above && below ? std::optional(Rational(*above, *below)) : std::nullopt;
}

BigInterval enclosed_root(const Rational& x, int degree) {
  require_domain(x, degree);
  return x == 0 ? BigInterval(0) : exp(log(BigInterval::enclosing(x)) / BigInterval(degree));
}

Rational least_leak_product(const std::vector<numeric::Matrix<Rational>>& layers, int position) {
  Rational product = 1;
  for (const auto& attention : layers) {
    Rational largest = attention(1, 0);
    for (int row = 2; row < position; ++row) largest = numeric::max(largest, attention(row, 0));
    product *= 1 - largest;
  }
  return product;
}

}  // namespace sinkproof::theory
