// Threads beside the caller's, kept between calls. They sleep where no call wants them, and a call wakes them without waiting for any: what they do not come for in time the caller does
// itself, and closes the door behind it. So a call costs the caller a few microseconds for each, and nothing more where other work keeps them from running.
#pragma once
#include <pthread.h>
#include <sched.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace tritri::cpu {

// For one caller at a time. After a fork the child has none of the threads: it starts its own.
class Team {
 public:
  Team() = default;
  Team(const Team &) = delete;
  Team &operator=(const Team &) = delete;
  ~Team();

  // Calls body(index) on this thread (index 0) and on up to threads - 1 others, with an index each: on those that come before this one has ended. body must not throw.
  template <class Body>
  void run(int threads, const Body &body) {
    const bool open = threads > 1 && invite(threads - 1, [](const void *what, int index) { (*static_cast<const Body *>(what))(index); }, &body);
    body(0);
    if (open) close();
  }

 private:
  static constexpr int gone = -1;  // at the door: no more calls
  using Call = void (*)(const void *body, int index);

  bool invite(int wanted, Call call, const void *body);  // whether somebody may come
  void close();                                          // waits for those who came
  void stand_aside();
  void recruit(int wanted);
  cpu_set_t elsewhere() const;
  void help();

  pid_t process_ = 0;  // in which the threads are
  std::vector<pthread_t> helpers_;
  bool known_ = false;  // what follows
  cpu_set_t allowed_;   // where the caller might run when it started the first of them
  int caller_ = -1;     // the core on which it last was, which they leave to it
  Call call_ = nullptr;
  const void *body_ = nullptr;
  int places_ = 0;
  alignas(64) std::atomic<uint32_t> calls_{0};  // helpers sleep until it changes
  alignas(64) std::atomic<int> door_{0};        // places that are free: 0 is closed
  alignas(64) std::atomic<int> left_{0};        // helpers that came and have gone
};

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
