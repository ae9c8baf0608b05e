#include "core/canonical.h"

#include <utility>

#include "core/k_range.h"

namespace tritri {
namespace {

View view(const Layout &x, const void *data, int32_t op) {
  const bool transpose = op == TRITRI_OP_TRANSPOSE || op == TRITRI_OP_CONJ_TRANSPOSE;
  View v;
  v.data = data;
  v.fill = transpose ? flipped(x.fill) : x.fill;
  v.unit = x.unit;
  v.conj = is_complex(x.dtype) && (op == TRITRI_OP_CONJ || op == TRITRI_OP_CONJ_TRANSPOSE);
  v.row_lines = (x.order == Order::row) != transpose;
  v.packed = x.storage == Storage::packed;
  v.rows = transpose ? x.cols : x.rows;
  v.cols = transpose ? x.rows : x.cols;
  v.ld = x.ld;
  v.batch_stride = x.batch > 1 ? x.batch_stride : 0;
  return v;
}

// alpha and beta are rounded to the type that the product is computed in.
std::complex<double> scalar(Dtype dtype, double re, double im) {
  if (dtype == Dtype::f64 || dtype == Dtype::c128) return {re, im};
  return {static_cast<float>(re), static_cast<float>(im)};
}

}  // namespace

View transposed(View v) {
  v.fill = flipped(v.fill);
  v.row_lines = !v.row_lines;
  std::swap(v.rows, v.cols);
  return v;
}

Problem canonical(const tritri_multiply_options &options, const Operands &operands) {
  Problem p;
  p.dtype = operands.c.dtype;
  p.batch = operands.c.batch;
  p.a = view(operands.a, operands.a_data, options.op_a);
  p.b = view(operands.b, operands.b_data, options.op_b);
  p.c = view(operands.c, operands.c_data, TRITRI_OP_NONE);
  p.c_is_a = operands.c_data == operands.a_data;
  p.c_is_b = operands.c_data == operands.b_data;
  p.alpha = scalar(p.dtype, options.alpha_re, options.alpha_im);
  p.beta = scalar(p.dtype, options.beta_re, options.beta_im);
  p.compute = options.compute;
  if (!p.c.row_lines) {
    p.c = transposed(p.c);
    const View a = p.a;
    p.a = transposed(p.b);
    p.b = transposed(a);
    std::swap(p.c_is_a, p.c_is_b);
  }
  p.m = p.c.rows;
  p.n = p.c.cols;
  p.k = p.a.cols;
  if (p.m == 0 || p.n == 0 || p.k == 0) p.c_is_a = p.c_is_b = false;
  return p;
}

Fill product_fill(const Problem &p) { return p.a.fill == p.b.fill ? p.a.fill : Fill::full; }

double useful_flops(const Problem &p) {
  if (p.n == 0 || p.k == 0) return 0;
  // Rows of C that share one k range per column are not closed-form for trapezoids; O(m) terms, each a sum over columns of a
  // clipped linear function, is exact and cheap enough to print.
  double pairs = 0;
  for (int64_t i = 0; i < p.m; ++i) {
    const Range held = row_held(p.c.fill, i, p.n);
    if (held.empty()) continue;
    // |k_range(i, j)| is piecewise linear in j with its one corner where the column's bound meets the row's.
    const auto size = [&](int64_t j) { return static_cast<double>(k_range(p.a.fill, p.b.fill, p.k, {i, i + 1}, {j, j + 1}).size()); };
    const Range row = k_range(p.a.fill, Fill::full, p.k, {i, i + 1}, {0, 1});
    int64_t begin = held.begin, end = held.end;
    if (p.b.fill == Fill::lower && end > row.end) end = row.end > begin ? row.end : begin;      // k >= j leaves nothing beyond
    if (p.b.fill == Fill::upper && begin < row.begin) begin = row.begin < end ? row.begin : end;  // k <= j leaves nothing before
    int64_t corner = p.b.fill == Fill::lower ? row.begin : row.end - 1;
    corner = corner < begin ? begin : corner > end ? end : corner;
    const auto trapezium = [&](int64_t from, int64_t to) {
      return to > from ? 0.5 * static_cast<double>(to - from) * (size(from) + size(to - 1)) : 0.0;
    };
    pairs += trapezium(begin, corner) + trapezium(corner, end);
  }
  return pairs * (is_complex(p.dtype) ? 8 : 2) * static_cast<double>(p.batch);
}

}  // namespace tritri
