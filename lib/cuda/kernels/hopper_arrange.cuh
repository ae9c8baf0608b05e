// The pre-pass: an input that the tensor kernels cannot read where it lies (packed, lines not 16-byte aligned, the wrong majorness for
// its tensor core operand, to be rounded to TF32) is copied into workspace, masked, its unit diagonal written out.
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
  bool to_tf32;
  int64_t first_row;  // of the strip that is copied, where its lines run along rows
};

__device__ inline uint32_t stored(uint32_t word, bool to_tf32) {
  const bool finite = (word & 0x7fffffffu) < 0x7f800000u;
  return to_tf32 && finite ? (word + 0x1000u) & ~0x1fffu : word;
}
__device__ inline uint16_t stored(uint16_t word, bool) { return word; }

// No tile reads what a block there would write.
__device__ inline bool beyond_reach(Fill fill, int64_t row, int64_t col) {
  return (fill == Fill::lower && row / kArrangeReach < col / kArrangeReach) || (fill == Fill::upper && row / kArrangeReach > col / kArrangeReach);
}

// Grid of both kernels: blocks of columns, blocks of rows, batch. Both directions run along memory; a block turns in shared memory.
template <class Word>
__global__ void __launch_bounds__(kArrangeThreads) arrange(const Arrangement<Word> x) {
  __shared__ Word block[kArrangeEdge][kArrangeEdge + 4 / sizeof(Word)];
  const View &from = x.from;
  const int64_t row0 = x.first_row + int64_t{blockIdx.y} * kArrangeEdge, col0 = int64_t{blockIdx.x} * kArrangeEdge, batch = blockIdx.z;
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
      block[i][j] = from.unit && row0 + i == col0 + j ? x.one : stored(words[t], x.to_tf32);
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
    if (row < from.rows && col < from.cols) to[x.row_lines ? (row - x.first_row) * x.ld + col : col * x.ld + row] = block[i][j];
  }
}

// The same for float32 that lies as it should, in 16-byte aligned lines, and only is to be rounded: four elements at a time.
__global__ void __launch_bounds__(kArrangeThreads) round_lines(const Arrangement<uint32_t> x) {
  launch_dependents();
  const View &from = x.from;
  constexpr int vectors = kArrangeEdge / 4, step = kArrangeThreads / vectors, rounds = kArrangeEdge / step;
  const int64_t block_row = x.first_row + int64_t{blockIdx.y} * kArrangeEdge, block_col = int64_t{blockIdx.x} * kArrangeEdge;
  if (beyond_reach(from.fill, block_row, block_col)) return;
  const int64_t row0 = block_row + threadIdx.x / vectors, col = block_col + threadIdx.x % vectors * 4;
  const uint32_t *source = static_cast<const uint32_t *>(from.data) + blockIdx.z * from.batch_stride;
  uint32_t *to = x.to + blockIdx.z * x.batch_stride;
  uint32_t words[rounds][4];
#pragma unroll
  for (int y = 0; y < rounds; ++y) {
    const int64_t row = row0 + y * step;
    const uint32_t *vector = source + row * from.ld + col;
    if (row < from.rows && col + 4 <= from.cols && (exists(from.fill, row, col) || exists(from.fill, row, col + 3))) {
      const uint4 v = __ldg(reinterpret_cast<const uint4 *>(vector));
      words[y][0] = v.x, words[y][1] = v.y, words[y][2] = v.z, words[y][3] = v.w;
    } else {
#pragma unroll
      for (int z = 0; z < 4; ++z) words[y][z] = row < from.rows && col + z < from.cols && exists(from.fill, row, col + z) ? vector[z] : 0;
    }
  }
#pragma unroll
  for (int y = 0; y < rounds; ++y) {
    const int64_t row = row0 + y * step;
    if (row >= from.rows || col >= from.cols) continue;
#pragma unroll
    for (int z = 0; z < 4; ++z) {
      const uint32_t word = exists(from.fill, row, col + z) ? stored(words[y][z], true) : 0;
      words[y][z] = from.unit && row == col + z ? x.one : word;
    }
    *reinterpret_cast<uint4 *>(to + (row - x.first_row) * x.ld + col) = make_uint4(words[y][0], words[y][1], words[y][2], words[y][3]);
  }
}

}  // namespace tritri::cuda::hopper
