// How much there is to do, and in which order tiles are handed out. Host functions are constant-time estimates for cost models.
#pragma once
#include "core/canonical.h"
#include "core/k_range.h"

namespace tritri::cuda {

// Tiles of C's fill, as samples of at most 32 x 32: f(tiles, k that the one in the middle of the sample has).
template <class F>
void sample_tiles(const Problem &p, int64_t tile_m, int64_t tile_n, F &&f) {
  const auto step = [](int64_t size, int64_t tile) {
    const int64_t tiles = (size + tile - 1) / tile;
    return (tiles + 31) / 32;
  };
  const int64_t step_m = step(p.m, tile_m), step_n = step(p.n, tile_n);
  for (int64_t i = 0; i < p.m; i += step_m * tile_m) {
    for (int64_t j = 0; j < p.n; j += step_n * tile_n) {
      const int64_t i_mid = i + (step_m - 1) / 2 * tile_m, j_mid = j + (step_n - 1) / 2 * tile_n;
      const Range row{i_mid, i_mid + tile_m}, col{j_mid, j_mid + tile_n};
      const bool outside = (p.c.fill == Fill::lower && col.begin > row.end - 1) || (p.c.fill == Fill::upper && row.begin > col.end - 1);
      if (!outside) f(step_m * step_n, k_range(p.a.fill, p.b.fill, p.k, row, col).size());
    }
  }
}

// Multiply-adds of one batch's product when C is computed in tiles whose k range is rounded up to whole tile edges.
inline double tiled_pairs(const Problem &p, int64_t tile_m, int64_t tile_n) {
  double pairs = 0;
  sample_tiles(p, tile_m, tile_n, [&](int64_t tiles, int64_t length) { pairs += static_cast<double>(tiles * tile_m * tile_n) * static_cast<double>(length); });
  return pairs;
}

// Tile `index` of a count_m x count_n grid, rows with the longest sums first, so that the short ones fill the gaps at the end.
struct TileOrder {
  int64_t count_m, count_n;
  bool rows_down, cols_down;

  TileOrder(const Problem &p, int64_t tile_m, int64_t tile_n)
      : count_m((p.m + tile_m - 1) / tile_m), count_n((p.n + tile_n - 1) / tile_n), rows_down(p.a.fill == Fill::lower), cols_down(p.b.fill == Fill::upper) {}
  TRITRI_HD int64_t row(int64_t index) const {
    const int64_t r = index / count_n;
    return rows_down ? count_m - 1 - r : r;
  }
  TRITRI_HD int64_t col(int64_t index) const {
    const int64_t c = index % count_n;
    return cols_down ? count_n - 1 - c : c;
  }
};

}  // namespace tritri::cuda
