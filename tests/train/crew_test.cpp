#include "train/crew.hpp"

#include <atomic>
#include <numeric>

#include <doctest/doctest.h>

using sinkproof::train::Crew;

TEST_CASE("every task of every job runs once, whatever the threads") {
  for (const int threads : {1, 2, 3, 8}) {
    Crew crew(threads);
    CHECK(crew.threads() == threads);
    for (int job = 0; job < 2000; ++job) {
      const int count = job % 20;
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
      std::atomic<bool> in_range = true;
      crew.run(count, [&](int index, int thread) {
        ++calls[static_cast<std::size_t>(index)];
        if (thread < 0 || thread >= threads) in_range = false;
      });
      REQUIRE(in_range);
      for (const auto& called : calls) REQUIRE(called == 1);
    }
  }
}

TEST_CASE("crews without work, or with workers that never woke, close") {
  for (int repetition = 0; repetition < 200; ++repetition) {
    Crew crew(4);
    if (repetition % 2 == 0) crew.run(2, [](int, int) {});
  }
}
