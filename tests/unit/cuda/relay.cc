#include "cuda/runtime/relay.h"

#include "support/catch.h"

#include <stdexcept>
#include <string>

using namespace tritri;

namespace {

using Pieces = std::vector<cuda::Relay::Piece>;

// Notes what it is told, and whether that came too early. Fails at one call, if it is to.
struct Crew {
  static constexpr size_t never = ~size_t{0};
  const Pieces &up, &down;
  size_t chores, slots;
  size_t fail_fill = never, fail_launch = never, fail_fetch = never, fail_empty = never;
  using Counts = std::vector<std::atomic<size_t>>;
  Counts opened = Counts(up.size()), filled = Counts(up.size()), sent = Counts(up.size()), done = Counts(chores);
  Counts fetched = Counts(down.size()), awaited = Counts(down.size()), emptied = Counts(down.size());
  std::atomic<size_t> launched{0};
  std::atomic<bool> early{false};
  std::thread::id first = std::this_thread::get_id();

  static void fail_at(size_t now, size_t when, const char *what) {
    if (now == when) throw std::runtime_error(what);
  }
  void expect(bool right) {
    if (!right) early = true;
  }

  void enter(int) {}
  void open(size_t piece) {
    expect(piece < slots || sent[piece - slots] == 1);
    ++opened[piece];
  }
  void fill(size_t piece, size_t share) {
    fail_at(piece, fail_fill, "fill");
    expect(opened[piece] == 1 && share < up[piece].shares);
    ++filled[piece];
  }
  void send(size_t piece) {
    expect(filled[piece] == up[piece].shares);
    ++sent[piece];
  }
  void launch(size_t step) {
    fail_at(step, fail_launch, "launch");
    for (size_t piece = 0; piece < up.size(); ++piece) expect(up[piece].step > step || sent[piece] == 1);
    expect(launched == step && std::this_thread::get_id() == first);
    ++launched;
  }
  void chore(size_t chore) { ++done[chore]; }
  void fetch(size_t piece) {
    fail_at(piece, fail_fetch, "fetch");
    expect(launched > down[piece].step && (piece == 0 || fetched[piece - 1] == 1) && (piece < slots || emptied[piece - slots] == down[piece - slots].shares));
    ++fetched[piece];
  }
  void await(size_t piece) {
    expect(fetched[piece] == 1);
    ++awaited[piece];
  }
  void empty(size_t piece, size_t share) {
    fail_at(piece, fail_empty, "empty");
    expect(awaited[piece] == 1 && share < down[piece].shares);
    ++emptied[piece];
  }
};

std::string run(Crew &crew, size_t steps, int threads) {
  cuda::Relay relay(steps, crew.up, crew.down, crew.chores, crew.slots);
  std::vector<std::thread> helpers;
  for (int thread = 1; thread < threads; ++thread) helpers.emplace_back([&, thread] { relay.work(crew, thread); });
  relay.work(crew, 0);
  for (std::thread &helper : helpers) helper.join();
  try {
    relay.rethrow();
  } catch (const std::exception &error) {
    return error.what();
  }
  return "";
}

// Step `without` has none.
Pieces ascending(size_t count, size_t steps, size_t without) {
  Pieces pieces;
  for (size_t i = 0; i < count; ++i) {
    const size_t step = i * steps / count;
    pieces.push_back({step == without && step + 1 < steps ? step + 1 : step, i % 5 + 1});
  }
  return pieces;
}

}  // namespace

TEST_CASE("every share is done once, and a step is launched between what it needs and what it gives") {
  for (const int threads : {1, 2, 5}) {
    for (const size_t steps : {size_t{1}, size_t{2}, size_t{9}}) {
      for (const size_t count : {size_t{0}, size_t{1}, size_t{100}}) {
        for (const size_t slots : {size_t{1}, size_t{4}}) {
          const Pieces up = ascending(count, steps, 2), down = ascending(count / 2, steps, 0);
          Crew crew{up, down, count / 3, slots};
          CHECK(run(crew, steps, threads).empty());
          CHECK(!crew.early);
          CHECK(crew.launched == steps);
          for (size_t piece = 0; piece < up.size(); ++piece) CHECK((crew.filled[piece] == up[piece].shares && crew.sent[piece] == 1));
          for (size_t piece = 0; piece < down.size(); ++piece) CHECK((crew.emptied[piece] == down[piece].shares && crew.fetched[piece] == 1));
          for (const auto &times : crew.done) CHECK(times == 1);
        }
      }
    }
  }
}

TEST_CASE("a failure anywhere ends every thread's part and is told") {
  const Pieces up = ascending(40, 4, 9), down = ascending(40, 4, 9);
  for (const int threads : {1, 4}) {
    for (const std::string place : {"fill", "launch", "fetch", "empty"}) {
      Crew crew{up, down, 5, 3};
      (place == "fill" ? crew.fail_fill : place == "launch" ? crew.fail_launch : place == "fetch" ? crew.fail_fetch : crew.fail_empty) = place == "launch" ? 2 : 25;
      CHECK(run(crew, 4, threads) == place);
      CHECK(!crew.early);
      if (place == "fill" || place == "launch")
        for (size_t piece = 30; piece < 40; ++piece) CHECK(crew.fetched[piece] == 0);  // what was not launched is not fetched
    }
  }
}
