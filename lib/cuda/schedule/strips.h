// C cut into strips of rows, each with the k and the columns that can matter to it: what one GEMM after another computes. No CUDA header.
#pragma once
#include "core/canonical.h"
#include "core/k_range.h"

namespace tritri::cuda {

struct Strips {
  Fill a = Fill::full, b = Fill::full;
  int64_t m = 0, n = 0, k = 0;
  int64_t rows = 1, count = 1;  // of a strip, but the last one takes what is left and may be up to `shortest` longer

  static constexpr int64_t shortest = 64;

  Strips() = default;
  Strips(const Problem &p, int64_t strip)
      : a(p.a.fill), b(p.b.fill), m(p.m), n(p.n), k(p.k), rows(strip), count(p.m <= strip ? 1 : (p.m - shortest - 1) / strip + 1) {}

  TRITRI_HD constexpr int64_t strip_of(int64_t row) const { return row / rows < count ? row / rows : count - 1; }
  TRITRI_HD constexpr Range rows_of(int64_t strip) const { return {strip * rows, strip + 1 < count ? (strip + 1) * rows : m}; }
  TRITRI_HD constexpr Range k_of(int64_t strip) const { return k_range(a, Fill::full, k, rows_of(strip), {0, n}); }
  // The columns in which the strip has anything but structural zeros; all of them if there is but one strip, so that it leaves nothing to others.
  TRITRI_HD constexpr Range cols_of(int64_t strip) const {
    if (count == 1) return {0, n};
    const Range own = k_of(strip);
    if (own.empty()) return {0, 0};
    return {b == Fill::upper && own.begin < n ? own.begin : b == Fill::upper ? n : 0, b == Fill::lower && own.end < n ? own.end : n};
  }
};

}  // namespace tritri::cuda
