#include "cuda/kernels/copy.h"

#include "cuda/runtime/check.h"
#include "cuda/tile/element.h"

namespace tritri::cuda {
namespace {

constexpr int edge = 32, warps = 8;

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
    });
  }
}

void copy_fill(Dtype dtype, const CopySide &to, const CopySide &from, const Lines &walk, const CopyBox &box, cudaStream_t stream) {
  const double blocks = static_cast<double>(box.batch.size()) * static_cast<double>((box.line.size() + edge - 1) / edge) *
                        static_cast<double>((box.position.size() + edge - 1) / edge);
  if (blocks == 0) return;
  visit_element(dtype, [&](auto tag) {
    copy_kernel<typename decltype(tag)::type><<<blocks < 1e6 ? static_cast<unsigned>(blocks) : 1000000u, edge * warps, 0, stream>>>(to, from, walk, box);
  });
  TRITRI_CUDA_CHECK(cudaGetLastError());
}

}  // namespace tritri::cuda
