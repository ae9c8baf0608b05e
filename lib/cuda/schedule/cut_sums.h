// Sums cut into pieces along k, so that the few long ones of a small product keep the whole card busy: a block of threads per piece, longest first.
#pragma once
#include <vector>

#include "cuda/schedule/work.h"
#include "cuda/tile/sm80_order.h"

namespace tritri::cuda {

// Whether C's fill has elements in these rows and columns.
TRITRI_HD constexpr bool holds_tile(Fill c, Range rows, Range cols) {
  return c == Fill::full || (c == Fill::lower ? rows.end > cols.begin : rows.begin < cols.end);
}

// Tiles that follow each other in the order and have sums as long, in k; 0 where there is none.
struct LikeTiles { int64_t first, count, length; };
std::vector<LikeTiles> like_tiles(const Problem &p, const GroupedOrder &order, int64_t tile_m, int64_t tile_n);

// What a block computes: a piece of the sum of a tile of the order. Workspace holds the pieces of the tile from `slot` on, where there are several.
struct SumPiece { int32_t tile, piece, pieces, slot; };

// Travels to the card as a kernel's argument.
struct CutSums {
  static constexpr int32_t most_runs = 48, least_piece = 64;  // k
  struct Run { int32_t block, tile, pieces, slot; };  // of tiles cut alike: what the first one begins with

  int32_t runs = 0, blocks = 0, slots = 0;
  Run run[most_runs];

  // The longest sum comes in `pieces`, none in longer ones but very short ones. No runs: there would be too many.
  CutSums() = default;
  CutSums(const std::vector<LikeTiles> &tiles, int64_t pieces);

  TRITRI_HD SumPiece at(int32_t block) const {
    int32_t r = 0;
    for (int32_t step = 32; step > 0; step /= 2)
      if (r + step < runs && run[r + step].block <= block) r += step;
    const int32_t within = block - run[r].block, pieces = run[r].pieces, tile = within / pieces;
    return {run[r].tile + tile, within % pieces, pieces, run[r].slot + tile * pieces};
  }
};

// What a block takes on one of `workers`: for each k, beside, for a piece of several, and where there is no sum.
struct PieceCosts { double k, tile, piece, none; };
// The time until the last block has ended, each taken by whoever is free first.
double cut_seconds(const std::vector<LikeTiles> &tiles, int64_t pieces, int workers, const PieceCosts &costs);

}  // namespace tritri::cuda
