// The centre of the library: which k contribute to a tile of C. Loops, schedules, masks, flop counts and workspace sizes all ask here.
#pragma once
#include "core/operand.h"

namespace tritri {

// op(A) is m x k with fill `a`, op(B) is k x n with fill `b`. For rows [i.begin, i.end) and columns [j.begin, j.end) of the product: the
// k with at least one existing pair A(i, k), B(k, j). Empty: the tile is structurally zero.
TRITRI_HD constexpr Range k_range(Fill a, Fill b, int64_t k, Range i, Range j) {
  int64_t begin = 0, end = k;
  if (a == Fill::lower && i.end < end) end = i.end;        // A(i, k) needs k <= i
  if (a == Fill::upper && i.begin > begin) begin = i.begin;  // k >= i
  if (b == Fill::lower && j.begin > begin) begin = j.begin;  // B(k, j) needs k >= j
  if (b == Fill::upper && j.end < end) end = j.end;        // k <= j
  return {begin, end > begin ? end : begin};
}

// Whether every A(i, k), respectively B(k, j), of the block exists: no mask is needed there. A unit diagonal inside the block needs one.
TRITRI_HD constexpr bool block_is_whole(Fill fill, bool unit, Range row, Range col) {
  const bool on_diagonal = row.begin < col.end && col.begin < row.end;
  if (unit && on_diagonal) return false;
  if (fill == Fill::lower) return row.begin >= col.end - 1;
  if (fill == Fill::upper) return row.end - 1 <= col.begin;
  return true;
}

// Whether element (i, j) exists in a matrix with this fill.
TRITRI_HD constexpr bool exists(Fill fill, int64_t i, int64_t j) {
  return fill == Fill::full || (fill == Fill::lower ? i >= j : i <= j);
}

// Columns [begin, end) of C that exist in row i.
TRITRI_HD constexpr Range row_held(Fill fill, int64_t i, int64_t n) {
  if (fill == Fill::lower) return {0, i + 1 < n ? i + 1 : n};
  if (fill == Fill::upper) return {i < n ? i : n, n};
  return {0, n};
}

}  // namespace tritri
