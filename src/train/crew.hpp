#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace sinkproof::train {

/// Threads that wait for many short jobs: a step lasts as long as waking a sleeping thread, so they spin for
/// a while before they sleep.
class Crew {
 public:
  explicit Crew(int threads);  ///< threads >= 1, the caller's included
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls task(index, thread) once for every index in [0, count), on any of the threads, and returns when
  /// all are done. Tasks must not throw.
  void run(int count, const std::function<void(int, int)>& task);

 private:
  void work(int thread);
  void take_tasks(int thread);

  std::vector<std::thread> workers_;
  const std::function<void(int, int)>* task_ = nullptr;
  int count_ = 0;
  std::atomic<int> next_ = 0;
  std::atomic<int> busy_ = 0;           ///< workers that have not finished this job
  std::atomic<std::uint32_t> job_ = 0;  ///< grows by one a job
  std::atomic<bool> closing_ = false;
};

}  // namespace sinkproof::train
