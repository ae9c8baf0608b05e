// A warp's share of a tile by IEEE fused multiply-adds, float or complex<float>: each thread holds groups of one 16-byte vector of rows by one
// of columns, lanes 4 x 8, so that every fragment is one LDS.128 (rows are broadcast to 8 lanes, columns to 4).
#pragma once
#include "cuda/tile/sm80_panel.h"

namespace tritri::cuda {

// groups_m x groups_n vectors per thread.
template <class T_, int groups_m, int groups_n>
struct FfmaCore {
  using T = T_;
  static constexpr int vector = vector_elements<T>;
  static constexpr int warp_m = 4 * vector * groups_m, warp_n = 8 * vector * groups_n;
  static constexpr int step = 8;       // k per turn of the unrolled loop: small code stays in the instruction cache
  static constexpr int overrun = 1;    // rows of a stage read past the last step, and not used
  static constexpr int pad = 16 / sizeof(float);  // of a stage's rows: transposed 4-byte and 8-byte writes meet no bank conflict

  T sum[groups_m * vector][groups_n * vector];

  __device__ __forceinline__ FfmaCore() {
#pragma unroll
    for (auto &line : sum)
#pragma unroll
      for (T &x : line) x = zero<T>();
  }

  static __device__ __forceinline__ int lane_row() { return threadIdx.x % 32 / 8; }
  static __device__ __forceinline__ int lane_col() { return threadIdx.x % 8; }

  // Adds k steps [from, to) of the stages; `a` and `b` begin at the warp's first row and column. conj_b: B is conjugated.
  template <int row_a, int row_b>
  __device__ __forceinline__ void multiply(const T *a, const T *b, int from, int to, bool conj_b) {
    a += from * row_a + lane_row() * vector;
    b += from * row_b + lane_col() * vector;
    const float sign = conj_b ? -1.0f : 1.0f;
    Vector<T> left[2][groups_m], right[2][groups_n];
    const auto fetch = [&](int buffer, int k) {
#pragma unroll
      for (int g = 0; g < groups_m; ++g) left[buffer][g] = *reinterpret_cast<const Vector<T> *>(a + k * row_a + g * 4 * vector);
#pragma unroll
      for (int g = 0; g < groups_n; ++g) right[buffer][g] = *reinterpret_cast<const Vector<T> *>(b + k * row_b + g * 8 * vector);
    };
    fetch(0, 0);
#pragma unroll 1
    for (int k = from; k < to; k += step) {
#pragma unroll
      for (int u = 0; u < step; ++u) {
        fetch((u + 1) % 2, u + 1);
        if constexpr (is_complex_element<T>) {
#pragma unroll
          for (auto &v : right[u % 2])
#pragma unroll
            for (T &x : v.value) x.im *= sign;
        }
#pragma unroll
        for (int r = 0; r < groups_m * vector; ++r)
#pragma unroll
          for (int c = 0; c < groups_n * vector; ++c)
            multiply_add(sum[r][c], left[u % 2][r / vector].value[r % vector], right[u % 2][c / vector].value[c % vector]);
      }
      a += step * row_a;
      b += step * row_b;
    }
  }

  __device__ __forceinline__ bool any_nan() const {
    bool found = false;
#pragma unroll
    for (const auto &line : sum)
#pragma unroll
      for (const T &x : line) found |= is_nan(x);
    return found;
  }

  // To `tile`, which begins at the warp's first row and column.
  template <int row>
  __device__ __forceinline__ void put(T *tile) const {
#pragma unroll
    for (int r = 0; r < groups_m * vector; ++r) {
      T *to = tile + (r / vector * 4 * vector + lane_row() * vector + r % vector) * row + lane_col() * vector;
#pragma unroll
      for (int g = 0; g < groups_n; ++g) {
        Vector<T> v;
#pragma unroll
        for (int e = 0; e < vector; ++e) v.value[e] = sum[r][g * vector + e];
        *reinterpret_cast<Vector<T> *>(to + g * 8 * vector) = v;
      }
    }
  }
};

}  // namespace tritri::cuda
