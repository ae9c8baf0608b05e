#include "cuda/schedule/row_blocks.h"

#include <algorithm>

namespace tritri::cuda {
namespace {

// A block of a triangle: it stands on the diagonal or lies beside it, where it is full.
View block(const View &x, Dtype dtype, Range rows, Range cols, Fill fill) {
  View part = x;
  part.data = static_cast<const char *>(x.data) + x.offset(rows.begin, cols.begin) * element_bytes(dtype);
  part.rows = rows.size();
  part.cols = cols.size();
  part.fill = fill;
  part.unit = x.unit && fill != Fill::full;
  return part;
}

Problem product(const Problem &whole, const View &a, const View &b, const View &c, double beta) {
  Problem p = whole;
  p.a = a;
  p.b = b;
  p.c = c;
  p.m = c.rows;
  p.n = c.cols;
  p.k = a.cols;
  p.beta = beta;
  return p;
}

}  // namespace

bool has_row_blocks(const Problem &p) {
  const Fill fill = p.a.fill;
  for (const View *x : {&p.a, &p.b, &p.c})
    if (!x->row_lines || x->packed) return false;
  return fill != Fill::full && p.b.fill == fill && (p.c.fill == fill || p.c.fill == Fill::full) && p.m == p.n && p.n == p.k && p.batch == 1 && p.reads_inputs() &&
         p.beta == std::complex<double>(0, 0) && !p.c_is_a && !p.c_is_b && p.dtype != Dtype::f16 && p.dtype != Dtype::bf16;
}

std::vector<RowBlock> row_blocks(const Problem &p, int64_t height) {
  const Fill fill = p.a.fill;
  const auto part = [&](const View &x, Range rows, Range cols, Fill part_fill) { return block(x, p.dtype, rows, cols, part_fill); };
  std::vector<RowBlock> blocks;
  for (int64_t begin = 0; begin < p.m; begin += height) {
    const Range rows{begin, std::min(begin + height, p.m)}, before = fill == Fill::lower ? Range{0, rows.begin} : Range{rows.end, p.m};
    RowBlock now{rows, {}, {}};
    const View a = part(p.a, rows, rows, fill), b = part(p.b, rows, rows, fill);
    if (!before.empty()) {
      const View a_beside = part(p.a, rows, before, Fill::full), b_beside = part(p.b, rows, before, Fill::full), c_beside = part(p.c, rows, before, Fill::full);
      now.ahead = product(p, a_beside, part(p.b, before, before, fill), c_beside, 0);
      now.products.push_back(product(p, a, b_beside, c_beside, 1));
    }
    now.products.push_back(product(p, a, b, part(p.c, rows, rows, p.c.fill), 0));
    blocks.push_back(std::move(now));
  }
  if (fill == Fill::upper) std::reverse(blocks.begin(), blocks.end());
  return blocks;
}

}  // namespace tritri::cuda
