#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace sinkproof::train {

/// Threads that wait for many short jobs: a step lasts as long as waking a sleeping thread, so they spin for
/// a while before they sleep, and a job waits for its tasks, not for threads that the system has not woken.
class Crew {
 public:
  explicit Crew(int threads);  ///< threads >= 1, the caller's included
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls task(index, thread) once for every index in [0, count), count < 2^16, on any of the threads, and
  /// returns when all are done. Tasks must not throw.
  void run(int count, const std::function<void(int, int)>& task);

 private:
  void work(int thread);
  std::uint64_t take_tasks(int thread);

  std::vector<std::thread> workers_;
  const std::function<void(int, int)>* task_ = nullptr;
  /// The current job: its number in the high 32 bits, the count of its tasks in the next 16, and how many are
  /// taken in the low 16. Taking a task keeps its job, and so `task_`, alive.
  std::atomic<std::uint64_t> job_ = 0;
  std::atomic<int> done_ = 0;  ///< tasks of the current job
  std::atomic<bool> closing_ = false;
};

}  // namespace sinkproof::train
