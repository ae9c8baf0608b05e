// The compact skeleton, for products so small that the latency of one tile is what they take: one launch, a tile of C by the warps of a block,
// which take turns along k; panels as they lie in memory, all of a short sum in flight at once. On sm_90 the blocks of a cluster can share a tile:
// each sums a piece of k, then they add the pieces through distributed shared memory, in order, each its part of the rows. Fill, unit diagonal,
// op, order, alignment and batch are data.
//
// With few warps on a multiprocessor an instruction takes four or five cycles wherever it stands, so what is done once per block decides: the
// host prepares the arguments, indices have 32 bits, and what products seldom need is out of line.
#pragma once
#include "cuda/heuristics.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/early_start.h"
#include "cuda/tile/compact_panel.cuh"
#include "cuda/tile/element.h"
#include "cuda/tile/hopper.cuh"

namespace tritri::cuda {

struct CompactArguments {
  CompactPanel a, b;    // b is B transposed
  char *c;
  int64_t c_batch_bytes, c_line_bytes;  // from line 0 to line 1
  int c_bend_bytes;     // as CompactPanel's
  int m, n, k;
  int a_above, b_below, a_far, b_far;  // k begins at the tile's first row & a_above, first column & b_below; it ends at its last row | a_far, last column | b_far
  int first, last;      // row i of C holds the columns [i + first, i + last) of those inside
  int log_pieces;       // blocks of a cluster
  int tiles_m, tiles_n;
  bool rows_down, cols_down, cols_outer;  // tiles with long sums first, roughly
  bool conj_b;          // conj(A) B = conj(A conj(B)): only B is conjugated on its way into the products
  bool sums;            // C is the sums as they are
  bool plain;           // and that in whole vectors
  ProductArguments p;   // for what is not plain

  CompactArguments(const Problem &problem, int tile_m, int tile_n, int log_pieces)
      : a(problem.a, element_bytes(problem.dtype), tile_m), b(transposed(problem.b), element_bytes(problem.dtype), tile_n), c(static_cast<char *>(problem.c_data())),
        c_batch_bytes(problem.c.batch_stride * element_bytes(problem.dtype)), c_line_bytes(line_starts(problem.c.lines()).step * element_bytes(problem.dtype)),
        c_bend_bytes(line_starts(problem.c.lines()).bend * static_cast<int>(element_bytes(problem.dtype))), m(static_cast<int>(problem.m)),
        n(static_cast<int>(problem.n)), k(static_cast<int>(problem.k)), a_above(problem.a.fill == Fill::upper ? -1 : 0), b_below(problem.b.fill == Fill::lower ? -1 : 0),
        a_far(problem.a.fill == Fill::lower ? 0 : INT_MAX), b_far(problem.b.fill == Fill::upper ? 0 : INT_MAX), first(problem.c.fill == Fill::upper ? 0 : -CompactPanel::far),
        last(problem.c.fill == Fill::lower ? 1 : CompactPanel::far), log_pieces(log_pieces), tiles_m((m + tile_m - 1) / tile_m), tiles_n((n + tile_n - 1) / tile_n),
        rows_down(problem.a.fill == Fill::lower), cols_down(problem.b.fill == Fill::upper), cols_outer(problem.a.fill == Fill::full && problem.b.fill != Fill::full),
        conj_b(problem.a.conj != problem.b.conj), p(problem) {
    const bool aligned = c_bend_bytes == 0 && (reinterpret_cast<uintptr_t>(c) | static_cast<uint64_t>(c_line_bytes) | static_cast<uint64_t>(c_batch_bytes)) % 16 == 0;
    sums = !problem.a.conj && problem.alpha == std::complex<double>(1, 0) && problem.beta == std::complex<double>(0, 0);
    plain = aligned && sums;
  }
};

// Seconds, as seen on an H200: of a launch and its first and last block; of adding pieces; of `depth` k in a block that waits for nobody; what a block
// takes of its multiprocessor beside its products, and one that only clears. rate: real multiply-adds relative to the card's float32 FMA rate once it is full.
// in_batches: what is left of block and zeros where short sums of many matrices hide behind each other.
struct CompactCost { double launch, join, turn, rate, block, zeros, in_batches; };

// One instantiation of the skeleton, as the host sees it.
struct CompactVariant {
  int tile_m, tile_n, depth, threads;
  int resident;         // thread blocks that share a multiprocessor
  size_t shared_bytes;
  CompactCost cost;
  void (*load)();
  void (*launch)(const CompactArguments &arguments, bool early, cudaStream_t stream);  // early: before the launch in front of it has ended
};
struct CompactVariants { const CompactVariant *first; int count; };
void compact_launch(const Problem &problem, const CompactVariant &variant, int pieces, const GpuTraits &traits, cudaStream_t stream);
extern const CompactVariants compact_f32, compact_ffma, compact_f64, compact_c64, compact_c128;  // ffma: float32, PEDANTIC

// Tr: Core, tile_m, tile_n, depth, slices, stages, resident, cost. The warps of one slice cover the tile; slices
// take turns at the steps of a stage and add up at the end.
template <class Tr, bool bends = false>
struct CompactShape {
  using Core = typename Tr::Core;
  using T = typename Core::T;
  using Sum = typename Core::Sum;
  static constexpr int warps_n = Tr::tile_n / Core::warp_n, slice_warps = Tr::tile_m / Core::warp_m * warps_n, threads = 32 * slice_warps * Tr::slices;
  static constexpr int turn_steps = Tr::depth / Core::step;
  using StageA = CompactStage<T, Tr::tile_m, Tr::depth>;
  using StageB = CompactStage<T, Tr::tile_n, Tr::depth>;
  using LoaderA = CompactLoader<T, StageA, threads, bends>;
  using LoaderB = CompactLoader<T, StageB, threads, bends>;
  static constexpr int stage = StageA::size + StageB::size;
  static constexpr int pitch = Core::pitch(Tr::tile_n), plane = Tr::tile_m * pitch;
  static constexpr size_t loop_bytes = sizeof(T) * Tr::stages * stage, sums_bytes = sizeof(Sum) * plane * Tr::slices;
  static constexpr size_t work_bytes = loop_bytes > sums_bytes ? loop_bytes : sums_bytes;
  static constexpr size_t shared_bytes = work_bytes + sizeof(Sum) * plane + 16;  // and what other blocks of the cluster send, and its barrier
  static constexpr int most_pieces = 8;
  static_assert(Tr::tile_m % Core::warp_m == 0 && Tr::tile_n % Core::warp_n == 0, "warps must cover the tile");
  static_assert(turn_steps % Tr::slices == 0, "a stage holds as many whole steps for every slice");
  static_assert(Tr::tile_m % most_pieces == 0, "blocks of a cluster finish as many rows each");
};

// Between the blocks of a cluster. PTX ISA: st.async writes 16 bytes to another block's shared memory and counts them at its barrier.
__device__ __forceinline__ void cluster_expect(unsigned barrier, unsigned bytes) {
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x == 0) {
    hopper::barrier_init(barrier, 1);
    hopper::publish_barriers();
  }
  __syncwarp();  // the lanes go on as one: racecheck takes the two for a race of lanes otherwise
  if (threadIdx.x == 0) hopper::barrier_expect(barrier, bytes);
  __syncwarp();
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void cluster_begun() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
#endif
}
template <class T>
__device__ __forceinline__ void send(T *place, unsigned barrier, int rank, Vector<T> v) {
#if __CUDA_ARCH__ >= 900
  const double2 &bits = reinterpret_cast<const double2 &>(v);
  asm volatile("{\n\t.reg .b32 to, at;\n\tmapa.shared::cluster.u32 to, %0, %2;\n\tmapa.shared::cluster.u32 at, %1, %2;\n\t"
               "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f64 [to], {%3, %4}, [at];\n\t}" ::"r"(hopper::shared_address(place)), "r"(barrier), "r"(rank),
               "d"(bits.x), "d"(bits.y) : "memory");
#endif
}
__device__ __forceinline__ void cluster_arrived(unsigned barrier) {
#if __CUDA_ARCH__ >= 900
  asm volatile("{\n\t.reg .pred done;\n\twait:\n\tmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], 0;\n\t@!done bra wait;\n\t}" ::"r"(barrier) : "memory");
#endif
}

// The sum of `count` planes at one place, in order.
template <class Sum>
__device__ __forceinline__ Vector<Sum> sum_planes(const Sum *from, int plane, int count) {
  Vector<Sum> total = *reinterpret_cast<const Vector<Sum> *>(from);
#pragma unroll
  for (int x = 1; x < count; ++x) {
    const Vector<Sum> next = *reinterpret_cast<const Vector<Sum> *>(from + x * plane);
#pragma unroll
    for (int e = 0; e < vector_elements<Sum>; ++e) total.value[e] = plus(total.value[e], next.value[e]);
  }
  return total;
}

template <class T, class Sum>
__device__ __forceinline__ T narrow_sum(Sum x) {
  if constexpr (is_complex_element<T>) {
    using R = typename RealOf<T>::type;
    return {static_cast<R>(x.re), static_cast<R>(x.im)};
  } else {
    return static_cast<T>(x);
  }
}

// A vector of C in any of the ways that are not plain. A sum over masked zeros alone is zero or, beside an Inf, NaN: settle looks at those again.
template <class T>
__device__ __noinline__ void store_elements(const CompactArguments &args, int batch, int i, int j, Vector<T> sums, bool zeros) {
  const ProductArguments &p = args.p;
  const Range held = row_held(p.c.fill, i, p.n);
  const bool whole = p.a.fill == Fill::full && p.b.fill == Fill::full;
  T *const to = reinterpret_cast<T *>(args.c + batch * args.c_batch_bytes + i * args.c_line_bytes + args.c_bend_bytes * (i * static_cast<int64_t>(i - 1) / 2)) + j;
#pragma unroll 1
  for (int e = 0; e < vector_elements<T>; ++e) {
    if (j + e < held.begin || j + e >= held.end) continue;
    T sum = sums.value[e];
    if (args.sums && !is_nan(sum)) {
      to[e] = sum;
      continue;
    }
    if constexpr (is_complex_element<T>) {
      if (p.a.conj) sum.im = -sum.im;
    }
    Settled<T> product{sum, zeros};
    if (!zeros && !whole) product = settle<T>(p, batch, i, j + e, sum);
    store<T>(p, to + e, product);
  }
}

// Rows [first_row, first_row + rows) of a tile at (i0, j0), each element from the sum of `planes`; without planes, zeros.
template <class Tr, int planes>
__device__ __forceinline__ void finish(const CompactArguments &args, int batch, int i0, int j0, int rows, const typename CompactShape<Tr>::Sum *from, int plane, int count) {
  using Shape = CompactShape<Tr>;
  using T = typename Shape::T;
  using Sum = typename Shape::Sum;
  constexpr int vector = vector_elements<T>, per_row = Tr::tile_n / vector, per_sum = vector_elements<Sum>;
#pragma unroll 1
  for (unsigned index = threadIdx.x; index < static_cast<unsigned>(rows * per_row); index += Shape::threads) {
    const int r = index / per_row, c = index % per_row * vector, i = i0 + r, j = j0 + c;
    if (i >= args.m) break;
    Vector<T> sums{};
    bool odd = false;
    if (planes != 0) {
#pragma unroll
      for (int e = 0; e < vector; e += per_sum) {
        const Vector<Sum> total = sum_planes(from + r * Shape::pitch + c + e, planes > 0 ? Shape::plane : plane, planes > 0 ? planes : count);
#pragma unroll
        for (int f = 0; f < per_sum; ++f) {
          sums.value[e + f] = narrow_sum<T>(total.value[f]);
          odd = odd || is_nan(sums.value[e + f]);
        }
      }
    }
    if (!args.plain || odd) {
      store_elements(args, batch, i, j, sums, planes == 0);
      continue;
    }
    T *const to = reinterpret_cast<T *>(args.c + batch * args.c_batch_bytes + i * args.c_line_bytes) + j;
    const int begin = i + args.first, end = min(i + args.last, args.n);
    if (j >= begin && j + vector <= end) {
      *reinterpret_cast<Vector<T> *>(to) = sums;
    } else {
#pragma unroll
      for (int e = 0; e < vector; ++e)
        if (j + e >= begin && j + e < end) to[e] = sums.value[e];
    }
  }
}

// Assumes: grid (tiles of C along its rows times pieces, tiles along its columns, batch), or the two the other way round where cols_outer says so;
// clusters of `pieces` blocks along x; m, n, k < 2^30; no operand a packed trapezoid that ends with whole lines, C apart from A and B.
// bends: for packed inputs.
template <class Tr, bool bends>
__global__ void __launch_bounds__(CompactShape<Tr>::threads, Tr::resident) compact(const __grid_constant__ CompactArguments args) {
  using Shape = CompactShape<Tr, bends>;
  using Core = typename Shape::Core;
  using T = typename Shape::T;
  using Sum = typename Shape::Sum;
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  T *const stages = reinterpret_cast<T *>(shared_bytes);
  Sum *const sums = reinterpret_cast<Sum *>(shared_bytes);

  hopper::launch_dependents();  // the next launch's blocks may come while this one works, up to where they wait for its end
  const int log_pieces = args.log_pieces, piece = blockIdx.x & ((1 << log_pieces) - 1), x = blockIdx.x >> log_pieces, y = blockIdx.y, batch = blockIdx.z;
  const int row = args.cols_outer ? x : y, col = args.cols_outer ? y : x;
  const int i0 = (args.rows_down ? args.tiles_m - 1 - row : row) * Tr::tile_m, j0 = (args.cols_down ? args.tiles_n - 1 - col : col) * Tr::tile_n;
  const int i_end = min(i0 + Tr::tile_m, args.m), j_end = min(j0 + Tr::tile_n, args.n);
  if (j_end <= i0 + args.first || j0 >= i_end - 1 + args.last) {  // outside the fill of C
    hopper::wait_for_primary();
    return;
  }
  // k_range, in 32 bits.
  const int k_first = max(i0 & args.a_above, j0 & args.b_below), k_last = min(min(i_end | args.a_far, j_end | args.b_far), args.k);
  const int own_rows = Tr::tile_m >> log_pieces;
  if (k_first >= k_last) {
    hopper::wait_for_primary();
    finish<Tr, 0>(args, batch, i0 + piece * own_rows, j0, own_rows, sums, 0, 0);
    return;
  }
  const int steps = static_cast<int>((k_last - k_first + Core::step - 1u) / Core::step), before = piece * steps >> log_pieces, my_steps = ((piece + 1) * steps >> log_pieces) - before;
  const int k_begin = k_first + before * Core::step, k_end = min(k_begin + my_steps * Core::step, k_last), turns = static_cast<int>((my_steps + Shape::turn_steps - 1u) / Shape::turn_steps);
  Sum *const incoming = reinterpret_cast<Sum *>(shared_bytes + Shape::work_bytes);
  const unsigned barrier = hopper::shared_address(incoming + Shape::plane);
  if (log_pieces > 0) cluster_expect(barrier, Tr::tile_m * Tr::tile_n * sizeof(Sum));

  typename Shape::LoaderA loader_a(args.a, batch, i0, k_begin, k_end);
  typename Shape::LoaderB loader_b(args.b, batch, j0, k_begin, k_end);
  const unsigned warp_index = __shfl_sync(~0u, threadIdx.x / 32, 0);
  const int warp = warp_index % Shape::slice_warps, slice = warp_index / Shape::slice_warps;
  const int warp_row = warp / Shape::warps_n * Core::warp_m, warp_col = warp % Shape::warps_n * Core::warp_n;
  const int a_place = warp_row * Shape::StageA::step_x(args.a.along_k) + Core::template place_a<typename Shape::StageA>(args.a.along_k);
  const int b_place = Shape::StageA::size + warp_col * Shape::StageB::step_x(args.b.along_k) + Core::template place_b<typename Shape::StageB>(args.b.along_k);
  hopper::wait_for_primary();

  Core core;
  T *fill = stages;
  const T *use = stages;
  constexpr int ahead = Tr::stages - 1;
#pragma unroll 1
  for (int turn = -ahead; turn < turns; ++turn) {  // the first turns only fill, so that the loads stand here once
    if (turn >= 0) {
      wait_for_copies<ahead - 1>();
      __syncthreads();
    }
    if (turn + ahead < turns) {
      loader_a.load(fill);
      loader_b.load(fill + Shape::StageA::size);
      fill = fill == stages + ahead * Shape::stage ? stages : fill + Shape::stage;
    }
    commit_copies();
    if (turn < 0) continue;
    const int end = min(my_steps - turn * Shape::turn_steps, Shape::turn_steps);
    const auto multiply = [&](auto a_along_k, auto b_along_k) {
      core.template multiply<typename Shape::StageA, typename Shape::StageB, decltype(a_along_k)::value, decltype(b_along_k)::value, Shape::turn_steps / Tr::slices, Tr::slices>(
          use + a_place, use + b_place, slice, end, args.conj_b ? -1.0 : 1.0);
    };
    if (args.a.along_k) {
      if (args.b.along_k) multiply(std::true_type(), std::true_type());
      else multiply(std::true_type(), std::false_type());
    } else {
      if (args.b.along_k) multiply(std::false_type(), std::true_type());
      else multiply(std::false_type(), std::false_type());
    }
    use = use == stages + ahead * Shape::stage ? stages : use + Shape::stage;
  }
  __syncthreads();  // sums lie where stages lay
  core.put(sums + slice * Shape::plane + warp_row * Shape::pitch + warp_col, Shape::pitch, args.a.along_k, args.b.along_k);
  __syncthreads();
  if (log_pieces == 0) {
    finish<Tr, Tr::slices>(args, batch, i0, j0, Tr::tile_m, sums, 0, 0);
    return;
  }
  cluster_begun();
  constexpr int vector = vector_elements<Sum>, per_row = Tr::tile_n / vector;
#pragma unroll 1
  for (unsigned index = threadIdx.x; index < Tr::tile_m * per_row; index += Shape::threads) {
    const int r = index / per_row, c = index % per_row * vector, owner = (r << log_pieces) / Tr::tile_m;
    send(incoming + (piece * own_rows + r - owner * own_rows) * Shape::pitch + c, barrier, owner, sum_planes(sums + r * Shape::pitch + c, Shape::plane, Tr::slices));
  }
  cluster_arrived(barrier);
  finish<Tr, -1>(args, batch, i0 + piece * own_rows, j0, own_rows, incoming, own_rows * Shape::pitch, 1 << log_pieces);
}

template <class Tr>
constexpr CompactVariant compact_variant() {
  using Shape = CompactShape<Tr>;
  const auto load = [] {
    for (const auto kernel : {compact<Tr, false>, compact<Tr, true>})
      TRITRI_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(Shape::shared_bytes)));
  };
  const auto launch = [](const CompactArguments &arguments, bool early, cudaStream_t stream) {
    const unsigned tiles_m = static_cast<unsigned>(arguments.tiles_m), tiles_n = static_cast<unsigned>(arguments.tiles_n), pieces = 1u << arguments.log_pieces;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((arguments.cols_outer ? tiles_m : tiles_n) * pieces, arguments.cols_outer ? tiles_n : tiles_m, static_cast<unsigned>(arguments.p.batch));
    config.blockDim = dim3(Shape::threads);
    config.dynamicSmemBytes = pieces > 1 ? Shape::shared_bytes : Shape::work_bytes;
    config.stream = stream;
    cudaLaunchAttribute attributes[2] = {};
    config.attrs = attributes;
    if (early) attributes[config.numAttrs++] = early_start();
    if (pieces > 1) {
      attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
      attributes[config.numAttrs++].val.clusterDim = {pieces, 1, 1};
    }
    const bool bends = arguments.a.bend_bytes != 0 || arguments.b.bend_bytes != 0;
    TRITRI_CUDA_CHECK(cudaLaunchKernelEx(&config, bends ? compact<Tr, true> : compact<Tr, false>, arguments));
  };
  return {Tr::tile_m, Tr::tile_n, Tr::depth, Shape::threads, Tr::resident, Shape::shared_bytes, Tr::cost, load, launch};
}

}  // namespace tritri::cuda
