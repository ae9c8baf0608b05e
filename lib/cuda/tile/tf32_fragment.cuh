// The operand of a TF32 wgmma that comes from registers: 64 lines of it by some k, read by a warpgroup from a tile in shared memory in whichever direction that lies.
#pragma once
#include "cuda/tile/hopper.cuh"

namespace tritri::cuda::hopper {

// Of a warp's 16 accumulator rows g and g + 8 are two neighbours, elements place and place + 1 of the 64: this makes a read across k one of 8 bytes without bank conflicts.
struct Tf32Rows {
  __device__ static int chunk(int warp, int g) { return (g & 2) << 1 | (warp & 1) << 1 | g >> 2; }
  __device__ static int place(int warp, int g) { return (warp >> 1) * 32 + chunk(warp, g) * 4 + (g & 1) * 2; }

  // Of 64 elements number `group` of a tile, f[x] are elements place + {0, 1, 0, 1} at k = 8 x + {q, q, q + 4, q + 4}, q = lane % 4. Here a line of the tile is one k: two boxes of 32 elements, one behind the other.
  template <int Steps>
  __device__ static __forceinline__ void read_across(float (&f)[Steps][4], uint32_t tile, int group, int warp, int lane) {
    const int g = lane >> 2, q = lane & 3, c = chunk(warp, g);
    const uint32_t box = tile + (group * 2 + (warp >> 1)) * Steps * 1024 + (g & 1) * 8;
    const uint32_t near = box + swizzled(q, c), far = box + swizzled(q + 4, c);
#pragma unroll
    for (int x = 0; x < Steps; ++x) {
      load2(near + x * 1024, f[x][0], f[x][1]);
      load2(far + x * 1024, f[x][2], f[x][3]);
    }
  }

  // The same where a line of the tile is one element; lanes 8 to 15 and 24 to 31 name the odd ones.
  template <int Steps>
  __device__ static __forceinline__ void read_along(float (&f)[Steps][4], uint32_t tile, int group, int warp, int lane) {
    const int line = group * 64 + place(warp, lane & 7) + (lane >> 3 & 1), half = lane >> 4;
#pragma unroll
    for (int x = 0; x < Steps; ++x) load_matrices(tile + swizzled<Steps * 32>(line, 2 * x + half), f[x]);
  }
};

}  // namespace tritri::cuda::hopper
