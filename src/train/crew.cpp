#include "train/crew.hpp"

namespace sinkproof::train {
namespace {

constexpr std::uint64_t one_job = std::uint64_t{1} << 32;
constexpr int taken_bits = 16;

/// Waits until `value` is no longer `old`: spinning at first, about as long as a short step takes.
template <class T>
void wait_while(const std::atomic<T>& value, T old) {
  for (int spin = 0; spin < 2000; ++spin) {
    if (value.load(std::memory_order_acquire) != old) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

Crew::Crew(int threads) {
  for (int t = 1; t < threads; ++t) workers_.emplace_back([this, t] { work(t); });
}

Crew::~Crew() {
  closing_ = true;
  job_ += one_job;
  job_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Crew::run(int count, const std::function<void(int, int)>& task) {
  if (workers_.empty() || count == 1) {
    for (int index = 0; index < count; ++index) task(index, 0);
    return;
  }
  task_ = &task;
  done_.store(0, std::memory_order_relaxed);
  const std::uint64_t number = job_.load(std::memory_order_relaxed) / one_job + 1;
  job_.store(number * one_job + (static_cast<std::uint64_t>(count) << taken_bits), std::memory_order_release);
  job_.notify_all();
  take_tasks(0);
  for (int done = done_.load(std::memory_order_acquire); done < count;
       done = done_.load(std::memory_order_acquire)) {
    wait_while(done_, done);
  }
}

/// Returns the state of the job that has no task left to take.
std::uint64_t Crew::take_tasks(int thread) {
  for (std::uint64_t job = job_.load(std::memory_order_acquire);;) {
    const std::uint64_t low = job % one_job;
    const std::uint64_t count = low >> taken_bits, taken = low % (1U << taken_bits);
    if (taken >= count) return job;
    if (!job_.compare_exchange_weak(job, job + 1, std::memory_order_acq_rel, std::memory_order_acquire))
      continue;
    ++job;
    // The caller may return as soon as it sees the last task done: nothing of this job is touched after that.
    (*task_)(static_cast<int>(taken), thread);
    if (done_.fetch_add(1, std::memory_order_acq_rel) + 1 == static_cast<int>(count)) done_.notify_all();
    job = job_.load(std::memory_order_acquire);
  }
}

void Crew::work(int thread) {
  for (;;) {
    const std::uint64_t job = take_tasks(thread);
    if (closing_) return;  // looked at after the job: closing changes it afterwards
    wait_while(job_, job);
  }
}

}  // namespace sinkproof::train
