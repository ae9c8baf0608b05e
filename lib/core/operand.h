// A matrix as its descriptor states it: sizes checked, defaults filled in.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tritri/tritri.h"

#ifdef __CUDACC__
#define TRITRI_HD __host__ __device__
#else
#define TRITRI_HD
#endif

namespace tritri {

enum class Dtype : int32_t { f32, f64, c64, c128, f16, bf16 };
enum class Fill : int32_t { full, lower, upper };
enum class Order : int32_t { row, column };
enum class Storage : int32_t { strided, packed };

constexpr int64_t element_bytes(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32: return 4;
    case Dtype::f64: return 8;
    case Dtype::c64: return 8;
    case Dtype::c128: return 16;
    case Dtype::f16: case Dtype::bf16: return 2;
  }
  return 0;
}
constexpr bool is_complex(Dtype dtype) { return dtype == Dtype::c64 || dtype == Dtype::c128; }
const char *name(Dtype dtype);
const char *name(Fill fill);

TRITRI_HD constexpr Fill flipped(Fill fill) {
  return fill == Fill::lower ? Fill::upper : fill == Fill::upper ? Fill::lower : Fill::full;
}

// Elements [begin, end) of a line or a k range; empty when begin >= end.
struct Range {
  int64_t begin, end;
  TRITRI_HD constexpr int64_t size() const { return end > begin ? end - begin : 0; }
  TRITRI_HD constexpr bool empty() const { return end <= begin; }
};

// Lines are what lies contiguously in memory: rows in row order, columns in column order. `profile` is the fill as lines see it:
// LOWER means that line l holds positions [0, l], UPPER that it holds [l, length).
struct Lines {
  Fill profile;
  bool packed;
  int64_t count, length, ld;

  TRITRI_HD constexpr Range held(int64_t line) const {
    if (profile == Fill::lower) return {0, line + 1 < length ? line + 1 : length};
    if (profile == Fill::upper) return {line < length ? line : length, length};
    return {0, length};
  }
  // Where element `position` of `line` lies, in elements from the first one.
  TRITRI_HD constexpr int64_t offset(int64_t line, int64_t position) const {
    return packed ? packed_start(line) + position - held(line).begin : line * ld + position;
  }
  // Elements from the first to one past the last that the matrix may touch.
  TRITRI_HD constexpr int64_t extent() const {
    if (count == 0 || length == 0) return 0;
    return packed ? packed_start(count) : (count - 1) * ld + length;
  }

  // Elements that exist.
  TRITRI_HD constexpr int64_t elements() const { return profile == Fill::full ? count * length : packed_start(count); }

  // Where a packed line begins.
  TRITRI_HD constexpr int64_t packed_start(int64_t line) const {
    const int64_t cut = line < length ? line : length;  // earlier lines that the diagonal cuts
    return profile == Fill::lower ? cut * (cut + 1) / 2 + (line - cut) * length : cut * length - cut * (cut - 1) / 2;
  }
};

// Where line l begins, strided or packed, without cases: element q of the line lies at l * step + bend * l (l - 1) / 2 + q.
struct LineStarts {
  int64_t step;
  int bend;
  TRITRI_HD constexpr int64_t at(int64_t line) const { return line * step + bend * (line * (line - 1) / 2); }
};
// All but packed trapezoids that end with whole lines have them.
TRITRI_HD constexpr bool has_line_starts(const Lines &lines) { return !(lines.packed && lines.profile == Fill::lower && lines.count > lines.length); }
TRITRI_HD constexpr LineStarts line_starts(const Lines &lines) {
  if (!lines.packed || lines.profile == Fill::full) return {lines.packed ? lines.length : lines.ld, 0};
  return lines.profile == Fill::lower ? LineStarts{1, 1} : LineStarts{lines.length - 1, -1};
}

struct Layout {
  Dtype dtype;
  Fill fill;
  bool unit;
  Order order;
  Storage storage;
  int64_t rows, cols;
  int64_t ld;     // strided: as in memory, never 0; packed: 0
  int64_t batch;  // matrices, at least 1
  int64_t batch_stride;

  Lines lines() const {
    const bool row = order == Order::row;
    return {row ? fill : flipped(fill), storage == Storage::packed, row ? rows : cols, row ? cols : rows, ld};
  }
  int64_t elements() const;  // inside the fill of one matrix
  int64_t bytes() const;     // from the first byte to one past the last of the whole batch, strides >= 0
};
bool operator==(const Layout &x, const Layout &y);

// The same matrix with tight lines and, for a batch that is not broadcast, tight matrices; lines padded to a multiple of `align` elements.
Layout tight(Layout layout, int64_t align = 1);

tritri_matrix_desc describe(const Layout &layout);

}  // namespace tritri
