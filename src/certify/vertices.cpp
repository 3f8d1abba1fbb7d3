#include "certify/vertices.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <exception>
#include <thread>
#include <vector>

#include <mpfr.h>

namespace sinkproof::certify {

using numeric::Interval;
using numeric::Matrix;
using numeric::Vector;

namespace {

/// The largest distance of a point of x from its (computed) middle.
Interval radius(const Interval& x) {
  return max(Interval(middle(x)) - Interval(x.lower()), Interval(x.upper()) - Interval(middle(x)));
}

}  // namespace

// Each f_k is a sum with d + 1 terms (products with +-1 are exact) at the start of a block, in any order and
// contracted or not, and then at most 2^block_bits sums with +-2 slope_mk (exact). With G the sum of the
// absolute values of the middles, and N = d + 2^block_bits sums altogether: every partial sum is at most
// G (1 + eps)^N in absolute value, because the exact partial sums are at most G, and each rounding adds at
// most eps times its result (underflow does not round sums). So the error is at most N eps (1 + eps)^N G
// <= 1.01 N eps G for N <= 2^40; the radii of the enclosures come on top.
AffineFamily::AffineFamily(const Vector<Interval>& constant, const Matrix<Interval>& slope)
    : constant_(constant.size()),
      error_(constant.size()),
      magnitude_(constant.size()),
      slope_(slope.unaryExpr(&middle)) {
  const Interval gamma = Interval(per_sum) * Interval(static_cast<double>(slope.rows()) +
                                                      static_cast<double>(std::uint64_t{1} << block_bits));
  for (Eigen::Index k = 0; k < constant.size(); ++k) {
    constant_[k] = middle(constant[k]);
    Interval rounding = abs(Interval(constant_[k])), uncertainty = radius(constant[k]);
    for (Eigen::Index m = 0; m < slope.rows(); ++m) {
      rounding += abs(Interval(slope_(m, k)));
      uncertainty += radius(slope(m, k));
    }
    error_[k] = (gamma * rounding + uncertainty).upper();
    magnitude_[k] = (rounding + uncertainty).upper();
  }
}

std::uint64_t AffineFamily::blocks() const {
  return content() <= block_bits ? 1 : std::uint64_t{1} << (content() - block_bits);
}

void AffineFamily::sweep(std::uint64_t block, const Visit& visit) const {
  const int d = content(), low = std::min(d, block_bits);
  Vector<double> c(d);
  for (int m = 0; m < d; ++m) c[m] = m >= low && (block >> (m - low) & 1) ? 1 : -1;
  Vector<double> f = at(c);
  visit(c, f);
  const std::uint64_t count = std::uint64_t{1} << low;
  for (std::uint64_t step = 1; step < count; ++step) {
    const int m = std::countr_zero(step);
    c[m] = -c[m];
    f.noalias() += (2 * c[m]) * slope_.row(m).transpose();
    visit(c, f);
  }
}

bool for_each_block(std::uint64_t blocks, int threads,
                    const std::function<bool(std::uint64_t block, int thread)>& work) {
  std::atomic<std::uint64_t> next = 0;
  std::atomic<bool> stopped = false;
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(std::max(threads, 1)));
  const auto run = [&](int thread) {
    try {
      for (std::uint64_t block = next++; block < blocks && !stopped; block = next++) {
        if (!work(block, thread)) stopped = true;
      }
    } catch (...) {
      failures[static_cast<std::size_t>(thread)] = std::current_exception();
      stopped = true;
    }
  };
  {
    std::vector<std::jthread> pool;
    for (int thread = 1; thread < threads; ++thread) {
      pool.emplace_back([&run, thread] {
        run(thread);
        mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);  // each thread has its own
      });
    }
    run(0);
  }
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return !stopped;
}

}  // namespace sinkproof::certify
