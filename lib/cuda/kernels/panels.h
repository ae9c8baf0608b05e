// The kernels around cuBLAS: operands into dense panels before it, sums into C after it.
#pragma once
#include <cuda_runtime_api.h>

#include "core/canonical.h"

namespace tritri::cuda {

void load_panels();

// Rows x cols of op(X) for matrices [batch.begin, batch.end), row by row with `ld` and `stride` between matrices: zeros outside the fill, ones on a
// unit diagonal, conjugated, rounded to TF32 if the problem says so. Nothing outside the fill is read.
void pack_panel(const Problem &problem, const View &x, Range batch, Range rows, Range cols, void *panel, int64_t ld, int64_t stride, cudaStream_t stream);

// One operand of a product made whole: every element explicit (zeros outside the fill, ones on a unit diagonal, conjugated, rounded to TF32 if the problem
// says so), lines as they lie in memory but `ld` apart, matrices `stride` apart; 0: one serves the batch. `to` and ld are whole 16-byte vectors. Elements of a
// line from its length up to the next vector become zero.
struct MaskedCopy {
  View from;
  void *to;
  int64_t ld, stride;
};

// One or two of them in one launch, for matrices [batch.begin, batch.end).
void copy_masked(const Problem &problem, const MaskedCopy *copies, int count, Range batch, cudaStream_t stream);

// Adds what the k of `panel` contribute to these rows and columns of `sums`, which begin with element (rows.begin, cols.begin), without cuBLAS: for blocks
// that are one element thin.
void add_thin(const Problem &problem, Range batch, Range rows, Range cols, Range panel, void *sums, int64_t ld, int64_t stride, cudaStream_t stream);

// C := alpha sums + beta C for these rows and every column that C holds. `sums` are in the accumulator's type (float32 for 16-bit types), row by row,
// and a NaN among them is computed again over its own k range, since the sums met explicit zeros.
void finish_rows(const Problem &problem, Range batch, Range rows, const void *sums, int64_t ld, int64_t stride, cudaStream_t stream);

// The same for a full C that already holds alpha * sums with beta 0: its NaNs are computed again, and structural zeros that alpha gave a sign become +0.
void repair(const Problem &problem, Range batch, cudaStream_t stream);

}  // namespace tritri::cuda
