// A warp's share of a tile by double-precision tensor instructions, double or complex<double>.
//
// They compute C^T = B^T A^T, and which row and k of the tile is which row and k of an instruction is free as long as its operands agree. Both are
// chosen so that fragments are LDS.128 that land in the registers where the instruction wants them: a move between the two would wait for
// the load and hold up the instruction.
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

// x with these bits of its upper half flipped, in registers of its own. The assembler sees through plain copies, and then makes them anew for each
// instruction that wants them elsewhere; it does not know that blockIdx.y is 0.
__device__ __forceinline__ double second_copy(double x, unsigned flip) {
  return __hiloint2double(__double2hiint(x) ^ static_cast<int>(flip | blockIdx.y), __double2loint(x) ^ static_cast<int>(blockIdx.y));
}

// blocks_m blocks of 8 rows by blocks_n of 16 doubles (16 columns, or 8 complex ones) per warp; `lines`: A's stages lie line by line.
//
// An instruction's k and k + 4 are two neighbouring k, or the parts of one complex k: its left operand is then {b, -b_im, b_re} in both parts' rows,
// four real products per complex one. One warp fills a tensor unit to 60 % and two to all of it (measured on an H200), so two must not wait
// for fragments: those stream, B's next block while one is multiplied, and A's in two sets.
template <class T_, int blocks_m, int blocks_n, bool lines>
struct DmmaCore {
  using T = T_;
  static constexpr bool lines_a = lines, pairs_a = false, is_complex = is_complex_element<T>;
  static constexpr int lane_k = is_complex ? 1 : 2, block_n = is_complex ? 8 : 16;
  static constexpr int warp_m = 8 * blocks_m, warp_n = block_n * blocks_n;
  static constexpr int k_mma = 4 * lane_k, step = 2 * k_mma;
  static constexpr int pad = 2;  // of rows along x, in elements: row = 2 mod 8 leaves a quarter warp no bank conflict
  static_assert(blocks_m > 1, "turns change between two instructions");
  static constexpr bool leaves_directly = true;  // has each_vector
  static constexpr int rounds = 2 * blocks_n;  // of a step: round r multiplies B's block r % blocks_n at k half r / blocks_n

  double sum[blocks_n][blocks_m][4];
  double left[2][4], right[2][blocks_m][2];

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
  // The row of the tile that is column c of an instruction. By lines, the two that a quarter warp reads lie in different halves of the banks: 4 rows
  // of 144 bytes apart.
  static __device__ __forceinline__ int row_of(int c) { return lines ? c / 2 + c % 2 * 4 : c; }
  template <int row> static __device__ __forceinline__ int place_a() { return lines ? row_of(group()) * row + lane_k * quad() : lane_k * quad() * row + group(); }
  template <int row> static __device__ __forceinline__ int place_b() { return lane_k * quad() * row + (is_complex ? group() : 2 * group()); }

  // First fragments of a turn, from k on; a and b are the thread's places in its stage.
  template <int row_a, int row_b>
  __device__ __forceinline__ void fetch(const T *a, const T *b, int k) { fetch_round<row_a, row_b>(a, b, k, 0); }

  // `count` k from k on, in whole steps, at most `most`. An instruction leaves time for others before the next one: beside(round) is called once per
  // round, close() when the stage has been read, and then open_next(), which calls fetch for the next turn.
  template <int row_a, int row_b, int most, class Beside, class Close, class OpenNext>
  __device__ __forceinline__ void multiply(const T *a, const T *b, int k, int count, const Beside &beside, const Close &close, const OpenNext &open_next) {
    if (count <= 0) {
      close();
      open_next();
      return;
    }
    constexpr bool one_step = most == step;  // without a loop, what a turn works out finds its place between the instructions
#pragma unroll 1
    do {
      const bool ends = one_step || count <= step;
#pragma unroll
      for (int round = 0; round < rounds; ++round) {
        const bool last = round + 1 == rounds;
        if (!last) fetch_round<row_a, row_b>(a, b, k, round + 1);
        else if (!ends) fetch_round<row_a, row_b>(a, b, k + step, 0);
#pragma unroll
        for (int m = 0; m < blocks_m; ++m) {
          multiply_m16n8k8(sum[round % blocks_n][m], left[round % 2], right[round / blocks_n][m]);
          if (last && ends) {
            if (m == 0) close();
            if (m == 1) open_next();
          }
        }
        beside(round);
      }
      k += step;
      count -= step;
    } while (!one_step && count > 0);
  }

  // Calls f(row, column, vector) for `part` of `parts` of this thread's sums, from the warp's first row and column; a warp's vectors make whole cache lines.
  template <class F>
  __device__ __forceinline__ void each_vector(int part, int parts, F &&f) const {
#pragma unroll
    for (int m = 0; m < blocks_m; ++m)
#pragma unroll
      for (int s = 0; s < 2; ++s)
#pragma unroll
        for (int n = 0; n < blocks_n && (2 * m + s) * parts / (2 * blocks_m) == part; ++n) {
          Vector<T> v;
          if constexpr (is_complex) v.value[0] = {sum[n][m][s], sum[n][m][2 + s]};
          else v = {{sum[n][m][s], sum[n][m][2 + s]}};
          f(8 * m + row_of(2 * quad() + s), block_n * n + (is_complex ? group() : 2 * group()), v);
        }
  }

  // `part` of `parts` to `tile`, which begins at the warp's first row and column; or on top of what is there.
  static constexpr int put_parts = 2 * blocks_m;  // the most
  template <int row, bool add_up>
  __device__ __forceinline__ void put(T *tile, int part, int parts) const {
    each_vector(part, parts, [&](int r, int c, Vector<T> v) { put_vector<add_up>(tile + r * row + c, v); });
  }

  template <int row>
  static __device__ __forceinline__ Vector<T> sums(const T *tile, int r, int c) { return *reinterpret_cast<const Vector<T> *>(tile + r * row + c); }
  template <int row>
  static __device__ __forceinline__ T sum_at(const T *tile, int r, int c) { return tile[r * row + c]; }

 private:
  template <int row_a, int row_b>
  __device__ __forceinline__ void fetch_round(const T *a, const T *b, int k, int round) {
    const int n = round % blocks_n, half = round / blocks_n, first = k + half * k_mma;
    double (&l)[4] = left[round % 2];
#pragma unroll
    for (int q = 0; q < lane_k; ++q) {
      const auto v = *reinterpret_cast<const Vector<T> *>(b + (first + q) * row_b + block_n * n);
      if constexpr (is_complex) {
        l[0] = v.value[0].re;
        l[1] = v.value[0].im;
        l[2] = second_copy(l[1], 0x80000000u);
        l[3] = second_copy(l[0], 0);
      } else {
        l[2 * q] = v.value[0];
        l[2 * q + 1] = v.value[1];
      }
    }
    if (n != 0) return;
#pragma unroll
    for (int m = 0; m < blocks_m; ++m) {
      double (&r)[2] = right[half][m];
      if constexpr (lines || is_complex) {
        const auto v = *reinterpret_cast<const Vector<double> *>(a + (lines ? 8 * m * row_a + first : first * row_a + 8 * m));
        r[0] = v.value[0];
        r[1] = v.value[1];
      } else {
        r[0] = a[first * row_a + 8 * m];
        r[1] = a[(first + 1) * row_a + 8 * m];
      }
    }
  }
};

}  // namespace tritri::cuda
