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

// 16 bytes, or one element where that is more aligned: what one instruction moves.
template <class T> inline constexpr int vector_length = 16 / static_cast<int>(sizeof(T));
template <class T>
struct alignas(16) Vector16 { T value[vector_length<T>]; };

// A thread has `lines_each` vectors of one copy, `warps` lines apart, so that several loads are in flight; a block has as many lines and a warp's width of vectors.
constexpr int lines_each = 2, block_lines = warps * lines_each;
template <class T> inline constexpr int block_length = edge * vector_length<T>;

// What a block of the launch does: `blocks` of them per matrix, `across` of those along a line.
struct MaskedBlocks {
  MaskedCopy copy;
  int64_t matrices, blocks, across;
  bool vectors;  // every line of the source begins on a 16-byte boundary
};
struct MaskedLaunch { MaskedBlocks part[2]; };

template <class T>
__global__ void __launch_bounds__(threads) masked_kernel(const __grid_constant__ MaskedLaunch launch, int64_t batch_begin, bool tf32) {
  constexpr int length = vector_length<T>;
  const int64_t first_part = launch.part[0].matrices * launch.part[0].blocks;
  const bool second = blockIdx.x >= first_part;
  const MaskedBlocks &x = launch.part[second];
  const int64_t index = blockIdx.x - (second ? first_part : 0), matrix = index / x.blocks, within = index % x.blocks;
  const View &from = x.copy.from;
  const Lines lines = from.lines();
  const T *const data = matrix_of<T>(from, batch_begin + matrix);
  T *const to = static_cast<T *>(x.copy.to) + matrix * x.copy.stride;
  const int64_t position = within % x.across * block_length<T> + threadIdx.x % edge * length;
  if (position >= lines.length) return;
  Vector16<T> values[lines_each];
#pragma unroll
  for (int r = 0; r < lines_each; ++r) {
    const int64_t line = within / x.across * block_lines + threadIdx.x / edge + r * warps;
    const Range held = line < lines.count ? lines.held(line) : Range{0, 0};
    values[r] = Vector16<T>{};
    if (position >= held.end || position + length <= held.begin) continue;
    const T *const source = data + lines.offset(line, position);
    const bool has_one = from.unit && line >= position && line < position + length;
    if (x.vectors && !has_one && position >= held.begin && position + length <= held.end) {
      values[r] = *reinterpret_cast<const Vector16<T> *>(source);
    } else {
#pragma unroll
      for (int e = 0; e < length; ++e) {
        const int64_t at = position + e;
        if (at >= held.begin && at < held.end && !(from.unit && at == line)) values[r].value[e] = source[e];
      }
    }
  }
#pragma unroll
  for (int r = 0; r < lines_each; ++r) {
    const int64_t line = within / x.across * block_lines + threadIdx.x / edge + r * warps;
    if (line >= lines.count) break;
#pragma unroll
    for (int e = 0; e < length; ++e) {
      T &value = values[r].value[e];
      if (from.unit && position + e == line && line < lines.length) value = narrow<T>(one<AccumulatorOf<T>>());
      else value = narrow<T>(adjust(static_cast<AccumulatorOf<T>>(widen(value)), from.conj, tf32));
    }
    *reinterpret_cast<Vector16<T> *>(to + line * x.copy.ld + position) = values[r];
  }
}

// Most threads find nothing to do: they read a vector of C and are gone.
template <class T>
__global__ void __launch_bounds__(threads) repair_kernel(const __grid_constant__ ProductArguments p, Range batches, bool vectors, bool zeros) {
  constexpr int length = vector_length<T>;
  const int64_t across = (p.n + block_length<T> - 1) / block_length<T>, per_matrix = (p.m + warps - 1) / warps * across;
  for (int64_t index = blockIdx.x; index < batches.size() * per_matrix; index += gridDim.x) {
    const int64_t batch = batches.begin + index / per_matrix, within = index % per_matrix;
    const int64_t i = within / across * warps + threadIdx.x / edge, j = within % across * block_length<T> + threadIdx.x % edge * length;
    if (i >= p.m || j >= p.n) continue;
    T *const target = static_cast<T *>(const_cast<void *>(p.c.data)) + batch * p.c.batch_stride + p.c.offset(i, j);
    Vector16<T> values{};
    if (vectors && j + length <= p.n) {
      values = *reinterpret_cast<const Vector16<T> *>(target);
    } else {
#pragma unroll
      for (int e = 0; e < length; ++e)
        if (j + e < p.n) values.value[e] = target[e];
    }
#pragma unroll
    for (int e = 0; e < length; ++e) {
      const auto value = widen(values.value[e]);
      const bool nan = is_nan(value);
      if (j + e >= p.n || !(nan || (zeros && is_zero(value)))) continue;
      const Settled<T> settled = look_closer<T>(p, batch, i, j + e, value);
      if (nan || settled.structural_zero) store<T>(p, target + e, settled);
    }
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
      TRITRI_CUDA_CHECK(cudaFuncGetAttributes(&attributes, masked_kernel<T>));
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

void copy_masked(const Problem &p, const MaskedCopy *copies, int count, Range batch, cudaStream_t stream) {
  visit_element(p.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int64_t element = sizeof(T);
    MaskedLaunch launch{};
    int64_t blocks = 0;
    for (int x = 0; x < count; ++x) {
      MaskedBlocks &part = launch.part[x];
      part.copy = copies[x];
      const View &from = part.copy.from;
      const Lines lines = from.lines();
      part.across = (lines.length + block_length<T> - 1) / block_length<T>;
      part.blocks = (lines.count + block_lines - 1) / block_lines * part.across;
      part.matrices = part.copy.stride == 0 ? 1 : batch.size();
      part.vectors = !from.packed && reinterpret_cast<uintptr_t>(from.data) % 16 == 0 && from.ld * element % 16 == 0 && from.batch_stride * element % 16 == 0;
      blocks += part.matrices * part.blocks;
    }
    masked_kernel<T><<<static_cast<unsigned>(blocks), threads, 0, stream>>>(launch, batch.begin, p.compute == TRITRI_COMPUTE_TF32);
  });
  TRITRI_CUDA_CHECK(cudaGetLastError());
}

void repair(const Problem &p, Range batch, cudaStream_t stream) {
  const bool zeros = !(p.alpha.real() > 0 && p.alpha.imag() == 0);
  visit_element(p.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int64_t element = sizeof(T);
    const bool vectors = reinterpret_cast<uintptr_t>(p.c.data) % 16 == 0 && p.c.ld * element % 16 == 0 && p.c.batch_stride * element % 16 == 0;
    const double blocks = static_cast<double>((p.m + warps - 1) / warps) * static_cast<double>((p.n + block_length<T> - 1) / block_length<T>) * static_cast<double>(batch.size());
    repair_kernel<T><<<blocks_for(blocks), threads, 0, stream>>>(ProductArguments(p), batch, vectors, zeros);
  });
  TRITRI_CUDA_CHECK(cudaGetLastError());
}

}  // namespace tritri::cuda
