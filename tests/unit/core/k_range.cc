#include "core/k_range.h"

#include <algorithm>

#include "support/catch.h"
#include "unit/core/layouts.h"

using namespace tritri;

namespace {
// Spelled out once more, so that `exists` itself is under test.
bool inside(Fill fill, int64_t i, int64_t j) { return fill == Fill::full || (fill == Fill::lower && i >= j) || (fill == Fill::upper && i <= j); }
}  // namespace

TEST_CASE("k_range is the hull of the k at which some pair of the tile exists") {
  const int64_t m = 6, n = 6;
  for (const Fill a : unit::all_fills) for (const Fill b : unit::all_fills) for (const int64_t depth : {0, 1, 3, 6, 9})
  for (int64_t i0 = 0; i0 < m; ++i0) for (int64_t i1 = i0 + 1; i1 <= m; ++i1) for (int64_t j0 = 0; j0 < n; ++j0) for (int64_t j1 = j0 + 1; j1 <= n; ++j1) {
    int64_t begin = depth, end = 0;
    for (int64_t k = 0; k < depth; ++k) {
      bool row = false, column = false;
      for (int64_t i = i0; i < i1; ++i) row = row || inside(a, i, k);
      for (int64_t j = j0; j < j1; ++j) column = column || inside(b, k, j);
      if (!row || !column) continue;
      begin = std::min(begin, k);
      end = k + 1;
    }
    const Range range = k_range(a, b, depth, {i0, i1}, {j0, j1});
    if (begin >= end) {
      REQUIRE(range.empty());
      REQUIRE(range.size() == 0);
    } else {
      REQUIRE(range.begin == begin);
      REQUIRE(range.end == end);
    }
  }
}

TEST_CASE("k_range can be asked while compiling and beyond 2^31") {
  static_assert(k_range(Fill::lower, Fill::lower, 100, {10, 20}, {5, 9}).begin == 5, "B lower bounds below by the column");
  static_assert(k_range(Fill::lower, Fill::lower, 100, {10, 20}, {5, 9}).end == 20, "A lower bounds above by the row");
  const int64_t far = int64_t{1} << 40;
  const Range range = k_range(Fill::lower, Fill::lower, 4 * far, {2 * far, 2 * far + 1}, {far, far + 1});
  CHECK(range.begin == far);
  CHECK(range.end == 2 * far + 1);
}

TEST_CASE("block_is_whole says whether every element of a block is stored") {
  for (const Fill fill : unit::all_fills) for (const bool unit : {false, true})
  for (int64_t i0 = 0; i0 < 5; ++i0) for (int64_t i1 = i0 + 1; i1 <= 5; ++i1) for (int64_t j0 = 0; j0 < 5; ++j0) for (int64_t j1 = j0 + 1; j1 <= 5; ++j1) {
    bool whole = true;
    for (int64_t i = i0; i < i1; ++i) for (int64_t j = j0; j < j1; ++j) whole = whole && inside(fill, i, j) && !(unit && i == j);
    REQUIRE(block_is_whole(fill, unit, {i0, i1}, {j0, j1}) == whole);
  }
}

TEST_CASE("exists, row_held and flipped agree with the definition of fill") {
  for (const Fill fill : unit::all_fills) for (const int64_t n : {0, 1, 3, 7}) for (int64_t i = 0; i < 6; ++i) {
    int64_t held = 0;
    const Range range = row_held(fill, i, n);
    for (int64_t j = 0; j < n; ++j) {
      REQUIRE(exists(fill, i, j) == inside(fill, i, j));
      REQUIRE(exists(flipped(fill), j, i) == inside(fill, i, j));
      REQUIRE((j >= range.begin && j < range.end) == inside(fill, i, j));
      held += inside(fill, i, j);
    }
    REQUIRE(range.size() == held);
  }
}
