// The kernel that serves everything: shared-memory tiles, register blocks, FMA in the accumulator's own type.
//
// Assumes nothing of the problem but that it is valid: any dtype, fill, unit diagonal, order, ld, packing, batch. Masks are selections made
// while a tile is loaded; a sum that met a masked zero and came out as NaN is computed again over its own k range.
#include <algorithm>

#include "cuda/kernels/kernel.h"
#include "cuda/runtime/check.h"
#include "cuda/schedule/work.h"
#include "cuda/tile/element.h"

namespace tritri::cuda {
namespace {

constexpr int side = 16, threads = side * side, depth = 16;

template <class T, int block>
struct Traits {
  using Element = T;
  using Acc = AccumulatorOf<T>;
  static constexpr int per_thread = block;        // a thread computes a per_thread x per_thread block of C
  static constexpr int tile = side * block;       // rows and columns of C per thread block
  static constexpr int loads = tile * depth / threads;
  static constexpr int resident = sizeof(Acc) <= 8 ? 2 : 1;  // blocks per multiprocessor that registers must allow
  static constexpr int pad = sizeof(Acc) >= 16 ? 1 : 16 / static_cast<int>(sizeof(Acc));  // keeps rows of a tile 16-byte aligned
  static_assert(tile * depth % threads == 0 && threads % tile == 0, "every thread loads the same number of elements in either direction");
  static_assert((tile + pad) * sizeof(Acc) % 16 == 0, "vector reads of a tile's rows must be aligned");
};

// Consecutive accumulators that travel from shared memory to registers in one instruction.
template <class A, int count>
struct alignas(sizeof(A) * count >= 16 ? 16 : sizeof(A) * count) Pack { A value[count]; };

// Reads a slice of an operand, `tile` long in its outer index (rows of A, columns of B) and `depth` in k. Consecutive threads read along
// the operand's lines, whichever way those lie. Elements stay as they are in memory until put(), so that nothing waits for them before.
template <class Tr, bool outer_is_row>
struct Slice {
  using T = typename Tr::Element;
  using Acc = typename Tr::Acc;

  const View &view;
  const T *data;
  int64_t outer, outer_end;
  int first_outer, first_k;          // of this thread's loads; every further one lies step_outer or step_k on
  int step_outer, step_k;
  int64_t stride_k, step;            // elements from one k, or one load, to the next
  const T *first;

  __device__ Slice(const View &x, const T *matrix, int64_t from, int64_t end) : view(x), data(matrix), outer(from), outer_end(end) {
    const bool along_k = x.row_lines == outer_is_row;
    first_outer = along_k ? threadIdx.x / depth : threadIdx.x % Tr::tile;
    first_k = along_k ? threadIdx.x % depth : threadIdx.x / Tr::tile;
    step_outer = along_k ? threads / depth : 0;
    step_k = along_k ? 0 : threads / Tr::tile;
    stride_k = along_k ? 1 : x.ld;
    step = (along_k ? threads / depth : threads / Tr::tile) * x.ld;
    first = matrix + (outer + first_outer) * (along_k ? x.ld : 1) + first_k * stride_k;
  }

  __device__ bool whole(int64_t k, int64_t k_end) const {
    if (outer + Tr::tile > outer_end || k + depth > k_end) return false;
    const Range o{outer, outer + Tr::tile}, kk{k, k + depth};
    return outer_is_row ? block_is_whole(view.fill, view.unit, o, kk) : block_is_whole(view.fill, view.unit, kk, o);
  }

  __device__ void load(int64_t k, int64_t k_end, T (&values)[Tr::loads]) const {
    const T *source = first + k * stride_k;
    if (!view.packed && whole(k, k_end)) {
#pragma unroll
      for (int r = 0; r < Tr::loads; ++r) values[r] = source[r * step];
      return;
    }
#pragma unroll
    for (int r = 0; r < Tr::loads; ++r) {
      const int64_t o = outer + first_outer + r * step_outer, kk = k + first_k + r * step_k, row = outer_is_row ? o : kk, col = outer_is_row ? kk : o;
      const bool there = o < outer_end && kk < k_end && exists(view.fill, row, col), one_here = view.unit && row == col;
      T value{};
      if (there && !one_here) value = view.packed ? data[view.offset(row, col)] : source[r * step];
      if (there && one_here) value = narrow<T>(one<Acc>());
      values[r] = value;
    }
  }

  __device__ void put(Acc (&shared)[depth][Tr::tile + Tr::pad], const T (&values)[Tr::loads], bool tf32) const {
#pragma unroll
    for (int r = 0; r < Tr::loads; ++r)
      shared[first_k + r * step_k][first_outer + r * step_outer] = adjust(static_cast<Acc>(widen(values[r])), view.conj, tf32);
  }
};

template <class Tr>
__global__ void __launch_bounds__(threads, Tr::resident) simt(const __grid_constant__ ProductArguments p, const __grid_constant__ TileOrder order) {
  using T = typename Tr::Element;
  using Acc = typename Tr::Acc;
  constexpr int own = Tr::per_thread;
  __shared__ alignas(16) Acc a_tile[depth][Tr::tile + Tr::pad];
  __shared__ alignas(16) Acc b_tile[depth][Tr::tile + Tr::pad];
  const int ty = threadIdx.x / side * own, tx = threadIdx.x % side * own;
  const int64_t per_matrix = order.count_m * order.count_n, total = per_matrix * p.batch;

  for (int64_t index = blockIdx.x; index < total; index += gridDim.x) {
    const int64_t batch = index / per_matrix, within = index % per_matrix;
    const int64_t i0 = order.row(within) * Tr::tile, j0 = order.col(within) * Tr::tile;
    const Range rows{i0, i0 + Tr::tile < p.m ? i0 + Tr::tile : p.m}, cols{j0, j0 + Tr::tile < p.n ? j0 + Tr::tile : p.n};
    if (p.c.fill == Fill::lower && rows.end - 1 < cols.begin) continue;
    if (p.c.fill == Fill::upper && rows.begin > cols.end - 1) continue;

    const Range range = k_range(p.a.fill, p.b.fill, p.k, rows, cols);
    Acc sum[own][own] = {};
    if (!range.empty()) {
      const Slice<Tr, true> a(p.a, matrix_of<T>(p.a, batch), i0, p.m);
      const Slice<Tr, false> b(p.b, matrix_of<T>(p.b, batch), j0, p.n);
      T a_next[Tr::loads], b_next[Tr::loads];
      a.load(range.begin, range.end, a_next);
      b.load(range.begin, range.end, b_next);
      for (int64_t k = range.begin; k < range.end; k += depth) {
        a.put(a_tile, a_next, p.tf32);
        b.put(b_tile, b_next, p.tf32);
        __syncthreads();
        if (k + depth < range.end) {  // in flight while this slice is multiplied
          a.load(k + depth, range.end, a_next);
          b.load(k + depth, range.end, b_next);
        }
#pragma unroll
        for (int kk = 0; kk < depth; ++kk) {
          const auto x = *reinterpret_cast<const Pack<Acc, own> *>(&a_tile[kk][ty]);
          const auto y = *reinterpret_cast<const Pack<Acc, own> *>(&b_tile[kk][tx]);
#pragma unroll
          for (int r = 0; r < own; ++r)
#pragma unroll
            for (int c = 0; c < own; ++c) multiply_add(sum[r][c], x.value[r], y.value[c]);
        }
        __syncthreads();
      }
    }

    T *target = static_cast<T *>(const_cast<void *>(p.c.data)) + batch * p.c.batch_stride;
#pragma unroll
    for (int r = 0; r < own; ++r) {
      const int64_t i = i0 + ty + r;
      if (i >= p.m) continue;
      T *row = target + p.c.offset(i, 0);  // for a packed C the position of an element that need not exist
#pragma unroll
      for (int c = 0; c < own; ++c) {
        const int64_t j = j0 + tx + c;
        if (j < p.n && exists(p.c.fill, i, j)) store<T>(p, row + j, settle<T>(p, batch, i, j, sum[r][c]));
      }
    }
  }
}

template <class T> using Large = Traits<T, 4>;
template <class T> using Small = Traits<T, 2>;

// Small tiles where large ones would leave most multiprocessors or most of a tile idle.
int64_t tile_for(const Problem &p, const GpuTraits &traits) {
  constexpr int64_t large = Large<float>::tile, small = Small<float>::tile;
  const TileOrder order(p, large, large);
  const double tiles = static_cast<double>(order.count_m) * static_cast<double>(order.count_n) * static_cast<double>(p.batch);
  return tiles < traits.multiprocessors || (p.m <= small && p.n <= small) ? small : large;
}

bool can(const Problem &, const GpuTraits &) { return true; }

// Multiply-adds per second of this kernel relative to the card's float32 FMA rate, as seen on an H200.
double rate(Dtype dtype, const GpuTraits &traits) {
  const bool fast_double = traits.compute_minor == 0 && traits.compute_major >= 6;  // the data-centre chips
  switch (dtype) {
    case Dtype::f64: return fast_double ? 0.16 : 0.014;
    case Dtype::c64: return 0.108;
    case Dtype::c128: return fast_double ? 0.043 : 0.004;
    case Dtype::f32: case Dtype::f16: case Dtype::bf16: break;
  }
  return 0.33;
}

Plan plan(const Problem &p, const GpuTraits &traits, size_t) {
  Plan plan;
  const int64_t tile = tile_for(p, traits);
  plan.tile_m = plan.tile_n = tile;
  plan.tile_k = depth;
  const double speed = rate(p.dtype, traits) * traits.fma32_per_second, pairs = tiled_pairs(p, tile, tile) * static_cast<double>(p.batch);
  // Few tiles: the longest one sets the time, by the latency of each step of k and the arithmetic of one multiprocessor, as seen on an H200.
  const double latency = tile == Large<float>::tile ? 52e-9 : 27e-9, arithmetic = static_cast<double>(tile) * static_cast<double>(tile) * traits.multiprocessors / speed;
  plan.seconds = 3e-6 + std::max(pairs / speed, static_cast<double>(p.k) * (latency + arithmetic));
  // Sums that come out as zero are looked at again, and the short sums of a batch do not hide how their tiles begin and end.
  if (p.a.fill != Fill::full && p.b.fill != Fill::full) plan.seconds += 2e-6;
  const double tiles = static_cast<double>((p.m + tile - 1) / tile) * static_cast<double>((p.n + tile - 1) / tile) * static_cast<double>(p.batch);
  if (p.batch > 1) plan.seconds += 5e-6 * tiles / traits.multiprocessors;
  return plan;
}

template <class Tr>
void enqueue(const Problem &p, cudaStream_t stream) {
  const TileOrder order(p, Tr::tile, Tr::tile);
  const double total = static_cast<double>(order.count_m) * static_cast<double>(order.count_n) * static_cast<double>(p.batch);
  const unsigned blocks = total < 1e6 ? static_cast<unsigned>(total) : 1000000u;  // the rest in a loop
  simt<Tr><<<blocks, threads, 0, stream>>>(ProductArguments(p), order);
  TRITRI_CUDA_CHECK(cudaGetLastError());
}

void launch(const Problem &p, const Plan &plan, void *, const GpuTraits &, cudaStream_t stream) {
  visit_element(p.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (plan.tile_m == Large<T>::tile) enqueue<Large<T>>(p, stream);
    else enqueue<Small<T>>(p, stream);
  });
}

void load(const GpuTraits &) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128, Dtype::f16, Dtype::bf16}) {
    visit_element(dtype, [](auto tag) {
      using T = typename decltype(tag)::type;
      cudaFuncAttributes attributes;
      TRITRI_CUDA_CHECK(cudaFuncGetAttributes(&attributes, simt<Large<T>>));
      TRITRI_CUDA_CHECK(cudaFuncGetAttributes(&attributes, simt<Small<T>>));
    });
  }
}

}  // namespace

extern const Kernel simt_kernel;
const Kernel simt_kernel = {"simt", can, plan, load, launch};

}  // namespace tritri::cuda
