#include "cuda/kernels/panels.h"

#include "cuda/runtime/check.h"
#include "cuda/tile/element.h"

namespace tritri::cuda {
namespace {

constexpr int edge = 32, warps = 8, threads = edge * warps;

template <class T>
__global__ void __launch_bounds__(threads) pack_kernel(View x, bool tf32, Range batches, Range rows, Range cols, T *panel, int64_t ld, int64_t stride) {
  __shared__ T turned[edge][edge + 1];
  const int lane = threadIdx.x % edge, warp = threadIdx.x / edge;
  const int64_t row_blocks = (rows.size() + edge - 1) / edge, col_blocks = (cols.size() + edge - 1) / edge, per_matrix = row_blocks * col_blocks;
  const auto value = [&](const T *data, int64_t row, int64_t col) {
    const bool there = row < rows.end && col < cols.end && exists(x.fill, row, col);
    return there ? narrow<T>(element(x, data, row, col, tf32)) : T{};
  };
  for (int64_t index = blockIdx.x; index < batches.size() * per_matrix; index += gridDim.x) {
    const int64_t batch = index / per_matrix, row0 = rows.begin + index % per_matrix / col_blocks * edge, col0 = cols.begin + index % col_blocks * edge;
    const T *data = matrix_of<T>(x, batches.begin + batch);
    T *out = panel + batch * stride;
    if (!x.row_lines) {  // read down the columns, write along the rows
      for (int r = warp; r < edge; r += warps) turned[r][lane] = value(data, row0 + lane, col0 + r);
      __syncthreads();
    }
    for (int r = warp; r < edge; r += warps) {
      const int64_t row = row0 + r, col = col0 + lane;
      if (row < rows.end && col < cols.end) out[(row - rows.begin) * ld + col - cols.begin] = x.row_lines ? value(data, row, col) : turned[lane][r];
    }
    if (!x.row_lines) __syncthreads();
  }
}

template <class T>
__global__ void __launch_bounds__(threads) thin_kernel(const __grid_constant__ ProductArguments p, Range batches, Range rows, Range cols, Range panel, AccumulatorOf<T> *sums,
                                                       int64_t ld, int64_t stride) {
  const int64_t per_matrix = rows.size() * cols.size(), step = static_cast<int64_t>(gridDim.x) * threads;
  for (int64_t index = blockIdx.x * static_cast<int64_t>(threads) + threadIdx.x; index < batches.size() * per_matrix; index += step) {
    const int64_t in_group = index / per_matrix, row = index % per_matrix / cols.size(), col = index % cols.size(), i = rows.begin + row, j = cols.begin + col;
    const Range own = k_range(p.a.fill, p.b.fill, p.k, {i, i + 1}, {j, j + 1});
    const Range here{own.begin > panel.begin ? own.begin : panel.begin, own.end < panel.end ? own.end : panel.end};
    AccumulatorOf<T> &sum = sums[in_group * stride + row * ld + col];
    sum = plus(sum, exact_sum<T>(p, batches.begin + in_group, i, j, here));
  }
}

// Pieces of `threads` columns of one row each: the index arithmetic is a block's, not an element's.
template <class T>
__global__ void __launch_bounds__(threads) finish_kernel(const __grid_constant__ ProductArguments p, Range batches, Range rows, const AccumulatorOf<T> *sums, int64_t ld,
                                                         int64_t stride) {
  const int64_t pieces = (p.n + threads - 1) / threads, per_matrix = rows.size() * pieces;
  for (int64_t index = blockIdx.x; index < batches.size() * per_matrix; index += gridDim.x) {
    const int64_t in_group = index / per_matrix, row = index % per_matrix / pieces, i = rows.begin + row, j = index % pieces * threads + threadIdx.x;
    if (j >= p.n || !exists(p.c.fill, i, j)) continue;
    const int64_t batch = batches.begin + in_group;
    T *c = static_cast<T *>(const_cast<void *>(p.c.data)) + batch * p.c.batch_stride;
    store<T>(p, c + p.c.offset(i, j), settle<T>(p, batch, i, j, sums[in_group * stride + row * ld + j]));
  }
}

template <class T>
__global__ void __launch_bounds__(threads) repair_kernel(const __grid_constant__ ProductArguments p, int64_t batch) {
  T *c = static_cast<T *>(const_cast<void *>(p.c.data)) + batch * p.c.batch_stride;
  const int64_t pieces = (p.n + threads - 1) / threads;
  for (int64_t index = blockIdx.x; index < p.m * pieces; index += gridDim.x) {
    const int64_t i = index / pieces, j = index % pieces * threads + threadIdx.x;
    if (j >= p.n) continue;
    T *target = c + p.c.offset(i, j);
    const auto value = widen(*target);
    if (is_nan(value)) store<T>(p, target, settle<T>(p, batch, i, j, value));
  }
}

unsigned blocks_for(double blocks) { return blocks < 1 ? 1u : blocks < 65536 ? static_cast<unsigned>(blocks) : 65536u; }

}  // namespace

void load_panels() {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128, Dtype::f16, Dtype::bf16}) {
    visit_element(dtype, [](auto tag) {
      using T = typename decltype(tag)::type;
      cudaFuncAttributes attributes;
      TRITRI_CUDA_CHECK(cudaFuncGetAttributes(&attributes, pack_kernel<T>));
      TRITRI_CUDA_CHECK(cudaFuncGetAttributes(&attributes, thin_kernel<T>));
      TRITRI_CUDA_CHECK(cudaFuncGetAttributes(&attributes, finish_kernel<T>));
      TRITRI_CUDA_CHECK(cudaFuncGetAttributes(&attributes, repair_kernel<T>));
    });
  }
}

void pack_panel(const Problem &p, const View &x, Range batch, Range rows, Range cols, void *panel, int64_t ld, int64_t stride, cudaStream_t stream) {
  const double blocks = static_cast<double>(batch.size()) * static_cast<double>((rows.size() + edge - 1) / edge) * static_cast<double>((cols.size() + edge - 1) / edge);
  visit_element(p.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    pack_kernel<T><<<blocks_for(blocks), threads, 0, stream>>>(x, p.compute == TRITRI_COMPUTE_TF32, batch, rows, cols, static_cast<T *>(panel), ld, stride);
  });
  TRITRI_CUDA_CHECK(cudaGetLastError());
}

void add_thin(const Problem &p, Range batch, Range rows, Range cols, Range panel, void *sums, int64_t ld, int64_t stride, cudaStream_t stream) {
  const double elements = static_cast<double>(batch.size()) * static_cast<double>(rows.size()) * static_cast<double>(cols.size());
  visit_element(p.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    thin_kernel<T><<<blocks_for(elements / threads + 1), threads, 0, stream>>>(ProductArguments(p), batch, rows, cols, panel, static_cast<AccumulatorOf<T> *>(sums), ld, stride);
  });
  TRITRI_CUDA_CHECK(cudaGetLastError());
}

void finish_rows(const Problem &p, Range batch, Range rows, const void *sums, int64_t ld, int64_t stride, cudaStream_t stream) {
  const double blocks = static_cast<double>(batch.size()) * static_cast<double>(rows.size()) * static_cast<double>((p.n + threads - 1) / threads);
  visit_element(p.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    finish_kernel<T><<<blocks_for(blocks), threads, 0, stream>>>(ProductArguments(p), batch, rows, static_cast<const AccumulatorOf<T> *>(sums), ld, stride);
  });
  TRITRI_CUDA_CHECK(cudaGetLastError());
}

void repair(const Problem &p, int64_t batch, cudaStream_t stream) {
  visit_element(p.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    repair_kernel<T><<<blocks_for(static_cast<double>(p.m) * static_cast<double>((p.n + threads - 1) / threads)), threads, 0, stream>>>(ProductArguments(p), batch);
  });
  TRITRI_CUDA_CHECK(cudaGetLastError());
}

}  // namespace tritri::cuda
