// Who does what, and when, of a product of host arrays: pieces go up, steps are launched when what they need is on its way, pieces of results come down; meanwhile the host has chores.
// No CUDA header.
#pragma once
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tritri::cuda {

// Threads share the filling of a piece's slot of memory, and the emptying: the bus gets large pieces, and the first one soon.
class Relay {
 public:
  // `step`: that a piece is needed for, or that it is a result of; neither falls from piece to piece. `shares`: in how many parts it is filled or emptied, at least 1.
  struct Piece { size_t step, shares; };

  // Each way has `slots`: a piece has the one of its number modulo that, when the piece before has left it.
  Relay(size_t steps, const std::vector<Piece> &up, const std::vector<Piece> &down, size_t chores, size_t slots) : up_(up), down_(down), chores_(chores), slots_(slots), missing_(steps) {
    for (const Piece &piece : up) ++missing_[piece.step];
  }

  // One thread's part. Threads take shares as they come; thread 0 must be among them, and alone launches. The crew is told:
  //   enter(thread)           before anything else, if there is anything left to do
  //   open(piece)             to wait until the slot of a piece that goes up can be filled
  //   fill(piece, share)
  //   send(piece)             when it is filled
  //   launch(step)            each step in turn, when all its pieces, and those of the steps before, have been sent
  //   chore(chore)            while the device works
  //   fetch(piece)            in turn, when the step has been launched and the slot is empty
  //   await(piece)            to wait until it has come down
  //   empty(piece, share)
  // The first failure ends the others' parts at their next share.
  template <class Crew>
  void work(Crew &crew, int thread) noexcept {
    if (thread != 0 && up_.taken() && next_chore_ >= chores_ && down_.taken()) return;
    try {
      crew.enter(thread);
      for (Share share; !failed_ && up_.take(&share);) {
        if (!up_.first(share, [&] { return share.piece < slots_ || up_.moved[share.piece - slots_]; }, failed_, [&] { crew.open(share.piece); })) return;
        crew.fill(share.piece, share.number);
        if (up_.done(share)) {
          crew.send(share.piece);
          up_.moved[share.piece] = true;
          --missing_[up_.pieces[share.piece].step];
        }
        if (thread == 0) launch_ready(crew);
      }
      while (thread == 0 && !failed_ && !launch_ready(crew)) std::this_thread::yield();
      for (size_t chore; !failed_ && (chore = next_chore_++) < chores_;) crew.chore(chore);
      for (Share share; !failed_ && down_.take(&share);) {
        if (!down_.first(share, [&] { return next_fetch_ > share.piece; }, failed_, [&] { crew.await(share.piece); })) return;
        crew.empty(share.piece, share.number);
        if (down_.done(share)) {
          down_.moved[share.piece] = true;
          fetch_ready(crew);
        }
      }
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!failed_) failure_ = std::current_exception();
      failed_ = true;
    }
  }

  // When all have come back from work().
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  struct Share { size_t piece, number; };

  struct Way {
    std::vector<Piece> pieces;
    std::vector<size_t> piece_of, first_of;                  // of a share its piece, of a piece its first share
    std::vector<std::atomic<size_t>> left;                   // shares of a piece that are not done
    std::vector<std::atomic<bool>> ready, moved;             // its slot can be filled or emptied; it has been sent, or emptied
    std::atomic<size_t> next{0};

    explicit Way(const std::vector<Piece> &all) : pieces(all), left(all.size()), ready(all.size()), moved(all.size()) {
      for (size_t piece = 0; piece < all.size(); ++piece) {
        left[piece] = all[piece].shares;
        first_of.push_back(piece_of.size());
        piece_of.insert(piece_of.end(), all[piece].shares, piece);
      }
    }
    bool taken() const { return next >= piece_of.size(); }
    bool take(Share *share) {
      const size_t index = next++;
      if (index >= piece_of.size()) return false;
      *share = {piece_of[index], index - first_of[piece_of[index]]};
      return true;
    }
    bool done(const Share &share) { return --left[share.piece] == 0; }

    // Whoever has a piece's first share waits for `before` and for what `wait` waits for; the others wait for that. False: there was a failure.
    template <class Before, class Wait>
    bool first(const Share &share, Before &&before, const std::atomic<bool> &failed, Wait &&wait) {
      while (share.number == 0 ? !before() : !ready[share.piece].load(std::memory_order_acquire)) {
        if (failed) return false;
        std::this_thread::yield();
      }
      if (share.number != 0) return true;
      wait();
      ready[share.piece].store(true, std::memory_order_release);
      return true;
    }
  };

  // Whether that was the last step.
  template <class Crew>
  bool launch_ready(Crew &crew) {
    while (launched_ < missing_.size() && missing_[launched_] == 0) {
      crew.launch(launched_);
      ++launched_;
      fetch_ready(crew);
    }
    return launched_ == missing_.size();
  }

  template <class Crew>
  void fetch_ready(Crew &crew) {
    const std::lock_guard<std::mutex> lock(fetching_);
    while (next_fetch_ < down_.pieces.size() && down_.pieces[next_fetch_].step < launched_ && (next_fetch_ < slots_ || down_.moved[next_fetch_ - slots_])) {
      crew.fetch(next_fetch_);
      ++next_fetch_;
    }
  }

  Way up_, down_;
  size_t chores_, slots_;
  std::vector<std::atomic<size_t>> missing_;  // pieces of a step that have not been sent
  std::atomic<size_t> next_chore_{0}, launched_{0}, next_fetch_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_, fetching_;
  std::exception_ptr failure_;
};

}  // namespace tritri::cuda
