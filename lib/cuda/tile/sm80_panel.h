// An operand as the sm_80 skeleton loads it, and the loads: global memory to a stage of shared memory through cp.async, masks on the way.
//
// A panel is indexed by x (a row of op(A), a column of op(B)) and k; B is its own transpose, so that one loader serves both. A stage always
// lies k by k, x contiguous, whatever the lines in memory: lines along x are copied in 16-byte pieces where they are aligned, lines along k
// are transposed element by element on the way in. What lies outside a fill or the matrix is written as zero, a unit diagonal as one;
// nothing outside a fill is read.
#pragma once
#include "core/k_range.h"
#include "cuda/tile/element.h"

namespace tritri::cuda {

struct Panel {
  const void *data;
  int64_t ld, batch_stride;
  int64_t count, depth;  // x < count, k < depth
  Fill fill;             // lower: k <= x
  bool unit;
  bool lines_along_k;
  bool aligned_lines;     // every line begins on a 16-byte boundary
  bool aligned_elements;  // complex elements are aligned to their own size

  // Of op(A); for op(B) pass its transpose.
  explicit Panel(const View &v, int64_t element_size)
      : data(v.data), ld(v.ld), batch_stride(v.batch_stride), count(v.rows), depth(v.cols), fill(v.fill), unit(v.unit), lines_along_k(v.row_lines) {
    const uint64_t bits = reinterpret_cast<uintptr_t>(v.data) | static_cast<uint64_t>(v.ld * element_size) | static_cast<uint64_t>(v.batch_stride * element_size);
    aligned_lines = bits % 16 == 0;
    aligned_elements = bits % static_cast<uint64_t>(element_size) == 0;
  }
};

inline View transposed(View v) {
  const int64_t rows = v.rows;
  v.fill = flipped(v.fill);
  v.row_lines = !v.row_lines;
  v.rows = v.cols;
  v.cols = rows;
  return v;
}

// Consecutive elements that travel in one 16-byte access.
template <class T> inline constexpr int vector_elements = 16 / static_cast<int>(sizeof(T));
template <class T> struct alignas(16) Vector { T value[vector_elements<T>]; };

template <int bytes>
__device__ __forceinline__ void copy_async(void *shared, const void *global) {
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  if constexpr (bytes == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
  else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(global), "n"(bytes) : "memory");
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending> __device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory"); }

// Loads tiles of `tile` x by `depth` k into stages whose k-th row begins at k * row.
template <class T, int tile, int depth, int row, int threads>
struct PanelLoader {
  static constexpr int vector = vector_elements<T>;
  static constexpr int sector = 32 / static_cast<int>(sizeof(T));
  static constexpr int lanes_k = sector > threads / tile ? sector : threads / tile;  // neighbours along k share 32-byte sectors of a line
  static_assert(depth % lanes_k == 0 && threads % lanes_k == 0 && tile % (threads / lanes_k) == 0, "lines along k: every thread copies the same number of elements");
  static_assert(threads % tile == 0 && depth % (threads / tile) == 0, "lines along x: every thread copies the same number of elements");
  static_assert(threads % (tile / vector) == 0 && depth % (threads / (tile / vector)) == 0, "lines along x: every thread copies the same number of vectors");
  static_assert(row * sizeof(T) % 16 == 0, "rows of a stage must be aligned for vector reads");

  static __device__ __forceinline__ void load(const Panel &p, const T *data, int64_t x0, int64_t k0, T *stage) {
    const bool whole = x0 + tile <= p.count && k0 + depth <= p.depth && block_is_whole(p.fill, p.unit, {x0, x0 + tile}, {k0, k0 + depth});
    if (p.lines_along_k) whole ? along_k(p, data, x0, k0, stage) : along_k_masked(p, data, x0, k0, stage);
    else if (p.aligned_lines) whole ? along_x<vector>(p, data, x0, k0, stage) : along_x_masked<vector>(p, data, x0, k0, stage);
    else whole ? along_x<1>(p, data, x0, k0, stage) : along_x_masked<1>(p, data, x0, k0, stage);
  }

 private:
  static __device__ __forceinline__ void copy_element(const Panel &p, T *to, const T *from) {
    if constexpr (is_complex_element<T>) {
      if (!p.aligned_elements) {
        copy_async<sizeof(T) / 2>(&to->re, &from->re);
        copy_async<sizeof(T) / 2>(&to->im, &from->im);
        return;
      }
    }
    copy_async<sizeof(T)>(to, from);
  }

  static __device__ __forceinline__ bool held(const Panel &p, int64_t x, int64_t k) {
    return x < p.count && k < p.depth && exists(p.fill, x, k) && !(p.unit && x == k);
  }

  static __device__ __forceinline__ void place(const Panel &p, T *to, const T *from, int64_t x, int64_t k) {
    if (held(p, x, k)) copy_element(p, to, from);
    else *to = p.unit && x == k && x < p.count && k < p.depth ? one<T>() : zero<T>();
  }

  static constexpr int step_x = threads / lanes_k;
  static __device__ __forceinline__ void along_k(const Panel &p, const T *data, int64_t x0, int64_t k0, T *stage) {
    const int x = threadIdx.x / lanes_k, k = threadIdx.x % lanes_k;
    const T *from = data + (x0 + x) * p.ld + k0 + k;
    T *to = stage + k * row + x;
#pragma unroll
    for (int dx = 0; dx < tile; dx += step_x) {
#pragma unroll
      for (int dk = 0; dk < depth; dk += lanes_k) copy_element(p, to + dk * row + dx, from + dk);
      from += step_x * p.ld;
    }
  }
  static __device__ __forceinline__ void along_k_masked(const Panel &p, const T *data, int64_t x0, int64_t k0, T *stage) {
    const int k = threadIdx.x % lanes_k;
#pragma unroll 1
    for (int x = threadIdx.x / lanes_k; x < tile; x += step_x) {
      const T *from = data + (x0 + x) * p.ld + k0;
#pragma unroll 1
      for (int kk = k; kk < depth; kk += lanes_k) place(p, stage + kk * row + x, from + kk, x0 + x, k0 + kk);
    }
  }

  // `width` elements at a time.
  template <int width>
  static __device__ __forceinline__ void along_x(const Panel &p, const T *data, int64_t x0, int64_t k0, T *stage) {
    constexpr int per_line = tile / width, step_k = threads / per_line;
    const int x = threadIdx.x % per_line * width, k = threadIdx.x / per_line;
    const T *from = data + (k0 + k) * p.ld + x0 + x;
    T *to = stage + k * row + x;
#pragma unroll(width == 1 ? 4 : depth / step_k)
    for (int dk = 0; dk < depth; dk += step_k) {
      if constexpr (width > 1) copy_async<16>(to + dk * row, from);
      else copy_element(p, to + dk * row, from);
      from += step_k * p.ld;
    }
  }
  template <int width>
  static __device__ __forceinline__ void along_x_masked(const Panel &p, const T *data, int64_t x0, int64_t k0, T *stage) {
    constexpr int per_line = tile / width, step_k = threads / per_line;
    const int64_t x = x0 + threadIdx.x % per_line * width;
#pragma unroll 1
    for (int kk = threadIdx.x / per_line; kk < depth; kk += step_k) {
      const int64_t k = k0 + kk;
      const T *from = data + k * p.ld + x;
      T *to = stage + kk * row + (x - x0);
      if (width > 1 && k < p.depth && x + width <= p.count && block_is_whole(p.fill, p.unit, {x, x + width}, {k, k + 1})) {
        copy_async<16>(to, from);
      } else {
#pragma unroll 1
        for (int e = 0; e < width; ++e) place(p, to + e, from + e, x + e, k);
      }
    }
  }
};

}  // namespace tritri::cuda
