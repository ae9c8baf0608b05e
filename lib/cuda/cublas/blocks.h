// The GEMMs that a blocked product consists of: what the plan counts is what the run enqueues.
#pragma once
#include <algorithm>

#include "core/canonical.h"
#include "core/k_range.h"
#include "cuda/cublas/route.h"

namespace tritri::cuda {

inline Dtype accumulator(Dtype dtype) { return dtype == Dtype::f16 || dtype == Dtype::bf16 ? Dtype::f32 : dtype; }

// cuBLAS 13.1 crashes in products where a dimension is 1 (1 x 1 x 1 in complex64, for one): those never reach it.
inline bool is_thin(int64_t m, int64_t n, int64_t k) { return m < 2 || n < 2 || k < 2; }

// Explicit zeros are multiplied: NaN may come out beside an Inf, where nothing should be multiplied at all.
inline bool has_structure(const Problem &p) { return p.a.fill != Fill::full || p.b.fill != Fill::full; }

struct Block { Range rows, cols; };

// What panel `k` contributes to within a strip of C's rows.
inline Block touched(const Problem &p, Range strip, Range k) {
  Block t{strip, {0, p.n}};
  if (p.a.fill == Fill::lower) t.rows.begin = std::max(strip.begin, k.begin);
  if (p.a.fill == Fill::upper) t.rows.end = std::min(strip.end, k.end);
  if (p.b.fill == Fill::lower) t.cols.end = std::min(t.cols.end, k.end);
  if (p.b.fill == Fill::upper) t.cols.begin = std::max(t.cols.begin, k.begin);
  if (p.c.fill == Fill::lower) t.cols.end = std::min(t.cols.end, t.rows.end);
  if (p.c.fill == Fill::upper) t.cols.begin = std::max(t.cols.begin, t.rows.begin);
  return t;
}

// Calls gemm(panel, block) for every GEMM of one group, strip by strip, and strip_end(strip) after each.
template <class Gemm, class StripEnd>
void each_gemm(const Problem &p, const CublasPlan &plan, Gemm &&gemm, StripEnd &&strip_end) {
  for (int64_t i = 0; i < p.m; i += plan.strip) {
    const Range strip{i, std::min(i + plan.strip, p.m)};
    for (int64_t k = 0; k < p.k; k += plan.panel) {
      const Range panel{k, std::min(k + plan.panel, p.k)};
      const Block block = touched(p, strip, panel);
      if (!block.rows.empty() && !block.cols.empty()) gemm(panel, block);
    }
    strip_end(strip);
  }
}

}  // namespace tritri::cuda
