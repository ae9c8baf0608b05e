// Orders and transposes folded away: the product as kernels see it. C is always a matrix of contiguous rows (a column-major C is
// computed as its transpose, C^T = op(B)^T op(A)^T); each input is contiguous along its rows or along its columns.
#pragma once
#include <complex>

#include "core/operand.h"

namespace tritri {

// op(X): element (i, j), 0 <= i < rows, 0 <= j < cols.
struct View {
  const void *data = nullptr;
  Fill fill = Fill::full;      // after op
  bool unit = false;
  bool conj = false;
  bool row_lines = true;       // a line in memory is a row of op(X)
  bool packed = false;
  int64_t rows = 0, cols = 0;  // after op
  int64_t ld = 0;
  int64_t batch_stride = 0;    // elements; 0: the same matrix for the whole batch

  TRITRI_HD constexpr Lines lines() const {
    return {row_lines ? fill : flipped(fill), packed, row_lines ? rows : cols, row_lines ? cols : rows, ld};
  }
  TRITRI_HD constexpr int64_t offset(int64_t i, int64_t j) const {
    return row_lines ? lines().offset(i, j) : lines().offset(j, i);
  }
};

// The same memory as the transpose of op(X).
View transposed(View view);

struct Problem {
  Dtype dtype = Dtype::f32;
  int64_t m = 0, n = 0, k = 0, batch = 1;
  View a, b, c;  // c.row_lines is true; c.data is writable
  std::complex<double> alpha{1, 0}, beta{0, 0};
  int32_t compute = TRITRI_COMPUTE_DEFAULT;
  bool c_is_a = false, c_is_b = false;  // in place

  void *c_data() const { return const_cast<void *>(c.data); }
  bool reads_inputs() const { return alpha != std::complex<double>(0, 0) && k > 0; }
};

struct Operands {
  Layout a, b, c;
  const void *a_data, *b_data;
  void *c_data;
};

// `options` and `operands` must have passed validation.
Problem canonical(const tritri_multiply_options &options, const Operands &operands);

// Which part of op(A) op(B) can hold anything but zeros, in the frame of the problem.
Fill product_fill(const Problem &problem);

// Useful flops: 2 per multiply-add of real numbers, 8 of complex ones, over the elements that C holds; the whole batch.
double useful_flops(const Problem &problem);

}  // namespace tritri
