// In which order tiles are handed out: longest sums first, neighbours together. Closed form, so that no list travels to the card.
#pragma once
#include <cmath>

#include "core/k_range.h"

namespace tritri::cuda {

// How the length of a tile's sum falls with u and v, where (0, 0) is the corner with the longest.
enum class Levels : int32_t {
  rows,       // with u alone
  cols,       // with v alone
  diagonals,  // with u + v: both triangles point the same way
  hooks,      // with max(u, v): they meet
};

struct GridPlace { int64_t u, v; };

// Indices of tiles have 32 bits, which a card divides many times faster than 64.
TRITRI_HD inline GridPlace by_rows(int64_t index, int64_t row) {
  const auto x = static_cast<uint32_t>(index), y = static_cast<uint32_t>(row);
  return {x / y, x % y};
}
TRITRI_HD inline GridPlace swapped(GridPlace place) { return {place.v, place.u}; }

// The largest s with s (s + 1) / 2 <= index.
TRITRI_HD inline int64_t triangle_root(int64_t index) {
  int64_t s = static_cast<int64_t>((sqrt(8.0 * static_cast<double>(index) + 1.0) - 1.0) * 0.5);
  while (s * (s + 1) / 2 > index) --s;
  while ((s + 1) * (s + 2) / 2 <= index) ++s;
  return s;
}

TRITRI_HD inline int64_t square_root(int64_t index) {
  int64_t s = static_cast<int64_t>(sqrt(static_cast<double>(index)));
  while (s * s > index) --s;
  while ((s + 1) * (s + 1) <= index) ++s;
  return s;
}

// Place `index` of a count_u x count_v grid; every place comes exactly once.
TRITRI_HD inline GridPlace place_of(Levels levels, int64_t count_u, int64_t count_v, int64_t index) {
  const int64_t shorter = count_u < count_v ? count_u : count_v;
  switch (levels) {
    case Levels::rows: return by_rows(index, count_v);
    case Levels::cols: return swapped(by_rows(index, count_u));
    case Levels::diagonals: {
      const int64_t total = count_u * count_v, corner = shorter * (shorter - 1) / 2;
      if (index < corner) {
        const int64_t s = triangle_root(index), u = index - s * (s + 1) / 2;
        return {u, s - u};
      }
      if (index >= total - corner) {
        const int64_t mirrored = total - 1 - index, s = triangle_root(mirrored), u = mirrored - s * (s + 1) / 2;
        return {count_u - 1 - u, count_v - 1 - (s - u)};
      }
      const GridPlace between = by_rows(index - corner, shorter);
      const int64_t s = shorter - 1 + between.u, along = between.v;
      return count_u <= count_v ? GridPlace{along, s - along} : GridPlace{s - along, along};
    }
    case Levels::hooks: break;
  }
  if (index < shorter * shorter) {
    const int64_t s = square_root(index), along = index - s * s;
    return along < s ? GridPlace{along, s} : GridPlace{s, along - s};
  }
  const GridPlace beyond = by_rows(index, shorter);
  return count_u <= count_v ? swapped(beyond) : beyond;
}

// Tiles come in groups of group_m x group_n, which share rows and columns in the L2 cache; groups come longest first,
// exactly so where C is square. A group may reach beyond the grid: tiles there do not exist.
struct GroupedOrder {
  Levels levels;
  bool rows_down, cols_down;
  int32_t group_m, group_n;
  int64_t groups_m, groups_n;

  GroupedOrder() = default;
  GroupedOrder(Fill a, Fill b, int64_t tiles_m, int64_t tiles_n, int32_t group_m, int32_t group_n)
      : levels(a == Fill::full ? (b == Fill::full ? Levels::rows : Levels::cols) : b == Fill::full ? Levels::rows : a == b ? Levels::diagonals : Levels::hooks),
        rows_down(a == Fill::lower), cols_down(b == Fill::upper), group_m(group_m), group_n(group_n),
        groups_m((tiles_m + group_m - 1) / group_m), groups_n((tiles_n + group_n - 1) / group_n) {}

  TRITRI_HD int64_t count() const { return groups_m * groups_n * group_m * group_n; }
  TRITRI_HD GridPlace tile(int64_t index) const {
    const GridPlace grouped = by_rows(index, group_m * group_n), within = by_rows(grouped.v, group_n);
    const GridPlace g = place_of(levels, groups_m, groups_n, grouped.u);
    const int64_t row = rows_down ? groups_m - 1 - g.u : g.u, col = cols_down ? groups_n - 1 - g.v : g.v;
    return {row * group_m + within.u, col * group_n + within.v};
  }
};

}  // namespace tritri::cuda
