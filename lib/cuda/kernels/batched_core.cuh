// A warp's tile of C in registers, for batches of small matrices: what a lane holds of the operands, and the products of one chunk of k.
//
// Rows, columns and k are dealt out so that whatever an instruction wants of a lane lies side by side in memory: a lane's share of a chunk is
// held_x consecutive rows (or columns) by held_k consecutive k, read in vectors along either, and what it gets of C comes in runs.
#pragma once
#include <cstdint>

#include "cuda/tile/element.h"
#include "cuda/tile/sm80_dmma.cuh"
#include "cuda/tile/sm80_mma.cuh"

namespace tritri::cuda {

// Elements of a lane in a tile x chunk piece of op(A), x a row, or of the transpose of op(B), x a column. The mma instructions number rows and
// columns by g = lane / 4 and k by q = lane % 4.
template <class T, int tile_>
struct LaneMap {
  static constexpr int tile = tile_, vector = 16 / static_cast<int>(sizeof(T));
  static constexpr int held_x = tile / 8, held_k = vector, chunk = 4 * held_k;
  static constexpr int wide_x = held_x < vector ? held_x : vector;  // consecutive x of a lane
  // A run of C is what the even and the odd column of a pair give, side by side where 16 bytes want both, else half a tile apart.
  static constexpr bool spread = wide_x == vector;
  // Where a lane's x are several vectors, each is a part of the tile of its own, consecutive rows or columns.
  static constexpr int parts = held_x / wide_x, part = tile / parts;
  static constexpr int run = spread ? wide_x : 2 * wide_x, runs = 2 * held_x / run;
  static_assert(held_x % wide_x == 0 && (spread || held_x == wide_x), "a lane's x come in whole vectors");

  static __device__ __forceinline__ int group() { return threadIdx.x % 32 / 4; }
  static __device__ __forceinline__ int quad() { return threadIdx.x % 4; }
  static __device__ __forceinline__ int first_x() { return wide_x * (spread ? group() / 2 + group() % 2 * 4 : group()); }
  static __device__ __forceinline__ int first_k() { return held_k * quad(); }
  static constexpr __host__ __device__ int step_x(int i) { return i / wide_x * 8 * wide_x + i % wide_x; }

  // Column of the first element of run u; element t of it is sum [column block][even or odd].
  static __device__ __forceinline__ int run_column(int u) { return spread ? u / 2 * 8 * wide_x + wide_x * (quad() + u % 2 * 4) : run * quad(); }
  static constexpr __host__ __device__ int run_block(int u, int t) { return spread ? u / 2 * wide_x + t : t % wide_x; }
  static constexpr __host__ __device__ int run_odd(int u, int t) { return spread ? u % 2 : t / wide_x; }
};

// Elements as the instructions take them: pairs of neighbouring k where those have 16 bits.
template <class T> struct CellOf { using type = T; static constexpr int elements = 1; };
template <> struct CellOf<__half> { using type = uint32_t; static constexpr int elements = 2; static constexpr uint32_t one = 0x3c00; };
template <> struct CellOf<__nv_bfloat16> { using type = uint32_t; static constexpr int elements = 2; static constexpr uint32_t one = 0x3f80; };

// Sums of a tile as the mma instructions keep them; a lane's row i is half i % 2 of row block i / 2.
template <class Acc, int held_x>
struct TileSums {
  Acc c[held_x / 2][held_x][4];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (auto &row : c)
#pragma unroll
      for (auto &block : row)
#pragma unroll
        for (Acc &x : block) x = 0;
  }
  __device__ __forceinline__ Acc at(int i, int block, int odd) const { return c[i / 2][block][i % 2 * 2 + odd]; }
  __device__ __forceinline__ Acc &at(int i, int block, int odd) { return c[i / 2][block][i % 2 * 2 + odd]; }
  template <class F>
  __device__ __forceinline__ void each(F &&f) {
#pragma unroll
    for (int m = 0; m < held_x / 2; ++m)
#pragma unroll
      for (int j = 0; j < held_x; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) f(c[m][j][e], (m * held_x + j) * 4 + e);
  }
  template <class F>
  __device__ __forceinline__ bool any(F &&f) const {
    bool found = false;
#pragma unroll
    for (const auto &row : c)
#pragma unroll
      for (const auto &block : row)
#pragma unroll
        for (const Acc x : block) found |= f(x);
    return found;
  }
};

// Parts of the tile that a chunk adds to, a bit each: of rows, of columns.
struct Parts { unsigned rows, cols; };

// Each core: the type in memory, the type of sums, multiply() for one chunk, at() for a sum, unscale its factor, and odd_one_out(): whether a sum is NaN, or for
// another reason may not stand. Then the tile is computed again, element by element.

// float32 at float32's accuracy from three TF32 products: x = high + low, and low * high + high * low + high * high. The tensor cores truncate
// their sums, so each chunk starts afresh and is added to the total rounded to nearest.
template <int tile>
struct Tf32x3Core {
  using T = float;
  using Acc = float;
  using Map = LaneMap<float, tile>;
  static constexpr int X = Map::held_x, K = Map::held_k;
  static constexpr int shared_floats = 0;
  static constexpr int least_k = 65;  // splitting rounds more than adding up fewer products does, those of triangles among them

  TileSums<float, X> sums;
  uint32_t least = ~0u;  // magnitude of A's smallest element but 0

  // Low parts of tiny values would be lost: B is scaled up until none is (what overflows is recomputed like Inf), an A below 2^-100 is noticed.
  static constexpr float scale = 0x1p24f, unscale = 1 / scale;
  static constexpr uint32_t least_allowed = 2u * ((127 - 100) << 23) - 1;

  __device__ __forceinline__ explicit Tf32x3Core(float *) { sums.clear(); }

  // To nearest; the instruction truncates the low part, and an x that is not finite leaves a low part that is NaN.
  static __device__ __forceinline__ void split(float x, uint32_t &high, uint32_t &low) {
    high = (__float_as_uint(x) + 0x1000u) & ~0x1fffu;
    low = __float_as_uint(x - __uint_as_float(high));
  }

  __device__ __forceinline__ void multiply(const float (&a)[X][K], const float (&b)[X][K], const Parts &) {
    uint32_t b_high[X][K], b_low[X][K];
#pragma unroll
    for (int j = 0; j < X; ++j)
#pragma unroll
      for (int e = 0; e < K; ++e) split(b[j][e] * scale, b_high[j][e], b_low[j][e]);
#pragma unroll
    for (int m = 0; m < X / 2; ++m) {
      uint32_t high[2][K], low[2][K];
#pragma unroll
      for (int h = 0; h < 2; ++h)
#pragma unroll
        for (int e = 0; e < K; ++e) {
          const float x = a[2 * m + h][e];
          least = min(least, 2 * __float_as_uint(x) - 1);  // the sign falls out, and 0 comes to lie above all else
          split(x, high[h][e], low[h][e]);
        }
      float part[X][4] = {};
      const auto add = [&](const uint32_t (&left)[2][K], const uint32_t (&right)[X][K]) {
#pragma unroll
        for (int e = 0; e < K; e += 2)
#pragma unroll
          for (int j = 0; j < X; ++j) mma_tf32(part[j], left[0][e], left[1][e], left[0][e + 1], left[1][e + 1], right[j][e], right[j][e + 1]);
      };
      add(low, b_high);
      add(high, b_low);
      add(high, b_high);
#pragma unroll
      for (int j = 0; j < X; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) sums.c[m][j][e] += part[j][e];
    }
  }

  __device__ __forceinline__ float at(int i, int block, int odd) const { return sums.at(i, block, odd); }
  __device__ __forceinline__ bool odd_one_out() const {
    return least < least_allowed || sums.any([](float x) { return !(fabsf(x) < INFINITY); });
  }
};

// One TF32 product, both inputs rounded to nearest.
template <int tile>
struct Tf32Core {
  using T = float;
  using Acc = float;
  using Map = LaneMap<float, tile>;
  static constexpr int X = Map::held_x, K = Map::held_k;
  static constexpr int shared_floats = 0;
  static constexpr Acc unscale = 1;
  static constexpr int least_k = 1;

  TileSums<float, X> sums;
  __device__ __forceinline__ explicit Tf32Core(float *) { sums.clear(); }

  __device__ __forceinline__ void multiply(const float (&a)[X][K], const float (&b)[X][K], const Parts &) {
    const auto rounded = [](float x) { return __float_as_uint(round_tf32(x)); };
#pragma unroll
    for (int e = 0; e < K; e += 2) {
      uint32_t right[X][2];
#pragma unroll
      for (int j = 0; j < X; ++j)
#pragma unroll
        for (int h = 0; h < 2; ++h) right[j][h] = rounded(b[j][e + h]);
#pragma unroll
      for (int m = 0; m < X / 2; ++m) {
        const uint32_t left[4] = {rounded(a[2 * m][e]), rounded(a[2 * m + 1][e]), rounded(a[2 * m][e + 1]), rounded(a[2 * m + 1][e + 1])};
#pragma unroll
        for (int j = 0; j < X; ++j) mma_tf32(sums.c[m][j], left[0], left[1], left[2], left[3], right[j][0], right[j][1]);
      }
    }
  }

  __device__ __forceinline__ float at(int i, int block, int odd) const { return sums.at(i, block, odd); }
  __device__ __forceinline__ bool odd_one_out() const { return sums.any([](auto x) { return is_nan(x); }); }
};

// Double-precision tensor instructions, for float64, and for sums of float32 that are so short that splitting would round more than the sum
// does: products of float32 are exact in double. These instructions are what takes long, so parts of a tile on a diagonal that a chunk adds nothing to
// are left out.
template <class T_, int tile>
struct BatchedDmmaCore {
  using T = T_;
  using Acc = double;
  using Map = LaneMap<T, tile>;
  static constexpr int X = Map::held_x, K = Map::held_k;
  static constexpr int shared_floats = 0;
  static constexpr Acc unscale = 1;
  static constexpr int least_k = 1;

  TileSums<double, X> sums;
  __device__ __forceinline__ explicit BatchedDmmaCore(float *) { sums.clear(); }

  __device__ __forceinline__ void multiply(const T (&a)[X][K], const T (&b)[X][K], const Parts &parts) {
#pragma unroll
    for (int e = 0; e < K; e += 2) {
      double right[X][2];
#pragma unroll
      for (int j = 0; j < X; ++j)
#pragma unroll
        for (int h = 0; h < 2; ++h) right[j][h] = b[j][e + h];
#pragma unroll
      for (int m = 0; m < X / 2; ++m) {
        const double left[4] = {a[2 * m][e], a[2 * m + 1][e], a[2 * m][e + 1], a[2 * m + 1][e + 1]};
#pragma unroll
        for (int j = 0; j < X; ++j)
          if (Map::parts == 1 || ((parts.rows >> (2 * m / Map::wide_x) & 1) && (parts.cols >> (j / Map::wide_x) & 1))) multiply_m16n8k8(sums.c[m][j], left, right[j]);
      }
    }
  }

  __device__ __forceinline__ double at(int i, int block, int odd) const { return sums.at(i, block, odd); }
  __device__ __forceinline__ bool odd_one_out() const { return sums.any([](auto x) { return is_nan(x); }); }
};

// float16 and bfloat16, summed in float32.
template <class T_, int tile>
struct HalfCore {
  using T = T_;
  using Acc = float;
  using Map = LaneMap<T, tile>;
  static constexpr int X = Map::held_x, K = Map::held_k / 2;
  static constexpr int shared_floats = 0;
  static constexpr Acc unscale = 1;
  static constexpr int least_k = 1;

  TileSums<float, X> sums;
  __device__ __forceinline__ explicit HalfCore(float *) { sums.clear(); }

  __device__ __forceinline__ void multiply(const uint32_t (&a)[X][K], const uint32_t (&b)[X][K], const Parts &) {
#pragma unroll
    for (int e = 0; e < K; e += 2)
#pragma unroll
      for (int m = 0; m < X / 2; ++m)
#pragma unroll
        for (int j = 0; j < X; ++j) mma_half<T>(sums.c[m][j], a[2 * m][e], a[2 * m + 1][e], a[2 * m][e + 1], a[2 * m + 1][e + 1], b[j][e], b[j][e + 1]);
  }

  __device__ __forceinline__ float at(int i, int block, int odd) const { return sums.at(i, block, odd); }
  __device__ __forceinline__ bool odd_one_out() const { return sums.any([](auto x) { return is_nan(x); }); }
};

// IEEE float32 FMA. A lane has the same elements of C as with the others, and needs all k of its rows and columns: the warp exchanges a
// chunk through its own piece of shared memory.
template <int tile>
struct BatchedFfmaCore {
  using T = float;
  using Acc = float;
  using Map = LaneMap<float, tile>;
  static constexpr int X = Map::held_x, K = Map::held_k;
  static constexpr int row = tile + 4, shared_floats = 2 * Map::chunk * row;
  static constexpr Acc unscale = 1;
  static constexpr int least_k = 1;
  static_assert(X == Map::wide_x, "a lane's rows are one vector");
  template <int n> struct alignas(4 * n) Floats { float value[n]; };

  TileSums<float, X> sums;
  float *a_chunk, *b_chunk;
  __device__ __forceinline__ explicit BatchedFfmaCore(float *shared) : a_chunk(shared), b_chunk(shared + Map::chunk * row) { sums.clear(); }

  __device__ __forceinline__ void multiply(const float (&a)[X][K], const float (&b)[X][K], const Parts &) {
    __syncwarp();
#pragma unroll
    for (int e = 0; e < K; ++e) {
      Floats<X> left, right;
#pragma unroll
      for (int i = 0; i < X; ++i) {
        left.value[i] = a[i][e];
        right.value[i] = b[i][e];
      }
      const int at = (Map::first_k() + e) * row + Map::first_x();
      *reinterpret_cast<Floats<X> *>(a_chunk + at) = left;
      *reinterpret_cast<Floats<X> *>(b_chunk + at) = right;
    }
    __syncwarp();
#pragma unroll 4
    for (int k = 0; k < Map::chunk; ++k) {
      const auto left = *reinterpret_cast<const Floats<X> *>(a_chunk + k * row + Map::first_x());
#pragma unroll
      for (int u = 0; u < Map::runs; ++u) {
        const auto right = *reinterpret_cast<const Floats<Map::run> *>(b_chunk + k * row + Map::run_column(u));
#pragma unroll
        for (int t = 0; t < Map::run; ++t)
#pragma unroll
          for (int i = 0; i < X; ++i) {
            float &sum = sums.at(i, Map::run_block(u, t), Map::run_odd(u, t));
            sum = fmaf(left.value[i], right.value[t], sum);
          }
      }
    }
  }

  __device__ __forceinline__ float at(int i, int block, int odd) const { return sums.at(i, block, odd); }
  __device__ __forceinline__ bool odd_one_out() const { return sums.any([](auto x) { return is_nan(x); }); }
};

}  // namespace tritri::cuda
