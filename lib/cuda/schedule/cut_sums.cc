#include "cuda/schedule/cut_sums.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace tritri::cuda {
namespace {

int64_t longest_sum(const std::vector<LikeTiles> &tiles) {
  int64_t longest = 0;
  for (const LikeTiles &t : tiles) longest = std::max(longest, t.length);
  return longest;
}

struct CutTiles {
  LikeTiles tiles;
  int64_t pieces;
  double length() const { return static_cast<double>(tiles.length) / static_cast<double>(pieces); }
};

// Longest pieces first.
std::vector<CutTiles> cut(const std::vector<LikeTiles> &tiles, int64_t pieces) {
  const int64_t longest = std::max<int64_t>(1, ceil_div(longest_sum(tiles), pieces));
  std::vector<CutTiles> cut;
  cut.reserve(tiles.size());
  for (const LikeTiles &t : tiles) cut.push_back({t, std::max<int64_t>(1, std::min(ceil_div(t.length, longest), t.length / CutSums::least_piece))});
  std::stable_sort(cut.begin(), cut.end(), [](const CutTiles &x, const CutTiles &y) { return x.length() > y.length(); });
  return cut;
}

}  // namespace

std::vector<LikeTiles> like_tiles(const Problem &p, const GroupedOrder &order, int64_t tile_m, int64_t tile_n) {
  std::vector<LikeTiles> runs;
  for (int64_t index = 0; index < order.count(); ++index) {
    const GridPlace place = order.tile(index);
    const Range rows{place.u * tile_m, std::min((place.u + 1) * tile_m, p.m)}, cols{place.v * tile_n, std::min((place.v + 1) * tile_n, p.n)};
    if (rows.empty() || cols.empty() || !holds_tile(p.c.fill, rows, cols)) continue;
    const int64_t length = k_range(p.a.fill, p.b.fill, p.k, rows, cols).size();
    if (!runs.empty() && runs.back().length == length && runs.back().first + runs.back().count == index) ++runs.back().count;
    else runs.push_back({index, 1, length});
  }
  return runs;
}

CutSums::CutSums(const std::vector<LikeTiles> &tiles, int64_t pieces) {
  if (tiles.size() > static_cast<size_t>(most_runs)) return;
  for (const CutTiles &c : cut(tiles, pieces)) {
    run[runs++] = {blocks, static_cast<int32_t>(c.tiles.first), static_cast<int32_t>(c.pieces), slots};
    const auto count = static_cast<int32_t>(c.tiles.count * c.pieces);
    blocks += count;
    if (c.pieces > 1) slots += count;
  }
}

double cut_seconds(const std::vector<LikeTiles> &tiles, int64_t pieces, int workers, const PieceCosts &costs) {
  std::priority_queue<double, std::vector<double>, std::greater<double>> free(std::greater<double>(), std::vector<double>(static_cast<size_t>(workers)));
  double end = 0;
  for (const CutTiles &c : cut(tiles, pieces))
    for (int64_t block = 0; block < c.tiles.count * c.pieces; ++block) {
      const double ends = free.top() + (c.tiles.length == 0 ? costs.none : costs.k * c.length() + costs.tile + (c.pieces > 1 ? costs.piece : 0));
      free.pop();
      free.push(ends);
      end = std::max(end, ends);
    }
  return end;
}

}  // namespace tritri::cuda
