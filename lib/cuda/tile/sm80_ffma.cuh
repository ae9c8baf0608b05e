// A warp's share of a tile by IEEE fused multiply-adds, float or complex<float>: each thread holds groups of one 16-byte vector of rows by one
// of columns, lanes 4 x 8, so that every fragment is one LDS.128 (rows are broadcast to 8 lanes, columns to 4).
//
// The register file sets the pace: per cycle it delivers one operand out of its even and one out of its odd registers, and a product wants three.
// So products that share a factor follow each other, which keeps that in the cache for operands, while the other factor and the sum lie in different
// banks: neighbours in a vector take turns in the banks, and sums, which lie in registers as they leave, leave with neighbours exchanged. Neighbours
// are real columns; of complex elements they are rows, and both parts of a factor lie in the same bank.
#pragma once
#include "cuda/tile/sm80_panel.cuh"

namespace tritri::cuda {

// groups_m x groups_n vectors per thread.
template <class T_, int groups_m, int groups_n>
struct FfmaCore {
  using T = T_;
  static_assert(std::is_same_v<typename RealOf<T>::type, float>, "a vector is two pairs of 4-byte reals");
  static constexpr bool is_complex = is_complex_element<T>;
  static constexpr bool lines_a = false, pairs_a = is_complex;
  static constexpr int vector = vector_elements<T>, rows = groups_m * vector, cols = groups_n * vector;
  static constexpr int warp_m = 4 * rows, warp_n = 8 * cols;
  static constexpr int step = rows * cols * (is_complex ? 4 : 1) > 128 ? 4 : 8;  // small code stays in the instruction cache
  static constexpr int pad = 4;  // of a stage's rows, in elements: transposed 4-byte and 8-byte writes meet no bank conflict

  T sum[rows][cols];
  Vector<T> left[2][groups_m], right[2][groups_n];

  __device__ __forceinline__ FfmaCore() {
#pragma unroll
    for (auto &line : sum)
#pragma unroll
      for (T &x : line) x = zero<T>();
  }

  static __device__ __forceinline__ int lane_row() { return threadIdx.x % 32 / 8 * vector; }
  static __device__ __forceinline__ int lane_col() { return threadIdx.x % 8 * vector; }
  // Where a thread reads in a stage, from the warp's first row and column.
  template <int row> static __device__ __forceinline__ int place_a() { return lane_row(); }
  template <int row> static __device__ __forceinline__ int place_b() { return lane_col(); }

  static constexpr bool leaves_directly = false;  // the registers' order is the products', see above
  static constexpr int rounds = 0;  // there is no time beside the products: see DmmaCore
  // Calls as in DmmaCore; but fetch does nothing, since fragments that stay in registers meanwhile cost the loop more than their latency.
  template <int row_a, int row_b>
  __device__ __forceinline__ void fetch(const T *, const T *, int) {}

  // `count` k from k on, in whole steps; a and b are the thread's places in a stage.
  template <int row_a, int row_b, int most, class Beside, class Close, class OpenNext>
  __device__ __forceinline__ void multiply(const T *a, const T *b, int k, int count, const Beside &, const Close &close, const OpenNext &open_next) {
    if (count > 0) add_steps<row_a, row_b>(a + k * row_a, b + k * row_b, count);
    close();
    open_next();
  }

  // `part` of `parts` to `tile`, which begins at the warp's first row and column; or on top of what is there. Neighbours are exchanged: a vector holds a row's columns
  // {1, 0, 3, 2}, or one complex column of two rows, {re, re, im, im} of the later and the earlier; the first column's stands in the earlier row.
  static constexpr int put_parts = rows;  // the most
  template <int row, bool add_up>
  __device__ __forceinline__ void put(T *tile, int part, int parts) const {
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      if (r * parts / rows != part) continue;
      T *to = tile + (r / vector * 4 * vector + lane_row() + r % vector) * row + lane_col();
#pragma unroll
      for (int g = 0; g < groups_n; ++g) {
        if constexpr (is_complex) {
          const T &later = sum[r | 1][g * vector + r % vector], &earlier = sum[r & ~1][g * vector + r % vector];
          put_vector<add_up>(to + g * 8 * vector, Vector<T>{{{later.re, earlier.re}, {later.im, earlier.im}}});
        } else {
          const T *const s = sum[r] + g * vector;
          put_vector<add_up>(to + g * 8 * vector, Vector<T>{{s[1], s[0], s[3], s[2]}});
        }
      }
    }
  }

  // The sums of row r from column c on, of a tile into which all warps have put theirs.
  template <int row>
  static __device__ __forceinline__ Vector<T> sums(const T *tile, int r, int c) {
    const auto vector_of = [tile, c](int line) { return *reinterpret_cast<const Vector<T> *>(tile + line * row + c); };
    if constexpr (is_complex) {
      const Vector<T> first = vector_of(r & ~1), second = vector_of(r | 1);
      const auto own = [r](T parts) { return r % 2 ? parts.re : parts.im; };
      return {{{own(first.value[0]), own(first.value[1])}, {own(second.value[0]), own(second.value[1])}}};
    } else {
      const Vector<T> v = vector_of(r);
      return {{v.value[1], v.value[0], v.value[3], v.value[2]}};
    }
  }
  // One of them.
  template <int row>
  static __device__ __forceinline__ T sum_at(const T *tile, int r, int c) {
    if constexpr (is_complex) {
      const auto *const parts = &(tile + ((r & ~1) | (c & 1)) * row + (c & ~1))->re;
      return {parts[(r & 1) ? 0 : 1], parts[(r & 1) ? 2 : 3]};
    } else {
      return tile[r * row + (c ^ 1)];
    }
  }

 private:
  template <int row_a, int row_b>
  __device__ __forceinline__ void add_steps(const T *a, const T *b, int count) {
    fetch_k<row_a, row_b>(a, b, 0);
#pragma unroll 1
    for (; count > 0; count -= step) {
#pragma unroll
      for (int k = 0; k < step; ++k) {
        if (k + 1 < step || count > step) fetch_k<row_a, row_b>(a, b, k + 1);
        add(k % 2);
      }
      a += step * row_a;
      b += step * row_b;
    }
  }

  template <int row_a, int row_b>
  __device__ __forceinline__ void fetch_k(const T *a, const T *b, int k) {
#pragma unroll
    for (int g = 0; g < groups_m; ++g) left[k % 2][g] = *reinterpret_cast<const Vector<T> *>(a + k * row_a + g * 4 * vector);
#pragma unroll
    for (int g = 0; g < groups_n; ++g) right[k % 2][g] = *reinterpret_cast<const Vector<T> *>(b + k * row_b + g * 8 * vector);
  }

  // Real ones to and fro, so that the product with the next factor shares the other one; of complex ones the assembler keeps more together without.
  __device__ __forceinline__ void add(int buffer) {
    if constexpr (is_complex) {
#pragma unroll
      for (int c = 0; c < cols; ++c) {
        const T y = right[buffer][c / vector].value[c % vector];
#pragma unroll
        for (int r = 0; r < rows; ++r) {
          const T x = row_of_pair(left[buffer][r / vector], r);
          multiply_add(sum[r][c].re, x.re, y.re);
          multiply_add(sum[r][c].im, x.im, y.re);
        }
#pragma unroll
        for (int r = 0; r < rows; ++r) {
          const T x = row_of_pair(left[buffer][r / vector], r);
          multiply_add(sum[r][c].re, -x.im, y.im);
          multiply_add(sum[r][c].im, x.re, y.im);
        }
      }
    } else {
#pragma unroll
      for (int r = 0; r < rows; ++r)
#pragma unroll
        for (int i = 0; i < cols; ++i) {
          const int c = r % 2 ? cols - 1 - i : i;
          multiply_add(sum[r][c], left[buffer][r / vector].value[r % vector], right[buffer][c / vector].value[c % vector]);
        }
    }
  }

  // Out of {re, re, im, im}.
  static __device__ __forceinline__ T row_of_pair(const Vector<T> &pair, int r) {
    return r % 2 ? T{pair.value[0].im, pair.value[1].im} : T{pair.value[0].re, pair.value[1].re};
  }
};

}  // namespace tritri::cuda
