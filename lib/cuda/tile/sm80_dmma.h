// A warp's share of a tile by double-precision tensor instructions, double or complex<double> (four real products).
//
// Which row of the tile is which row of an m16 block is free, as long as A's fragment and the accumulator agree; the same goes for columns. For
// double, the rows g and g + 8 of a lane are neighbours in the tile, and so are the columns of a pair of n8 blocks: all fragments are LDS.128.
#pragma once
#include "cuda/tile/sm80_panel.h"

namespace tritri::cuda {

// PTX ISA, "mma.m16n8k8 with .f64": a[0], a[1]: rows g, g + 8 at k = lane % 4; a[2], a[3]: the same at k + 4; b[0], b[1]: column g at k, k + 4;
// c: rows g (0, 1) and g + 8 (2, 3), columns 2 (lane % 4) and one more; g = lane / 4. Before sm_90 four m8n8k4 do the same.
__device__ __forceinline__ void multiply_m16n8k8(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3]) : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
#pragma unroll
  for (int k = 0; k < 2; ++k)
#pragma unroll
    for (int h = 0; h < 2; ++h)
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                   : "+d"(c[2 * h]), "+d"(c[2 * h + 1]) : "d"(a[2 * k + h]), "d"(b[k]));
#endif
}

// blocks_m m16 blocks by blocks_n n8 blocks per warp.
template <int blocks_m, int blocks_n>
struct DmmaCore {
  using T = double;
  static constexpr int warp_m = 16 * blocks_m, warp_n = 8 * blocks_n;
  static constexpr int step = 8;
  static constexpr int overrun = 0;
  static constexpr int pad = 4;  // row = 4 mod 16: the eight lanes of a quarter warp read 8 different 16-byte columns
  static_assert(blocks_n % 2 == 0, "n8 blocks come in pairs");

  struct Fragment { double a[blocks_m][4], b[blocks_n][2]; };

  double sum[blocks_m][blocks_n][4];

  __device__ __forceinline__ DmmaCore() {
#pragma unroll
    for (auto &block : sum)
#pragma unroll
      for (auto &c : block)
#pragma unroll
        for (double &x : c) x = 0;
  }

  static __device__ __forceinline__ int group() { return threadIdx.x % 32 / 4; }
  static __device__ __forceinline__ int quad() { return threadIdx.x % 4; }

  template <int row_a, int row_b>
  static __device__ __forceinline__ void fetch(Fragment &f, const double *a, const double *b) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int m = 0; m < blocks_m; ++m) {
        const auto v = *reinterpret_cast<const Vector<double> *>(a + 4 * h * row_a + 16 * m);
        f.a[m][2 * h] = v.value[0];
        f.a[m][2 * h + 1] = v.value[1];
      }
#pragma unroll
      for (int n = 0; n < blocks_n; n += 2) {
        const auto v = *reinterpret_cast<const Vector<double> *>(b + 4 * h * row_b + 8 * n);
        f.b[n][h] = v.value[0];
        f.b[n + 1][h] = v.value[1];
      }
    }
  }

  __device__ __forceinline__ void add(const Fragment &f) {
#pragma unroll
    for (int m = 0; m < blocks_m; ++m)
#pragma unroll
      for (int n = 0; n < blocks_n; ++n) multiply_m16n8k8(sum[m][n], f.a[m], f.b[n]);
  }

  template <int row_a, int row_b>
  __device__ __forceinline__ void multiply(const double *a, const double *b, int from, int to, bool) {
    a += (from + quad()) * row_a + 2 * group();
    b += (from + quad()) * row_b + 2 * group();
    Fragment now, next;
    fetch<row_a, row_b>(now, a, b);
#pragma unroll 1
    for (int k = from; k < to; k += 2 * step) {
      const bool second = k + step < to, third = k + 2 * step < to;
      if (second) fetch<row_a, row_b>(next, a + step * row_a, b + step * row_b);
      add(now);
      a += 2 * step * row_a;
      b += 2 * step * row_b;
      if (third) fetch<row_a, row_b>(now, a, b);
      if (second) add(next);
    }
  }

  __device__ __forceinline__ bool any_nan() const {
    bool found = false;
#pragma unroll
    for (const auto &block : sum)
#pragma unroll
      for (const auto &c : block)
#pragma unroll
        for (const double &x : c) found |= is_nan(x);
    return found;
  }

  template <int row>
  __device__ __forceinline__ void put(double *tile) const {
#pragma unroll
    for (int m = 0; m < blocks_m; ++m)
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int n = 0; n < blocks_n; n += 2)
#pragma unroll
          for (int z = 0; z < 2; ++z)
            *reinterpret_cast<Vector<double> *>(tile + (16 * m + 2 * group() + h) * row + 8 * n + 4 * quad() + 2 * z) =
                {{sum[m][n][2 * h + z], sum[m][n + 1][2 * h + z]}};
  }
};

template <int blocks_m, int blocks_n>
struct ComplexDmmaCore {
  using T = Complex<double>;
  static constexpr int warp_m = 16 * blocks_m, warp_n = 8 * blocks_n;
  static constexpr int step = 8;
  static constexpr int overrun = 0;
  static constexpr int pad = 2;  // row = 2 mod 8 elements of 16 bytes: no bank conflict in a quarter warp

  struct Fragment { double a_re[blocks_m][4], a_im[blocks_m][4], b_re[blocks_n][2], b_im[blocks_n][2]; };

  double re[blocks_m][blocks_n][4], im[blocks_m][blocks_n][4];

  __device__ __forceinline__ ComplexDmmaCore() {
#pragma unroll
    for (int m = 0; m < blocks_m; ++m)
#pragma unroll
      for (int n = 0; n < blocks_n; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) re[m][n][e] = im[m][n][e] = 0;
  }

  static __device__ __forceinline__ int group() { return threadIdx.x % 32 / 4; }
  static __device__ __forceinline__ int quad() { return threadIdx.x % 4; }

  template <int row_a, int row_b>
  __device__ __forceinline__ void multiply(const T *a, const T *b, int from, int to, bool conj_b) {
    const double sign = conj_b ? -1.0 : 1.0;
    a += (from + quad()) * row_a + group();
    b += (from + quad()) * row_b + group();
#pragma unroll 1
    for (int k = from; k < to; k += step) {
      Fragment f;
#pragma unroll
      for (int h = 0; h < 2; ++h) {
#pragma unroll
        for (int m = 0; m < blocks_m; ++m)
#pragma unroll
          for (int r = 0; r < 2; ++r) {
            const auto v = *reinterpret_cast<const Vector<T> *>(a + 4 * h * row_a + 16 * m + 8 * r);
            f.a_re[m][2 * h + r] = v.value[0].re;
            f.a_im[m][2 * h + r] = v.value[0].im;
          }
#pragma unroll
        for (int n = 0; n < blocks_n; ++n) {
          const auto v = *reinterpret_cast<const Vector<T> *>(b + 4 * h * row_b + 8 * n);
          f.b_re[n][h] = v.value[0].re;
          f.b_im[n][h] = v.value[0].im * sign;
        }
      }
#pragma unroll
      for (int m = 0; m < blocks_m; ++m)
#pragma unroll
        for (int n = 0; n < blocks_n; ++n) {
          multiply_m16n8k8(re[m][n], f.a_re[m], f.b_re[n]);
          multiply_m16n8k8(im[m][n], f.a_re[m], f.b_im[n]);
        }
#pragma unroll
      for (int m = 0; m < blocks_m; ++m)
#pragma unroll
        for (int n = 0; n < blocks_n; ++n) {
          multiply_m16n8k8(im[m][n], f.a_im[m], f.b_re[n]);
          const double minus[2] = {-f.b_im[n][0], -f.b_im[n][1]};
          multiply_m16n8k8(re[m][n], f.a_im[m], minus);
        }
      a += step * row_a;
      b += step * row_b;
    }
  }

  __device__ __forceinline__ bool any_nan() const {
    bool found = false;
#pragma unroll
    for (int m = 0; m < blocks_m; ++m)
#pragma unroll
      for (int n = 0; n < blocks_n; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) found |= is_nan(re[m][n][e]) | is_nan(im[m][n][e]);
    return found;
  }

  template <int row>
  __device__ __forceinline__ void put(T *tile) const {
#pragma unroll
    for (int m = 0; m < blocks_m; ++m)
#pragma unroll
      for (int n = 0; n < blocks_n; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          *reinterpret_cast<Vector<T> *>(tile + (16 * m + group() + e / 2 * 8) * row + 8 * n + 2 * quad() + e % 2) = {{{re[m][n][e], im[m][n][e]}}};
  }
};

}  // namespace tritri::cuda
