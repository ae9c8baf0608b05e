// Threads that are kept between calls: every task once, whoever comes; nothing left behind by a fork.
#include "cpu/team.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "support/catch.h"

using namespace tritri;

namespace {

// Two phases of a call: the second may only begin when the first is done. Whether each task was done once, by members with an index of their own.
bool works(cpu::Team &team, int threads, int64_t tasks) {
  std::vector<std::atomic<int>> first(static_cast<size_t>(tasks)), second(static_cast<size_t>(tasks)), members(static_cast<size_t>(threads));
  std::atomic<bool> wrong{false};
  cpu::Phase one, two;
  team.run(threads, [&](int index) {
    if (++members[static_cast<size_t>(index)] != 1) wrong = true;
    one.work(tasks, [&](int64_t task) { ++first[static_cast<size_t>(task)]; });
    two.work(tasks, [&](int64_t task) {
      for (const std::atomic<int> &count : first) {
        if (count != 1) wrong = true;
      }
      ++second[static_cast<size_t>(task)];
    }, index == 0);
  });
  for (const std::atomic<int> &count : second) {
    if (count != 1) wrong = true;
  }
  return !wrong && members[0] == 1;
}

}  // namespace

TEST_CASE("team: every task once, call after call, with few and many threads", "[team]") {
  cpu::Team team;
  for (int call = 0; call < 3000; ++call) REQUIRE(works(team, 1 + call % 5, call % 7));
}

TEST_CASE("team: helpers come back after a pause", "[team]") {
  cpu::Team team;
  std::atomic<int> came{0};
  for (int call = 0; call < 200 && came < 3; ++call) {
    usleep(1000);
    team.run(2, [&](int index) {
      if (index > 0) ++came;
      else usleep(10000);
    });
  }
  REQUIRE(came >= 3);
}

TEST_CASE("team: a child starts its own threads, the parent keeps its own", "[team]") {
#ifdef __SANITIZE_THREAD__
  return support::skip("the thread sanitizer does not follow threads through fork");
#endif
  auto team = std::make_unique<cpu::Team>();
  REQUIRE(works(*team, 4, 20));
  for (const bool compute : {true, false}) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      alarm(60);  // a hang must not outlive the test
      const bool right = !compute || (works(*team, 3, 20) && works(*team, 5, 20));
      team.reset();
      _exit(right ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
    REQUIRE(works(*team, 4, 20));
  }
}

TEST_CASE("team: made and ended in different threads", "[team]") {
  for (int i = 0; i < 200; ++i) {
    auto team = std::make_unique<cpu::Team>();
    bool right = false;
    std::thread([&] { right = works(*team, 3, 5); }).join();
    REQUIRE(right);
    std::thread([&] { team.reset(); }).join();
  }
}
