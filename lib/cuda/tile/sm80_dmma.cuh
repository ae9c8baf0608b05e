// A warp's share of a tile by double-precision tensor instructions, double or complex<double> (four real products).
//
// Which row of the tile is which row of an m16 block is free, as long as A's fragment and the accumulator agree: for double, rows g and g + 8
// of a lane are neighbours in the tile, so that A's fragments are LDS.128.
#pragma once
#include "cuda/tile/sm80_panel.cuh"

namespace tritri::cuda {

// PTX ISA, mma.m16n8k8 with .f64: a[0], a[1]: rows g, g + 8 at k = lane % 4; a[2], a[3]: the same at k + 4; b[0], b[1]: column g at k, k + 4;
// c: rows g (0, 1) and g + 8 (2, 3), columns 2 (lane % 4) and one more; g = lane / 4. Before sm_90 four m8n8k4 do the same; on sm_90 those
// run at half the rate.
__device__ __forceinline__ void multiply_m16n8k8(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
#if __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3]) : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
#pragma unroll
  for (int q = 0; q < 2; ++q)
#pragma unroll
    for (int h = 0; h < 2; ++h)
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                   : "+d"(c[2 * h]), "+d"(c[2 * h + 1]) : "d"(a[2 * q + h]), "d"(b[q]));
#endif
}

// blocks_m m16 blocks by blocks_n n8 blocks per warp. One warp fills a tensor unit to 60 % and two to all of it (measured on an H200), so two
// must not wait for fragments: those stream, A's next m16 block while one is multiplied, and B's in two sets. Calls as in FfmaCore; fetch, which comes before the copies, brings the first.
template <int blocks_m, int blocks_n>
struct DmmaCore {
  using T = double;
  static constexpr int warp_m = 16 * blocks_m, warp_n = 8 * blocks_n;
  static constexpr int k_mma = 8, step = 2 * k_mma;
  static constexpr int pad = 4;  // row = 4 mod 16: lanes g, k of a half warp read 16 different columns of 8 bytes
  static constexpr int rounds = 2 * blocks_m;  // of a step: round r multiplies m16 block r % blocks_m at k half r / blocks_m

  double sum[blocks_m][blocks_n][4];
  double left[2][4], right[2][blocks_n][2];

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
  template <int row> static __device__ __forceinline__ int place_a() { return quad() * row + 2 * group(); }
  template <int row> static __device__ __forceinline__ int place_b() { return quad() * row + group(); }

  template <int row_a, int row_b>
  __device__ __forceinline__ void fetch(const double *a, const double *b) { fetch_round<row_a, row_b>(a, b, 0); }

  template <int row_a, int row_b>
  __device__ __forceinline__ void multiply(const double *a, const double *b, int count) {
#pragma unroll 1
    for (; count > 0; count -= step) {
#pragma unroll
      for (int round = 0; round < rounds; ++round) {
        if (round + 1 < rounds) fetch_round<row_a, row_b>(a, b, round + 1);
        else if (count > step) fetch_round<row_a, row_b>(a + step * row_a, b + step * row_b, 0);
        add(round);
      }
      a += step * row_a;
      b += step * row_b;
    }
  }

  template <int row, bool add_up>
  __device__ __forceinline__ void put(double *tile) const {
#pragma unroll
    for (int m = 0; m < blocks_m; ++m)
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int n = 0; n < blocks_n; ++n)
          put_vector<add_up>(tile + (16 * m + 2 * group() + h) * row + 8 * n + 2 * quad(), Vector<double>{{sum[m][n][2 * h], sum[m][n][2 * h + 1]}});
  }

 private:
  template <int row_a, int row_b>
  __device__ __forceinline__ void fetch_round(const double *a, const double *b, int round) {
    const int m = round % blocks_m, half = round / blocks_m;
#pragma unroll
    for (int q = 0; q < 2; ++q) {
      const auto v = *reinterpret_cast<const Vector<double> *>(a + (half * k_mma + 4 * q) * row_a + 16 * m);
      left[round % 2][2 * q] = v.value[0];
      left[round % 2][2 * q + 1] = v.value[1];
    }
    if (m != 0) return;
#pragma unroll
    for (int n = 0; n < blocks_n; ++n)
#pragma unroll
      for (int q = 0; q < 2; ++q) right[half][n][q] = b[(half * k_mma + 4 * q) * row_b + 8 * n];
  }

  __device__ __forceinline__ void add(int round) {
#pragma unroll
    for (int n = 0; n < blocks_n; ++n) multiply_m16n8k8(sum[round % blocks_m][n], left[round % 2], right[round / blocks_m][n]);
  }
};

// As DmmaCore, but B's fragments are read as a k half begins: two sets would not fit into the registers.
template <int blocks_m, int blocks_n>
struct ComplexDmmaCore {
  using T = Complex<double>;
  static constexpr int warp_m = 16 * blocks_m, warp_n = 8 * blocks_n;
  static constexpr int step = 8;
  static constexpr int pad = 2;  // row = 2 mod 8 elements of 16 bytes: no bank conflict in a quarter warp

  double re[blocks_m][blocks_n][4], im[blocks_m][blocks_n][4];
  double left_re[2][4], left_im[2][4], right_re[blocks_n][2], right_im[blocks_n][2];

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
  template <int row> static __device__ __forceinline__ int place_a() { return quad() * row + group(); }
  template <int row> static __device__ __forceinline__ int place_b() { return quad() * row + group(); }

  template <int row_a, int row_b>
  __device__ __forceinline__ void fetch(const T *a, const T *b) {
    fetch_right<row_b>(b);
    fetch_left<row_a>(a, 0);
  }

  template <int row_a, int row_b>
  __device__ __forceinline__ void multiply(const T *a, const T *b, int count) {
#pragma unroll 1
    for (; count > 0; count -= step) {
#pragma unroll
      for (int m = 0; m < blocks_m; ++m) {
        if (m + 1 < blocks_m) fetch_left<row_a>(a, m + 1);
        add(m);
      }
      a += step * row_a;
      b += step * row_b;
      if (count > step) fetch<row_a, row_b>(a, b);
    }
  }

  template <int row, bool add_up>
  __device__ __forceinline__ void put(T *tile) const {
#pragma unroll
    for (int m = 0; m < blocks_m; ++m)
#pragma unroll
      for (int n = 0; n < blocks_n; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          put_vector<add_up>(tile + (16 * m + group() + e / 2 * 8) * row + 8 * n + 2 * quad() + e % 2, Vector<T>{{{re[m][n][e], im[m][n][e]}}});
  }

 private:
  template <int row_a>
  __device__ __forceinline__ void fetch_left(const T *a, int m) {
#pragma unroll
    for (int q = 0; q < 2; ++q)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const auto v = *reinterpret_cast<const Vector<T> *>(a + 4 * q * row_a + 16 * m + 8 * h);
        left_re[m % 2][2 * q + h] = v.value[0].re;
        left_im[m % 2][2 * q + h] = v.value[0].im;
      }
  }
  template <int row_b>
  __device__ __forceinline__ void fetch_right(const T *b) {
#pragma unroll
    for (int n = 0; n < blocks_n; ++n)
#pragma unroll
      for (int q = 0; q < 2; ++q) {
        const auto v = *reinterpret_cast<const Vector<T> *>(b + 4 * q * row_b + 8 * n);
        right_re[n][q] = v.value[0].re;
        right_im[n][q] = v.value[0].im;
      }
  }
  __device__ __forceinline__ void add(int m) {
    const double (&l_re)[4] = left_re[m % 2], (&l_im)[4] = left_im[m % 2];
#pragma unroll
    for (int n = 0; n < blocks_n; ++n) {
      multiply_m16n8k8(re[m][n], l_re, right_re[n]);
      multiply_m16n8k8(im[m][n], l_re, right_im[n]);
    }
    const double minus[4] = {-l_im[0], -l_im[1], -l_im[2], -l_im[3]};
#pragma unroll
    for (int n = 0; n < blocks_n; ++n) {
      multiply_m16n8k8(im[m][n], l_im, right_re[n]);
      multiply_m16n8k8(re[m][n], minus, right_im[n]);
    }
  }
};

}  // namespace tritri::cuda
