// What the next product of a batch reads is asked for during this one, evenly: hardware does not foresee rows that a diagonal cuts short, and a whole matrix at once would find no
// room in the queues of memory. All of both matrices, since fetching just what the fills hold was slower, and no further than the second-level cache: into the first one, n = 64 took
// 1.4 times as long.
#pragma once
#include "core/canonical.h"

namespace tritri::cpu {

class Ahead {
 public:
  Ahead(const Problem &p, int64_t bytes, int64_t pieces) : a_{nullptr, cache_lines(p.a, bytes, pieces)}, b_{nullptr, cache_lines(p.b, bytes, pieces)} {}

  void start(const void *a, const void *b) {
    a_.at = static_cast<const char *>(a);
    b_.at = static_cast<const char *>(b);
  }

  // The next piece. Inlined: GCC takes a function that does no more than this for one without effect, and leaves out its calls.
  [[gnu::always_inline]] void piece() {
    a_.piece();
    b_.piece();
  }

 private:
  struct Part {
    const char *at;
    int64_t lines;  // of the cache, for a piece
    [[gnu::always_inline]] void piece() {
      const char *const from = at;
      for (int64_t i = 0; i < lines; ++i) __builtin_prefetch(from + 64 * i, 0, 2);
      at = from + 64 * lines;
    }
  };
  // For a piece; none where lines lie far apart, or where all products read the same matrix.
  static int64_t cache_lines(const View &view, int64_t bytes, int64_t pieces) {
    const Lines lines = view.lines();
    const bool near = view.packed || lines.ld <= 2 * lines.length;
    return near && view.batch_stride != 0 ? (lines.extent() * bytes / 64 + pieces) / pieces : 0;
  }

  Part a_, b_;
};

}  // namespace tritri::cpu
