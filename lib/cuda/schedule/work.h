// How much there is to do, and in which order tiles are handed out. Host functions are constant-time estimates for cost models.
#pragma once
#include "core/canonical.h"
#include "core/k_range.h"

namespace tritri::cuda {

inline int64_t ceil_div(int64_t x, int64_t y) { return (x + y - 1) / y; }

// Tiles of C's fill, from samples of at most 32 x 32 that stand for those around them.
struct TileSums {
  double tiles = 0;     // that have a sum
  double k = 0;         // of all tiles, each rounded up to whole units
  int64_t longest = 0;  // sum
};
// Row after row in closed form, since the first product of a shape waits for many of these. `unit` divides tile_m and tile_n.
TileSums tile_sums(const Problem &p, int64_t tile_m, int64_t tile_n, int64_t unit = 1);

// Multiply-adds of one batch's product when C is computed in tiles whose k range is rounded up to whole tile edges.
inline double tiled_pairs(const Problem &p, int64_t tile_m, int64_t tile_n) { return tile_sums(p, tile_m, tile_n).k * static_cast<double>(tile_m * tile_n); }

// Of the elements that an operand holds: of one matrix, and of a whole batch.
inline double fill_bytes(const Problem &p, const View &x) {
  return (x.fill == Fill::full ? 1 : 0.5) * static_cast<double>(x.rows) * static_cast<double>(x.cols) * static_cast<double>(element_bytes(p.dtype));
}
inline double fills_bytes(const Problem &p) {
  const auto of = [&](const View &x) { return fill_bytes(p, x) * (x.batch_stride == 0 ? 1 : static_cast<double>(p.batch)); };
  return of(p.a) + of(p.b) + of(p.c);
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
