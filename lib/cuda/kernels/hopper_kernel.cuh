// The Hopper skeleton: persistent blocks of three warpgroups. Warp 0 feeds a ring of stages by bulk tensor copies, the next ones rework
// stages in shared memory (masks, low parts) where the traits ask for it, warp 3 stores zeros if it has nothing else to do, two warpgroups
// multiply. Work comes from a static list; sums cut into pieces meet in workspace in fixed order. What differs between number formats is one
// traits struct (hopper_traits.cuh):
//   Element, cluster, group_m, group_n, tile_m, tile_n, stage_k, stages, low_stages, accumulators, register budgets, a_bytes, b_bytes,
//   output_bytes, a_box_rows and b_box_cols (what one copy brings), helpers (threads of warps 1, 2, ... that rework), to_tf32 (whether
//   copies of inputs round)
//   part()     where in the tile a warpgroup's part begins; it is group_m x group_n
//   feed()     starts the copies of one stage            rework()   the helper warps' share of one tile
//   Lying      the traits for inputs whose lines run along rows or not, as far as that is a matter of the instructions
//   scale      what sums come multiplied by
//   sum()      a warpgroup's sums of one tile            place()    which element of the tile an accumulator is
//   store()    a warpgroup's part of C                    exact()    a stored input as float
//   rows_together  whether a warpgroup's warps store lines that are not aligned together
#pragma once
#include <climits>

#include "cuda/schedule/hopper_schedule.h"
#include "cuda/tile/hopper.cuh"

namespace tritri::cuda::hopper {

constexpr int kThreads = 384;
constexpr int kMostWorkers = 160, kNearItems = 576;
constexpr int kZeroBytes = 4096;  // of a box of zeros
constexpr int kHelperBarrier = 1, kConsumerBarrier = 2;  // named barriers; each consumer warpgroup has its own of the latter
constexpr int kZeroPause = 200;  // ns between boxes, so that they leave the memory to the inputs

// One input as masks and the exact path see it.
struct Side {
  const void *data;
  int64_t ld, batch_stride;
  bool row_lines;
  Fill fill;   // what bounds k
  Fill mask;   // what must still be masked: FULL where the copy in workspace already is
  bool unit;
  int64_t first_row, first_col;  // of op(X) that `data` holds: a strip of A's rows and of B's columns may be all that was copied
};

struct Arguments {
  CUtensorMap a_map, b_map, c_map;
  Tiling tiling;
  Side a, b;
  void *c;
  int64_t ldc, c_batch_stride;
  LineStarts c_rows;  // the same as ldc where C is not packed
  float alpha, beta;
  bool whole_lines;  // C's lines and matrices are 16-byte aligned, and there from end to end
  bool zero_boxes;   // tiles that are only zeros are stored by the copy engine
  float4 *partials;
  uint64_t *flags, nonce;
  const Item *far_items;  // lists too long for `items`
  uint32_t first[kMostWorkers + 1];
  Item items[kNearItems];

  __device__ const Item *list() const { return far_items ? far_items : items; }
};
static_assert(sizeof(Arguments) <= 16384, "kernel parameters: 32764 bytes at most, and every launch copies them");

// The k at which a block of rows needs masks.
struct Span {
  int begin, end;
  __device__ bool meets(int k, int size) const { return k < end && k + size > begin; }
};

// Rows [lo, hi) of an operand with this fill; columns are k. B comes as its transpose, with the fill flipped.
__device__ inline Span mask_span(Fill fill, bool unit, int lo, int hi) {
  if (fill == Fill::lower) return {lo, INT_MAX};
  if (fill == Fill::upper) return {INT_MIN, hi};
  return unit ? Span{lo, hi} : Span{INT_MAX, INT_MIN};
}
// Stages [first, last) of a piece in which rows [lo, hi) hold anything.
__device__ inline Span useful_stages(Fill fill, int lo, int hi, int k0, int stages, int stage_k) {
  int first = 0, last = stages;
  if (fill == Fill::lower) last = min(stages, max(0, (hi - k0 + stage_k - 1) / stage_k));
  if (fill == Fill::upper) first = min(stages, max(0, (lo - k0) / stage_k));
  return {first, max(first, last)};
}
// What one worker has to do for one item.
struct Work {
  int m0, n0;      // first row and column of the tile
  int k0, stages;  // first k and number of stages of this piece
  int batch;
  Span a_mask, b_mask;  // of the whole tile, so that all blocks of a cluster agree
  int piece, pieces, slot;
};

// The tiling with its sizes as constants, so that divisions become shifts.
template <class T>
__device__ Tiling tiling_of(const Arguments &args) {
  Tiling t = args.tiling;
  t.tile_m = T::tile_m;
  t.tile_n = T::tile_n;
  t.stage_k = T::stage_k;
  return t;
}

template <class T>
__device__ Work work_of(const Arguments &args, const Item &item) {
  const Tiling t = tiling_of<T>(args);
  const uint32_t cols = static_cast<uint32_t>(t.tiles_n()), rows = static_cast<uint32_t>(t.tiles_m());
  const int j = static_cast<int>(item.tile % cols), i = static_cast<int>(item.tile / cols % rows);
  const Range range = t.stages(i, j), part = item.part(range.size());
  Work w;
  w.m0 = i * T::tile_m;
  w.n0 = j * T::tile_n;
  w.k0 = static_cast<int>(range.begin + part.begin) * T::stage_k;
  w.stages = static_cast<int>(part.size());
  w.batch = static_cast<int>(item.tile / cols / rows);
  w.a_mask = mask_span(args.a.mask, args.a.unit, i * T::tile_m, (i + 1) * T::tile_m);
  w.b_mask = mask_span(flipped(args.b.mask), args.b.unit, j * T::tile_n, (j + 1) * T::tile_n);
  w.piece = item.piece;
  w.pieces = item.pieces;
  w.slot = item.slot;
  return w;
}

// Shared memory: stages | low parts | room for output | zeros | barriers.
template <class T>
struct Pipe {
  uint32_t base;
  static constexpr int stage_bytes = T::a_bytes + T::b_bytes;
  static constexpr int low = T::stages * stage_bytes, output = low + T::low_stages * T::a_bytes, zeros = output + T::output_bytes,
                       barriers = zeros + kZeroBytes, bytes = barriers + 8 * (3 * T::stages + 2 * T::low_stages + 2);
  static_assert(bytes <= 232448, "one block may opt in to 227 KB");
  __device__ uint32_t a(int s) const { return base + s * stage_bytes; }
  __device__ uint32_t b(int s) const { return base + s * stage_bytes + T::a_bytes; }
  __device__ uint32_t a_low(int s) const { return base + low + s * T::a_bytes; }
  __device__ uint32_t full(int s) const { return base + barriers + 8 * s; }                      // may be multiplied
  __device__ uint32_t raw(int s) const { return base + barriers + 8 * (T::stages + s); }         // to be masked first
  __device__ uint32_t empty(int s) const { return base + barriers + 8 * (2 * T::stages + s); }
  __device__ uint32_t low_full(int s) const { return base + barriers + 8 * (3 * T::stages + s); }
  __device__ uint32_t low_empty(int s) const { return base + barriers + 8 * (3 * T::stages + T::low_stages + s); }
  __device__ uint32_t turn(int group) const { return base + barriers + 8 * (3 * T::stages + 2 * T::low_stages + group); }

  __device__ void init() const {
    for (int group = 0; group < 2; ++group) barrier_init(turn(group), 4);  // the other warpgroup's warps
    for (int s = 0; s < T::stages; ++s) {
      barrier_init(full(s), 1);
      barrier_init(raw(s), 1);
      barrier_init(empty(s), 8 * T::cluster);  // every consumer warp of the cluster
    }
    for (int s = 0; s < T::low_stages; ++s) {
      barrier_init(low_full(s), T::helpers / 32);
      barrier_init(low_empty(s), 8);
    }
    publish_barriers();
  }
  // A consumer warp has read the stage.
  __device__ void release(int s, int lane) const {
    __syncwarp();
    if (lane < T::cluster) {
      if constexpr (T::cluster > 1) barrier_arrive_in(empty(s), lane);
      else barrier_arrive(empty(s));
    }
  }
  __device__ void release_low(int s, int lane) const {
    if (lane == 0) barrier_arrive(low_empty(s));
  }
};

// A consumer's place: t is the thread in its warpgroup; group, warp and where the warpgroup's part of a tile begins are warp-uniform for
// the compiler too.
struct Place {
  int t, lane, group, warp, row, column;
};

template <class T>
struct Position {
  Ring<T::stages> stage;
  Ring<T::low_stages == 0 ? 1 : T::low_stages> low;
  uint32_t raw_phases = 0;  // a bit per stage: only some stages come raw
  uint32_t turn_phase = 0;
};

// Tiles that are only zeros, dealt out to all blocks in parts; one box a call, so that the stores hide under the sums of other tiles.
template <class T>
struct ZeroBoxes {
  static constexpr uint32_t elements = kZeroBytes / sizeof(typename T::Element);
  static constexpr uint32_t box_cols = T::tile_n < elements / 8 ? T::tile_n : elements / 8, box_rows = elements / box_cols, across = T::tile_n / box_cols;
  static constexpr uint32_t boxes = across * (T::tile_m / box_rows), boxes_a_part = 4, parts = boxes / boxes_a_part;
  static_assert(T::tile_n % box_cols == 0 && T::tile_m % box_rows == 0 && boxes % boxes_a_part == 0, "boxes tile a tile, parts too");
  uint32_t next = blockIdx.x, box = 0, i = 0, j = 0, batch = 0;  // the next part to look at, the next box of the present one, its tile

  __device__ bool store_one(const Arguments &args, uint32_t zeros) {
    if (!args.zero_boxes) return false;
    if (box % boxes_a_part == 0 && !find(args)) return false;
    copy_out(&args.c_map, zeros, static_cast<int>(j * T::tile_n + box % across * box_cols), static_cast<int>(i * T::tile_m + box / across * box_rows),
             static_cast<int>(batch));
    copy_out_commit();
    ++box;
    return true;
  }

 private:
  // Parts in the order of a large prime's multiples: in their own, some blocks would meet zeros alone and others none.
  __device__ bool find(const Arguments &args) {
    constexpr uint32_t prime = 104729;
    const Tiling t = tiling_of<T>(args);
    const uint32_t rows = static_cast<uint32_t>(t.tiles_m()), cols = static_cast<uint32_t>(t.tiles_n());
    const uint32_t all = rows * cols * static_cast<uint32_t>(t.batch) * parts;
    for (; next < all; next += gridDim.x) {
      const uint32_t part = all % prime == 0 ? next : static_cast<uint32_t>(uint64_t{next} * prime % all), tile = part / parts;
      i = tile / cols % rows;
      j = tile % cols;
      if (!t.only_zeros(i, j)) continue;
      batch = tile / cols / rows;
      box = part % parts * boxes_a_part;
      next += gridDim.x;
      return true;
    }
    return false;
  }
};

template <class T>
__device__ float input(const Side &x, int batch, int64_t i, int64_t j) {
  if (x.unit && i == j) return 1.0f;
  const auto *data = static_cast<const typename T::Element *>(x.data) + batch * x.batch_stride;
  const int64_t row = i - x.first_row, col = j - x.first_col;
  return T::exact(data[x.row_lines ? row * x.ld + col : col * x.ld + row]);
}

// One element the way the definition says, each product over the k that exist. For what tensor cores get wrong: a masked zero times Inf,
// and values that the split into TF32 parts cannot hold. Speed does not matter here.
template <class T>
__device__ __forceinline__ float exact_sum(const Arguments &args, int batch, int64_t i, int64_t j) {
  const Range r = k_range(args.a.fill, args.b.fill, args.tiling.k, {i, i + 1}, {j, j + 1});
  float sum = 0;
  for (int64_t k = r.begin; k < r.end; ++k) sum = fmaf(input<T>(args.a, batch, i, k), input<T>(args.b, batch, k, j), sum);
  return sum;
}

// Adds the earlier pieces of the sum, in order, to the last one; the flags go back to "nothing here" for a replayed graph.
template <class T>
__device__ void gather(const Arguments &args, const Work &w, const Place &p, int rank, float (&sums)[T::accumulators]) {
  constexpr int parts = 2 * T::cluster;
  const auto region = [&](int piece) { return (static_cast<int64_t>(w.slot) + piece) * parts + rank * 2 + p.group; };
  if (w.piece + 1 < w.pieces) {
    float4 *to = args.partials + region(w.piece) * (T::accumulators / 4) * 128 + p.t;
#pragma unroll
    for (int x = 0; x < T::accumulators; x += 4) __stcg(to + x / 4 * 128, make_float4(sums[x], sums[x + 1], sums[x + 2], sums[x + 3]));
    named_barrier(kConsumerBarrier + p.group, 128);  // what it orders, the flag's release orders for others
    if (p.t == 0) flag_set(args.flags + region(w.piece), args.nonce);
    return;
  }
  for (int piece = 0; piece + 1 < w.pieces; ++piece) {
    uint64_t *flag = args.flags + region(piece);
    if (p.t == 0) {
      while (flag_get(flag) != args.nonce) __nanosleep(64);
      *flag = 0;
    }
    named_barrier(kConsumerBarrier + p.group, 128);
    const float4 *from = args.partials + region(piece) * (T::accumulators / 4) * 128 + p.t;
#pragma unroll
    for (int x = 0; x < T::accumulators; x += 4) {
      const float4 v = __ldcg(from + x / 4 * 128);
      sums[x] += v.x;
      sums[x + 1] += v.y;
      sums[x + 2] += v.z;
      sums[x + 3] += v.w;
    }
  }
}

struct Bounds {
  int begin, end;
  __device__ bool hold(int x) const { return x >= begin && x < end; }
};
// Columns of C that exist in row i, rows that exist in column j.
__device__ inline Bounds columns_held(const Tiling &t, int i) {
  const int n = static_cast<int>(t.n);
  if (i >= t.m) return {0, 0};
  return {t.c == Fill::upper ? i : 0, t.c == Fill::lower ? min(i + 1, n) : n};
}
__device__ inline Bounds rows_held(const Tiling &t, int j) {
  const int m = static_cast<int>(t.m);
  if (j >= t.n) return {0, 0};
  return {t.c == Fill::lower ? j : 0, t.c == Fill::upper ? min(j + 1, m) : m};
}
// Whether C holds anything of a block of the product, and whether all of it.
__device__ inline bool stored_partly(const Tiling &t, int i, int rows, int j, int columns) {
  return i < t.m && j < t.n && (t.c == Fill::full || (t.c == Fill::lower ? i + rows > j : i < j + columns));
}
__device__ inline bool held_whole(const Tiling &t, int i, int rows, int j, int columns) {
  return i + rows <= t.m && j + columns <= t.n && block_is_whole(t.c, false, {i, i + rows}, {j, j + columns});
}

// Columns of row i, rows of column j, where the product is not structurally zero.
__device__ inline Bounds columns_with_k(const Tiling &t, int i) {
  const int k = static_cast<int>(t.k);
  if (t.a == Fill::upper && i >= k) return {0, 0};
  return {t.a == Fill::upper && t.b == Fill::upper ? i : 0, t.b != Fill::lower ? INT_MAX : t.a == Fill::lower ? min(i + 1, k) : k};
}
__device__ inline Bounds rows_with_k(const Tiling &t, int j) {
  const int k = static_cast<int>(t.k);
  if (t.b == Fill::lower && j >= k) return {0, 0};
  return {t.a == Fill::lower && t.b == Fill::lower ? j : 0, t.a != Fill::upper ? INT_MAX : t.b == Fill::upper ? min(j + 1, k) : k};
}

// An element at a time, for sums that are not finite.
template <class T>
__device__ __forceinline__ void store_carefully(const Arguments &args, const Work &w, const Place &p, const float (&sums)[T::accumulators]) {
  for (int x = 0; x < T::accumulators; ++x) {
    const int2 at = T::place(args, p, x);
    const int i = w.m0 + at.x, j = w.n0 + at.y;
    if (!columns_held(args.tiling, i).hold(j)) continue;
    const bool empty = !columns_with_k(args.tiling, i).hold(j);
    float v = empty ? 0.0f : sums[x];
    if (!isfinite(v)) v = exact_sum<T>(args, w.batch, i, j);
    if (!empty) v *= args.alpha;
    auto *c = static_cast<typename T::Element *>(args.c) + w.batch * args.c_batch_stride + args.c_rows.at(i) + j;
    if (args.beta != 0.0f) v = fmaf(args.beta, T::widen(*c), v);
    *c = T::narrow(v);
  }
}

// Into the L2 cache while the sums are made: a warpgroup's part of a C that is added to.
template <class T>
__device__ __forceinline__ void prefetch(const Arguments &args, const Work &w, const Place &p) {
  constexpr int length = 128 / sizeof(typename T::Element), across = T::group_n / length;
  const auto *const c = static_cast<const typename T::Element *>(args.c) + w.batch * args.c_batch_stride;
  for (int x = p.t; x < T::group_m * across; x += 128) {
    const int i = w.m0 + p.row + x / across, j = w.n0 + p.column + x % across * length;
    if (columns_held(args.tiling, i).hold(j)) prefetch_l2(c + args.c_rows.at(i) + j);
  }
}

// In local memory, for a loop that is not unrolled. A type of its own: the compiler would lay an array over others of its size and put
// those in local memory too.
template <int N>
struct Kept {
  float sums[N];
};

template <class T>
__device__ void finish(const Arguments &args, const Pipe<T> &pipe, const Work &w, const Place &p, float (&sums)[T::accumulators]) {
  const Tiling &t = args.tiling;
  float witness[4] = {0, 0, 0, 0};  // NaN once a sum was not finite
#pragma unroll
  for (int x = 0; x < T::accumulators; ++x) {
    if (T::scale != 1.0f) sums[x] *= 1 / T::scale;
    witness[x % 4] = fmaf(sums[x], 0.0f, witness[x % 4]);
  }
  const bool finite = (witness[0] + witness[1]) + (witness[2] + witness[3]) == 0.0f;
  const bool together = T::rows_together && !args.whole_lines;
  if (together ? named_barrier_all(kConsumerBarrier + p.group, 128, finite) : __all_sync(~0u, finite)) {
    // Of all elements the one at this corner has the fewest k.
    const int i = w.m0 + p.row + (t.a == Fill::lower ? 0 : T::group_m - 1), j = w.n0 + p.column + (t.b == Fill::upper ? 0 : T::group_n - 1);
    T::store(args, pipe, w, p, sums, !columns_with_k(t, i).hold(j));
  } else {
    Kept<T::accumulators> kept;
#pragma unroll
    for (int x = 0; x < T::accumulators; ++x) kept.sums[x] = sums[x];
    store_carefully<T>(args, w, p, kept.sums);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads, 1) multiply(const __grid_constant__ Arguments args) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  static_assert(T::producer_registers * 128 + T::consumer_registers * 256 <= 168 * kThreads, "setmaxnreg deals out what the launch allocated");
  extern __shared__ __align__(1024) uint8_t memory[];
  const Pipe<T> pipe{shared_address(memory)};
  const int lane = threadIdx.x & 31, warp = __shfl_sync(~0u, static_cast<int>(threadIdx.x >> 5), 0);
  const int rank = T::cluster > 1 ? __shfl_sync(~0u, cluster_rank(), 0) : 0;
  const int worker = static_cast<int>(blockIdx.x) / T::cluster;
  const Item *item = args.list() + args.first[worker], *const end = args.list() + args.first[worker + 1];

  launch_dependents();  // the next product's blocks may come as soon as these leave room, up to where they wait
  if (threadIdx.x == 0) pipe.init();
  if (threadIdx.x < kZeroBytes / 16) store4(pipe.base + Pipe<T>::zeros + threadIdx.x * 16, make_float4(0, 0, 0, 0));
  fence_async();
  if constexpr (T::cluster > 1) cluster_barrier();
  else __syncthreads();
  wait_for_primary();

  if (warp < 4) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(T::producer_registers));
    // Zeros fall to a warp that has nothing else to do, or, one box a stage, to the thread that feeds.
    constexpr bool zeros_apart = T::helpers <= 64;
    const uint32_t zero_box = pipe.base + Pipe<T>::zeros;
    ZeroBoxes<T> zeros;
    if (threadIdx.x == 0) {
      Ring<T::stages> stage;
      for (; item < end; ++item) {
        const Work w = work_of<T>(args, *item);
        for (int s = 0; s < w.stages; ++s, stage.next()) {
          barrier_wait(pipe.empty(stage.slot), stage.phase ^ 1);
          T::feed(args, pipe, w, stage.slot, w.k0 + s * T::stage_k, rank);
          if constexpr (!zeros_apart) zeros.store_one(args, zero_box);
        }
      }
      if constexpr (!zeros_apart) {
        while (zeros.store_one(args, zero_box)) {
        }
        copy_out_wait();
      }
    } else if (zeros_apart && threadIdx.x == 96) {
      while (zeros.store_one(args, zero_box)) __nanosleep(kZeroPause);
      copy_out_wait();
    } else if (warp > 0 && warp <= T::helpers / 32) {
      if constexpr (T::helpers > 0) {
        Position<T> at;
        for (; item < end; ++item) T::rework(args, pipe, work_of<T>(args, *item), at, static_cast<int>(threadIdx.x) - 32, rank);
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(T::consumer_registers));
    const int group = (warp >> 2) - 1;
    const int2 part = T::part(rank, group);
    const Place p{static_cast<int>(threadIdx.x & 127), lane, group, warp & 3, part.x, part.y};
    Position<T> at;
    Item next = item < end ? *item : Item{};
    while (item < end) {
      const Work w = work_of<T>(args, next);
      if (++item < end) next = *item;  // long before it is needed
      if (args.beta != 0.0f && w.piece + 1 == w.pieces) prefetch<T>(args, w, p);
      float sums[T::accumulators];
      T::sum(args, pipe, w, at, p, sums);
      if (w.pieces > 1) gather<T>(args, w, p, rank, sums);
      if (w.piece + 1 == w.pieces) finish<T>(args, pipe, w, p, sums);
    }
  }
  // Another block of the cluster may still tell this one's barriers something.
  __syncwarp();
  if constexpr (T::cluster > 1) cluster_barrier();
#endif
}

}  // namespace tritri::cuda::hopper
