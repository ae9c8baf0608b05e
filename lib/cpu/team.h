// Threads for one call: started when the work is worth it, gone when it is done. Nothing survives the call, so that a fork finds nothing to break.
#pragma once
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace tritri::cpu {

// Calls body(index) on up to `threads` threads, this one (index 0) included; where the system gives fewer, those it gave do the work. body must not throw.
template <class Body>
void run_team(int threads, const Body &body) {
  struct Helper {
    std::atomic<bool> runs{false};
    std::thread thread;
  };
  std::vector<Helper> helpers(static_cast<size_t>(threads - 1));
  // A caller that has slept before looks idle to the system, which then starts helpers behind it on its own core, where they wait for some
  // milliseconds. So they are sent to the others; from there they may go wherever the caller may.
  cpu_set_t allowed, others;
  bool elsewhere = threads > 1 && sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  if (elsewhere) {
    others = allowed;
    CPU_CLR(sched_getcpu(), &others);
    elsewhere = CPU_COUNT(&others) > 0;
  }
  try {
    for (int index = 1; index < threads; ++index) {
      Helper &helper = helpers[static_cast<size_t>(index - 1)];
      helper.thread = std::thread([&body, &helper, &allowed, elsewhere, index] {
        helper.runs.store(true, std::memory_order_relaxed);
        if (elsewhere) pthread_setaffinity_np(pthread_self(), sizeof allowed, &allowed);
        body(index);
      });
      if (elsewhere && !helper.runs.load(std::memory_order_relaxed)) pthread_setaffinity_np(helper.thread.native_handle(), sizeof others, &others);
    }
  } catch (const std::exception &) {  // no thread, or no memory for one
  }
  body(0);
  for (Helper &helper : helpers) {
    if (!helper.thread.joinable()) continue;
    // Behind other work on another core, one that has not begun would let this call wait for some milliseconds: here it begins, and ends, at once.
    if (!helper.runs.load(std::memory_order_relaxed)) {
      cpu_set_t here;
      CPU_ZERO(&here);
      CPU_SET(sched_getcpu(), &here);
      pthread_setaffinity_np(helper.thread.native_handle(), sizeof here, &here);
    }
    helper.thread.join();
  }
}

// One step of a team's work: tasks 0 to count - 1, each taken by whoever is free; a member that comes late finds them taken. Those who stay leave when all are done.
class Phase {
 public:
  template <class Task>
  void work(int64_t count, const Task &task, bool stay = true) {
    for (int64_t t; (t = next_.fetch_add(1, std::memory_order_relaxed)) < count;) {
      task(t);
      done_.fetch_add(1, std::memory_order_release);
    }
    while (stay && done_.load(std::memory_order_acquire) < count) std::this_thread::yield();
  }

 private:
  alignas(64) std::atomic<int64_t> next_{0};
  alignas(64) std::atomic<int64_t> done_{0};
};

}  // namespace tritri::cpu
