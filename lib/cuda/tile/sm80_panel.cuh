// An operand as the sm_80 skeleton loads it, and the loads: global memory to a stage of shared memory through cp.async, masks on the way.
//
// A panel is indexed by x (a row of op(A), a column of op(B)) and k; B is its own transpose, so that one loader serves both. A stage of
// PanelLoader lies k by k, x contiguous, whatever the lines in memory: lines along x are copied in vectors, lines along k are transposed element by
// element on the way in. A stage of LineLoader lies x by x, as lines along k do in memory. What lies outside a fill or the matrix arrives as
// zero, a unit diagonal as one; nothing outside a fill is read.
#pragma once
#include "cuda/tile/element.h"

namespace tritri::cuda {

struct Panel {
  const void *data;
  int64_t ld, batch_stride;
  int64_t count, depth;  // x < count, k < depth
  Fill fill;             // lower: k <= x
  bool unit;
  bool lines_along_k;
  int bend;               // how many elements farther apart each two lines are than the two before: 1 or -1 for packed triangles
  bool even_lines;        // they are equally far apart, and every one begins on a 16-byte boundary
  bool near_lines;        // 32 bits count the elements between any two lines of a tile
  bool aligned_elements;  // complex elements are aligned to their own size

  // Of op(A); for op(B) pass its transpose.
  Panel(const View &v, int64_t element_size)
      : data(v.data), ld(v.ld), batch_stride(v.batch_stride), count(v.rows), depth(v.cols), fill(v.fill), unit(v.unit), lines_along_k(v.row_lines), bend(0) {
    const LineStarts starts = line_starts(v.lines());
    ld = starts.step;
    bend = starts.bend;
    const uint64_t bits = reinterpret_cast<uintptr_t>(v.data) | static_cast<uint64_t>(v.batch_stride * element_size);
    even_lines = bend == 0 && (bits | static_cast<uint64_t>(ld * element_size)) % 16 == 0;
    near_lines = std::max(ld, v.lines().length) < int64_t{1} << 23;
    aligned_elements = bits % static_cast<uint64_t>(element_size) == 0;
  }
};

// Where the lines beside one line begin, in elements from where it begins. `lines` is best known to the compiler: addresses then differ by
// multiples of what stays in registers. Index: int where lines are near.
template <class Index>
struct LineSteps {
  Index step;  // to the next line
  int bend;
  __device__ __forceinline__ LineSteps(const Panel &p, Index line) : step(static_cast<Index>(p.ld) + p.bend * line), bend(p.bend) {}
  __device__ __forceinline__ LineSteps(const LineStarts &starts, Index line) : step(static_cast<Index>(starts.step) + starts.bend * line), bend(starts.bend) {}
  __device__ __forceinline__ Index to(int lines) const { return lines * step + bend * (lines * (lines - 1) / 2); }
  __device__ __forceinline__ void pass(int lines) { step += bend * lines; }
};
__device__ __forceinline__ int64_t line_start(const Panel &p, int64_t line) { return line * p.ld + p.bend * (line * (line - 1) / 2); }

// Consecutive elements that travel in one 16-byte access.
template <class T> inline constexpr int vector_elements = 16 / static_cast<int>(sizeof(T));
template <class T> struct alignas(16) Vector { T value[vector_elements<T>]; };

template <bool add_up, class T>
__device__ __forceinline__ void put_vector(T *to, Vector<T> v) {
  auto *const target = reinterpret_cast<Vector<T> *>(to);
  if constexpr (add_up) {
    const Vector<T> old = *target;
#pragma unroll
    for (int e = 0; e < vector_elements<T>; ++e) v.value[e] = plus(old.value[e], v.value[e]);
  }
  *target = v;
}

// `bytes` bytes, or zeros instead: size is `bytes` or 0, and 0 reads nothing, wherever the pointer points.
template <int bytes>
__device__ __forceinline__ void copy_async(void *shared, const void *global, int size = bytes) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (bytes == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(size) : "memory");
  else asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global), "n"(bytes), "r"(size) : "memory");
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending> __device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory"); }

// A vector, in the widest pieces that its source is aligned for.
template <int bytes>
__device__ __forceinline__ void copy_in_pieces(void *shared, const void *global) {
#pragma unroll
  for (int at = 0; at < 16; at += bytes) copy_async<bytes>(static_cast<char *>(shared) + at, static_cast<const char *>(global) + at);
}
template <class T>
__device__ __forceinline__ void copy_vector(T *to, const T *source) {
  const auto bits = static_cast<unsigned>(reinterpret_cast<uintptr_t>(source));
  if (bits % 16 == 0) copy_in_pieces<16>(to, source);
  else if (sizeof(typename RealOf<T>::type) == 8 || bits % 8 == 0) copy_in_pieces<8>(to, source);
  else copy_in_pieces<4>(to, source);
}

// A barrier of shared memory for `count` threads; phases are told apart by their parity.
__device__ __forceinline__ void barrier_init(unsigned barrier, int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
// What the thread did before is seen by whoever waits. (PTX ISA, mbarrier.arrive: release at CTA scope.) One lane could speak for its warp after
// __syncwarp, but racecheck does not follow that, and it is no faster.
__device__ __forceinline__ void barrier_arrive(unsigned barrier) {
  asm volatile("{\n\t.reg .b64 state;\n\tmbarrier.arrive.shared.b64 state, [%0];\n\t}" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void barrier_wait(unsigned barrier, int parity) {
#if __CUDA_ARCH__ >= 900
#define TRITRI_BARRIER_TEST "mbarrier.try_wait.parity.shared.b64"
#else
#define TRITRI_BARRIER_TEST "mbarrier.test_wait.parity.shared.b64"
#endif
  asm volatile("{\n\t.reg .pred done;\n\twait:\n\t" TRITRI_BARRIER_TEST " done, [%0], %1;\n\t@!done bra wait;\n\t}" ::"r"(barrier), "r"(parity) : "memory");
#undef TRITRI_BARRIER_TEST
}

// x, as a number that came from another lane: one that the assembler can work out, it works out anew between the products.
__device__ __forceinline__ int kept(int x) { return __shfl_sync(~0u, x, threadIdx.x % 32); }

// What a thread may copy of a panel, relative to its own first element (x, k): 32-bit numbers.
struct PanelMask {
  int diagonal, x_end, k_end;
  bool lower, upper, unit;
  __device__ __forceinline__ PanelMask(const Panel &p, int x, int k)
      : diagonal(x - k), x_end(static_cast<int>(p.count) - x), k_end(static_cast<int>(p.depth) - k), lower(p.fill == Fill::lower), upper(p.fill == Fill::upper), unit(p.unit) {}

  // What there is at one x, for any number of k >= 0: one comparison each.
  struct Line {
    int first, one;
    unsigned count;
    __device__ __forceinline__ bool held(int dk) const { return static_cast<unsigned>(dk - first) < count; }
    __device__ __forceinline__ bool is_one(int dk) const { return dk == one; }
  };
  __device__ __forceinline__ Line line(int dx) const {
    const int on_diagonal = diagonal + dx, first = upper ? on_diagonal : 0, end = dx >= x_end ? first : lower ? min(k_end, on_diagonal + 1) : k_end;
    return {first, unit && dx < x_end && on_diagonal < k_end ? on_diagonal : -1, static_cast<unsigned>(max(end - first, 0))};
  }
};

// `pairs`: two complex neighbours lie in a stage as {re, re, im, im}, and `to` is where the real part lies.
template <bool pairs, class T>
__device__ __forceinline__ void copy_element(const Panel &panel, T *to, const T *source, bool held = true) {
  const int size = held ? static_cast<int>(sizeof(T)) : 0;
  if constexpr (is_complex_element<T>) {
    if (pairs || !panel.aligned_elements) {
      auto *const parts = &to->re;
      copy_async<sizeof(T) / 2>(parts, &source->re, size / 2);
      copy_async<sizeof(T) / 2>(parts + (pairs ? 2 : 1), &source->im, size / 2);
      return;
    }
  }
  copy_async<sizeof(T)>(to, source, size);
}

template <bool masked, bool pairs, class T>
__device__ __forceinline__ void place(const Panel &panel, T *to, const T *source, const PanelMask::Line &line, int dk) {
  if (!masked || !line.is_one(dk)) {
    copy_element<pairs>(panel, to, source, !masked || line.held(dk));
  } else if constexpr (pairs) {
    (&to->re)[0] = 1;
    (&to->re)[2] = 0;
  } else {
    *to = one<T>();
  }
}

// The turns whose elements all exist, where turns of `depth` k begin at k0 and a tile of x at x0: all_held, solved for k. A unit diagonal counts
// as missing; above it, a full panel is masked as well.
struct WholeTurns {
  int begin, end;
  __device__ __forceinline__ WholeTurns(const Panel &p, int tile, int depth, int x0, int k0) {
    const bool above = p.fill == Fill::upper || (p.fill == Fill::full && p.unit);
    const int k_begin = above ? x0 + tile - 1 + p.unit : k0, depth_end = static_cast<int>(p.depth);
    const int k_end = p.fill == Fill::lower ? min(x0 + 1 - p.unit, depth_end) : depth_end;
    begin = k_begin > k0 ? (k_begin - k0 + depth - 1) / depth : 0;
    end = x0 + tile <= p.count && k_end > k0 ? (k_end - k0) / depth : 0;
  }
  __device__ __forceinline__ bool holds(int turn) const { return turn >= begin && turn < end; }
};

// Loads `tile` x by `depth` k per turn, one turn after another; row k of a stage begins at k * row. A turn whose elements all exist takes the
// path without comparisons, and what does not change from turn to turn is kept: address arithmetic competes with the products for issue slots.
// Lines that are not `even` come in parts as well where the kernel is for them. They begin anywhere, so what would be vectors comes element by element,
// neighbours by neighbouring threads.
template <class T, int tile, int depth, int row, int threads, bool even, bool pairs>
class PanelLoader {
  static constexpr int vector = pairs ? 1 : vector_elements<T>;  // pairs are copied part by part
  static constexpr int sector = 32 / static_cast<int>(sizeof(T));
  static constexpr int lanes_k = sector > threads / tile ? sector : threads / tile;  // neighbours along k share 32-byte sectors of a line
  static constexpr int step_x = threads / lanes_k;
  static_assert(depth % lanes_k == 0 && threads % lanes_k == 0 && tile % step_x == 0, "lines along k: every thread copies the same number of elements");
  static_assert(threads % tile == 0 || tile % threads == 0, "lines along x: whole rows of the stage per pass");
  static_assert(row * sizeof(T) % 16 == 0, "rows of a stage must be aligned for vector reads");
  static_assert(!pairs || (is_complex_element<T> && step_x % 2 == 0 && threads % 2 == 0), "a thread copies the same places of pairs");

  // Threads along x when they copy `width` elements each.
  template <int width> struct AlongX {
    static constexpr int per_line = tile / width, step_k = threads < per_line ? 1 : threads / per_line, lanes = threads < per_line ? threads : per_line, span = lanes * width;
  };

  // How a turn is copied, the same for all threads. Where lines lie along x and k >= x, the elements of a vector that exist come first.
  enum Way { whole_along_k, whole_vectors, whole_elements, masked_lines, masked_vectors, masked_single };

  const Panel &panel;
  const int x0, k0;
  const T *from;  // this thread's first element of the next turn
  const WholeTurns whole_turns;
  const Way masked_way, whole_way;
  const int at;          // where this thread's copies go in a stage
  LineSteps<int> lines;  // from the first line of the next turn on; not for `even`

 public:
  // The tile begins at x0; turns at k0.
  __device__ __forceinline__ PanelLoader(const Panel &p, const T *data, int x0, int k0)
      : panel(p), x0(x0), k0(k0), whole_turns(p, tile, depth, x0, k0),
        masked_way(p.lines_along_k ? masked_lines : !pairs && p.fill != Fill::lower && !p.unit ? masked_vectors : masked_single),
        whole_way(p.lines_along_k ? whole_along_k : even && !pairs && p.even_lines ? whole_vectors : p.near_lines ? whole_elements : masked_way),
        at(kept(threadIdx.x / AlongX<vector>::per_line * row + threadIdx.x % AlongX<vector>::per_line * (even ? vector : 1))), lines(p, k0 + my_k()) {
    const int x = x0 + my_x(), k = k0 + my_k();
    from = data + (p.lines_along_k ? line_start(p, x) + k : line_start(p, k) + x);
  }

  // Turns come in order, from 0.
  __device__ __forceinline__ void load(T *stage, int turn) {
    const Way how = way(turn);
    if (how == whole_along_k) along_k<false>(stage, turn);
    else if (even && how == whole_vectors) vectors_along_x(stage, turn);
    else if (how == whole_elements) elements_along_x(stage, turn);
    else if (how == masked_lines) along_k<true>(stage, turn);
    else if (how == masked_vectors) along_x<vector>(stage, turn);
    else along_x<1>(stage, turn);
    pass(turn);
  }

  // The same in `parts` calls, for a turn that is whole and suits the kernel.
  __device__ __forceinline__ bool comes_in_parts(int turn) const {
    return whole_turns.holds(turn) && !panel.lines_along_k && !pairs && (even ? panel.even_lines : panel.near_lines && panel.aligned_elements);
  }
  template <int parts>
  __device__ __forceinline__ void load_part(T *stage, int turn, int part) {
    if constexpr (even) vectors_along_x<parts>(stage, turn, part);
    else elements_along_x<parts>(stage, turn, part);
    if (part + 1 < parts) return;
    if constexpr (even) {
      from += depth * panel.ld;
    } else {
      from += lines.to(depth);
      lines.pass(depth);
    }
  }

  // Conjugates what this thread copied of a turn, once that is there and before others may see it.
  __device__ __forceinline__ void conjugate(T *stage, int turn) const {
    const Way how = way(turn);
    if (how == whole_along_k || how == masked_lines) conjugate(stage, 1, threadIdx.x / lanes_k, step_x, threadIdx.x % lanes_k, lanes_k);
    else if (how == whole_elements) conjugate(stage, 1, threadIdx.x % AlongX<vector>::per_line, AlongX<vector>::lanes, threadIdx.x / AlongX<vector>::per_line, AlongX<vector>::step_k);
    else if (how != masked_single) conjugate_along_x<vector>(stage);
    else conjugate_along_x<1>(stage);
  }

 private:
  __device__ __forceinline__ Way way(int turn) const { return whole_turns.holds(turn) ? whole_way : masked_way; }
  __device__ __forceinline__ int my_x() const { return panel.lines_along_k ? threadIdx.x / lanes_k : threadIdx.x % AlongX<vector>::per_line * (even ? vector : 1); }
  __device__ __forceinline__ int my_k() const { return panel.lines_along_k ? threadIdx.x % lanes_k : threadIdx.x / AlongX<vector>::per_line; }

  // Where a stage holds x at k.
  static __device__ __forceinline__ T *place_of(T *stage, int x, int k) {
    T *const to = stage + k * row + x;
    if constexpr (pairs) return reinterpret_cast<T *>(&to->re - x % 2);
    else return to;
  }

  __device__ __forceinline__ void pass(int turn) {
    from += panel.lines_along_k ? depth : depth * panel.ld;
    if (panel.bend != 0 && !panel.lines_along_k) from += line_steps(turn).to(depth) - depth * panel.ld;
    lines.pass(depth);
  }

  // Where lines lie along x: from this thread's first one of a turn on.
  __device__ __forceinline__ LineSteps<int64_t> line_steps(int turn) const { return {panel, k0 + turn * depth + my_k()}; }

  template <int width>
  __device__ __forceinline__ void conjugate_along_x(T *stage) const {
    using Along = AlongX<width>;
    conjugate(stage, width, threadIdx.x % Along::per_line * width, Along::span, threadIdx.x / Along::per_line, Along::step_k);
  }
  static __device__ __forceinline__ void conjugate(T *stage, int width, int x, int step_x, int k, int step_k) {
#pragma unroll 1
    for (; k < depth; k += step_k)
#pragma unroll 1
      for (int dx = x; dx < tile; dx += step_x)
        for (int e = 0; e < width; ++e) stage[k * row + dx + e].im = -stage[k * row + dx + e].im;
  }

  template <bool masked>
  __device__ __forceinline__ void along_k(T *stage, int turn) const {
    const int x = threadIdx.x / lanes_k, k = threadIdx.x % lanes_k;
    const PanelMask mask(panel, x0 + x, k0 + turn * depth + k);
    const LineSteps<int64_t> steps(panel, x0 + x);
    T *const to = place_of(stage, x, k);
#pragma unroll
    for (int dx = 0; dx < tile; dx += step_x) {
      const T *source = from + steps.to(dx);
      const PanelMask::Line line = mask.line(dx);
#pragma unroll
      for (int dk = 0; dk < depth; dk += lanes_k) place<masked, pairs>(panel, to + dk * row + dx, source + dk, line, dk);
    }
  }

  // Calls f(place in a stage, line from the thread's first one on, position from its first one on) for what `part` of `parts` copies in vectors.
  template <int parts, class F>
  static __device__ __forceinline__ void each_along_x(int part, F &&f) {
    using Along = AlongX<vector>;
    constexpr int per_turn = Along::step_k < depth ? depth / Along::step_k : 1;
    if (Along::step_k > depth && static_cast<int>(threadIdx.x) / Along::per_line >= depth) return;
#pragma unroll
    for (int i = part * per_turn / parts; i < (part + 1) * per_turn / parts; ++i)
#pragma unroll
      for (int dx = 0; dx < tile; dx += Along::span) f(i * Along::step_k * row + dx, i * Along::step_k, dx);
  }
  template <int parts = 1>
  __device__ __forceinline__ void vectors_along_x(T *stage, int, int part = 0) const {
    T *const to = stage + at;
    each_along_x<parts>(part, [&](int place, int line, int dx) { copy_async<16>(to + place, from + line * panel.ld + dx); });
  }
  template <int parts = 1>
  __device__ __forceinline__ void elements_along_x(T *stage, int turn, int part = 0) const {
    const int x = threadIdx.x % AlongX<vector>::per_line, k = threadIdx.x / AlongX<vector>::per_line;
    const LineSteps<int> steps = even ? LineSteps<int>(panel, k0 + turn * depth + k) : lines;
    T *const to = parts > 1 ? stage + at : place_of(stage, x, k);
    const T *const first = even ? from - x * (vector - 1) : from;
    each_along_x<parts>(part, [&](int place, int line, int dx) {
      const T *const source = first + (steps.to(line) + dx);
#pragma unroll
      for (int e = 0; e < vector; ++e) {
        if (parts > 1) copy_async<sizeof(T)>(to + place + e * AlongX<vector>::lanes, source + e * AlongX<vector>::lanes);
        else copy_element<pairs>(panel, to + place + e * AlongX<vector>::lanes, source + e * AlongX<vector>::lanes);
      }
    });
  }

  // How many of `width` elements from (dx, dk) on exist, where those that do not come last.
  static __device__ __forceinline__ int prefix(const PanelMask &mask, int dx, int dk, int width) {
    const int inside = min(width, mask.x_end - dx), below = mask.upper ? dk - dx - mask.diagonal + 1 : width;
    return max(min(inside, below), 0);
  }

  // A turn that is not whole; in vectors, the elements of one that exist come first.
  template <int width>
  __device__ __forceinline__ void along_x(T *stage, int turn) const {
    using Along = AlongX<width>;
    const int x = threadIdx.x % Along::per_line * width, k = threadIdx.x / Along::per_line;
    if (Along::step_k > depth && k >= depth) return;
    const PanelMask mask(panel, x0 + x, k0 + turn * depth + k);
    // `from` is where this thread's vectors begin.
    const LineSteps<int64_t> steps(panel, k0 + turn * depth + k);
    const T *const first = from + line_steps(turn).to(k - my_k()) + (x - my_x());
    T *const to = place_of(stage, x, k);
    // Small code: it is needed once in a while, when other code has taken its place in the instruction cache.
#pragma unroll 1
    for (int dk = 0; dk < depth; dk += Along::step_k)
#pragma unroll
      for (int dx = 0; dx < tile; dx += Along::span) {
        const T *const source = first + steps.to(dk) + dx;
        T *const target = to + dk * row + dx;
        if constexpr (width == 1) {
          place<true, pairs>(panel, target, source, mask.line(dx), dk);
        } else {
          // A vector that is cut short goes element by element: the hardware fetches all 16 bytes of a shortened copy, and the last may lie
          // beyond the allocation.
          const int held = dk < mask.k_end ? prefix(mask, dx, dk, width) : 0;
          if (held == width) copy_vector(target, source);
          else if (held == 0) *reinterpret_cast<Vector<T> *>(target) = {};
          else
#pragma unroll
            for (int e = 0; e < width; ++e) copy_element<false>(panel, target + e, source + e, e < held);
        }
      }
  }
};

// Loads lines along k as they lie: line x of a stage begins at x * row.
template <class T, int tile, int depth, int row, int threads, bool even>
class LineLoader {
  static constexpr int vector = vector_elements<T>, pieces = depth / vector, step_x = threads / pieces;
  static constexpr int apart = even ? 1 : pieces;  // a thread's elements: a vector, or neighbours by neighbouring threads
  static_assert(depth % vector == 0 && threads % pieces == 0 && tile % step_x == 0, "every thread copies the same pieces of as many lines");

  const Panel &panel;
  const int x0, k0;
  const int at;                // where it goes in a stage
  const T *from;               // this thread's first element of the next turn
  const LineSteps<int> lines;  // from its first line on; not for `even`
  const WholeTurns whole_turns;

 public:
  __device__ __forceinline__ LineLoader(const Panel &p, const T *data, int x0, int k0)
      : panel(p), x0(x0), k0(k0), at(kept(my_x() * row + my_k())), from(data + line_start(p, x0 + my_x()) + k0 + my_k()), lines(p, kept(x0 + my_x())),
        whole_turns(p, tile, depth, x0, k0) {}

  // Turns come in order, from 0.
  __device__ __forceinline__ void load(T *stage, int turn) {
    if (is_whole(turn)) {
      load_part<1>(stage, turn, 0);
    } else {
      masked(stage, turn);
      from += depth;
    }
  }

  // As PanelLoader's.
  __device__ __forceinline__ bool comes_in_parts(int turn) const { return is_whole(turn) && (even || panel.aligned_elements); }
  template <int parts>
  __device__ __forceinline__ void load_part(T *stage, int, int part) {
    constexpr int per_turn = tile / step_x;
#pragma unroll
    for (int i = part * per_turn / parts; i < (part + 1) * per_turn / parts; ++i) {
      T *const to = stage + at + i * step_x * row;
      if constexpr (even) {
        copy_async<16>(to, from + i * step_x * panel.ld);
      } else {
        const T *const source = from + lines.to(i * step_x);
#pragma unroll
        for (int e = 0; e < vector; ++e) {
          if (parts > 1) copy_async<sizeof(T)>(to + e * apart, source + e * apart);
          else copy_element<false>(panel, to + e * apart, source + e * apart);
        }
      }
    }
    if (part + 1 == parts) from += depth;
  }

 private:
  __device__ __forceinline__ bool is_whole(int turn) const { return whole_turns.holds(turn) && (even || panel.near_lines); }
  static __device__ __forceinline__ int my_x() { return threadIdx.x / pieces; }
  static __device__ __forceinline__ int my_k() { return threadIdx.x % pieces * (even ? vector : 1); }

  __device__ __forceinline__ void masked(T *stage, int turn) const {
    const PanelMask mask(panel, x0 + my_x(), k0 + turn * depth + my_k());
    const LineSteps<int64_t> steps(panel, x0 + my_x());
    T *const to = stage + my_x() * row + my_k();
#pragma unroll
    for (int dx = 0; dx < tile; dx += step_x) {
      const T *const source = from + steps.to(dx);
      const PanelMask::Line line = mask.line(dx);
#pragma unroll
      for (int e = 0; e < vector; ++e) place<true, false>(panel, to + dx * row + e * apart, source + e * apart, line, e * apart);
    }
  }
};

}  // namespace tritri::cuda
