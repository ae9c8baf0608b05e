#include "cuda/kernels/copy.h"

#include "cuda/runtime/check.h"
#include "cuda/runtime/early_start.h"
#include "cuda/tile/element.h"
#include "cuda/tile/hopper.cuh"

namespace tritri::cuda {
namespace {

constexpr int edge = 32, warps = 8;

// How many warps' widths of a line a warp copies: all its reads are in flight before its first write.
template <class T> inline constexpr int pieces = sizeof(T) >= 16 ? 4 : sizeof(T) == 8 ? 8 : 16;

// Copies where both sides' lines are the walk's come in blocks of `warps` lines; this is how many.
template <class T>
TRITRI_HD int64_t line_blocks(const CopyBox &box) {
  constexpr int span = edge * pieces<T>;
  return box.batch.size() * ((box.line.size() + warps - 1) / warps) * ((box.position.size() + span - 1) / span);
}

// One of them: a warp for each line. A packed line begins anywhere, so elements travel one by one.
template <class T>
__device__ __forceinline__ void copy_lines(const Copy &copy, int64_t index) {
  constexpr int span = edge * pieces<T>;
  const CopyBox &box = copy.box;
  const int lane = threadIdx.x % edge, warp = threadIdx.x / edge;
  const int64_t groups = (box.line.size() + warps - 1) / warps, spans = (box.position.size() + span - 1) / span;
  const int64_t batch = box.batch.begin + index / (groups * spans), within = index % (groups * spans);
  const int64_t line = box.line.begin + within / spans * warps + warp, position = box.position.begin + within % spans * span + lane;
  if (line >= box.line.end) return;
  const Range held = copy.walk.held(line);
  const int64_t end = held.end < box.position.end ? held.end : box.position.end;
  const T *const source = reinterpret_cast<const T *>(copy.from.data) + copy.from.offset(batch, line, position);
  T *const target = reinterpret_cast<T *>(copy.to.data) + copy.to.offset(batch, line, position);
  T values[pieces<T>];
#pragma unroll
  for (int e = 0; e < pieces<T>; ++e)
    if (position + e * edge >= held.begin && position + e * edge < end) values[e] = source[e * edge];
#pragma unroll
  for (int e = 0; e < pieces<T>; ++e)
    if (position + e * edge >= held.begin && position + e * edge < end) target[e * edge] = values[e];
}

// Two of them in one launch: the second begins while the first one ends.
struct CopyPair { Copy first, second; };
template <class T>
__global__ void __launch_bounds__(edge * warps) lines_kernel(const __grid_constant__ CopyPair both) {
  hopper::launch_dependents();  // who begins early waits for the end
  hopper::wait_for_primary();
  const int64_t first = line_blocks<T>(both.first.box), total = first + line_blocks<T>(both.second.box);
  for (int64_t index = blockIdx.x; index < total; index += gridDim.x) copy_lines<T>(index < first ? both.first : both.second, index < first ? index : index - first);
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

unsigned grid_of(double blocks) { return blocks < 1e6 ? static_cast<unsigned>(blocks) : 1000000u; }

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

void copy_fill(Dtype dtype, const Copy &copy, cudaStream_t stream) {
  if (!copy.to.across && !copy.from.across) {
    Copy nothing = copy;
    nothing.box.batch = {0, 0};
    return copy_lines_of_two(dtype, copy, nothing, false, stream);
  }
  visit_element(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const CopyBox &box = copy.box;
    const double blocks = static_cast<double>(box.batch.size()) * static_cast<double>((box.line.size() + edge - 1) / edge) *
                          static_cast<double>((box.position.size() + edge - 1) / edge);
    if (blocks > 0) copy_kernel<T><<<grid_of(blocks), edge * warps, 0, stream>>>(copy.to, copy.from, copy.walk, box);
  });
  TRITRI_CUDA_CHECK(cudaGetLastError());
}

void copy_lines_of_two(Dtype dtype, const Copy &first, const Copy &second, bool early, cudaStream_t stream) {
  visit_element(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const double blocks = static_cast<double>(line_blocks<T>(first.box)) + static_cast<double>(line_blocks<T>(second.box));
    if (blocks == 0) return;
    if (early) launch_early(lines_kernel<T>, grid_of(blocks), edge * warps, stream, CopyPair{first, second});
    else lines_kernel<T><<<grid_of(blocks), edge * warps, 0, stream>>>({first, second});
  });
  TRITRI_CUDA_CHECK(cudaGetLastError());
}

}  // namespace tritri::cuda
