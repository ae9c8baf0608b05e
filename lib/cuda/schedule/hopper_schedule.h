// Which block of the grid computes what: a static list made on the host, longest sums first. No CUDA header, so tests need no GPU.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/k_range.h"

namespace tritri::cuda {

// A product cut into tiles of C and the k of each tile into stages. One worker (a block, or a cluster of them) computes one tile at a time.
struct Tiling {
  Fill a = Fill::full, b = Fill::full, c = Fill::full;
  int64_t m = 0, n = 0, k = 0, batch = 1;
  int tile_m = 1, tile_n = 1, stage_k = 1;
  int64_t rows_from = 0, rows_to = INT64_MAX, cols_from = 0, cols_to = INT64_MAX;  // the tiles that one launch computes: a product may be cut into strips
  int spared = 0;  // eighths of a stage's work that are left out where a diagonal crosses the tile

  TRITRI_HD constexpr int64_t tiles_m() const { return (m + tile_m - 1) / tile_m; }
  TRITRI_HD constexpr int64_t tiles_n() const { return (n + tile_n - 1) / tile_n; }
  TRITRI_HD constexpr int64_t rows_end() const { return rows_to < tiles_m() ? rows_to : tiles_m(); }
  TRITRI_HD constexpr int64_t cols_end() const { return cols_to < tiles_n() ? cols_to : tiles_n(); }
  TRITRI_HD constexpr Range rows(int64_t i) const { return {i * tile_m, (i + 1) * tile_m < m ? (i + 1) * tile_m : m}; }
  TRITRI_HD constexpr Range cols(int64_t j) const { return {j * tile_n, (j + 1) * tile_n < n ? (j + 1) * tile_n : n}; }
  // Stages [begin, end) with k_range inside; stage s covers k of [s * stage_k, (s + 1) * stage_k).
  TRITRI_HD constexpr Range stages(int64_t i, int64_t j) const {
    const Range r = k_range(a, b, k, rows(i), cols(j));
    if (r.empty()) return {0, 0};
    return {r.begin / stage_k, (r.end + stage_k - 1) / stage_k};
  }
  int64_t cost(int64_t i, int64_t j, Range r) const;  // of stages [r.begin, r.end) of a tile, in whole ones
  TRITRI_HD constexpr bool c_holds_some(Range row, Range col) const {
    return c == Fill::full || (c == Fill::lower ? row.end - 1 >= col.begin : row.begin <= col.end - 1);
  }
  TRITRI_HD constexpr bool c_holds_some(int64_t i, int64_t j) const { return c_holds_some(rows(i), cols(j)); }
  TRITRI_HD constexpr bool c_holds_all(int64_t i, int64_t j) const { return block_is_whole(c, false, rows(i), cols(j)); }
  bool operator==(const Tiling &o) const {
    return a == o.a && b == o.b && c == o.c && m == o.m && n == o.n && k == o.k && batch == o.batch && tile_m == o.tile_m && tile_n == o.tile_n && stage_k == o.stage_k &&
           rows_from == o.rows_from && rows_to == o.rows_to && cols_from == o.cols_from && cols_to == o.cols_to && spared == o.spared;
  }
  // Structurally zero and wholly C's: nothing to compute, only zeros to store.
  TRITRI_HD constexpr bool only_zeros(int64_t i, int64_t j) const { return c_holds_all(i, j) && k_range(a, b, k, rows(i), cols(j)).empty(); }
};

// One piece of one tile's sum. All but the last piece leave their sums in slots `slot`, `slot + 1`, ... and the last adds them up in order.
struct Item {
  uint32_t tile : 20, slot : 12;  // tile: (batch * tiles_m + i) * tiles_n + j
  uint8_t piece, pieces;
  uint8_t begin, end;  // in 256ths of the tile's stages; the last piece reaches to their end

  TRITRI_HD constexpr Range part(int64_t stages) const { return {stages * begin / 256, piece + 1 == pieces ? stages : stages * end / 256}; }
};
static_assert(sizeof(Item) == 8, "lists of work travel in kernel parameters");
constexpr int64_t kMostTiles = int64_t{1} << 18;  // with all batches

struct Schedule {
  std::vector<Item> items;      // of worker 0, then of worker 1, ...
  std::vector<uint32_t> first;  // worker w owns items [first[w], first[w + 1])
  int pieces = 1;               // of the tile cut most
  int slots = 0;
};

// What a tile costs beside its stages, and when a sum is cut, both in stages.
struct Costs {
  double tile = 0;
  int shortest_piece = 1;
  int group_rows = 1, group_cols = 1;  // tiles that should run together, to share rows of A and columns of B in the L2 cache: about as many as workers
  int gather = 1;  // what it costs to add one more piece, in stages
  bool operator==(const Costs &o) const {
    return tile == o.tile && shortest_piece == o.shortest_piece && group_rows == o.group_rows && group_cols == o.group_cols && gather == o.gather;
  }
};

// A summary in closed form of the schedule that make_schedule would make: sums over at most 64 x 64 sampled tiles.
struct Load {
  double stages = 0;   // of all tiles and batches, as they cost
  double tiles = 0;    // that a worker computes
  double longest = 0;  // stages of one tile
  double longest_worker(int workers, const Costs &costs) const;
  bool cuts(int workers, const Costs &costs) const;
  double piece_limit(int workers, const Costs &costs) const;  // in stages
};
Load measure(const Tiling &tiling);
// The same from this thread's last few: plans are made more often than shapes change, and thousands of samples take 10 us.
Load recall_load(const Tiling &tiling);

// Slots that make_schedule uses at most: pieces are as long as a worker's mean share, so about one for each worker, and one more where
// workers are levelled.
constexpr int most_slots(int workers) { return 2 * workers; }

// `zeros_elsewhere`: tiles that are only zeros are left out.
Schedule make_schedule(const Tiling &tiling, int workers, const Costs &costs, bool zeros_elsewhere);

// The same from this thread's last few: the GPU waits while the list is made, 20 us and more where there are hundreds of tiles, and
// programs multiply the same shapes again and again. Valid until this thread's next call.
const Schedule &recall_schedule(const Tiling &tiling, int workers, const Costs &costs, bool zeros_elsewhere);

}  // namespace tritri::cuda
