// The pre-pass for packed inputs whose lines stay lines: each is shifted to where tensor maps can read it, masked, its unit diagonal written out.
// Cost: the fill's bytes read and written once, near the speed of a copy; two inputs share a launch.
#pragma once
#include "cuda/kernels/hopper_arrange.cuh"

namespace tritri::cuda::hopper {

constexpr int kUnpackWarps = 8, kUnpackEach = 4;  // lines of a block, vectors of a thread: all of its loads are under way at once
constexpr int kUnpackBytes = 32 * 16 * kUnpackEach;  // of a line, for a warp

template <class Word>
struct Unpacking {
  Arrangement<Word> inputs[2];
  unsigned batches[2];  // matrices of each; 0: there is none
  unsigned parts;       // of the longest line
};

// Grid: parts of lines, one block of lines after another; matrices of both inputs. Assumes: packed, ld whole vectors, `to` on a 16-byte boundary.
template <class Word>
__global__ void __launch_bounds__(32 * kUnpackWarps) unpack(const __grid_constant__ Unpacking<Word> both) {
  constexpr int size = static_cast<int>(sizeof(Word)), vector = 16 / size;
  launch_dependents();
  const bool second = blockIdx.y >= both.batches[0];
  const Arrangement<Word> &x = both.inputs[second];
  const int64_t batch = blockIdx.y - (second ? both.batches[0] : 0);
  const Lines lines = x.from.lines();
  const int64_t first_line = x.row_lines ? x.first_row : 0, line = first_line + int64_t{blockIdx.x / both.parts} * kUnpackWarps + threadIdx.y;
  const int64_t begin = int64_t{blockIdx.x % both.parts} * (kUnpackBytes / size);
  const auto unread = [&](int64_t position) {  // no tile reads what would be written there
    return position >= lines.length || (lines.profile == Fill::lower && line / kArrangeReach < position / kArrangeReach) ||
           (lines.profile == Fill::upper && line / kArrangeReach > position / kArrangeReach);
  };
  if (line >= lines.count || (lines.profile != Fill::upper && unread(begin))) return;

  const Range held = lines.held(line);
  const Word *const matrix = static_cast<const Word *>(x.from.data) + batch * x.from.batch_stride;
  const Word *const source = matrix + lines.packed_start(line) + begin - held.begin;  // of element `begin`, should it exist
  Word *const target = x.to + batch * x.batch_stride + (line - first_line) * x.ld + begin;
  // Vectors are read on their own boundaries, two for one, and what they hold is shifted by as much for all of the line.
  const unsigned shift = static_cast<unsigned>(reinterpret_cast<uintptr_t>(source) % 16);
  const uint4 *const aligned = reinterpret_cast<const uint4 *>(reinterpret_cast<uintptr_t>(source) - shift);
  const uintptr_t from = reinterpret_cast<uintptr_t>(matrix), end = from + static_cast<uintptr_t>(lines.extent()) * size;

  uint4 low[kUnpackEach], high[kUnpackEach];
  bool whole[kUnpackEach];
#pragma unroll
  for (int u = 0; u < kUnpackEach; ++u) {
    const int index = static_cast<int>(threadIdx.x) + 32 * u;
    const int64_t position = begin + index * vector;
    const uintptr_t at = reinterpret_cast<uintptr_t>(aligned + index);
    whole[u] = position >= held.begin && position + vector <= held.end && at >= from && at + (shift ? 32 : 16) <= end &&
               !(x.from.unit && line >= position && line < position + vector);
    low[u] = high[u] = make_uint4(0, 0, 0, 0);
    if (whole[u]) low[u] = __ldg(aligned + index);
    if (whole[u] && shift) high[u] = __ldg(aligned + index + 1);
  }
#pragma unroll
  for (int u = 0; u < kUnpackEach; ++u) {
    const int index = static_cast<int>(threadIdx.x) + 32 * u;
    const int64_t position = begin + index * vector;
    if (unread(position)) continue;
    union {
      uint4 all;
      uint32_t words[4];
      Word elements[vector];
    } result;
    if (whole[u]) {
      uint32_t w[8] = {low[u].x, low[u].y, low[u].z, low[u].w, high[u].x, high[u].y, high[u].z, high[u].w};
      if (shift & 8) {
#pragma unroll
        for (int e = 0; e < 6; ++e) w[e] = w[e + 2];
      }
      if (shift & 4) {
#pragma unroll
        for (int e = 0; e < 5; ++e) w[e] = w[e + 1];
      }
#pragma unroll
      for (int e = 0; e < 4; ++e) result.words[e] = size == 2 && (shift & 2) ? __byte_perm(w[e], w[e + 1], 0x5432) : w[e];
    } else {
#pragma unroll
      for (int e = 0; e < vector; ++e) {
        const int64_t here = position + e;
        const bool one = x.from.unit && here == line && here < lines.length, there = !one && here >= held.begin && here < held.end;
        result.elements[e] = one ? x.one : there ? source[here - begin] : Word(0);
      }
    }
    *reinterpret_cast<uint4 *>(target + index * vector) = result.all;
  }
}

}  // namespace tritri::cuda::hopper
