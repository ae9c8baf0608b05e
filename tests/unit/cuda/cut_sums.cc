#include "cuda/schedule/cut_sums.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "support/catch.h"
#include "unit/core/layouts.h"
#include "unit/cuda/problems.h"

using namespace tritri;
using namespace tritri::cuda;

TEST_CASE("cut sums: every piece of every tile of C comes once, longest first, each with a slot of its own") {
  constexpr int64_t edge = 32;
  for (const Fill a : unit::all_fills)
    for (const Fill b : unit::all_fills)
      for (const Fill c : unit::all_fills)
        for (const auto [m, n, k] : {std::array<int64_t, 3>{256, 256, 256}, {200, 135, 311}, {33, 290, 64}, {1, 1, 700}})
          for (const int64_t pieces : {2, 3, 7}) {
            const Problem p = unit::problem(a, b, c, m, n, k);
            const GroupedOrder order(a, b, ceil_div(m, edge), ceil_div(n, edge), 1, 1);
            const auto tiles = like_tiles(p, order, edge, edge);
            const CutSums cut(tiles, pieces);
            CAPTURE(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c), m, n, k, pieces);
            REQUIRE(cut.runs > 0);
            std::map<int32_t, std::set<int32_t>> seen;
            std::set<int32_t> slots;
            double last = 1e9;
            for (int32_t block = 0; block < cut.blocks; ++block) {
              const SumPiece part = cut.at(block);
              REQUIRE((part.piece >= 0 && part.piece < part.pieces && part.pieces <= pieces));
              REQUIRE(seen[part.tile].insert(part.piece).second);
              if (part.pieces > 1) REQUIRE((part.slot + part.pieces <= cut.slots && slots.insert(part.slot + part.piece).second));
              const GridPlace place = order.tile(part.tile);
              const Range rows{place.u * edge, std::min((place.u + 1) * edge, m)}, cols{place.v * edge, std::min((place.v + 1) * edge, n)};
              const double length = static_cast<double>(k_range(a, b, k, rows, cols).size()) / part.pieces;
              REQUIRE(length <= last);
              last = length;
              if (part.piece + 1 == part.pieces) REQUIRE(static_cast<int32_t>(seen[part.tile].size()) == part.pieces);
            }
            REQUIRE(static_cast<int32_t>(slots.size()) == cut.slots);
            int64_t held = 0;
            for (int64_t i = 0; i < m; i += edge)
              for (int64_t j = 0; j < n; j += edge) {
                bool any = false;
                for (int64_t r = i; r < std::min(i + edge, m); ++r) {
                  const Range row = row_held(c, r, n);
                  any = any || std::max(row.begin, j) < std::min({row.end, j + edge, n});
                }
                held += any;
              }
            REQUIRE(static_cast<int64_t>(seen.size()) == held);
          }
}

TEST_CASE("cut sums: too many kinds of tiles are not cut") {
  const Problem p = unit::problem(Fill::lower, Fill::lower, Fill::full, 100 * 32, 100 * 32, 100 * 32);
  REQUIRE(CutSums(like_tiles(p, GroupedOrder(Fill::lower, Fill::lower, 100, 100, 1, 1), 32, 32), 2).runs == 0);
}

TEST_CASE("cut sums: the modelled time is that of the longest worker") {
  const std::vector<LikeTiles> tiles{{0, 1, 1000}, {1, 2, 400}, {3, 1, 0}};
  const PieceCosts costs{1, 2, 5, 3};
  REQUIRE(cut_seconds(tiles, 1, 2, costs) == 1002);  // 1002 | 402 402 3
  REQUIRE(cut_seconds(tiles, 2, 2, costs) == 912);   // 507 402 3 | 507 402
  REQUIRE(cut_seconds(tiles, 2, 1000, costs) == 507);
}
