// Threads for one call: started when the work is worth it, gone when it is done. Nothing survives the call, so that a fork finds nothing to break.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace tritri::cpu {

// Calls body(index) on up to `threads` threads, this one (index 0) included; where the system gives fewer, those it gave do the work. body must not throw.
template <class Body>
void run_team(int threads, const Body &body) {
  std::vector<std::thread> helpers;
  helpers.reserve(static_cast<size_t>(threads - 1));
  try {
    for (int index = 1; index < threads; ++index) helpers.emplace_back([&body, index] { body(index); });
  } catch (const std::exception &) {  // no thread, or no memory for one
  }
  body(0);
  for (std::thread &helper : helpers) helper.join();
}

// One step of a team's work: tasks 0 to count - 1, each taken by whoever is free. Nobody leaves before all are done, and a member that comes late finds them taken.
class Phase {
 public:
  template <class Task>
  void work(int64_t count, const Task &task) {
    for (int64_t t; (t = next_.fetch_add(1, std::memory_order_relaxed)) < count;) {
      task(t);
      done_.fetch_add(1, std::memory_order_release);
    }
    while (done_.load(std::memory_order_acquire) < count) std::this_thread::yield();
  }

 private:
  alignas(64) std::atomic<int64_t> next_{0};
  alignas(64) std::atomic<int64_t> done_{0};
};

}  // namespace tritri::cpu
