// The skeleton for batches of small matrices: a warp computes a tile of C in registers, straight from global memory, and up to four warps share
// a matrix. Such products live on memory bandwidth: each sector of a triangle is asked for once by a warp, and the L1 cache serves those of
// neighbouring tiles. What is multiplied and how is a core (batched_core.cuh); fill, unit diagonal, op, order, packing, alignment are data.
#pragma once
#include <cmath>
#include <cstring>

#include "cuda/kernels/batched_core.cuh"
#include "cuda/runtime/check.h"
#include "cuda/schedule/batched_schedule.h"

namespace tritri::cuda {

// An operand as tiles see it: op(A), or the transpose of op(B), so that x is a row or a column of C and k the other index.
struct BatchedSide {
  View view;
  bool vectors;  // lines are whole vectors of 16 bytes, on 16-byte boundaries

  BatchedSide(const View &v, int64_t element) : view(v) {
    const int64_t vector = 16 / element;
    vectors = !v.packed && reinterpret_cast<uintptr_t>(v.data) % 16 == 0 && v.ld % vector == 0 && v.batch_stride % vector == 0 && v.lines().length % vector == 0;
  }
};

struct BatchedArguments {
  ProductArguments p;
  BatchedSide a, b;
  BatchedOrder order;
  bool c_vectors;  // C's lines begin on 16-byte boundaries
  bool finite;     // alpha is

  BatchedArguments(const Problem &problem, const BatchedOrder &o)
      : p(problem), a(problem.a, element_bytes(problem.dtype)), b(transposed(problem.b), element_bytes(problem.dtype)), order(o) {
    const int64_t vector = 16 / element_bytes(problem.dtype);
    c_vectors = !problem.c.packed && reinterpret_cast<uintptr_t>(problem.c.data) % 16 == 0 && problem.c.ld % vector == 0 && problem.c.batch_stride % vector == 0;
    finite = std::isfinite(problem.alpha.real());
  }
};

// One instantiation, as the host sees it.
struct BatchedVariant {
  int tile, chunk;
  void (*load)();
  void (*launch)(const BatchedArguments &arguments, cudaStream_t stream);
};
extern const BatchedVariant batched_tf32x3, batched_f32_double[2], batched_tf32[2], batched_ffma[2];  // of two: tiles of 16 and 32
extern const BatchedVariant batched_f64[2], batched_f16[2], batched_bf16[2];

template <int bytes> struct WordOf { using type = uint32_t; };
template <> struct WordOf<8> { using type = uint2; };
template <> struct WordOf<16> { using type = uint4; };

template <class T, int n> struct alignas(n * sizeof(T)) Run { T value[n]; };

// The words of one read, element by element: what exists and is not a unit diagonal; the rest is zero. Out of the way of the vectors.
template <class T, int count>
__device__ __noinline__ Run<T, count> read_elements(const View &v, const T *data, int x, int k) {
  const Lines lines = v.lines();
  const T *from = data + (v.row_lines ? lines.offset(x, k) : lines.offset(k, x));
  Run<T, count> run{};
#pragma unroll
  for (int e = 0; e < count; ++e) {
    const int xx = v.row_lines ? x : x + e, kk = v.row_lines ? k + e : k;
    if (xx < v.rows && kk < v.cols && exists(v.fill, xx, kk) && !(v.unit && xx == kk)) run.value[e] = from[e];
  }
  return run;
}

// A lane's share of a chunk on its way from memory: words as they were read, line by line, nothing masked yet.
template <class Map, class T>
class BatchedFragment {
  using Cell = typename CellOf<T>::type;
  static constexpr int X = Map::held_x, K = Map::held_k, per_cell = CellOf<T>::elements, cells = K / per_cell;
  static constexpr int size = static_cast<int>(sizeof(T)), total = X * K * size / 4, far = 1 << 20;
  uint32_t words[total];

  // Consecutive elements that one read brings, and reads of a line; a line is one x or one k.
  template <bool along_k> struct Part { static constexpr int lines = along_k ? X : K, wide = along_k ? K : Map::wide_x, reads = (along_k ? K : X) / wide, words = wide * size / 4; };

  // Line `line` of a lane counts from here on.
  template <bool along_k> static constexpr __host__ __device__ int line_step(int line) { return along_k ? Map::step_x(line) : line; }

  template <bool along_k>
  __device__ __forceinline__ void load_vectors(const View &v, const T *data, int x0, int k0) {
    using P = Part<along_k>;
    using Word = typename WordOf<P::wide * size>::type;
    constexpr int more_x = along_k ? 0 : P::wide - 1, more_k = along_k ? P::wide - 1 : 0;
    const int x = x0 + Map::first_x(), k = k0 + Map::first_k(), below = x - k;
    const int least = v.fill == Fill::lower ? -more_x - more_k : -far, most = v.fill == Fill::upper ? more_x + more_k : far;
    const int x_end = static_cast<int>(v.rows) - x, k_end = static_cast<int>(v.cols) - k;
    const T *line_begin = data + (along_k ? x : k) * v.ld + (along_k ? k : x);
#pragma unroll
    for (int line = 0; line < P::lines; ++line) {
#pragma unroll
      for (int r = 0; r < P::reads; ++r) {
        const int dx = Map::step_x(along_k ? line : r * P::wide), dk = along_k ? 0 : line;
        const bool any = dx < x_end && dk < k_end && below + dx - dk >= least && below + dx - dk <= most;
        Word w{};
        if (any) w = __ldg(reinterpret_cast<const Word *>(line_begin + (along_k ? 0 : dx)));
#pragma unroll
        for (int y = 0; y < P::words; ++y) words[(line * P::reads + r) * P::words + y] = reinterpret_cast<const uint32_t *>(&w)[y];
      }
      if (line + 1 < P::lines) line_begin += (line_step<along_k>(line + 1) - line_step<along_k>(line)) * v.ld;
    }
  }

  template <bool along_k>
  __device__ __forceinline__ void load_elements(const View &v, const T *data, int x0, int k0) {
    using P = Part<along_k>;
    const int x = x0 + Map::first_x(), k = k0 + Map::first_k();
#pragma unroll
    for (int line = 0; line < P::lines; ++line)
#pragma unroll
      for (int r = 0; r < P::reads; ++r) {
        const Run<T, P::wide> run = read_elements<T, P::wide>(v, data, x + Map::step_x(along_k ? line : r * P::wide), k + (along_k ? 0 : line));
        memcpy(&words[(line * P::reads + r) * P::words], &run, sizeof(run));
      }
  }

 public:
  // Of the chunk that begins at (x0, k0). A vector is read where one of its elements exists; without vectors only what exists is.
  __device__ __forceinline__ void load(const BatchedSide &side, const T *data, int x0, int k0) {
    if (side.vectors) {
      if (side.view.row_lines) load_vectors<true>(side.view, data, x0, k0);
      else load_vectors<false>(side.view, data, x0, k0);
    } else {
      if (side.view.row_lines) load_elements<true>(side.view, data, x0, k0);
      else load_elements<false>(side.view, data, x0, k0);
    }
  }

  // Sorted into cells and masked by selection: zero outside the fill, one on a unit diagonal. Outside the matrix there are zeros already.
  __device__ __forceinline__ void take(const BatchedSide &side, int x0, int k0, Cell (&cell)[X][cells]) const {
#pragma unroll
    for (int i = 0; i < X; ++i)
#pragma unroll
      for (int c = 0; c < cells; ++c) {
        if constexpr (size == 2) {
          const int from = (2 * c * X + i) / 2, next = ((2 * c + 1) * X + i) / 2;
          cell[i][c] = side.view.row_lines ? words[i * K / 2 + c] : __byte_perm(words[from], words[next], i % 2 ? 0x7632 : 0x5410);
        } else if constexpr (size == 4) {
          cell[i][c] = __uint_as_float(side.view.row_lines ? words[i * K + c] : words[c * X + i]);
        } else {
          const int along_k = 2 * (i * K + c), along_x = 2 * (c * X + i);
          cell[i][c] = side.view.row_lines ? __hiloint2double(static_cast<int>(words[along_k + 1]), static_cast<int>(words[along_k]))
                                           : __hiloint2double(static_cast<int>(words[along_x + 1]), static_cast<int>(words[along_x]));
        }
      }
    const View &v = side.view;
    if (block_is_whole(v.fill, v.unit, {x0, x0 + Map::tile}, {k0, k0 + Map::chunk})) return;
    const int below = x0 + Map::first_x() - k0 - Map::first_k();  // of element (i, e): below + step_x(i) - e
    const int least = v.fill == Fill::lower ? 0 : -far, most = v.fill == Fill::upper ? 0 : far;
    const int side_length = static_cast<int>(v.rows < v.cols ? v.rows : v.cols) - x0 - Map::first_x();
#pragma unroll
    for (int i = 0; i < X; ++i)
#pragma unroll
      for (int e = 0; e < K; ++e) {
        const int at = below + Map::step_x(i) - e;
        const bool keep = at >= least && at <= most, is_one = v.unit && at == 0, inside = Map::step_x(i) < side_length;
        Cell &x = cell[i][e / per_cell];
        if constexpr (per_cell == 1) {
          if (!keep) x = 0;
          if (is_one) x = inside ? 1 : 0;
        } else {
          const uint32_t mask = e % 2 ? 0xffff0000u : 0xffffu;
          if (!keep || is_one) x &= ~mask;
          if (is_one && inside) x |= (CellOf<T>::one | CellOf<T>::one << 16) & mask;
        }
      }
  }
};

// A tile whose sums may not stand: every element by itself, over its own k.
template <class T>
__device__ __noinline__ void compute_again(const ProductArguments &p, int64_t batch, int i0, int j0, int tile) {
  T *const target = static_cast<T *>(const_cast<void *>(p.c.data)) + batch * p.c.batch_stride;
  for (int index = threadIdx.x % 32; index < tile * tile; index += 32) {
    const int i = i0 + index / tile, j = j0 + index % tile;
    if (i >= p.m || j >= p.n || !exists(p.c.fill, i, j)) continue;
    const Range own = k_range(p.a.fill, p.b.fill, p.k, {i, i + 1}, {j, j + 1});
    store<T>(p, target + p.c.offset(i, j), {exact_sum<T>(p, batch, i, j, own), own.empty()});
  }
}

// Assumes: m, n, k at most BatchedOrder::most_size, batch below 2^31, C apart from A and B.
template <class Core>
__global__ void __launch_bounds__(32 * BatchedOrder::most_warps, Core::resident) batched(const __grid_constant__ BatchedArguments args) {
  using T = typename Core::T;
  using Acc = typename Core::Acc;
  using Map = typename Core::Map;
  using Cell = typename CellOf<T>::type;
  constexpr int X = Map::held_x, cells = Map::held_k / CellOf<T>::elements, tile = Map::tile;
  __shared__ __align__(16) float shared[BatchedOrder::most_warps * Core::shared_floats + 1];

  const ProductArguments &p = args.p;
  const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0), sharing = args.order.warps;
  const int64_t batch = static_cast<int64_t>(blockIdx.x) * args.order.matrices_per_block() + warp / sharing;
  if (batch >= p.batch) return;
  const T *const a = static_cast<const T *>(args.a.view.data) + batch * args.a.view.batch_stride;
  const T *const b = static_cast<const T *>(args.b.view.data) + batch * args.b.view.batch_stride;
  T *const c = static_cast<T *>(const_cast<void *>(p.c.data)) + batch * p.c.batch_stride;
  const Acc alpha = static_cast<Acc>(p.alpha_re), beta = static_cast<Acc>(p.beta_re);
  const int m = static_cast<int>(p.m), n = static_cast<int>(p.n);

  const int own = warp % sharing, last = args.order.first[own + 1];
#pragma unroll 1
  for (int place = args.order.first[own]; place < last; ++place) {
    const int i0 = args.order.row[place] * tile, j0 = args.order.col[place] * tile;
    const Range range = k_range(p.a.fill, p.b.fill, p.k, {i0, min(i0 + tile, m)}, {j0, min(j0 + tile, n)});
    const int k_begin = static_cast<int>(range.begin) / Map::chunk * Map::chunk, k_end = range.empty() ? k_begin : static_cast<int>(range.end);
    Core core(shared + warp * Core::shared_floats);
    if constexpr (Core::ahead) {
      BatchedFragment<Map, T> a_next, b_next;
      // Each chunk is loaded one turn ahead; the first turn only loads, so that the loads stand here once.
#pragma unroll 1
      for (int k = k_begin - Map::chunk; k < k_end; k += Map::chunk) {
        const BatchedFragment<Map, T> a_now = a_next, b_now = b_next;
        if (k + Map::chunk < k_end) {
          a_next.load(args.a, a, i0, k + Map::chunk);
          b_next.load(args.b, b, j0, k + Map::chunk);
        }
        if (k < k_begin) continue;
        Cell left[X][cells], right[X][cells];
        a_now.take(args.a, i0, k, left);
        b_now.take(args.b, j0, k, right);
        core.multiply(left, right);
      }
    } else {
#pragma unroll 1
      for (int k = k_begin; k < k_end; k += Map::chunk) {
        BatchedFragment<Map, T> a_now, b_now;
        a_now.load(args.a, a, i0, k);
        b_now.load(args.b, b, j0, k);
        Cell left[X][cells], right[X][cells];
        a_now.take(args.a, i0, k, left);
        b_now.take(args.b, j0, k, right);
        core.multiply(left, right);
      }
    }

    if (__any_sync(~0u, core.odd_one_out() || !args.finite)) {
      compute_again<T>(p, batch, i0, j0, tile);
      continue;
    }
#pragma unroll
    for (int i = 0; i < X; ++i) {
      const int row = i0 + Map::first_x() + Map::step_x(i);
      if (row >= m) continue;
      const Range held = row_held(p.c.fill, row, n);
      const int begin = static_cast<int>(held.begin), end = static_cast<int>(held.end);
      T *const line = c + (p.c.packed ? p.c.offset(row, 0) : row * p.c.ld);
#pragma unroll
      for (int u = 0; u < Map::runs; ++u) {
        const int col = j0 + Map::run_column(u);
        // Adding +0 makes +0 of what a negative alpha makes of a structural zero.
        const auto scaled = [&](int t) { return alpha * core.at(i, Map::run_block(u, t), Map::run_odd(u, t)) + Acc(0); };
        if (args.c_vectors && col >= begin && col + Map::run <= end) {
          using Values = Run<T, Map::run>;
          Values values;
          if (beta != 0) {
            values = *reinterpret_cast<const Values *>(line + col);
#pragma unroll
            for (int t = 0; t < Map::run; ++t) values.value[t] = narrow<T>(scaled(t) + beta * static_cast<Acc>(widen(values.value[t])));
          } else {
#pragma unroll
            for (int t = 0; t < Map::run; ++t) values.value[t] = narrow<T>(scaled(t));
          }
          using Word = typename WordOf<sizeof(Values)>::type;
          __stcs(reinterpret_cast<Word *>(line + col), *reinterpret_cast<const Word *>(&values));
        } else {
#pragma unroll
          for (int t = 0; t < Map::run; ++t) {
            if (col + t < begin || col + t >= end) continue;
            Acc value = scaled(t);
            if (beta != 0) value += beta * static_cast<Acc>(widen(line[col + t]));
            line[col + t] = narrow<T>(value);
          }
        }
      }
    }
  }
}

template <class Core>
constexpr BatchedVariant batched_variant() {
  const auto load = [] {
    cudaFuncAttributes attributes;
    TRITRI_CUDA_CHECK(cudaFuncGetAttributes(&attributes, batched<Core>));
  };
  const auto launch = [](const BatchedArguments &args, cudaStream_t stream) {
    const int64_t each = args.order.matrices_per_block(), blocks = (args.p.batch + each - 1) / each;
    batched<Core><<<static_cast<unsigned>(blocks), static_cast<unsigned>(32 * args.order.warps * each), 0, stream>>>(args);
    TRITRI_CUDA_CHECK(cudaGetLastError());
  };
  return {Core::Map::tile, Core::Map::chunk, load, launch};
}

}  // namespace tritri::cuda
