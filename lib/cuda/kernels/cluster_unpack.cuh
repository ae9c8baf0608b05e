// The pre-pass of `cluster` for inputs whose lines do not begin on 16 bytes, packed ones above all: it moves lines to where the copy engine can read them and does nothing else.
// The product masks for itself, so what lies beside a line may come along as far as blocks reach. Cost: the fill's bytes read and written once, in the L2 cache where there is room.
#pragma once
#include "core/canonical.h"
#include "cuda/tile/hopper.cuh"

namespace tritri::cuda {

inline constexpr int cluster_unpack_warps = 8, cluster_unpack_each = 4;  // lines of a block; vectors of 16 bytes of a thread, all of them under way at once
inline constexpr unsigned cluster_unpack_early = 128;  // blocks
inline constexpr int64_t cluster_fetched_bytes = int64_t{16} << 20;
inline constexpr int cluster_unpack_bytes = 32 * 16 * cluster_unpack_each;  // of a line, for a warp

struct ClusterCopy {
  Lines lines;
  const char *from;
  char *to;
  int64_t batch_stride, to_ld, to_batch_stride;  // elements
  unsigned batches;                              // matrices; 0: there is nothing to copy
};

struct ClusterCopies {
  ClusterCopy inputs[2];
  unsigned parts;  // of the longest line
};

// While the kernel before still runs few blocks of this one find room: those fetch all that there is to the L2 cache, where it is one matrix and leaves room for others.
template <int Element>
__device__ __forceinline__ void fetch_ahead(const ClusterCopies &both) {
  const unsigned block = blockIdx.y * gridDim.x + blockIdx.x, blocks = min(gridDim.x * gridDim.y, cluster_unpack_early);
  if (block >= blocks || threadIdx.y >= 2) return;
  const ClusterCopy &x = both.inputs[threadIdx.y];
  if (x.batches != 1) return;
  if (x.lines.extent() * Element > cluster_fetched_bytes) return;
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(x.from) + 15) / 16 * 16, end = reinterpret_cast<uintptr_t>(x.from + x.lines.extent() * Element) / 16 * 16;
  const uintptr_t each = (end - begin) / (16 * 32 * blocks) * 16 + 16, from = begin + (block * 32 + threadIdx.x) * each;
  if (from < end) hopper::prefetch_bytes(reinterpret_cast<const void *>(from), static_cast<uint32_t>(min(each, end - from)));
}

// Grid: parts of lines, one group of lines after another; matrices of both inputs. Assumes: to_ld whole vectors, `to` on a 16-byte boundary, lines of fewer than 2^30 elements.
template <int Element>
__global__ void __launch_bounds__(32 * cluster_unpack_warps) cluster_unpack(const __grid_constant__ ClusterCopies both) {
#if __CUDA_ARCH__ >= 900
  using namespace hopper;
  using Word = std::conditional_t<Element == 4, uint32_t, uint16_t>;
  constexpr int vector = 16 / Element, block = 64 / vector;  // block: vectors of what a block of the product reaches along a line
  launch_dependents();
  fetch_ahead<Element>(both);
  const bool second = blockIdx.y >= both.inputs[0].batches;
  const ClusterCopy &x = both.inputs[second];
  const int64_t batch = blockIdx.y - (second ? both.inputs[0].batches : 0);
  const int line = static_cast<int>(blockIdx.x / both.parts * cluster_unpack_warps + threadIdx.y), length = static_cast<int>(x.lines.length);
  if (line >= x.lines.count) return;
  const Range held = x.lines.held(line);
  const int begin = x.lines.profile == Fill::upper ? line / 64 * block : 0;
  const int end = min(x.lines.profile == Fill::lower ? (line / 64 + 1) * block : INT_MAX, (length + vector - 1) / vector);
  const int part = static_cast<int>(blockIdx.x % both.parts) * 32 * cluster_unpack_each, first = max(begin, part), behind = min(end, part + 32 * cluster_unpack_each);
  if (first >= behind) return;

  // Vectors are read on their own boundaries, two for one, and what they hold is shifted by as much for all of the line.
  const char *const matrix = x.from + batch * x.batch_stride * Element, *const matrix_end = matrix + x.lines.extent() * Element;
  const char *const source = matrix + x.lines.offset(line, 0) * Element;  // of position 0, should it exist
  const unsigned shift = static_cast<unsigned>(reinterpret_cast<uintptr_t>(source) % 16);
  const char *const aligned = source - shift;
  const int next = shift ? 16 : 0;
  wait_for_primary();  // whose inputs these may be, and whose copies stand where these will

  uint4 *const target = reinterpret_cast<uint4 *>(x.to + (batch * x.to_batch_stride + line * x.to_ld) * Element);
  float4 low[cluster_unpack_each], high[cluster_unpack_each];
  const auto inside = [&](int v) { return aligned + 16 * int64_t{v} >= matrix && aligned + 16 * int64_t{v} + next + 16 <= matrix_end; };
#pragma unroll
  for (int u = 0; u < cluster_unpack_each; ++u) {
    const int v = part + static_cast<int>(threadIdx.x) + 32 * u;
    low[u] = high[u] = make_float4(0, 0, 0, 0);
    if (v < first || v >= behind || !inside(v)) continue;
    low[u] = *reinterpret_cast<const float4 *>(aligned + 16 * int64_t{v});
    high[u] = *reinterpret_cast<const float4 *>(aligned + 16 * int64_t{v} + next);
  }
#pragma unroll
  for (int u = 0; u < cluster_unpack_each; ++u) {
    const int v = part + static_cast<int>(threadIdx.x) + 32 * u;
    if (v < first || v >= behind) continue;
    union {
      float4 all;
      Word elements[vector];
    } result;
    result.all = shifted(low[u], high[u], shift);
    if (!inside(v)) {  // at the ends of the matrix
#pragma unroll
      for (int e = 0; e < vector; ++e) {
        const int position = v * vector + e;
        if (position >= held.begin && position < held.end) result.elements[e] = reinterpret_cast<const Word *>(source)[position];
      }
    }
    target[v] = *reinterpret_cast<uint4 *>(&result.all);
  }
#endif
}

}  // namespace tritri::cuda
