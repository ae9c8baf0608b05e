// The pre-pass: an input that the tensor kernels cannot read where it lies (packed, lines not 16-byte aligned, the wrong majorness for
// its tensor core operand) is copied into workspace, masked, its unit diagonal written out.
// Cost: the fill's bytes read and written once, about 15 us for a float32 triangle of n = 4096 on an H200.
#pragma once
#include "core/canonical.h"
#include "core/k_range.h"
#include "cuda/tile/hopper.cuh"

namespace tritri::cuda::hopper {

// Tiles of C and stages of k never reach beyond the blocks of this edge that meet the fill.
constexpr int64_t kArrangeReach = 256;
constexpr int kArrangeEdge = 64, kArrangeThreads = 256;

template <class Word>
struct Arrangement {
  View from;
  Word *to;
  int64_t ld, batch_stride;
  bool row_lines;
  Word one;
  int64_t first_row, first_col;  // of what is copied
};

// No tile reads what a block there would write.
__device__ inline bool beyond_reach(Fill fill, int64_t row, int64_t col) {
  return (fill == Fill::lower && row / kArrangeReach < col / kArrangeReach) || (fill == Fill::upper && row / kArrangeReach > col / kArrangeReach);
}

// Grid: blocks of columns, blocks of rows, batch. Both directions run along memory; a block turns in shared memory.
template <class Word>
__global__ void __launch_bounds__(kArrangeThreads) arrange(const Arrangement<Word> x) {
  __shared__ Word block[kArrangeEdge][kArrangeEdge + 4 / sizeof(Word)];
  const View &from = x.from;
  const int64_t row0 = x.first_row + int64_t{blockIdx.y} * kArrangeEdge, col0 = x.first_col + int64_t{blockIdx.x} * kArrangeEdge, batch = blockIdx.z;
  launch_dependents();
  if (beyond_reach(from.fill, row0, col0)) return;
  const Word *source = static_cast<const Word *>(from.data) + batch * from.batch_stride;
  constexpr int each = kArrangeEdge * kArrangeEdge / kArrangeThreads;
  const int along = threadIdx.x % kArrangeEdge, first = threadIdx.x / kArrangeEdge;
  // All of a thread's loads at once: one after the other, their latency would be most of the time.
  const auto read = [&](auto offset) {
    Word words[each];
#pragma unroll
    for (int t = 0; t < each; ++t) {
      const int across = first + t * (kArrangeThreads / kArrangeEdge);
      const int64_t row = row0 + (from.row_lines ? across : along), col = col0 + (from.row_lines ? along : across);
      const bool reads = row < from.rows && col < from.cols && exists(from.fill, row, col) && !(from.unit && row == col);
      words[t] = reads ? source[offset(row, col)] : Word(0);
    }
#pragma unroll
    for (int t = 0; t < each; ++t) {
      const int across = first + t * (kArrangeThreads / kArrangeEdge);
      const int i = from.row_lines ? across : along, j = from.row_lines ? along : across;
      block[i][j] = from.unit && row0 + i == col0 + j ? x.one : words[t];
    }
  };
  if (from.packed) read([&](int64_t row, int64_t col) { return from.offset(row, col); });
  else read([&](int64_t row, int64_t col) { return from.row_lines ? row * from.ld + col : col * from.ld + row; });
  __syncthreads();
  Word *to = x.to + batch * x.batch_stride;
#pragma unroll 4
  for (int t = 0; t < each; ++t) {
    const int across = first + t * (kArrangeThreads / kArrangeEdge);
    const int i = x.row_lines ? across : along, j = x.row_lines ? along : across;
    const int64_t row = row0 + i, col = col0 + j;
    if (row >= from.rows || col >= from.cols) continue;
    to[x.row_lines ? (row - x.first_row) * x.ld + col - x.first_col : (col - x.first_col) * x.ld + row - x.first_row] = block[i][j];
  }
}

}  // namespace tritri::cuda::hopper
