#include "core/operand.h"

#include <algorithm>

#include "core/k_range.h"
#include "support/catch.h"
#include "unit/core/layouts.h"

using namespace tritri;

TEST_CASE("Lines address every element where the header says it lies") {
  unit::each_layout(6, [](const tritri_matrix_desc &desc, const Layout &layout) {
    const support::Layout naive(desc);
    const Lines lines = layout.lines();
    const bool row = layout.order == Order::row;
    int64_t held = 0, last = -1;
    for (int64_t i = 0; i < layout.rows; ++i) {
      for (int64_t j = 0; j < layout.cols; ++j) {
        const int64_t line = row ? i : j, position = row ? j : i;
        const Range range = lines.held(line);
        REQUIRE((position >= range.begin && position < range.end) == naive.exists(i, j));
        if (!naive.exists(i, j)) continue;
        REQUIRE(lines.offset(line, position) == naive.offset(0, i, j));
        if (has_line_starts(lines)) REQUIRE(line_starts(lines).at(line) + position == lines.offset(line, position));
        last = std::max(last, naive.offset(0, i, j));
        ++held;
      }
    }
    CHECK(layout.elements() == held);
    CHECK(lines.extent() >= last + 1);
    CHECK(lines.extent() == naive.highest() + 1);
    if (layout.storage == Storage::packed) {
      CHECK(lines.extent() == held);
      for (int64_t line = 0; line <= lines.count; ++line) {
        int64_t before = 0;
        for (int64_t earlier = 0; earlier < line; ++earlier) before += lines.held(earlier).size();
        REQUIRE(lines.packed_start(line) == before);
      }
    }
  });
}

TEST_CASE("every layout but a packed trapezoid that ends with whole lines has line starts") {
  CHECK(has_line_starts({Fill::lower, true, 5, 5, 0}));
  CHECK(has_line_starts({Fill::lower, true, 4, 5, 0}));
  CHECK(!has_line_starts({Fill::lower, true, 6, 5, 0}));
  CHECK(has_line_starts({Fill::upper, true, 6, 5, 0}));
  CHECK(has_line_starts({Fill::lower, false, 6, 5, 7}));
  const Lines large{Fill::upper, true, 100000, 100000, 0};
  CHECK(line_starts(large).at(99999) + 99999 == large.offset(99999, 99999));
}

TEST_CASE("offsets pass 2^31 without truncation") {
  const int64_t n = 100000;
  const Lines strided{Fill::full, false, n, n, n}, packed{Fill::lower, true, n, n, 0};
  CHECK(strided.offset(n - 1, n - 1) == n * n - 1);
  CHECK(packed.offset(n - 1, n - 1) == n * (n + 1) / 2 - 1);
  CHECK(packed.extent() == n * (n + 1) / 2);
}

TEST_CASE("a batch's bytes reach to the end of its last matrix") {
  Layout x{Dtype::c128, Fill::lower, false, Order::row, Storage::strided, 3, 2, 5, 4, 100};
  CHECK(x.bytes() == (3 * 100 + 2 * 5 + 2) * 16);
  x.batch = 1;
  CHECK(x.bytes() == (2 * 5 + 2) * 16);
  x.rows = 0;
  CHECK(x.bytes() == 0);
}

TEST_CASE("tight keeps the matrix and drops what lies between") {
  unit::each_layout(4, [](const tritri_matrix_desc &, Layout layout) {
    layout.batch = 3;
    layout.batch_stride = 1000;
    const Layout t = tight(layout);
    const int64_t length = layout.order == Order::row ? layout.cols : layout.rows;
    CHECK(t.rows == layout.rows);
    CHECK(t.cols == layout.cols);
    CHECK(t.fill == layout.fill);
    CHECK(t.ld == (layout.storage == Storage::packed ? 0 : std::max<int64_t>(length, 1)));
    CHECK(t.batch_stride >= std::max<int64_t>(t.lines().extent(), 1));
    CHECK(t.batch_stride <= std::max<int64_t>(layout.rows * layout.cols, std::max<int64_t>(t.lines().count, 1)));
    layout.batch_stride = 0;
    CHECK(tight(layout).batch_stride == 0);
    if (layout.storage == Storage::strided) {
      CHECK(tight(layout, 8).ld % 8 == (length == 0 ? 1 : 0));
      CHECK(tight(layout, 8).ld >= length);
    }
  });
}

TEST_CASE("describe gives back what a layout was read from") {
  const Layout x{Dtype::bf16, Fill::upper, true, Order::column, Storage::strided, 3, 4, 9, 5, 77};
  const tritri_matrix_desc d = describe(x);
  CHECK(d.struct_size == sizeof d);
  CHECK(d.dtype == TRITRI_BFLOAT16);
  CHECK(d.fill == TRITRI_FILL_UPPER);
  CHECK(d.diag == TRITRI_DIAG_UNIT);
  CHECK(d.order == TRITRI_ORDER_COLUMN);
  CHECK(d.storage == TRITRI_STORAGE_STRIDED);
  CHECK(d.rows == 3);
  CHECK(d.cols == 4);
  CHECK(d.ld == 9);
  CHECK(d.batch_count == 5);
  CHECK(d.batch_stride == 77);
}

TEST_CASE("element sizes and names") {
  const int64_t bytes[] = {4, 8, 8, 16, 2, 2};
  const char *const names[] = {"float32", "float64", "complex64", "complex128", "float16", "bfloat16"};
  for (int32_t dtype = 0; dtype < 6; ++dtype) {
    CHECK(element_bytes(static_cast<Dtype>(dtype)) == bytes[dtype]);
    CHECK(std::string(name(static_cast<Dtype>(dtype))) == names[dtype]);
    CHECK(is_complex(static_cast<Dtype>(dtype)) == (dtype == TRITRI_COMPLEX64 || dtype == TRITRI_COMPLEX128));
  }
  CHECK(std::string(name(Fill::lower)) == "LOWER");
}
