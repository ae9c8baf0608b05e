#include "cuda/kernels/copy.h"

#include "cuda/runtime/check.h"
#include "cuda/tile/element.h"

namespace tritri::cuda {
namespace {

constexpr int edge = 32, warps = 8;

// How many warps' widths of a line a warp copies: all its reads are in flight before its first write.
template <class T> inline constexpr int pieces = sizeof(T) >= 16 ? 4 : sizeof(T) == 8 ? 8 : 16;

// Where both sides' lines are the walk's: a warp for each line of a block. A packed line begins anywhere, so elements travel one by one.
template <class T>
__global__ void __launch_bounds__(edge * warps) lines_kernel(CopySide to, CopySide from, Lines walk, CopyBox box) {
  constexpr int span = edge * pieces<T>;
  const int lane = threadIdx.x % edge, warp = threadIdx.x / edge;
  const int64_t line_blocks = (box.line.size() + warps - 1) / warps, position_blocks = (box.position.size() + span - 1) / span;
  const int64_t total = box.batch.size() * line_blocks * position_blocks;
  for (int64_t index = blockIdx.x; index < total; index += gridDim.x) {
    const int64_t batch = box.batch.begin + index / (line_blocks * position_blocks), within = index % (line_blocks * position_blocks);
    const int64_t line = box.line.begin + within / position_blocks * warps + warp, position = box.position.begin + within % position_blocks * span + lane;
    if (line >= box.line.end) continue;
    const Range held = walk.held(line);
    const int64_t end = held.end < box.position.end ? held.end : box.position.end;
    const T *const source = reinterpret_cast<const T *>(from.data) + from.offset(batch, line, position);
    T *const target = reinterpret_cast<T *>(to.data) + to.offset(batch, line, position);
    T values[pieces<T>];
#pragma unroll
    for (int e = 0; e < pieces<T>; ++e)
      if (position + e * edge >= held.begin && position + e * edge < end) values[e] = source[e * edge];
#pragma unroll
    for (int e = 0; e < pieces<T>; ++e)
      if (position + e * edge >= held.begin && position + e * edge < end) target[e * edge] = values[e];
  }
}

// Blocks of 32 lines x 32 positions. Reads and writes both run along memory: where the sides' lines cross, a block turns in shared memory.
template <class T>
__global__ void __launch_bounds__(edge * warps) copy_kernel(CopySide to, CopySide from, Lines walk, CopyBox box) {
  __shared__ T turned[edge][edge + 1];
  const int lane = threadIdx.x % edge, warp = threadIdx.x / edge;
  const int64_t line_blocks = (box.line.size() + edge - 1) / edge, position_blocks = (box.position.size() + edge - 1) / edge;
  const int64_t total = box.batch.size() * line_blocks * position_blocks;
  T *target = reinterpret_cast<T *>(to.data);
  const T *source = reinterpret_cast<const T *>(from.data);
  const auto there = [&](int64_t line, int64_t position) {
    const Range held = walk.held(line);
    return line < box.line.end && position < box.position.end && position >= held.begin && position < held.end;
  };
  for (int64_t index = blockIdx.x; index < total; index += gridDim.x) {
    const int64_t batch = box.batch.begin + index / (line_blocks * position_blocks), within = index % (line_blocks * position_blocks);
    const int64_t line0 = box.line.begin + within / position_blocks * edge, position0 = box.position.begin + within % position_blocks * edge;
    if (walk.profile == Fill::lower && position0 > line0 + edge - 1) continue;
    if (walk.profile == Fill::upper && position0 + edge - 1 < line0) continue;
    if (to.across == from.across) {
      for (int r = warp; r < edge; r += warps) {
        const int64_t line = line0 + (to.across ? lane : r), position = position0 + (to.across ? r : lane);
        if (there(line, position)) target[to.offset(batch, line, position)] = source[from.offset(batch, line, position)];
      }
      continue;
    }
    for (int r = warp; r < edge; r += warps) {
      const int64_t line = line0 + (from.across ? lane : r), position = position0 + (from.across ? r : lane);
      if (there(line, position)) turned[r][lane] = source[from.offset(batch, line, position)];
    }
    __syncthreads();
    for (int r = warp; r < edge; r += warps) {
      const int64_t line = line0 + (to.across ? lane : r), position = position0 + (to.across ? r : lane);
      if (there(line, position)) target[to.offset(batch, line, position)] = turned[lane][r];
    }
    __syncthreads();
  }
}

}  // namespace

void load_copy() {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128, Dtype::f16, Dtype::bf16}) {
    visit_element(dtype, [](auto tag) {
      cudaFuncAttributes attributes;
      TRITRI_CUDA_CHECK(cudaFuncGetAttributes(&attributes, copy_kernel<typename decltype(tag)::type>));
      TRITRI_CUDA_CHECK(cudaFuncGetAttributes(&attributes, lines_kernel<typename decltype(tag)::type>));
    });
  }
}

void copy_fill(Dtype dtype, const CopySide &to, const CopySide &from, const Lines &walk, const CopyBox &box, cudaStream_t stream) {
  visit_element(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const bool along = !to.across && !from.across;
    const int64_t lines = along ? warps : edge, positions = along ? edge * pieces<T> : edge;
    const double blocks = static_cast<double>(box.batch.size()) * static_cast<double>((box.line.size() + lines - 1) / lines) *
                          static_cast<double>((box.position.size() + positions - 1) / positions);
    if (blocks == 0) return;
    const unsigned grid = blocks < 1e6 ? static_cast<unsigned>(blocks) : 1000000u;
    if (along) lines_kernel<T><<<grid, edge * warps, 0, stream>>>(to, from, walk, box);
    else copy_kernel<T><<<grid, edge * warps, 0, stream>>>(to, from, walk, box);
  });
  TRITRI_CUDA_CHECK(cudaGetLastError());
}

}  // namespace tritri::cuda
