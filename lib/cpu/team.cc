#include "cpu/team.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <new>

namespace tritri::cpu {
namespace {

long futex(std::atomic<uint32_t> &word, int operation, uint32_t value) { return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0); }

}  // namespace

Team::~Team() {
  if (helpers_.empty() || process_ != getpid()) return;
  door_.store(gone, std::memory_order_relaxed);
  calls_.fetch_add(1, std::memory_order_release);
  futex(calls_, FUTEX_WAKE, INT_MAX);
  for (const pthread_t helper : helpers_) pthread_join(helper, nullptr);
}

bool Team::invite(int wanted, Call call, const void *body) {
  if (const pid_t process = getpid(); process != process_) {
    helpers_.clear();
    known_ = sched_getaffinity(0, sizeof allowed_, &allowed_) == 0;
    caller_ = -1;
    door_.store(0, std::memory_order_relaxed);
    process_ = process;
  }
  stand_aside();
  recruit(wanted);
  if (helpers_.empty()) return false;
  call_ = call;
  body_ = body;
  places_ = wanted;
  left_.store(0, std::memory_order_relaxed);
  door_.store(wanted, std::memory_order_release);
  calls_.fetch_add(1, std::memory_order_release);
  futex(calls_, FUTEX_WAKE, static_cast<uint32_t>(wanted));
  return true;
}

void Team::close() {
  const int came = places_ - door_.exchange(0, std::memory_order_relaxed);
  while (left_.load(std::memory_order_acquire) < came) std::this_thread::yield();
}

cpu_set_t Team::elsewhere() const {
  cpu_set_t others = allowed_;
  CPU_CLR(caller_, &others);
  return CPU_COUNT(&others) > 0 ? others : allowed_;
}

// A caller that has slept before looks idle to the system, which then puts the helpers that it wakes or starts behind it on its own core, where they wait for some
// milliseconds. So they run on the others.
void Team::stand_aside() {
  const int core = sched_getcpu();
  if (!known_ || core < 0 || core == caller_) return;
  caller_ = core;
  const cpu_set_t others = elsewhere();
  for (const pthread_t helper : helpers_) pthread_setaffinity_np(helper, sizeof others, &others);
}

// Where the system gives fewer threads, those it gave do the work. They get no signals, which are the caller's matter.
void Team::recruit(int wanted) {
  if (helpers_.size() >= static_cast<size_t>(wanted)) return;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  if (known_) {
    const cpu_set_t others = elsewhere();
    pthread_attr_setaffinity_np(&attributes, sizeof others, &others);
  }
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto start = [](void *team) -> void * {
    static_cast<Team *>(team)->help();
    return nullptr;
  };
  try {
    while (helpers_.size() < static_cast<size_t>(wanted)) {
      pthread_t &helper = helpers_.emplace_back();
      if (pthread_create(&helper, &attributes, start, this) == 0 || pthread_create(&helper, nullptr, start, this) == 0) continue;
      helpers_.pop_back();
      break;
    }
  } catch (const std::bad_alloc &) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
}

void Team::help() {
  for (;;) {
    const uint32_t seen = calls_.load(std::memory_order_acquire);
    int place = door_.load(std::memory_order_relaxed);
    if (place == gone) return;
    while (place > 0 && !door_.compare_exchange_weak(place, place - 1, std::memory_order_acquire, std::memory_order_relaxed)) {
    }
    if (place > 0) {
      call_(body_, place);
      left_.fetch_add(1, std::memory_order_release);
    }
    futex(calls_, FUTEX_WAIT, seen);
  }
}

}  // namespace tritri::cpu
