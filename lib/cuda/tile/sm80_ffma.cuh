// A warp's share of a tile by IEEE fused multiply-adds, float or complex<float>: each thread holds groups of one 16-byte vector of rows by one
// of columns, lanes 4 x 8, so that every fragment is one LDS.128 (rows are broadcast to 8 lanes, columns to 4).
#pragma once
#include "cuda/tile/sm80_panel.cuh"

namespace tritri::cuda {

// groups_m x groups_n vectors per thread.
template <class T_, int groups_m, int groups_n>
struct FfmaCore {
  using T = T_;
  static constexpr bool lines_a = false;
  static constexpr int vector = vector_elements<T>;
  static constexpr int warp_m = 4 * vector * groups_m, warp_n = 8 * vector * groups_n;
  static constexpr int step = 8;  // small code stays in the instruction cache
  static constexpr int pad = 4;   // of a stage's rows, in elements: transposed 4-byte and 8-byte writes meet no bank conflict

  // Sums leave with neighbouring columns exchanged: vectors lie in registers as they are written, and so a column's sum and its factor, which was
  // read as a vector, are in different banks of the register file. A complex sum meets both parts of its factors anyway.
  static constexpr int swapped = is_complex_element<T> ? 0 : 1;

  T sum[groups_m * vector][groups_n * vector];
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

  static constexpr int rounds = 0;  // there is no time beside the products: see DmmaCore
  // Calls as in DmmaCore; but fetch does nothing, since fragments that stay in registers meanwhile cost the loop more than their latency.
  template <int row_a, int row_b>
  __device__ __forceinline__ void fetch(const T *, const T *, int) {}

  // `count` k from k on, in whole steps; a and b are the thread's places in a stage.
  template <int row_a, int row_b, class Beside, class Close, class OpenNext>
  __device__ __forceinline__ void multiply(const T *a, const T *b, int k, int count, const Beside &, const Close &close, const OpenNext &open_next) {
    if (count > 0) add_steps<row_a, row_b>(a + k * row_a, b + k * row_b, count);
    close();
    open_next();
  }

  // To `tile`, which begins at the warp's first row and column; or on top of what is there.
  template <int row, bool add_up>
  __device__ __forceinline__ void put(T *tile) const {
#pragma unroll
    for (int r = 0; r < groups_m * vector; ++r) {
      T *to = tile + (r / vector * 4 * vector + lane_row() + r % vector) * row + lane_col();
#pragma unroll
      for (int g = 0; g < groups_n; ++g) {
        Vector<T> v;
#pragma unroll
        for (int e = 0; e < vector; ++e) v.value[e] = sum[r][g * vector + (e ^ swapped)];
        put_vector<add_up>(to + g * 8 * vector, v);
      }
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

  // To and fro, so that one product after the other shares a factor: the register file delivers two operands per cycle and product, one of either
  // bank, and the third comes out of the cache of the last product's.
  __device__ __forceinline__ void add(int buffer) {
    constexpr int rows = groups_m * vector, cols = groups_n * vector;
#pragma unroll
    for (int r = 0; r < rows; ++r)
#pragma unroll
      for (int i = 0; i < cols; ++i) {
        const int c = r % 2 ? cols - 1 - i : i;
        multiply_add(sum[r][c], left[buffer][r / vector].value[r % vector], right[buffer][c / vector].value[c % vector]);
      }
  }
};

}  // namespace tritri::cuda
