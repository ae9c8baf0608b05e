#include "cuda/schedule/work.h"

#include <algorithm>

#include "support/catch.h"
#include "unit/core/layouts.h"
#include "unit/cuda/problems.h"

using namespace tritri;
using namespace tritri::cuda;

TEST_CASE("what tiles have to sum is what a walk over the sampled tiles finds") {
  for (const Fill a : unit::all_fills) for (const Fill b : unit::all_fills) for (const Fill c : unit::all_fills)
  for (const int64_t m : {1, 33, 500, 4100}) for (const int64_t n : {1, 70, 999, 5000}) for (const int64_t k : {1, 300, 4500})
  for (const int64_t tile_m : {32, 64, 128}) for (const int64_t tile_n : {32, 96}) for (const int64_t unit : {1, 32}) {
    const Problem p = unit::problem(a, b, c, m, n, k);
    const auto together = [](int64_t size, int64_t tile) { return ((size + tile - 1) / tile + 31) / 32; };
    const int64_t rows = together(m, tile_m), cols = together(n, tile_n);
    int64_t tiles = 0, units = 0, longest = 0;
    for (int64_t i = (rows - 1) / 2 * tile_m; i < m + (rows - 1) / 2 * tile_m; i += rows * tile_m)
      for (int64_t j = (cols - 1) / 2 * tile_n; j < n + (cols - 1) / 2 * tile_n; j += cols * tile_n) {
        const Range row{i, i + tile_m}, col{j, j + tile_n};
        const int64_t length = k_range(a, b, k, row, col).size();
        if (length == 0 || (c == Fill::lower && j >= row.end) || (c == Fill::upper && i >= col.end)) continue;
        tiles += rows * cols;
        units += rows * cols * ((length + unit - 1) / unit);
        longest = std::max(longest, length);
      }
    const TileSums sums = tile_sums(p, tile_m, tile_n, unit);
    REQUIRE(sums.tiles == static_cast<double>(tiles));
    REQUIRE(sums.k == static_cast<double>(units));
    REQUIRE(sums.longest == longest);
  }
}
