// A warp's share of a compact tile by double-precision tensor instructions, which multiply float32 too: as fast as FMA on the cards that have
// them, and exact. Elements become doubles as fragments are read; complex products are four real ones.
#pragma once
#include "cuda/tile/sm80_dmma.cuh"

namespace tritri::cuda {

template <class T> struct Wide { using type = double; };
template <class R> struct Wide<Complex<R>> { using type = Complex<double>; };

// blocks_m m16 blocks by blocks_n n8 blocks of one warp, k in steps of 8. Fragments as in multiply_m16n8k8.
template <class T_, int blocks_m, int blocks_n>
struct CompactDmmaCore {
  using T = T_;
  using Sum = typename Wide<T>::type;
  static constexpr int warp_m = 16 * blocks_m, warp_n = 8 * blocks_n, step = 8;
  static constexpr bool complex = is_complex_element<T>;
  static constexpr int parts = complex ? 2 : 1;

  double sum[parts][blocks_m][blocks_n][4];

  __device__ __forceinline__ CompactDmmaCore() {
#pragma unroll
    for (int part = 0; part < parts; ++part)
#pragma unroll
      for (int m = 0; m < blocks_m; ++m)
#pragma unroll
        for (int n = 0; n < blocks_n; ++n)
#pragma unroll
          for (int e = 0; e < 4; ++e) sum[part][m][n][e] = 0;
  }

  static __device__ __forceinline__ int group() { return threadIdx.x % 32 / 4; }
  static __device__ __forceinline__ int quad() { return threadIdx.x % 4; }
  // Where a lane reads in a stage, from the warp's first row or column.
  template <class Stage> static __device__ __forceinline__ int place_a(bool along_k) { return group() * Stage::step_x(along_k) + quad() * Stage::step_k(along_k); }
  template <class Stage> static __device__ __forceinline__ int place_b(bool along_k) { return place_a<Stage>(along_k); }

  // Steps first, first + stride... of a stage, below end; there are at most `most`. sign: -1 where B is conjugated.
  template <class StageA, class StageB, bool a_along_k, bool b_along_k, int most, int stride>
  __device__ __forceinline__ void multiply(const T *a, const T *b, int first, int end, double sign) {
    constexpr int a_x = 8 * StageA::step_x(a_along_k), a_k = 4 * StageA::step_k(a_along_k), b_x = 8 * StageB::step_x(b_along_k), b_k = 4 * StageB::step_k(b_along_k);
    a += first * 2 * a_k;
    b += first * 2 * b_k;
#pragma unroll
    for (int s = 0; s < most; ++s) {
      if (first + s * stride >= end) break;
      T left[blocks_m][4], right[blocks_n][2];
#pragma unroll
      for (int q = 0; q < 2; ++q) {
#pragma unroll
        for (int m = 0; m < blocks_m; ++m)
#pragma unroll
          for (int h = 0; h < 2; ++h) left[m][2 * q + h] = a[s * stride * 2 * a_k + (2 * m + h) * a_x + q * a_k];
#pragma unroll
        for (int n = 0; n < blocks_n; ++n) right[n][q] = b[s * stride * 2 * b_k + n * b_x + q * b_k];
      }
      add(left, right, sign);
    }
  }

  // Rows of `pitch` sums, so that the rows of a quarter warp lie in different banks.
  static constexpr int pitch(int tile_n) { return complex ? tile_n + 1 : tile_n + 8; }
  __device__ __forceinline__ void put(Sum *tile, int pitch, bool, bool) const {
#pragma unroll
    for (int m = 0; m < blocks_m; ++m)
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int n = 0; n < blocks_n; ++n) {
          Sum *const to = tile + (16 * m + 8 * h + group()) * pitch + 8 * n + 2 * quad();
          if constexpr (complex) {
#pragma unroll
            for (int e = 0; e < 2; ++e) *reinterpret_cast<Vector<Sum> *>(to + e) = {{{sum[0][m][n][2 * h + e], sum[1][m][n][2 * h + e]}}};
          } else {
            *reinterpret_cast<Vector<Sum> *>(to) = {{sum[0][m][n][2 * h], sum[0][m][n][2 * h + 1]}};
          }
        }
  }

 private:
  __device__ __forceinline__ void add(const T (&left)[blocks_m][4], const T (&right)[blocks_n][2], double sign) {
#pragma unroll
    for (int m = 0; m < blocks_m; ++m) {
      if constexpr (complex) {
        double re[4], im[4], minus[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          re[e] = static_cast<double>(left[m][e].re);
          im[e] = static_cast<double>(left[m][e].im);
          minus[e] = -im[e];
        }
#pragma unroll
        for (int n = 0; n < blocks_n; ++n) {
          const double right_re[2] = {static_cast<double>(right[n][0].re), static_cast<double>(right[n][1].re)};
          const double right_im[2] = {sign * static_cast<double>(right[n][0].im), sign * static_cast<double>(right[n][1].im)};
          multiply_m16n8k8(sum[0][m][n], re, right_re);
          multiply_m16n8k8(sum[1][m][n], re, right_im);
          multiply_m16n8k8(sum[0][m][n], minus, right_im);
          multiply_m16n8k8(sum[1][m][n], im, right_re);
        }
      } else {
        const double x[4] = {static_cast<double>(left[m][0]), static_cast<double>(left[m][1]), static_cast<double>(left[m][2]), static_cast<double>(left[m][3])};
#pragma unroll
        for (int n = 0; n < blocks_n; ++n) {
          const double y[2] = {static_cast<double>(right[n][0]), static_cast<double>(right[n][1])};
          multiply_m16n8k8(sum[0][m][n], x, y);
        }
      }
    }
  }
};

}  // namespace tritri::cuda
