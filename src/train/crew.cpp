#include "train/crew.hpp"

namespace sinkproof::train {
namespace {

/// Waits until `value` is no longer `old`: spinning at first, about as long as a step takes.
template <class T>
void wait_while(const std::atomic<T>& value, T old) {
  for (int spin = 0; spin < 4000; ++spin) {
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
  ++job_;
  job_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Crew::run(int count, const std::function<void(int, int)>& task) {
  if (workers_.empty() || count == 1) {
    for (int index = 0; index < count; ++index) task(index, 0);
    return;
  }
  task_ = &task;
  count_ = count;
  next_.store(0, std::memory_order_relaxed);
  busy_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
  job_.fetch_add(1, std::memory_order_release);
  job_.notify_all();
  take_tasks(0);
  for (int busy = busy_.load(std::memory_order_acquire); busy > 0;
       busy = busy_.load(std::memory_order_acquire)) {
    wait_while(busy_, busy);
  }
}

void Crew::take_tasks(int thread) {
  for (int index = next_++; index < count_; index = next_++) (*task_)(index, thread);
}

void Crew::work(int thread) {
  for (std::uint32_t seen = 0;; ++seen) {
    wait_while(job_, seen);
    if (closing_) return;
    take_tasks(thread);
    if (--busy_ == 0) busy_.notify_all();
  }
}

}  // namespace sinkproof::train
