// The skeleton for 16-bit products of middle size, and batches of them, on Hopper: a thread block a tile of C, or a cluster of blocks that share the tile's k.
//
// The last warp feeds a ring of stages of 64 k by bulk tensor copies, the warpgroups before it multiply 64 rows of the tile each, straight from shared memory. Blocks of
// 64 x 64 that lie beyond a diagonal are not copied; those and what the diagonal cuts off become zeros in shared memory. At the end the blocks of a cluster read each other's
// sums in the order of their k and each stores its share of the tile. Nothing is prepared before the launch, nothing is kept in memory, and a multiprocessor runs several
// blocks, so that one multiplies while others begin or store.
#pragma once
#include <cuda.h>

#include <climits>

#include "cuda/heuristics.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/early_start.h"
#include "cuda/tile/element.h"
#include "cuda/tile/hopper.cuh"

namespace tritri::cuda {

inline constexpr int cluster_edge = 64;                                  // of a block of a stage; and the k of a stage
inline constexpr int cluster_block_bytes = cluster_edge * cluster_edge * 2;
inline constexpr int cluster_most_stages = 16, cluster_barrier_bytes = 2 * 8 * cluster_most_stages;

// An input as masks see it.
struct ClusterSide {
  Fill fill;
  bool unit, many;  // many: a matrix of its own for each one of the batch
};

struct ClusterArguments {
  CUtensorMap a_map, b_map;
  ClusterSide a, b;
  Fill c_fill;
  void *c;
  int64_t ldc, c_stride;
  int m, n, k;
  float alpha, beta;
  bool plain;  // C takes alpha times the sums, four at a time: beta is 0, alpha makes no -0 and no NaN, rows are aligned
  int stages, pieces_log2;
  ProductArguments p;  // for sums that are looked at again
};

// What a product takes by the clock, beside its traffic with memory (seen on an H200).
struct ClusterCosts {
  double launch;  // with the first stage
  double tile;    // of a multiprocessor's time, beside its stages
  double step;    // each further stage of the longest piece
  double share;   // that blocks share a tile, and each doubling of them
};

// One instantiation of the skeleton, as the host sees it.
struct ClusterVariant {
  int tile_m, tile_n, resident;
  int vectors;  // of C that a thread stores
  ClusterCosts costs;
  size_t (*shared_bytes)(int stages);
  void (*load)(size_t most_shared_bytes);
  void (*launch)(const ClusterArguments &arguments, bool a_rows, bool b_rows, dim3 grid, cudaStream_t stream);
};
struct ClusterVariants { const ClusterVariant *first; int count; };
extern const ClusterVariants cluster_f16, cluster_bf16;

// Tr: T, the element; rows, cols of a tile in blocks; resident, the thread blocks that share a multiprocessor; costs.
template <class Tr>
struct ClusterShape {
  static constexpr int tile_m = Tr::rows * cluster_edge, tile_n = Tr::cols * cluster_edge, consumers = 128 * Tr::rows, threads = consumers + 32;
  static constexpr int a_bytes = Tr::rows * cluster_block_bytes, stage_bytes = (Tr::rows + Tr::cols) * cluster_block_bytes;
  static constexpr int line = tile_n + 8;  // of sums, in floats: written in pairs and read in fours without a bank conflict
  static constexpr int sum_bytes = tile_m * line * static_cast<int>(sizeof(float));
  static constexpr int vectors = tile_m * tile_n / 4, per_row = tile_n / 4;
  static size_t shared_bytes(int stages) { return static_cast<size_t>(stages * stage_bytes > sum_bytes ? stages * stage_bytes : sum_bytes) + cluster_barrier_bytes; }
};

template <class T> struct alignas(4 * sizeof(T)) ClusterVector { T value[4]; };

struct ClusterSpan {
  int begin, end;
  __device__ __forceinline__ bool meets(int k) const { return k >= begin && k < end; }
};
// The k at which a block of rows of A, or of columns of B, holds anything. `fill` is that of rows along k: B comes as its transpose.
__device__ __forceinline__ ClusterSpan span_held(Fill fill, int row) { return {fill == Fill::upper ? row : INT_MIN, fill == Fill::lower ? row + cluster_edge : INT_MAX}; }
// The k at which surely nothing of rows [row, row + rows) must be masked.
__device__ __forceinline__ ClusterSpan span_whole(Fill fill, bool unit, int row, int rows) {
  return {fill == Fill::upper ? row + rows : INT_MIN, fill == Fill::lower || (unit && fill == Fill::full) ? row : INT_MAX};
}

// Line `line` of a block of 64 x 64: eight vectors of 16 bytes. `past`: where the block begins along k, from its first row; `fill` is that of its lines, `inside` whether k
// reaches to this line's diagonal element. For a block that holds nothing all are zeros.
template <class T>
__device__ __forceinline__ void mask_line(uint32_t block, int line, int past, Fill held, Fill fill, bool unit, bool inside) {
  constexpr uint32_t one = std::is_same_v<T, __nv_bfloat16> ? 0x3f80 : 0x3c00;
  const int crossed = line >> 3, diagonal = line & 7;
  const bool nothing = held == Fill::lower ? past > 0 : held == Fill::upper && past < 0;
  if (past != 0 && !nothing) return;
  const int from = nothing || fill == Fill::upper ? 0 : fill == Fill::lower ? crossed + 1 : 8, to = nothing || fill == Fill::lower ? 8 : crossed;
#pragma unroll
  for (int x = 0; x < 8; ++x)
    if (x >= from && x < to) hopper::store4(block + hopper::swizzled(line, x), make_float4(0, 0, 0, 0));
  if (nothing) return;
  const uint32_t kept = (fill == Fill::lower ? (2u << diagonal) - 1 : fill == Fill::upper ? ~0u << diagonal : ~0u) & ~(unit ? 1u << diagonal : 0u);
  const uint32_t ones = unit && inside ? 1u << diagonal : 0u;  // the places of elements that become 1
  const float4 old = hopper::load4(block + hopper::swizzled(line, crossed));
  uint32_t word[4] = {__float_as_uint(old.x), __float_as_uint(old.y), __float_as_uint(old.z), __float_as_uint(old.w)};
#pragma unroll
  for (int x = 0; x < 4; ++x)
    word[x] = (word[x] & ((kept >> 2 * x & 1 ? 0xffffu : 0) | (kept >> (2 * x + 1) & 1 ? 0xffff0000u : 0))) | (ones >> 2 * x & 1 ? one : 0) | (ones >> (2 * x + 1) & 1 ? one << 16 : 0);
  hopper::store4(block + hopper::swizzled(line, crossed), make_float4(__uint_as_float(word[0]), __uint_as_float(word[1]), __uint_as_float(word[2]), __uint_as_float(word[3])));
}

// Sums of masked zeros beside an Inf are NaN: what they are over the k that exist.
template <class T>
__device__ __noinline__ float4 look_again(const ProductArguments &p, int64_t batch, int i, int j, float4 sums) {
  float sum[4] = {sums.x, sums.y, sums.z, sums.w};
  for (int e = 0; e < 4; ++e)
    if (is_nan(sum[e]) && j + e < p.n) sum[e] = exact_sum<T>(p, batch, i, j + e, k_range(p.a.fill, p.b.fill, p.k, {i, i + 1}, {j + e, j + e + 1}));
  return make_float4(sum[0], sum[1], sum[2], sum[3]);
}

// Elements (i, j) and on of C, whatever they need.
template <class T>
__device__ __noinline__ void store_carefully(const ClusterArguments &args, int64_t batch, int i, int j, float4 sums) {
  if (i >= args.m) return;
  const Fill a = args.a.fill, b = args.b.fill, c = args.c_fill;
  if ((a != Fill::full || b != Fill::full) && is_nan((sums.x + sums.y) + (sums.z + sums.w))) sums = look_again<T>(args.p, batch, i, j, sums);
  // Columns of this row that the product and that C has.
  const int first = a == Fill::upper && b == Fill::upper ? i : 0;
  const int behind = a == Fill::upper && i >= args.k ? 0 : b == Fill::lower ? min(a == Fill::lower ? i + 1 : args.k, args.k) : args.n;
  const int held_from = c == Fill::upper ? i : 0, held_to = c == Fill::lower ? min(i + 1, args.n) : args.n;
  const float sum[4] = {sums.x, sums.y, sums.z, sums.w};
  T *const to = static_cast<T *>(args.c) + batch * args.c_stride + i * args.ldc + j;
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    if (j + e < held_from || j + e >= held_to) continue;
    const float value = j + e >= first && j + e < behind ? args.alpha * sum[e] : 0.0f;
    to[e] = narrow<T>(args.beta != 0 ? value + args.beta * widen(to[e]) : value);
  }
}

// Which of a tile's elements C has: all of them, or each is to be looked at.
struct ClusterTile {
  int i0, j0;
  int64_t batch;
  int inside, looks;  // in registers: the compiler would keep a predicate for every use; looks: a sum that is NaN may be one of masked zeros
};

// `to` is where (i, j) and on lie. Zeros that stand for no product are +0 as they are.
template <class T>
__device__ __forceinline__ void store_four(const ClusterArguments &args, const ClusterTile &tile, T *to, int i, int j, float4 sums) {
  if (!args.plain || (tile.looks && is_nan((sums.x + sums.y) + (sums.z + sums.w)))) return store_carefully<T>(args, tile.batch, i, j, sums);
  const ClusterVector<T> values = {{narrow<T>(args.alpha * sums.x), narrow<T>(args.alpha * sums.y), narrow<T>(args.alpha * sums.z), narrow<T>(args.alpha * sums.w)}};
  if (tile.inside) {
    *reinterpret_cast<ClusterVector<T> *>(to) = values;
    return;
  }
  const int from = args.c_fill == Fill::upper ? i : 0, behind = i >= args.m ? 0 : args.c_fill == Fill::lower ? min(i + 1, args.n) : args.n;
  if (j >= from && j + 4 <= behind) {
    *reinterpret_cast<ClusterVector<T> *>(to) = values;
  } else {
#pragma unroll
    for (int e = 0; e < 4; ++e)
      if (j + e >= from && j + e < behind) to[e] = values.value[e];
  }
}

// The same place in another block of the cluster.
__device__ __forceinline__ uint32_t address_in(uint32_t address, int block) {
  uint32_t there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  return there;
}
__device__ __forceinline__ float4 load4_from(uint32_t address) {
  float4 v;
  asm volatile("ld.shared::cluster.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(address) : "memory");
  return v;
}

// Adds up the sums of all blocks of the cluster, in their order, and stores this one's share of the tile.
template <class Tr, int Pieces>
__device__ __forceinline__ void add_and_store(const ClusterArguments &args, const ClusterTile &tile, uint32_t sums, int piece) {
  using Shape = ClusterShape<Tr>;
  using T = typename Tr::T;
  constexpr int rounds = Shape::vectors / (Shape::consumers * Pieces), most = Pieces >= 8 ? 2 : 4, at_once = rounds < most ? rounds : most;
  constexpr int row_step = Shape::consumers * Pieces / Shape::per_row;
  static_assert(rounds % at_once == 0 && Shape::consumers % Shape::per_row == 0, "all threads have as much to store, each in one column");
  const int index = piece * Shape::consumers + static_cast<int>(threadIdx.x), column = index % Shape::per_row * 4;
  int row = index / Shape::per_row;
  uint32_t from[Pieces];
#pragma unroll
  for (int s = 0; s < Pieces; ++s) from[s] = (Pieces > 1 ? address_in(sums, s) : sums) + (row * Shape::line + column) * static_cast<int>(sizeof(float));
  T *to = static_cast<T *>(args.c) + tile.batch * args.c_stride + (tile.i0 + row) * args.ldc + tile.j0 + column;
  const int64_t step = row_step * args.ldc;
#pragma unroll 1
  for (int x = 0; x < rounds; x += at_once) {
    float4 part[at_once][Pieces];
#pragma unroll
    for (int y = 0; y < at_once; ++y)
#pragma unroll
      for (int s = 0; s < Pieces; ++s) {
        constexpr int bytes = row_step * Shape::line * static_cast<int>(sizeof(float));
        part[y][s] = Pieces > 1 ? load4_from(from[s] + y * bytes) : hopper::load4(from[s] + y * bytes);
        if (y + 1 == at_once) from[s] += at_once * bytes;
      }
#pragma unroll
    for (int y = 0; y < at_once; ++y, row += row_step, to += step) {
      float4 sum = part[y][0];
#pragma unroll
      for (int s = 1; s < Pieces; ++s) sum = make_float4(sum.x + part[y][s].x, sum.y + part[y][s].y, sum.z + part[y][s].z, sum.w + part[y][s].w);
      store_four<T>(args, tile, to, tile.i0 + row, tile.j0 + column, sum);
    }
  }
}

// Assumes: a grid of pieces by column tiles, row tiles and matrices, the pieces of a tile a cluster; m, n, k < 2^30; no operand packed, C apart from A and B, maps of
// boxes of 64 x 64 elements.
template <class Tr, bool ARows, bool BRows>
__global__ void __launch_bounds__(ClusterShape<Tr>::threads, Tr::resident) cluster_product(const __grid_constant__ ClusterArguments args) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using namespace hopper;
  using Shape = ClusterShape<Tr>;
  using T = typename Tr::T;
  constexpr int edge = cluster_edge;
  extern __shared__ __align__(1024) unsigned char shared_bytes[];

  const int batch = static_cast<int>(blockIdx.z), pieces_log2 = args.pieces_log2, piece = static_cast<int>(blockIdx.x) & ((1 << pieces_log2) - 1);
  // The longest sums come first.
  const int tiles_n = static_cast<int>(gridDim.x) >> pieces_log2, tile_j = static_cast<int>(blockIdx.x) >> pieces_log2;
  const int i0 = static_cast<int>(args.a.fill == Fill::lower ? gridDim.y - 1 - blockIdx.y : blockIdx.y) * Shape::tile_m;
  const int j0 = (args.b.fill == Fill::upper ? tiles_n - 1 - tile_j : tile_j) * Shape::tile_n;
  const int i_end = min(i0 + Shape::tile_m, args.m), j_end = min(j0 + Shape::tile_n, args.n);
  if (args.c_fill == Fill::lower && i_end - 1 < j0) return;
  if (args.c_fill == Fill::upper && i0 > j_end - 1) return;
  const Range range = k_range(args.a.fill, args.b.fill, args.k, {i0, i_end}, {j0, j_end});
  const int first = static_cast<int>(range.begin) / edge, length = range.empty() ? 0 : (static_cast<int>(range.end) + edge - 1) / edge - first;
  const int k0 = (first + (length * piece >> pieces_log2)) * edge, k_end = (first + (length * (piece + 1) >> pieces_log2)) * edge;
  const bool masked = args.a.fill != Fill::full || args.b.fill != Fill::full;
  const bool whole_c = args.c_fill == Fill::full || (args.c_fill == Fill::lower ? i0 >= j_end - 1 : i_end - 1 <= j0);
  ClusterTile tile{i0, j0, batch, whole_c && i0 + Shape::tile_m <= args.m && j0 + Shape::tile_n <= args.n, masked};
  asm volatile("" : "+r"(tile.inside), "+r"(tile.looks));

  launch_dependents();
  if (length == 0) {  // zeros, and what C held
    wait_for_primary();
    if (threadIdx.x >= Shape::consumers) return;
    const int index = piece * Shape::consumers + static_cast<int>(threadIdx.x), column = j0 + index % Shape::per_row * 4;
#pragma unroll 4
    for (int i = i0 + index / Shape::per_row; i < i0 + Shape::tile_m; i += (Shape::consumers << pieces_log2) / Shape::per_row)
      store_four<T>(args, tile, static_cast<T *>(args.c) + batch * args.c_stride + i * args.ldc + column, i, column, make_float4(0, 0, 0, 0));
    return;
  }

  const uint32_t base = shared_address(shared_bytes), ring_bytes = static_cast<uint32_t>(args.stages) * Shape::stage_bytes;
  const uint32_t barriers = base + (ring_bytes > Shape::sum_bytes ? ring_bytes : Shape::sum_bytes);
  const auto full = [&](int s) { return barriers + 8 * s; };
  const auto empty = [&](int s) { return barriers + 8 * (cluster_most_stages + s); };
  const auto a_block = [&](int s, int x) { return base + s * Shape::stage_bytes + x * cluster_block_bytes; };
  const auto b_block = [&](int s, int x) { return a_block(s, Tr::rows + x); };

  const Fill a_fill = args.a.fill, b_fill = flipped(args.b.fill);
  // The last warp feeds, each lane its block of a stage.
  const bool feeds = threadIdx.x >= Shape::consumers;
  const int lane = static_cast<int>(threadIdx.x & 31);
  const bool of_a = lane < Tr::rows, along_k = of_a ? ARows : !BRows;
  const int own_row = of_a ? i0 + lane * edge : j0 + (lane - Tr::rows) * edge, own_batch = (of_a ? args.a.many : args.b.many) ? batch : 0;
  const ClusterSpan own_span = span_held(of_a ? a_fill : b_fill, own_row);
  const auto feed = [&](int s, int k) {
    const bool held = lane < Tr::rows + Tr::cols && own_span.meets(k);
    const int blocks = __popc(__ballot_sync(~0u, held));
    if (lane == 0) barrier_expect(full(s), blocks * cluster_block_bytes);
    __syncwarp();
    if (held) copy_in(a_block(s, lane), of_a ? &args.a_map : &args.b_map, full(s), along_k ? k : own_row, along_k ? own_row : k, own_batch);
  };
  int fed = k0;
  if (feeds) {  // a lane a stage
    if (lane < args.stages) {
      barrier_init(full(lane), 1);
      barrier_init(empty(lane), Shape::consumers / 32);
    }
    publish_barriers();
    fence_async();
    if (lane < 2) prefetch_map(lane == 0 ? &args.a_map : &args.b_map);
    __syncwarp();
    wait_for_primary();
    for (int s = 0; s < args.stages && fed < k_end; ++s, fed += edge) feed(s, fed);
  }
  __syncthreads();
  wait_for_primary();

  constexpr int consumer_barrier = 1;
  if (threadIdx.x < Shape::consumers) {
    if (k0 < k_end) {
      const int group = Tr::rows == 1 ? 0 : __shfl_sync(~0u, static_cast<int>(threadIdx.x / 128), 0);
      float sums[Shape::tile_n / 2];
#pragma unroll
      for (float &sum : sums) sum = 0;
      pin(sums);
      const ClusterSpan a_whole = span_whole(a_fill, args.a.unit, i0, Shape::tile_m), b_whole = span_whole(b_fill, args.b.unit, j0, Shape::tile_n);
      const ClusterSpan whole{max(a_whole.begin, b_whole.begin), min(a_whole.end, b_whole.end)};
      int stage = 0, before = -1;  // before: the stage whose product may still run
      uint32_t phase = 0;
#pragma unroll 1
      for (int k = k0; k < k_end; k += edge) {
        barrier_wait(full(stage), phase);
        if (!whole.meets(k)) {  // 64 threads a block
          const int line = static_cast<int>(threadIdx.x) & 63;
          const bool exists = k + line < args.k;
#pragma unroll 1
          for (int x = static_cast<int>(threadIdx.x) >> 6; x < Tr::rows + Tr::cols; x += Shape::consumers / 64) {
            if (x < Tr::rows) mask_line<T>(a_block(stage, x), line, k - i0 - x * edge, a_fill, ARows ? a_fill : flipped(a_fill), args.a.unit, exists);
            else mask_line<T>(a_block(stage, x), line, k - j0 - (x - Tr::rows) * edge, b_fill, BRows ? flipped(b_fill) : b_fill, args.b.unit, exists);
          }
          fence_async();
          named_barrier(consumer_barrier, Shape::consumers);
        }
        // Only the low halves change, and those do not overflow: the compiler cannot know.
        const uint64_t a = descriptor(a_block(stage, group), cluster_block_bytes, 1024), b = descriptor(b_block(stage, 0), cluster_block_bytes, 1024);
        const auto from = [](uint64_t x, uint32_t by) { return x >> 32 << 32 | (static_cast<uint32_t>(x) + by); };
        wgmma_fence();
#pragma unroll
        for (int x = 0; x < edge / 16; ++x)  // 16 k: 32 bytes of a line along k, or 16 lines of 128 bytes
          mma_16<Shape::tile_n, std::is_same_v<T, __nv_bfloat16>, ARows, !BRows>(sums, from(a, (ARows ? 2 : 128) * x), from(b, (BRows ? 128 : 2) * x));
        wgmma_commit();
        wgmma_wait<1>();
        barrier_arrive_if(before >= 0 && lane == 0, empty(before < 0 ? 0 : before));
        before = stage;
        if (++stage == args.stages) {
          stage = 0;
          phase ^= 1;
        }
      }
      wgmma_wait<0>();
      pin(sums);
      named_barrier(consumer_barrier, Shape::consumers);  // the ring is free
      const int row = static_cast<int>(threadIdx.x >> 5) * 16 + (lane >> 2);
      float *const to = reinterpret_cast<float *>(shared_bytes) + row * Shape::line + 2 * (lane & 3);
#pragma unroll
      for (int x = 0; x < Shape::tile_n / 2; x += 2) *reinterpret_cast<float2 *>(to + (x >> 1 & 1) * 8 * Shape::line + (x >> 2) * 8) = make_float2(sums[x], sums[x + 1]);
    } else {  // more pieces than stages
      for (int x = static_cast<int>(threadIdx.x); x < Shape::sum_bytes / 16; x += Shape::consumers) store4(base + x * 16, make_float4(0, 0, 0, 0));
    }
  } else if (feeds) {
    int s = 0;
    uint32_t phase = 0;
    for (; fed < k_end; fed += edge) {
      barrier_wait(empty(s), phase);
      feed(s, fed);
      if (++s == args.stages) {
        s = 0;
        phase ^= 1;
      }
    }
  }
  __syncwarp();
  if (pieces_log2 > 0) cluster_barrier();
  else __syncthreads();
  if (threadIdx.x < Shape::consumers) {
    if (pieces_log2 == 0) add_and_store<Tr, 1>(args, tile, base, 0);
    else if (pieces_log2 == 1) add_and_store<Tr, 2>(args, tile, base, piece);
    else if (pieces_log2 == 2) add_and_store<Tr, 4>(args, tile, base, piece);
    else add_and_store<Tr, 8>(args, tile, base, piece);
  }
  __syncwarp();
  if (pieces_log2 > 0) cluster_barrier_relaxed();  // what others still read must stay
#endif
}

template <class Tr>
constexpr ClusterVariant cluster_variant() {
  using Shape = ClusterShape<Tr>;
  const auto load = [](size_t most) {
    for (const auto kernel : {cluster_product<Tr, true, true>, cluster_product<Tr, true, false>, cluster_product<Tr, false, true>, cluster_product<Tr, false, false>})
      TRITRI_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(most)));
  };
  const auto launch = [](const ClusterArguments &arguments, bool a_rows, bool b_rows, dim3 grid, cudaStream_t stream) {
    cudaLaunchAttribute attributes[2] = {};
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim = {1u << arguments.pieces_log2, 1, 1};
    attributes[1] = early_start();
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = dim3(Shape::threads);
    config.dynamicSmemBytes = Shape::shared_bytes(arguments.stages);
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = 2;
    const auto kernel = a_rows ? (b_rows ? cluster_product<Tr, true, true> : cluster_product<Tr, true, false>)
                               : (b_rows ? cluster_product<Tr, false, true> : cluster_product<Tr, false, false>);
    TRITRI_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, arguments));
  };
  return {Shape::tile_m, Shape::tile_n, Tr::resident, Shape::vectors / Shape::consumers, Tr::costs, Shape::shared_bytes, load, launch};
}

}  // namespace tritri::cuda
