// Kernels for batches of small matrices: a warp computes a tile of C in registers, straight from global memory. Where a tile is all of C, warps go
// from matrix to matrix; else several share one. Such products live on memory bandwidth: a warp asks for each sector of a triangle once, and
// the L1 cache serves those of neighbouring tiles. What is multiplied and how is a core (batched_core.cuh); fill, unit diagonal, op, order,
// packing and alignment are data.
#pragma once
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>

#include "cuda/heuristics.h"
#include "cuda/kernels/batched_core.cuh"
#include "cuda/kernels/batched_panels.cuh"
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
  bool plain;      // alpha is finite, and its product with a core's scale loses no digits
  bool pairs;      // two matrices fit into a tile of 16, one behind the other on its diagonal

  BatchedArguments(const Problem &problem, const BatchedOrder &o)
      : p(problem), a(problem.a, element_bytes(problem.dtype)), b(transposed(problem.b), element_bytes(problem.dtype)), order(o) {
    const int64_t vector = 16 / element_bytes(problem.dtype);
    c_vectors = !problem.c.packed && reinterpret_cast<uintptr_t>(problem.c.data) % 16 == 0 && problem.c.ld % vector == 0 && problem.c.batch_stride % vector == 0;
    plain = std::isfinite(problem.alpha.real()) && std::fabs(problem.alpha.real()) >= 0x1p-90;
    pairs = a.vectors && b.vectors && problem.m <= 8 && problem.n <= 8 && problem.k <= 8;
  }
  // The usual case: A's lines along k, B's across it, both in vectors, all in whole tiles.
  bool straight(int64_t tile) const {
    return a.vectors && b.vectors && a.view.row_lines && !b.view.row_lines && p.m % tile == 0 && p.n % tile == 0 && p.k % tile == 0;
  }
};

// A warp has matrices to itself; has tiles of one; has them with reads running ahead through shared memory, or with the whole matrix there for its block; or has
// parts of the k of a tile.
enum class BatchedWay { single, tiles, ring, block, split };

// A and B in a block's shared memory. Lines are copied in vectors.
struct BatchedStage {
  BatchedPanels a, b;
  int bytes;
  BatchedStage(const View &a_view, const View &b_view, int element)
      : a(a_view, element, 0), b(b_view, element, a.cells), bytes(b.cells * BatchedPanels::cell_bytes(element)) {}
  static bool can(const Problem &p, int most_bytes) {
    const auto element = static_cast<int>(element_bytes(p.dtype));
    return BatchedSide(p.a, element).vectors && BatchedSide(p.b, element).vectors && BatchedStage(p.a, p.b, element).bytes <= most_bytes;
  }
};

// One instantiation, as the host sees it.
struct BatchedVariant {
  int tile, chunk;
  int most;     // of m, n and k
  int least_k;
  BatchedWay way;
  int share;    // warps that share a matrix, at most; not where they share a tile
  int most_bytes;  // of a block's A and B, where it has them in shared memory
  double turn;  // what a multiprocessor of an H200 takes for one chunk of one tile, or for its store, when it is busy
  double wait;  // the same for a warp that is alone
  void (*load)();
  void (*launch)(const BatchedArguments &arguments, int multiprocessors, cudaStream_t stream);
  bool can(const Problem &p) const {
    if (p.m > most || p.n > most || p.k > most || p.k < least_k) return false;
    return way == BatchedWay::split ? p.batch <= BatchedOrder::most_split : way != BatchedWay::block || BatchedStage::can(p, most_bytes);
  }
  BatchedOrder order(const Problem &p) const { return way == BatchedWay::split ? BatchedOrder::of_split(p, tile, chunk) : BatchedOrder(p, tile, chunk, share); }
};
struct BatchedVariants { const BatchedVariant *first; int count; };
double batched_seconds(const BatchedVariant &variant, const Problem &problem, const GpuTraits &traits);  // modelled
extern const BatchedVariants batched_tf32x3, batched_f32_double, batched_tf32, batched_ffma, batched_f64, batched_f16, batched_bf16;

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

// What is known of an operand when the kernel is compiled: nothing, or that its lines lie along k or x, can be read in vectors and make whole tiles.
enum class Way { any, along_k, along_x };

// A lane's share of the chunk that begins at (x0, k0), on its way from memory: words as they were read, line by line, nothing masked yet.
template <class Map, class T, Way way>
class BatchedFragment {
  static constexpr int X = Map::held_x, K = Map::held_k, per_cell = CellOf<T>::elements, cells = K / per_cell;
  static constexpr int size = static_cast<int>(sizeof(T)), total = X * K * size / 4, far = 1 << 20;
  using Cell = typename CellOf<T>::type;
  uint32_t words[total];

  static __device__ __forceinline__ bool lines_along_k(const View &v) { return way == Way::any ? v.row_lines : way == Way::along_k; }

  // A line is one x or one k, `wide` the elements that a read brings.
  template <bool along_k> struct Part {
    static constexpr int lines = along_k ? X : K, wide = along_k ? K : Map::wide_x, reads = (along_k ? K : X) / wide, words = wide * size / 4;
    static constexpr __host__ __device__ int x(int line, int read) { return Map::step_x(along_k ? line : read * wide); }
    static constexpr __host__ __device__ int k(int line) { return along_k ? 0 : line; }
    static constexpr __host__ __device__ int step(int line) { return along_k ? Map::step_x(line) : line; }
  };

  // Whether all of the chunk is inside the fill and off a unit diagonal.
  static __device__ __forceinline__ bool whole(const View &v, int x0, int k0) {
    const int below = x0 - k0;
    if (v.unit && below > -Map::tile && below < Map::chunk) return false;
    return v.fill == Fill::full || (v.fill == Fill::lower ? below >= Map::chunk - 1 : below <= 1 - Map::tile);
  }

  template <bool along_k>
  static __device__ __forceinline__ uint32_t wanted(const View &v, int x0, int k0) {
    using P = Part<along_k>;
    const int rows = way == Way::any ? static_cast<int>(v.rows) : INT_MAX, cols = way == Way::any || Map::chunk > Map::tile ? static_cast<int>(v.cols) : INT_MAX;
    if (x0 + Map::tile <= rows && k0 + Map::chunk <= cols && whole(v, x0, k0)) return ~0u;
    const int x = x0 + Map::first_x(), k = k0 + Map::first_k(), below = x - k;
    const unsigned least = v.fill == Fill::lower ? 1 - P::wide : -far, span = (v.fill == Fill::full ? 2 * far : far) + P::wide - 1;
    uint32_t bits = 0;
#pragma unroll
    for (int line = 0; line < P::lines; ++line)
#pragma unroll
      for (int r = 0; r < P::reads; ++r) {
        const int dx = P::x(line, r), dk = P::k(line);
        if (x + dx < rows && k + dk < cols && static_cast<unsigned>(below + dx - dk) - least <= span) bits |= 1u << (line * P::reads + r);
      }
    return bits;
  }

  template <bool along_k>
  __device__ __forceinline__ void read_vectors(const View &v, const T *data, int x0, int k0, uint32_t reads) {
    using P = Part<along_k>;
    using Word = typename WordOf<P::wide * size>::type;
    const int x = x0 + Map::first_x(), k = k0 + Map::first_k();
    const T *line_begin = data + (along_k ? x : k) * v.ld + (along_k ? k : x);
#pragma unroll
    for (int line = 0; line < P::lines; ++line) {
#pragma unroll
      for (int r = 0; r < P::reads; ++r) {
        const int place = line * P::reads + r;
        Word w{};
        if (reads >> place & 1) w = __ldg(reinterpret_cast<const Word *>(line_begin + (along_k ? 0 : P::x(line, r))));
#pragma unroll
        for (int y = 0; y < P::words; ++y) words[place * P::words + y] = reinterpret_cast<const uint32_t *>(&w)[y];
      }
      if (line + 1 < P::lines) line_begin += (P::step(line + 1) - P::step(line)) * v.ld;
    }
  }

  template <bool along_k>
  __device__ __forceinline__ void read_singly(const View &v, const T *data, int x0, int k0) {
    using P = Part<along_k>;
    const int x = x0 + Map::first_x(), k = k0 + Map::first_k();
#pragma unroll
    for (int line = 0; line < P::lines; ++line)
#pragma unroll
      for (int r = 0; r < P::reads; ++r) {
        const Run<T, P::wide> run = read_elements<T, P::wide>(v, data, x + P::x(line, r), k + P::k(line));
        memcpy(&words[(line * P::reads + r) * P::words], &run, sizeof(run));
      }
  }

  template <bool along_k>
  static __device__ __forceinline__ void start_vectors(const View &v, const T *data, int x0, int k0, uint32_t reads, unsigned char *slot) {
    using P = Part<along_k>;
    constexpr int bytes = P::wide * size;
    const int x = x0 + Map::first_x(), k = k0 + Map::first_k();
    const T *line_begin = data + (along_k ? x : k) * v.ld + (along_k ? k : x);
    unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(slot)) + threadIdx.x % 32 * bytes;
#pragma unroll
    for (int line = 0; line < P::lines; ++line) {
#pragma unroll
      for (int r = 0; r < P::reads; ++r) {
        const int place = line * P::reads + r;
        // Through the L1 cache, where neighbouring tiles find it. Of size 0: zeros, and nothing is read.
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to + place * 32 * bytes), "l"(line_begin + (along_k ? 0 : P::x(line, r))), "n"(bytes),
                     "r"(reads >> place & 1 ? bytes : 0) : "memory");
      }
      if (line + 1 < P::lines) line_begin += (P::step(line + 1) - P::step(line)) * v.ld;
    }
  }

  // This lane's words to its part of the slot, or back.
  template <bool along_k, bool put>
  __device__ __forceinline__ void exchange(unsigned char *slot) {
    using P = Part<along_k>;
    constexpr int bytes = P::wide * size;
    using Word = typename WordOf<bytes>::type;
#pragma unroll
    for (int place = 0; place < P::lines * P::reads; ++place) {
      Word *const at = reinterpret_cast<Word *>(slot + (place * 32 + threadIdx.x % 32) * bytes);
      Word w;
      if constexpr (put) {
        memcpy(&w, &words[place * P::words], bytes);
        *at = w;
      } else {
        w = *at;
#pragma unroll
        for (int y = 0; y < P::words; ++y) words[place * P::words + y] = reinterpret_cast<const uint32_t *>(&w)[y];
      }
    }
  }

  template <bool along_k>
  __device__ __forceinline__ void gather(const BatchedPanels &panels, const unsigned char *stage, int x0, int k0) {
    using P = Part<along_k>;
    using Word = typename WordOf<P::wide * size>::type;
    static_assert(Map::parts == 1 && P::reads == 1, "a lane's lines are consecutive, its share of each one read");
    static_assert(Map::tile <= BatchedPanels::lines(size), "whatever a tile reads of a diagonal exists");
    constexpr int in_line = BatchedPanels::line_bytes / size, lines = BatchedPanels::lines(size);
    constexpr int step_line = along_k ? Map::tile : Map::chunk, step_position = along_k ? Map::chunk : Map::tile;
    // What steps by whole panels and cells is the same for all lanes.
    const int line0 = along_k ? x0 : k0, position0 = along_k ? k0 : x0;
    const int line = (step_line % lines == 0 ? 0 : line0 % lines) + (along_k ? Map::first_x() : Map::first_k());
    const int position = (step_position % in_line == 0 ? 0 : position0 % in_line) + (along_k ? Map::first_k() : Map::first_x());
    const int panel = line0 / lines + line / lines, cell = position0 / in_line, over = position / in_line;
    const unsigned char *const from = stage + panels.start(panel, cell, size) + over * BatchedPanels::cell_bytes(size);
    const int place = BatchedPanels::place(line % lines, position % in_line * size) ^ BatchedPanels::turned(panel, cell + over, size);
#pragma unroll
    for (int l = 0; l < P::lines; ++l) {
      const Word w = *reinterpret_cast<const Word *>(from + (place ^ BatchedPanels::place(l, 0)));
#pragma unroll
      for (int y = 0; y < P::words; ++y) words[l * P::words + y] = reinterpret_cast<const uint32_t *>(&w)[y];
    }
  }

 public:
  // A bit for every read of a vector in which an element exists.
  static __device__ __forceinline__ uint32_t wanted(const BatchedSide &side, int x0, int k0) {
    return lines_along_k(side.view) ? wanted<true>(side.view, x0, k0) : wanted<false>(side.view, x0, k0);
  }

  __device__ __forceinline__ void load(const BatchedSide &side, const T *data, int x0, int k0, uint32_t reads) {
    const bool along_k = lines_along_k(side.view);
    if (way != Way::any || side.vectors) {
      if (along_k) read_vectors<true>(side.view, data, x0, k0, reads);
      else read_vectors<false>(side.view, data, x0, k0, reads);
    } else {
      if (along_k) read_singly<true>(side.view, data, x0, k0);
      else read_singly<false>(side.view, data, x0, k0);
    }
  }

  // The same through a slot of shared memory, 16-byte aligned, of which each lane gets back what it put there itself.
  static constexpr int slot_bytes = 32 * X * K * size;
  __device__ static __forceinline__ void start(const BatchedSide &side, const T *data, int x0, int k0, unsigned char *slot) {
    const bool along_k = lines_along_k(side.view);
    if (way != Way::any || side.vectors) {
      const uint32_t reads = wanted(side, x0, k0);
      if (along_k) start_vectors<true>(side.view, data, x0, k0, reads, slot);
      else start_vectors<false>(side.view, data, x0, k0, reads, slot);
    } else {
      BatchedFragment fragment;
      if (along_k) fragment.template read_singly<true>(side.view, data, x0, k0);
      else fragment.template read_singly<false>(side.view, data, x0, k0);
      along_k ? fragment.template exchange<true, true>(slot) : fragment.template exchange<false, true>(slot);
    }
  }
  __device__ __forceinline__ void collect(const BatchedSide &side, unsigned char *slot) {
    lines_along_k(side.view) ? exchange<true, false>(slot) : exchange<false, false>(slot);
  }

  // From a block's shared memory.
  __device__ __forceinline__ void gather(const BatchedSide &side, const BatchedPanels &panels, const unsigned char *stage, int x0, int k0) {
    const bool along_k = lines_along_k(side.view);
    along_k ? gather<true>(panels, stage, x0, k0) : gather<false>(panels, stage, x0, k0);
  }

  // A bit for every part of the tile that has elements in the chunk.
  static __device__ __forceinline__ unsigned parts(const View &v, int x0, int k0) {
    unsigned bits = 0;
#pragma unroll
    for (int y = 0; y < Map::parts; ++y) {
      const int x = x0 + y * Map::part;
      if ((v.fill != Fill::lower || k0 < x + Map::part) && (v.fill != Fill::upper || k0 + Map::chunk > x)) bits |= 1u << y;
    }
    return bits;
  }

  // Sorted into cells.
  __device__ __forceinline__ void sort(const BatchedSide &side, Cell (&cell)[X][cells]) const {
    const bool along_k = lines_along_k(side.view);
#pragma unroll
    for (int i = 0; i < X; ++i)
#pragma unroll
      for (int c = 0; c < cells; ++c) {
        if constexpr (size == 2) {
          const int from = (2 * c * X + i) / 2, next = ((2 * c + 1) * X + i) / 2;
          cell[i][c] = along_k ? words[i * K / 2 + c] : __byte_perm(words[from], words[next], i % 2 ? 0x7632 : 0x5410);
        } else if constexpr (size == 4) {
          cell[i][c] = __uint_as_float(along_k ? words[i * K + c] : words[c * X + i]);
        } else {
          const int in_k = 2 * (i * K + c), in_x = 2 * (c * X + i);
          cell[i][c] = along_k ? __hiloint2double(static_cast<int>(words[in_k + 1]), static_cast<int>(words[in_k]))
                               : __hiloint2double(static_cast<int>(words[in_x + 1]), static_cast<int>(words[in_x]));
        }
      }
  }

  // The same, masked by selection: zero outside the fill, one on a unit diagonal. Outside the matrix there are zeros already.
  __device__ __forceinline__ void take(const BatchedSide &side, int x0, int k0, Cell (&cell)[X][cells]) const {
    sort(side, cell);
    const View &v = side.view;
    if (whole(v, x0, k0)) return;
    // Element (i, e) is below + step_x(i) - e under the diagonal; one unsigned comparison takes the bounds of either fill.
    const int below = x0 + Map::first_x() - k0 - Map::first_k();
    const unsigned least = v.fill == Fill::lower ? 0 : -far, span = v.fill == Fill::full ? 2 * far : far;
#pragma unroll
    for (int i = 0; i < X; ++i)
#pragma unroll
      for (int e = 0; e < K; ++e) {
        const bool keep = static_cast<unsigned>(below + Map::step_x(i) - e) - least <= span;
        Cell &x = cell[i][e / per_cell];
        if constexpr (per_cell == 1) x = keep ? x : Cell(0);
        else x = keep ? x : x & (e % 2 ? 0xffffu : 0xffff0000u);
      }
    if (!v.unit) return;
    const int diagonal = static_cast<int>(min(v.rows, v.cols)) - x0 - Map::first_x();
#pragma unroll
    for (int i = 0; i < X; ++i)
#pragma unroll
      for (int e = 0; e < K; ++e) {
        const bool on = below + Map::step_x(i) - e == 0, inside = Map::step_x(i) < diagonal;
        Cell &x = cell[i][e / per_cell];
        if constexpr (per_cell == 1) x = on ? inside ? Cell(1) : Cell(0) : x;
        else x = on ? (x & (e % 2 ? 0xffffu : 0xffff0000u)) | (inside ? CellOf<T>::one << e % 2 * 16 : 0) : x;
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

// How a lane's runs of the tile at (i0, j0) go to C: a bit for each that is stored as a vector, and for each of which only elements are.
struct BatchedRuns { uint32_t vectors, elements; };

template <class Map>
__device__ __forceinline__ BatchedRuns runs_of(const BatchedArguments &args, int i0, int j0) {
  const View &c = args.p.c;
  const int m = static_cast<int>(c.rows), n = static_cast<int>(c.cols), first = i0 + Map::first_x();
  BatchedRuns runs{0, 0};
#pragma unroll
  for (int i = 0; i < Map::held_x; ++i)
#pragma unroll
    for (int u = 0; u < Map::runs; ++u) {
      const int row = first + Map::step_x(i), col = j0 + Map::run_column(u);
      const int begin = c.fill == Fill::upper ? row : 0, end = c.fill == Fill::lower ? min(row + 1, n) : n;
      const uint32_t bit = 1u << (i * Map::runs + u);
      if (row >= m || col + Map::run <= begin || col >= end) continue;
      if (args.c_vectors && col >= begin && col + Map::run <= end) runs.vectors |= bit;
      else runs.elements |= bit;
    }
  return runs;
}

template <class Core>
__device__ __forceinline__ bool stands(const BatchedArguments &args, const Core &core) { return !__any_sync(~0u, core.odd_one_out() || !args.plain); }

// The core's sums into C's tile at (i0, j0).
template <class Core>
__device__ __forceinline__ void store_tile(const BatchedArguments &args, const Core &core, const BatchedRuns &runs, int64_t batch, int i0, int j0) {
  using T = typename Core::T;
  using Acc = typename Core::Acc;
  using Map = typename Core::Map;
  using Values = Run<T, Map::run>;
  using Word = typename WordOf<sizeof(Values)>::type;
  const ProductArguments &p = args.p;
  const Acc alpha = static_cast<Acc>(p.alpha_re) * Core::unscale, beta = static_cast<Acc>(p.beta_re);
  // Adding +0 makes +0 of what a negative alpha makes of a structural zero.
  const auto scaled = [&](int i, int u, int t) { return alpha * core.at(i, Map::run_block(u, t), Map::run_odd(u, t)) + Acc(0); };
  const int first = i0 + Map::first_x();
  T *const c = static_cast<T *>(const_cast<void *>(p.c.data)) + batch * p.c.batch_stride;
  const auto store_vectors = [&](auto reads_c) {
    T *line = c + first * p.c.ld + j0;
#pragma unroll
    for (int i = 0; i < Map::held_x; ++i) {
#pragma unroll
      for (int u = 0; u < Map::runs; ++u) {
        if (!(runs.vectors >> (i * Map::runs + u) & 1)) continue;
        Word *const to = reinterpret_cast<Word *>(line + Map::run_column(u));
        Values values;
        if constexpr (decltype(reads_c)::value) *reinterpret_cast<Word *>(&values) = *to;
#pragma unroll
        for (int t = 0; t < Map::run; ++t) {
          Acc value = scaled(i, u, t);
          if constexpr (decltype(reads_c)::value) value += beta * static_cast<Acc>(widen(values.value[t]));
          values.value[t] = narrow<T>(value);
        }
        __stcs(to, *reinterpret_cast<const Word *>(&values));
      }
      if (i + 1 < Map::held_x) line += (Map::step_x(i + 1) - Map::step_x(i)) * p.c.ld;
    }
  };
  if (beta != 0) store_vectors(std::true_type{});
  else store_vectors(std::false_type{});
  if (!__any_sync(~0u, runs.elements != 0)) return;
  const int n = static_cast<int>(p.n);
#pragma unroll
  for (int i = 0; i < Map::held_x; ++i)
#pragma unroll
    for (int u = 0; u < Map::runs; ++u) {
      if (!(runs.elements >> (i * Map::runs + u) & 1)) continue;
      const int row = first + Map::step_x(i), col = j0 + Map::run_column(u);
      const int begin = p.c.fill == Fill::upper ? row : 0, end = p.c.fill == Fill::lower ? min(row + 1, n) : n;
      T *const to = c + p.c.offset(row, 0) + col;
#pragma unroll
      for (int t = 0; t < Map::run; ++t) {
        if (col + t < begin || col + t >= end) continue;
        Acc value = scaled(i, u, t);
        if (beta != 0) value += beta * static_cast<Acc>(widen(to[t]));
        to[t] = narrow<T>(value);
      }
    }
}

template <class T>
__device__ __forceinline__ const T *operand_of(const BatchedSide &side, int64_t batch) { return matrix_of<T>(side.view, batch); }

// Several tiles of C. A block has threadIdx.z matrices, threadIdx.y warps for each.
// Assumes: m, n, k at most BatchedOrder::most_size, batch below 2^31, C apart from A and B.
template <class Core, bool straight>
__global__ void __launch_bounds__(32 * BatchedOrder::most_warps, Core::resident) batched_tiles(const __grid_constant__ BatchedArguments args) {
  using T = typename Core::T;
  using Map = typename Core::Map;
  using FragmentA = BatchedFragment<Map, T, straight ? Way::along_k : Way::any>;
  using FragmentB = BatchedFragment<Map, T, straight ? Way::along_x : Way::any>;
  using Cell = typename CellOf<T>::type;
  constexpr int X = Map::held_x, cells = Map::held_k / CellOf<T>::elements;
  __shared__ __align__(16) float shared[BatchedOrder::most_warps * Core::shared_floats + 1];

  const int own = __shfl_sync(~0u, static_cast<int>(threadIdx.y), 0), which = __shfl_sync(~0u, static_cast<int>(threadIdx.z), 0);
  const int64_t batch = static_cast<int64_t>(blockIdx.x) * blockDim.z + which;
  if (batch >= args.p.batch) return;
  const T *const a = operand_of<T>(args.a, batch), *const b = operand_of<T>(args.b, batch);
  const int last = args.order.first[own + 1];
#pragma unroll 1
  for (int index = args.order.first[own]; index < last; ++index) {
    const BatchedPlace place = args.order.place[index];
    const int i0 = place.row * Map::tile, j0 = place.col * Map::tile, k_begin = place.begin * Map::chunk, k_end = place.end * Map::chunk;
    Core core(shared + (which * static_cast<int>(blockDim.y) + own) * Core::shared_floats);
#pragma unroll 1
    for (int k = k_begin; k < k_end; k += Core::depth * Map::chunk) {
      // All loads of a step before the first product.
      FragmentA a_now[Core::depth];
      FragmentB b_now[Core::depth];
#pragma unroll
      for (int d = 0; d < Core::depth; ++d) {
        const int at = k + d * Map::chunk;
        if (d > 0 && at >= k_end) break;
        a_now[d].load(args.a, a, i0, at, FragmentA::wanted(args.a, i0, at));
        b_now[d].load(args.b, b, j0, at, FragmentB::wanted(args.b, j0, at));
      }
#pragma unroll
      for (int d = 0; d < Core::depth; ++d) {
        const int at = k + d * Map::chunk;
        if (d > 0 && at >= k_end) break;
        Cell left[X][cells], right[X][cells];
        a_now[d].take(args.a, i0, at, left);
        b_now[d].take(args.b, j0, at, right);
        core.multiply(left, right, {FragmentA::parts(args.a.view, i0, at), FragmentB::parts(args.b.view, j0, at)});
      }
    }
    if (stands(args, core)) store_tile(args, core, runs_of<Map>(args, i0, j0), batch, i0, j0);
    else compute_again<T>(args.p, batch, i0, j0, Map::tile);
  }
}

// Where a warp that walks its tiles chunk by chunk is: chunks that tiles without any k do not have.
struct BatchedStep {
  int index, last;
  int i0, j0, k, end;

  template <class Map>
  __device__ __forceinline__ void enter(const BatchedOrder &order) {
    if (index >= last) return;
    const BatchedPlace place = order.place[index];
    i0 = place.row * Map::tile;
    j0 = place.col * Map::tile;
    k = place.begin * Map::chunk;
    end = place.end * Map::chunk;
  }
};

// The same with reads under way while others are multiplied, also those of the next tile: each warp has a ring of Core::stages chunks in shared memory.
// Assumes: m, n, k at most BatchedOrder::most_size, batch below 2^31, C apart from A and B; of a warp's places those without k come last.
template <class Core, bool straight>
__global__ void __launch_bounds__(32 * BatchedOrder::most_warps, Core::resident) batched_ring(const __grid_constant__ BatchedArguments args) {
  using T = typename Core::T;
  using Map = typename Core::Map;
  using FragmentA = BatchedFragment<Map, T, straight ? Way::along_k : Way::any>;
  using FragmentB = BatchedFragment<Map, T, straight ? Way::along_x : Way::any>;
  using Cell = typename CellOf<T>::type;
  constexpr int X = Map::held_x, cells = Map::held_k / CellOf<T>::elements, stage_bytes = FragmentA::slot_bytes + FragmentB::slot_bytes;
  __shared__ __align__(16) float shared[BatchedOrder::most_warps * Core::shared_floats + 1];
  extern __shared__ __align__(16) unsigned char rings[];

  const int own = __shfl_sync(~0u, static_cast<int>(threadIdx.y), 0), which = __shfl_sync(~0u, static_cast<int>(threadIdx.z), 0);
  const int64_t batch = static_cast<int64_t>(blockIdx.x) * blockDim.z + which;
  if (batch >= args.p.batch) return;
  const T *const a = operand_of<T>(args.a, batch), *const b = operand_of<T>(args.b, batch);
  const int warp = which * static_cast<int>(blockDim.y) + own;
  unsigned char *const ring = rings + warp * (Core::stages * stage_bytes);

  BatchedStep ahead{args.order.first[own], args.order.first[own + 1], 0, 0, 0, 0};
  ahead.enter<Map>(args.order);
  int filled = 0, used = 0;  // stages
  const auto fill = [&] {
    if (ahead.index < ahead.last && ahead.k < ahead.end) {
      unsigned char *const stage = ring + filled * stage_bytes;
      FragmentA::start(args.a, a, ahead.i0, ahead.k, stage);
      FragmentB::start(args.b, b, ahead.j0, ahead.k, stage + FragmentA::slot_bytes);
      ahead.k += Map::chunk;
      if (ahead.k >= ahead.end) {
        ++ahead.index;
        ahead.enter<Map>(args.order);
      }
    }
    commit_copies();
    filled = filled == Core::stages - 1 ? 0 : filled + 1;
  };
#pragma unroll 1
  for (int stage = 0; stage + 1 < Core::stages; ++stage) fill();

  BatchedStep now{args.order.first[own], args.order.first[own + 1], 0, 0, 0, 0};
#pragma unroll 1
  for (; now.index < now.last; ++now.index) {
    now.enter<Map>(args.order);
    Core core(shared + warp * Core::shared_floats);
#pragma unroll 1
    for (; now.k < now.end; now.k += Map::chunk) {
      fill();  // into the stage that the last turn has read
      wait_for_copies<Core::stages - 1>();
      FragmentA a_now;
      FragmentB b_now;
      a_now.collect(args.a, ring + used * stage_bytes);
      b_now.collect(args.b, ring + used * stage_bytes + FragmentA::slot_bytes);
      used = used == Core::stages - 1 ? 0 : used + 1;
      Cell left[X][cells], right[X][cells];
      a_now.take(args.a, now.i0, now.k, left);
      b_now.take(args.b, now.j0, now.k, right);
      core.multiply(left, right, {FragmentA::parts(args.a.view, now.i0, now.k), FragmentB::parts(args.b.view, now.j0, now.k)});
    }
    if (stands(args, core)) store_tile(args, core, runs_of<Map>(args, now.i0, now.j0), batch, now.i0, now.j0);
    else compute_again<T>(args.p, batch, now.i0, now.j0, Map::tile);
  }
}

// A block has one matrix: everything that its warps read is on its way at once, comes to shared memory once, and other blocks' products fill the wait.
// Assumes: as batched_ring does, and BatchedStage::can.
template <class Core, bool straight>
__global__ void __launch_bounds__(32 * Core::share, Core::resident)
batched_block(const __grid_constant__ BatchedArguments args, const __grid_constant__ BatchedStage stage) {
  using T = typename Core::T;
  using Map = typename Core::Map;
  using FragmentA = BatchedFragment<Map, T, straight ? Way::along_k : Way::any>;
  using FragmentB = BatchedFragment<Map, T, straight ? Way::along_x : Way::any>;
  using Cell = typename CellOf<T>::type;
  constexpr int X = Map::held_x, cells = Map::held_k / CellOf<T>::elements;
  static_assert(Core::shared_floats == 0, "shared memory is the panels'");
  extern __shared__ __align__(1024) unsigned char memory[];

  const int own = __shfl_sync(~0u, static_cast<int>(threadIdx.y), 0), warps = static_cast<int>(blockDim.y);
  const int64_t batch = blockIdx.x;
  constexpr int of_panel = BatchedPanels::lines(static_cast<int>(sizeof(T)));
  // The long lines of one operand with the short ones of the other.
  copy_panels(args.a.view, operand_of<T>(args.a, batch), stage.a, memory, own, warps);
  copy_panels(args.b.view, operand_of<T>(args.b, batch), stage.b, memory, of_panel / 8 * stage.b.count - 1 - own, -warps);
  commit_copies();

  bool waits = true;
  const auto wait = [&] {
    wait_for_copies<0>();
    __syncthreads();
    const int a_lines = of_panel * stage.a.count, b_lines = of_panel * stage.b.count;
    for (int line = own * 32 + static_cast<int>(threadIdx.x); line < a_lines + b_lines; line += 32 * warps) {
      if (line < a_lines) mask_line<T>(args.a.view, stage.a, memory, line);
      else mask_line<T>(args.b.view, stage.b, memory, line - a_lines);
    }
    __syncthreads();
    waits = false;
  };
  // Tiles without k come first: those wait for nothing.
#pragma unroll 1
  for (int index = args.order.first[own + 1] - 1; index >= args.order.first[own]; --index) {
    const BatchedPlace place = args.order.place[index];
    const int i0 = place.row * Map::tile, j0 = place.col * Map::tile, k_begin = place.begin * Map::chunk, k_end = place.end * Map::chunk;
    if (waits && k_begin < k_end) wait();
    Core core(nullptr);
#pragma unroll 1
    for (int k = k_begin; k < k_end; k += Map::chunk) {
      FragmentA a_now;
      FragmentB b_now;
      a_now.gather(args.a, stage.a, memory, i0, k);
      b_now.gather(args.b, stage.b, memory, j0, k);
      Cell left[X][cells], right[X][cells];
      a_now.sort(args.a, left);
      b_now.sort(args.b, right);
      core.multiply(left, right, {FragmentA::parts(args.a.view, i0, k), FragmentB::parts(args.b.view, j0, k)});
    }
    if (stands(args, core)) store_tile(args, core, runs_of<Map>(args, i0, j0), batch, i0, j0);
    else compute_again<T>(args.p, batch, i0, j0, Map::tile);
  }
  if (waits) wait();
}

constexpr int warps_of_single = 4;  // in a block, each with matrices of its own

// C is one tile, and k is no longer than its edge: a warp goes from matrix to matrix, and what a lane reads and masks is the same for every matrix. Of pairs, the second begins at
// (8, 8) of the tile in A, B and C alike.
template <class Core, bool straight>
__global__ void __launch_bounds__(32 * warps_of_single, Core::resident) batched_single(const __grid_constant__ BatchedArguments args) {
  using T = typename Core::T;
  using Map = typename Core::Map;
  using FragmentA = BatchedFragment<Map, T, straight ? Way::along_k : Way::any>;
  using FragmentB = BatchedFragment<Map, T, straight ? Way::along_x : Way::any>;
  using Cell = typename CellOf<T>::type;
  constexpr int X = Map::held_x, cells = Map::held_k / CellOf<T>::elements, chunks = Map::tile > Map::chunk ? Map::tile / Map::chunk : 1;
  __shared__ __align__(16) float shared[warps_of_single * Core::shared_floats + 1];

  const int per_tile = Map::tile == 16 && !straight && args.pairs ? 2 : 1, second = per_tile == 2 ? Map::first_x() / 8 : 0, origin = -8 * second;
  uint32_t a_reads[chunks], b_reads[chunks];
#pragma unroll
  for (int c = 0; c < chunks; ++c) {
    const int k = c * Map::chunk;
    const bool other = per_tile == 2 && (k + Map::first_k()) / 8 != second;  // rows of one matrix, k of the other
    a_reads[c] = other ? 0 : FragmentA::wanted(args.a, origin, k + origin);
    b_reads[c] = other ? 0 : FragmentB::wanted(args.b, origin, k + origin);
  }
  const BatchedRuns all_runs = runs_of<Map>(args, origin, origin);
  const int warp = __shfl_sync(~0u, static_cast<int>(threadIdx.y), 0);
  const int64_t step = static_cast<int64_t>(gridDim.x) * warps_of_single * per_tile;
#pragma unroll 1
  for (int64_t from = (static_cast<int64_t>(blockIdx.x) * warps_of_single + warp) * per_tile; from < args.p.batch; from += step) {
    const int64_t batch = from + second;
    const bool there = batch < args.p.batch;
    const T *const a = operand_of<T>(args.a, batch), *const b = operand_of<T>(args.b, batch);
    FragmentA a_now[chunks];
    FragmentB b_now[chunks];
#pragma unroll
    for (int c = 0; c < chunks; ++c) {
      a_now[c].load(args.a, a, origin, c * Map::chunk + origin, there ? a_reads[c] : 0);
      b_now[c].load(args.b, b, origin, c * Map::chunk + origin, there ? b_reads[c] : 0);
    }
    Core core(shared + warp * Core::shared_floats);
#pragma unroll
    for (int c = 0; c < chunks; ++c) {
      Cell left[X][cells], right[X][cells];
      a_now[c].take(args.a, origin, c * Map::chunk + origin, left);
      b_now[c].take(args.b, origin, c * Map::chunk + origin, right);
      core.multiply(left, right, {~0u, ~0u});
    }
    if (stands(args, core)) {
      store_tile(args, core, there ? all_runs : BatchedRuns{0, 0}, batch, origin, origin);
    } else {
      for (int64_t again = from; again < from + per_tile && again < args.p.batch; ++again) compute_again<T>(args.p, again, 0, 0, Map::tile);
    }
  }
}

// Small batches: a block has one tile of one matrix, and its warps take turns at the chunks of k, so that whatever a product needs is asked for at once.
// blockIdx: column and row of the tile, matrix. Assumes what batched_tiles does, and a batch of at most BatchedOrder::most_split.
template <class Core, bool straight>
__global__ void __launch_bounds__(32 * BatchedOrder::most_warps, 4) batched_split(const __grid_constant__ BatchedArguments args) {
  using T = typename Core::T;
  using Acc = typename Core::Acc;
  using Map = typename Core::Map;
  using FragmentA = BatchedFragment<Map, T, straight ? Way::along_k : Way::any>;
  using FragmentB = BatchedFragment<Map, T, straight ? Way::along_x : Way::any>;
  using Cell = typename CellOf<T>::type;
  constexpr int X = Map::held_x, cells = Map::held_k / CellOf<T>::elements, depth = 2, most = BatchedOrder::most_warps;
  __shared__ __align__(16) float shared[most * Core::shared_floats + 1];
  __shared__ Acc parts[most - 1][2 * X * X][32];

  const ProductArguments &p = args.p;
  const int own = __shfl_sync(~0u, static_cast<int>(threadIdx.y), 0), warps = static_cast<int>(blockDim.y);
  const int i0 = static_cast<int>(blockIdx.y) * Map::tile, j0 = static_cast<int>(blockIdx.x) * Map::tile;
  const int64_t batch = blockIdx.z;
  const Range rows{i0, min(int64_t{i0} + Map::tile, p.m)}, cols{j0, min(int64_t{j0} + Map::tile, p.n)};
  if (p.c.fill == Fill::lower ? rows.end - 1 < cols.begin : p.c.fill == Fill::upper && rows.begin > cols.end - 1) return;
  const Range range = k_range(p.a.fill, p.b.fill, p.k, rows, cols);
  const int begin = static_cast<int>(range.begin) / Map::chunk * Map::chunk, end = range.empty() ? begin : static_cast<int>(range.end);
  if (begin == end && own > 0) return;
  const T *const a = operand_of<T>(args.a, batch), *const b = operand_of<T>(args.b, batch);
  Core core(shared + own * Core::shared_floats);
#pragma unroll 1
  for (int k = begin + own * Map::chunk; k < end; k += depth * warps * Map::chunk) {
    FragmentA a_now[depth];
    FragmentB b_now[depth];
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      const int at = k + d * warps * Map::chunk;
      if (d > 0 && at >= end) break;
      a_now[d].load(args.a, a, i0, at, FragmentA::wanted(args.a, i0, at));
      b_now[d].load(args.b, b, j0, at, FragmentB::wanted(args.b, j0, at));
    }
#pragma unroll
    for (int d = 0; d < depth; ++d) {
      const int at = k + d * warps * Map::chunk;
      if (d > 0 && at >= end) break;
      Cell left[X][cells], right[X][cells];
      a_now[d].take(args.a, i0, at, left);
      b_now[d].take(args.b, j0, at, right);
      core.multiply(left, right, {FragmentA::parts(args.a.view, i0, at), FragmentB::parts(args.b.view, j0, at)});
    }
  }
  // The parts are added in the order of the warps, so the same bits come out every time.
  if (own > 0) core.sums.each([&](Acc &sum, int index) { parts[own - 1][index][threadIdx.x] = sum; });
  const bool odd = begin < end && __syncthreads_or(core.odd_one_out());
  if (own > 0) return;
  for (int other = 1; begin < end && other < warps; ++other) core.sums.each([&](Acc &sum, int index) { sum += parts[other - 1][index][threadIdx.x]; });
  if (stands(args, core) && !odd) store_tile(args, core, runs_of<Map>(args, i0, j0), batch, i0, j0);
  else compute_again<T>(p, batch, i0, j0, Map::tile);
}

template <class Core, BatchedWay way, bool straight>
constexpr auto batched_function() {
  if constexpr (way == BatchedWay::single) return &batched_single<Core, straight>;
  else if constexpr (way == BatchedWay::tiles) return &batched_tiles<Core, straight>;
  else if constexpr (way == BatchedWay::ring) return &batched_ring<Core, straight>;
  else if constexpr (way == BatchedWay::block) return &batched_block<Core, straight>;
  else return &batched_split<Core, straight>;
}

// Shared memory of a warp's ring.
template <class Core>
constexpr int ring_bytes = Core::stages * 2 * 32 * Core::Map::held_x * Core::Map::held_k * static_cast<int>(sizeof(typename Core::T));

// Shared memory that a launch may ask for. A block's panels leave room for as many blocks as a multiprocessor of an H100 or H200 should hold; each takes 1 KB for itself.
template <class Core, BatchedWay way>
constexpr int most_shared_bytes() {
  if constexpr (way == BatchedWay::ring) return BatchedOrder::most_warps * ring_bytes<Core>;
  else if constexpr (way == BatchedWay::block) return std::min(228 / Core::resident - 1, 99) * 1024;
  else return 0;
}

template <class Core, BatchedWay way>
constexpr BatchedVariant batched_variant() {
  const auto load = [] {
    cudaFuncAttributes attributes;
    constexpr int most = most_shared_bytes<Core, way>();
    for (const auto function : {batched_function<Core, way, false>(), batched_function<Core, way, true>()}) {
      TRITRI_CUDA_CHECK(cudaFuncGetAttributes(&attributes, function));
      if constexpr (most > 0) TRITRI_CUDA_CHECK(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
      if constexpr (way == BatchedWay::block) TRITRI_CUDA_CHECK(cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
    }
  };
  const auto launch = [](const BatchedArguments &args, int multiprocessors, cudaStream_t stream) {
    const auto kernel = args.straight(Core::Map::tile) ? batched_function<Core, way, true>() : batched_function<Core, way, false>();
    constexpr int tile = Core::Map::tile;
    dim3 blocks, threads;
    size_t bytes = 0;
    if constexpr (way == BatchedWay::single) {
      const int64_t most = int64_t{multiprocessors} * Core::resident, enough = (args.p.batch + warps_of_single - 1) / warps_of_single;
      blocks.x = static_cast<unsigned>(enough < most ? enough : most);
      threads = {32, warps_of_single};
    } else if constexpr (way == BatchedWay::tiles || way == BatchedWay::ring) {
      const int64_t each = args.order.matrices_per_block();
      blocks.x = static_cast<unsigned>((args.p.batch + each - 1) / each);
      threads = {32, static_cast<unsigned>(args.order.warps), static_cast<unsigned>(each)};
      if constexpr (way == BatchedWay::ring) bytes = static_cast<size_t>(args.order.warps * each * ring_bytes<Core>);
    } else if constexpr (way == BatchedWay::block) {
      blocks.x = static_cast<unsigned>(args.p.batch);
      threads = {32, static_cast<unsigned>(args.order.warps)};
    } else {
      blocks = {static_cast<unsigned>((args.p.n + tile - 1) / tile), static_cast<unsigned>((args.p.m + tile - 1) / tile), static_cast<unsigned>(args.p.batch)};
      threads = {32, static_cast<unsigned>(args.order.warps)};
    }
    if constexpr (way == BatchedWay::block) {
      const BatchedStage stage(args.a.view, args.b.view, sizeof(typename Core::T));
      kernel<<<blocks, threads, static_cast<size_t>(stage.bytes), stream>>>(args, stage);
    } else {
      kernel<<<blocks, threads, bytes, stream>>>(args);
    }
    TRITRI_CUDA_CHECK(cudaGetLastError());
  };
  return {Core::Map::tile, Core::Map::chunk, Core::most, Core::least_k, way, Core::share, most_shared_bytes<Core, way>(), Core::turn, Core::wait, load, launch};
}

}  // namespace tritri::cuda
