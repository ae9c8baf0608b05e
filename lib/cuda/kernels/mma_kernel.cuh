// The skeleton for 16-bit and TF32 products on any card from sm_80 on, made for small ones: one launch, nothing prepared before it, and every
// step between the launch and the last store kept short.
//
// A thread block computes a tile of C. Each of its warps covers the tile alone, for a slice of k: warps take turns at steps of 32 k, so that a tile's
// sum takes no longer than its longest slice's. A warp loads, masks and multiplies for itself and waits for no other; at the end the sums are added
// up in the order of the slices. Any fill, unit diagonal, op, order, ld, alignment and batch.
#pragma once
#include <cfloat>

#include "cuda/heuristics.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/early_start.h"
#include "cuda/tile/element.h"
#include "cuda/tile/hopper.cuh"
#include "cuda/tile/mma_block.cuh"

namespace tritri::cuda {

// What every thread reads comes first, in a few lines of the constant cache: a launch begins with them all missing.
struct MmaArguments {
  BlockOperand a, b;  // b is B transposed
  void *c;
  int64_t ldc, c_stride;
  int m, n, k;
  float alpha;
  int8_t a_fill, b_fill, c_fill;
  bool plain;          // C takes alpha times the sums, four at a time: beta is 0, alpha makes no -0 and no NaN, rows are aligned
  ProductArguments p;  // for sums that are looked at again

  explicit MmaArguments(const Problem &problem)
      : a(problem.a, element_bytes(problem.dtype)), b(transposed(problem.b), element_bytes(problem.dtype)), c(problem.c_data()), ldc(problem.c.ld),
        c_stride(problem.c.batch_stride), m(static_cast<int>(problem.m)), n(static_cast<int>(problem.n)), k(static_cast<int>(problem.k)),
        alpha(static_cast<float>(problem.alpha.real())), a_fill(static_cast<int8_t>(problem.a.fill)),
        b_fill(static_cast<int8_t>(problem.b.fill)), c_fill(static_cast<int8_t>(problem.c.fill)), p(problem) {
    const int64_t size = element_bytes(problem.dtype);
    const uint64_t bits = reinterpret_cast<uintptr_t>(c) | static_cast<uint64_t>(ldc * size) | static_cast<uint64_t>(c_stride * size);
    plain = bits % static_cast<uint64_t>(4 * size) == 0 && problem.beta.real() == 0 && alpha > 0 && alpha <= FLT_MAX;
  }
};

// What a product takes by the clock, beside its traffic with memory (seen on an H200).
struct MmaCosts {
  double launch;  // with one turn
  double turn;    // each further one of the longest tile
  double tile, step;  // of a multiprocessor's time: a tile, and 32 k of it
};

// One instantiation of the skeleton, as the host sees it.
struct MmaVariant {
  int tile_m, tile_n, slices;
  int resident;  // thread blocks that share a multiprocessor
  size_t shared_bytes;
  MmaCosts costs;
  void (*load)();
  void (*launch)(const MmaArguments &arguments, dim3 tiles, bool early, cudaStream_t stream);
};
struct MmaVariants { const MmaVariant *first; int count; };
extern const MmaVariants mma_f16, mma_bf16, mma_f32;

// Tr: T, the element; rows, cols of a tile in blocks; slices, stages, resident; costs.
template <class Tr>
struct MmaShape {
  using T = typename Tr::T;
  static constexpr int tile_m = Tr::rows * block_edge, tile_n = Tr::cols * block_edge, threads = 32 * Tr::slices;
  static constexpr int a_bytes = Tr::rows * BlockPlace<T>::bytes, stage_bytes = (Tr::rows + Tr::cols) * BlockPlace<T>::bytes;
  static constexpr int line = tile_n + 8;  // of sums, in floats: written in pairs and read in fours without a bank conflict
  static constexpr int sum_bytes = tile_m * line * static_cast<int>(sizeof(float));
  static constexpr int slice_bytes = Tr::stages * stage_bytes > sum_bytes ? Tr::stages * stage_bytes : sum_bytes;
  static constexpr size_t shared_bytes = static_cast<size_t>(Tr::slices) * slice_bytes;
};

inline constexpr int mma_vector = 4;  // elements of a row of C that a thread stores
template <class T> struct alignas(mma_vector * sizeof(T)) MmaVector { T value[mma_vector]; };

// Elements (i, j) and on of C, whatever they need: ends, cuts, beta, structural zeros, and sums of masked zeros beside an Inf, which are NaN and looked at
// again over the k that exist.
template <class T>
__device__ __noinline__ void store_carefully(const MmaArguments &args, int64_t batch, int i, int j, float4 sums) {
  const ProductArguments &p = args.p;
  const bool masked = p.a.fill != Fill::full || p.b.fill != Fill::full;
  const float sum[mma_vector] = {sums.x, sums.y, sums.z, sums.w};
  T *const to = static_cast<T *>(args.c) + batch * args.c_stride + i * args.ldc + j;
  const Range held = row_held(p.c.fill, i, p.n);
#pragma unroll
  for (int e = 0; e < mma_vector; ++e) {
    if (j + e < held.begin || j + e >= held.end) continue;
    const Range own = k_range(p.a.fill, p.b.fill, p.k, {i, i + 1}, {j + e, j + e + 1});
    store<T>(p, to + e, {masked && is_nan(sum[e]) ? exact_sum<T>(p, batch, i, j + e, own) : sum[e], own.empty()});
  }
}

// Assumes: a grid of column tiles, row tiles and matrices; m, n, k < 2^30; no operand packed, C apart from A and B.
template <class Tr>
__global__ void __launch_bounds__(MmaShape<Tr>::threads, Tr::resident) mma(const __grid_constant__ MmaArguments args) {
  using Shape = MmaShape<Tr>;
  using T = typename Tr::T;
  extern __shared__ __align__(128) unsigned char shared_bytes[];

  const int64_t batch = blockIdx.z;
  const Fill fill_a = static_cast<Fill>(args.a_fill), fill_b = static_cast<Fill>(args.b_fill), fill_c = static_cast<Fill>(args.c_fill);
  // The longest sums come first.
  const int i0 = static_cast<int>(fill_a == Fill::lower ? gridDim.y - 1 - blockIdx.y : blockIdx.y) * Shape::tile_m;
  const int j0 = static_cast<int>(fill_b == Fill::upper ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * Shape::tile_n;
  const int i_end = min(i0 + Shape::tile_m, args.m), j_end = min(j0 + Shape::tile_n, args.n);
  if (fill_c == Fill::lower && i_end - 1 < j0) return;
  if (fill_c == Fill::upper && i0 > j_end - 1) return;
  const Range range = k_range(fill_a, fill_b, args.k, {i0, i_end}, {j0, j_end});
  const int k0 = static_cast<int>(range.begin), k_end = static_cast<int>(range.end);  // k0 is a multiple of a block's edge
  const int slice = __shfl_sync(~0u, threadIdx.x / 32, 0), active = min((k_end - k0 + block_edge - 1) / block_edge, Tr::slices);
  unsigned char *const own = shared_bytes + slice * Shape::slice_bytes;

  if (slice < active) {
    constexpr int turn_k = Tr::slices * block_edge;
    const int first_k = k0 + slice * block_edge;
    BlockLoader<T, Tr::rows, turn_k> loader_a(args.a, batch, i0, first_k);
    BlockLoader<T, Tr::cols, turn_k> loader_b(args.b, batch, j0, first_k);
    BlockSums<T, Tr::rows, Tr::cols> sums;
    const unsigned ring = hopper::shared_address(own), ring_end = ring + Tr::stages * Shape::stage_bytes;
    hopper::wait_for_primary();
    hopper::launch_dependents();
    unsigned stage = ring;
    // The first turns only load.
#pragma unroll 1
    for (int k = first_k - Tr::stages * turn_k; k < k_end; k += turn_k) {
      if (k >= first_k) {
        wait_for_copies<Tr::stages - 1>();
        loader_a.mask(stage, k);
        loader_b.mask(stage + Shape::a_bytes, k);
        __syncwarp();
        if (args.a.along_k) {
          if (args.b.along_k) sums.template multiply<true, true>(stage, stage + Shape::a_bytes);
          else sums.template multiply<true, false>(stage, stage + Shape::a_bytes);
        } else {
          if (args.b.along_k) sums.template multiply<false, true>(stage, stage + Shape::a_bytes);
          else sums.template multiply<false, false>(stage, stage + Shape::a_bytes);
        }
        __syncwarp();
      }
      const int next = k + Tr::stages * turn_k;
      if (next < k_end) {
        loader_a.load(stage, next);
        loader_b.load(stage + Shape::a_bytes, next);
      }
      commit_copies();
      stage += Shape::stage_bytes;
      if (stage == ring_end) stage = ring;
    }
    sums.template put<Shape::line>(reinterpret_cast<float *>(own));
  } else {
    hopper::wait_for_primary();
  }
  __syncthreads();

  // Four sums of a row at a time. Where nothing else than the sums matters they are stored at once; zeros that stand for no product are +0 as they are.
  const bool whole_c = fill_c == Fill::full || (fill_c == Fill::lower ? i0 >= j_end - 1 : i_end - 1 <= j0);
  const bool plain = args.plain && whole_c && i0 + Shape::tile_m <= args.m && j0 + Shape::tile_n <= args.n;
  constexpr int per_row = Shape::tile_n / mma_vector;
#pragma unroll 1
  for (unsigned index = threadIdx.x; index < Shape::tile_m * per_row; index += Shape::threads) {
    const int r = static_cast<int>(index / per_row), c = static_cast<int>(index % per_row) * mma_vector;
    const unsigned char *const from = shared_bytes + (r * Shape::line + c) * static_cast<int>(sizeof(float));
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll
    for (int s = 0; s < Tr::slices; ++s) {
      if (s >= active) continue;
      const float4 part = *reinterpret_cast<const float4 *>(from + s * Shape::slice_bytes);
      sum = make_float4(sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w);
    }
    if (plain && !is_nan((sum.x + sum.y) + (sum.z + sum.w))) {
      const MmaVector<T> values = {{narrow<T>(args.alpha * sum.x), narrow<T>(args.alpha * sum.y), narrow<T>(args.alpha * sum.z), narrow<T>(args.alpha * sum.w)}};
      *reinterpret_cast<MmaVector<T> *>(static_cast<T *>(args.c) + batch * args.c_stride + (i0 + r) * args.ldc + j0 + c) = values;
    } else if (i0 + r < args.m) {
      store_carefully<T>(args, batch, i0 + r, j0 + c, sum);
    }
  }
}

template <class Tr>
constexpr MmaVariant mma_variant() {
  using Shape = MmaShape<Tr>;
  const auto load = [] {
    TRITRI_CUDA_CHECK(cudaFuncSetAttribute(mma<Tr>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(Shape::shared_bytes)));
  };
  const auto launch = [](const MmaArguments &arguments, dim3 tiles, bool early, cudaStream_t stream) {
    cudaLaunchAttribute attribute = early_start();
    cudaLaunchConfig_t config{};
    config.gridDim = tiles;
    config.blockDim = dim3(Shape::threads);
    config.dynamicSmemBytes = Shape::shared_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = early ? 1 : 0;
    TRITRI_CUDA_CHECK(cudaLaunchKernelEx(&config, mma<Tr>, arguments));
  };
  return {Shape::tile_m, Shape::tile_n, Tr::slices, Tr::resident, Shape::shared_bytes, Tr::costs, load, launch};
}

}  // namespace tritri::cuda
