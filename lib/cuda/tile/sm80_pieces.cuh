// Pieces of a sum that meet in workspace: every block leaves its own there, and the last one to come adds all of them, in order, whoever it is.
// So nobody waits, and the same product gives the same bits.
#pragma once
#include <cstdint>

#include "cuda/tile/sm80_panel.cuh"

namespace tritri::cuda {

// Arrivals are counted beside the launch's nonce, of which the last eight bits are free: whatever else workspace holds counts as none. The last
// one leaves "none" for a replayed graph.
__device__ __forceinline__ bool arrives_last(unsigned long long *counter, unsigned long long nonce, int pieces) {
  unsigned long long seen = *static_cast<volatile unsigned long long *>(counter), before;
  int count;
  do {
    before = seen;
    count = 1 + ((before & ~0xffull) == nonce ? static_cast<int>(before & 0xff) : 0);
    seen = atomicCAS(counter, before, count == pieces ? 0 : nonce | static_cast<unsigned long long>(count));
  } while (seen != before);
  return count == pieces;
}

// `own`: `count` vectors of the tile in shared memory, complete; `partials`: room for those of all pieces. For all threads; `is_last` is a word of
// shared memory. True where this block has the whole sum in `own` now.
template <int threads, int count, class T>
__device__ __forceinline__ bool gather_pieces(Vector<T> *own, Vector<T> *partials, unsigned long long *counter, unsigned long long nonce, int piece, int pieces, int *is_last) {
#pragma unroll 4
  for (int index = threadIdx.x; index < count; index += threads) partials[static_cast<int64_t>(piece) * count + index] = own[index];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    *is_last = arrives_last(counter, nonce, pieces);
    __threadfence();
  }
  __syncthreads();
  if (!*is_last) return false;
  constexpr int together = 8;  // loads under way: each waits for the L2 cache
#pragma unroll 1
  for (int first = threadIdx.x; first < count; first += threads * together) {
    Vector<T> sums[together]{};
#pragma unroll 1
    for (int other = 0; other < pieces; ++other) {
      const Vector<T> *const from = other == piece ? own : partials + static_cast<int64_t>(other) * count;
      Vector<T> read[together]{};
#pragma unroll
      for (int i = 0; i < together; ++i)
        if (first + i * threads < count) read[i] = from[first + i * threads];
#pragma unroll
      for (int i = 0; i < together; ++i)
#pragma unroll
        for (int e = 0; e < vector_elements<T>; ++e) sums[i].value[e] = other == 0 ? read[i].value[e] : plus(sums[i].value[e], read[i].value[e]);
    }
#pragma unroll
    for (int i = 0; i < together; ++i)
      if (first + i * threads < count) own[first + i * threads] = sums[i];
  }
  __syncthreads();
  return true;
}

}  // namespace tritri::cuda
