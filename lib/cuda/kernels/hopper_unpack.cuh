// The pre-pass for packed inputs whose lines stay lines: each is shifted to where tensor maps can read it, masked, its unit diagonal written out.
// Cost: the fill's bytes read and written once, near the speed of a copy; two inputs share a launch.
#pragma once
#include "cuda/kernels/hopper_arrange.cuh"

namespace tritri::cuda::hopper {

constexpr int kUnpackWarps = 8, kUnpackEach = 4;  // lines of a block, vectors of a thread at a time: all of its loads are under way at once
constexpr int kUnpackRounds = 2, kUnpackVectors = 32 * kUnpackEach * kUnpackRounds;  // of a line, for a warp
constexpr int kUnpackBytes = 16 * kUnpackVectors;

template <class Word>
struct Unpacking {
  Arrangement<Word> inputs[2];
  Range lines[2], positions[2];  // of each, to unpack
  unsigned batches[2];           // matrices of each; 0: there is none
  unsigned parts;                // of the longest line
};

// Vectors of a line, as counted from where position 0 is or would be.
struct Vectors {
  int begin, end;
  __device__ bool hold(int v) const { return v >= begin && v < end; }
};

// Grid: parts of lines, one block of lines after another; matrices of both inputs. Assumes: packed, so not full; ld and first positions whole vectors, `to` on a 16-byte boundary, lines of fewer than 2^30 elements.
// What is the same for all of a line is found first: the loops are short of nothing but time to issue instructions.
template <class Word>
__global__ void __launch_bounds__(32 * kUnpackWarps) unpack(const __grid_constant__ Unpacking<Word> both) {
  constexpr int size = static_cast<int>(sizeof(Word)), vector = 16 / size, reach = static_cast<int>(kArrangeReach);
  static_assert(reach % vector == 0, "blocks that tiles reach are whole vectors");
  launch_dependents();
  const bool second = blockIdx.y >= both.batches[0];
  const Arrangement<Word> &x = both.inputs[second];
  const int64_t batch = blockIdx.y - (second ? both.batches[0] : 0);
  const Lines lines = x.from.lines();
  const Range wanted = both.positions[second];
  const int first_line = static_cast<int>(both.lines[second].begin), line = first_line + static_cast<int>(blockIdx.x / both.parts * kUnpackWarps + threadIdx.y);
  const int length = static_cast<int>(lines.length), begin = static_cast<int>(wanted.begin) / vector + static_cast<int>(blockIdx.x % both.parts) * kUnpackVectors;
  const bool lower = lines.profile == Fill::lower, upper = lines.profile == Fill::upper;
  if (line >= both.lines[second].end) return wait_for_primary();  // in any case: whatever comes next takes this kernel's end for that of all before it
  // No tile reads what would be written elsewhere.
  const int vectors = (static_cast<int>(wanted.end) + vector - 1) / vector;
  const Vectors read = {max(static_cast<int>(wanted.begin) / vector, upper ? line / reach * (reach / vector) : 0), lower ? min((line / reach + 1) * (reach / vector), vectors) : vectors};
  if (begin >= read.end || begin + kUnpackVectors <= read.begin) return wait_for_primary();

  const int held_begin = upper ? min(line, length) : 0, held_end = lower ? min(line + 1, length) : length;
  const bool unit = x.from.unit && line < length;
  const Word *const matrix = static_cast<const Word *>(x.from.data) + batch * x.from.batch_stride;
  const Word *const source = matrix + lines.packed_start(line) - held_begin;  // of position 0, should it exist
  float4 *const target = reinterpret_cast<float4 *>(x.to + batch * x.batch_stride + (line - first_line) * x.ld - wanted.begin);
  // Vectors are read on their own boundaries, two for one, and what they hold is shifted by as much for all of the line.
  const unsigned shift = static_cast<unsigned>(reinterpret_cast<uintptr_t>(source) % 16);
  const char *const aligned = reinterpret_cast<const char *>(source) - shift, *const from = reinterpret_cast<const char *>(matrix), *const end = from + lines.extent() * size;
  const int next = shift ? 1 : 0;
  const auto inside = [&](Vectors v) {  // the matrix
    if (aligned + 16 * int64_t{v.begin} < from) ++v.begin;
    const int64_t past = aligned + 16 * int64_t{v.end + next} - end;
    if (past > 0) v.end -= static_cast<int>(past + 15) / 16;
    return v;
  };
  const Vectors held = {held_begin / vector, (held_end + vector - 1) / vector}, loaded = inside(held);
  const Vectors whole = {max(loaded.begin, upper ? (held_begin + unit + vector - 1) / vector : 0), min(loaded.end, lower ? (held_end - unit) / vector : held_end / vector)};

  wait_for_primary();  // whose inputs these may be, and whose copies stand where these will
#pragma unroll 1
  for (int v0 = begin + static_cast<int>(threadIdx.x); v0 < min(read.end, begin + kUnpackVectors); v0 += 32 * kUnpackEach) {
    float4 low[kUnpackEach], high[kUnpackEach];
#pragma unroll
    for (int u = 0; u < kUnpackEach; ++u) {
      const int v = v0 + 32 * u;
      low[u] = high[u] = make_float4(0, 0, 0, 0);
      if (!loaded.hold(v)) continue;
      low[u] = __ldg(reinterpret_cast<const float4 *>(aligned) + v);
      high[u] = __ldg(reinterpret_cast<const float4 *>(aligned) + v + next);
    }
#pragma unroll
    for (int u = 0; u < kUnpackEach; ++u) {
      const int v = v0 + 32 * u;
      union {
        float4 all;
        Word elements[vector];
      } result;
      result.all = shifted(low[u], high[u], shift);
      if (held.hold(v) && !whole.hold(v)) {
#pragma unroll
        for (int e = 0; e < vector; ++e) {
          const int position = v * vector + e;
          const bool there = position >= held_begin && position < held_end;
          if (there && !loaded.hold(v)) result.elements[e] = source[position];
          if (unit && position == line) result.elements[e] = x.one;
          else if (!there) result.elements[e] = Word(0);
        }
      }
      if (read.hold(v)) target[v] = result.all;
    }
  }
}

}  // namespace tritri::cuda::hopper
