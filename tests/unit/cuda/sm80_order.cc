#include "cuda/tile/sm80_order.h"

#include <algorithm>
#include <set>
#include <utility>

#include "support/catch.h"

using namespace tritri;
using namespace tritri::cuda;

namespace {

int64_t level(Levels levels, const GridPlace &place) {
  switch (levels) {
    case Levels::rows: return place.u;
    case Levels::cols: return place.v;
    case Levels::diagonals: return place.u + place.v;
    case Levels::hooks: break;
  }
  return std::max(place.u, place.v);
}

}  // namespace

TEST_CASE("sm80 order: every place of a grid comes once, and levels never fall back") {
  for (const Levels levels : {Levels::rows, Levels::cols, Levels::diagonals, Levels::hooks})
    for (int64_t count_u = 1; count_u <= 9; ++count_u)
      for (int64_t count_v = 1; count_v <= 9; ++count_v) {
        std::set<std::pair<int64_t, int64_t>> seen;
        int64_t last = 0;
        for (int64_t index = 0; index < count_u * count_v; ++index) {
          const GridPlace place = place_of(levels, count_u, count_v, index);
          CAPTURE(static_cast<int>(levels), count_u, count_v, index, place.u, place.v);
          REQUIRE((place.u >= 0 && place.u < count_u && place.v >= 0 && place.v < count_v));
          REQUIRE(seen.insert({place.u, place.v}).second);
          REQUIRE(level(levels, place) >= last);
          last = level(levels, place);
        }
      }
}

TEST_CASE("sm80 order: square roots hold where doubles round") {
  for (const int64_t s : {int64_t{1}, int64_t{94906265}, int64_t{94906266}, int64_t{94906267}, int64_t{2000000000}}) {
    CAPTURE(s);
    REQUIRE(square_root(s * s - 1) == s - 1);
    REQUIRE(square_root(s * s) == s);
    REQUIRE(triangle_root(s * (s + 1) / 2 - 1) == s - 1);
    REQUIRE(triangle_root(s * (s + 1) / 2) == s);
  }
}

TEST_CASE("sm80 order: groups cover all tiles of any grid; those of a square one come longest sums first") {
  const int64_t edge = 64;
  for (const Fill a : {Fill::full, Fill::lower, Fill::upper})
    for (const Fill b : {Fill::full, Fill::lower, Fill::upper}) {
      CAPTURE(static_cast<int>(a), static_cast<int>(b));
      const int64_t tiles_m = 7, tiles_n = 5;
      const GroupedOrder grouped(a, b, tiles_m, tiles_n, 2, 3);
      std::set<std::pair<int64_t, int64_t>> seen;
      for (int64_t index = 0; index < grouped.count(); ++index) {
        const GridPlace tile = grouped.tile(index);
        if (tile.u < tiles_m && tile.v < tiles_n) REQUIRE(seen.insert({tile.u, tile.v}).second);
      }
      REQUIRE(seen.size() == static_cast<size_t>(tiles_m * tiles_n));

      const int64_t side = 6;
      const GroupedOrder square(a, b, side, side, 1, 1);
      const auto length = [&](const GridPlace &t) {
        return k_range(a, b, side * edge, {t.u * edge, (t.u + 1) * edge}, {t.v * edge, (t.v + 1) * edge}).size();
      };
      for (int64_t index = 1; index < square.count(); ++index) REQUIRE(length(square.tile(index)) <= length(square.tile(index - 1)));
    }
}
