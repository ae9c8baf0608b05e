// A warp's share of a compact tile by IEEE float32 fused multiply-adds.
#pragma once
#include "cuda/tile/sm80_panel.cuh"

namespace tritri::cuda {

// 16 * blocks_m rows by 32 columns: lanes 4 x 8, each with 4 * blocks_m rows by 4 columns, k in steps of 8. Every read is an LDS.128: of four x
// at one k, or of four k at one x, as the panel lies. A lane's x are groups of four neighbours, or, where those would meet in one bank, every
// fourth or eighth.
template <int blocks_m>
struct CompactFfmaCore {
  using T = float;
  using Sum = float;
  static constexpr int rows = 4 * blocks_m, cols = 4, warp_m = 16 * blocks_m, warp_n = 32, step = 8, lanes_m = 4, lanes_n = 8;

  float sum[rows][cols];

  __device__ __forceinline__ CompactFfmaCore() {
#pragma unroll
    for (auto &line : sum)
#pragma unroll
      for (float &x : line) x = 0;
  }

  static __device__ __forceinline__ int lane_row() { return threadIdx.x % 32 / lanes_n; }
  static __device__ __forceinline__ int lane_col() { return threadIdx.x % lanes_n; }
  template <int lanes> static __device__ __forceinline__ int place(bool along_k, int lane, int index) {
    return along_k ? lane + lanes * index : 4 * lane + index % 4 + 4 * lanes * (index / 4);
  }
  // Where a lane reads in a stage, from the warp's first row or column.
  template <class Stage> static __device__ __forceinline__ int place_a(bool along_k) { return lane_row() * (along_k ? Stage::pitch_k : 4); }
  template <class Stage> static __device__ __forceinline__ int place_b(bool along_k) { return lane_col() * (along_k ? Stage::pitch_k : 4); }

  // Steps first, first + stride... of a stage, below end; there are at most `most`.
  template <class StageA, class StageB, bool a_along_k, bool b_along_k, int most, int stride>
  __device__ __forceinline__ void multiply(const float *a, const float *b, int first, int end, double) {
    a += first * step * StageA::step_k(a_along_k);
    b += first * step * StageB::step_k(b_along_k);
#pragma unroll 1
    for (int at = first; at < end; at += stride) {
#pragma unroll
      for (int k = 0; k < step; k += 4) {
        float left[rows][4], right[cols][4];
        fetch<StageA, rows, lanes_m, a_along_k>(left, a + k * StageA::step_k(a_along_k));
        fetch<StageB, cols, lanes_n, b_along_k>(right, b + k * StageB::step_k(b_along_k));
#pragma unroll
        for (int e = 0; e < 4; ++e)
#pragma unroll
          for (int r = 0; r < rows; ++r)
#pragma unroll
            for (int c = 0; c < cols; ++c) sum[r][c] = fmaf(left[r][e], right[c][e], sum[r][c]);
      }
      a += stride * step * StageA::step_k(a_along_k);
      b += stride * step * StageB::step_k(b_along_k);
    }
  }

  // Rows of `pitch` sums.
  static constexpr int pitch(int tile_n) { return tile_n + 4; }
  __device__ __forceinline__ void put(float *tile, int pitch, bool a_along_k, bool b_along_k) const {
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      float *const to = tile + place<lanes_m>(a_along_k, lane_row(), r) * pitch;
      if (b_along_k) {
#pragma unroll
        for (int c = 0; c < cols; ++c) to[place<lanes_n>(true, lane_col(), c)] = sum[r][c];
      } else {
        *reinterpret_cast<Vector<float> *>(to + 4 * lane_col()) = {{sum[r][0], sum[r][1], sum[r][2], sum[r][3]}};
      }
    }
  }

 private:
  // `count` x by four k.
  template <class Stage, int count, int lanes, bool along_k>
  static __device__ __forceinline__ void fetch(float (&x)[count][4], const float *from) {
#pragma unroll
    for (int v = 0; v < count; ++v) {
      const int offset = along_k ? lanes * v * Stage::pitch_k : v % 4 * Stage::pitch_x + v / 4 * 4 * lanes;
      const Vector<float> read = *reinterpret_cast<const Vector<float> *>(from + offset);
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        if constexpr (along_k) x[v][e] = read.value[e];
        else x[v / 4 * 4 + e][v % 4] = read.value[e];
      }
    }
  }
};

}  // namespace tritri::cuda
