// Batches of small products: which warp computes which tiles of C. No CUDA header, so tests need no GPU.
#pragma once
#include <cstdint>

#include "core/canonical.h"
#include "core/k_range.h"

namespace tritri::cuda {

struct BatchedPlace {
  uint8_t row, col;    // in tiles
  uint8_t begin, end;  // of its k, in chunks
};

// The tiles of one matrix dealt out to the warps that share it, each warp's longest first. The same for every matrix of the batch.
struct BatchedOrder {
  static constexpr int64_t most_size = 128;  // of m, n and k
  static constexpr int64_t most_split = 65535;  // of the batch
  static constexpr int most_tiles = 16, most_warps = 8;

  int8_t warps = 1;                    // per matrix
  int8_t first[most_warps + 1] = {};   // warp w has places [first[w], first[w + 1])
  BatchedPlace place[most_tiles] = {};
  int16_t longest = 0, total = 0;      // cost of the busiest warp and of all, in chunks of k

  // Places inside C's fill only. Needs at most most_tiles tiles of `edge` x `edge`; `chunk`: the k of one step; `share`: warps at most.
  BatchedOrder(const Problem &p, int edge, int chunk, int share = most_warps);
  // For blocks of one tile each whose warps share its k: no places; warps, longest and total as above.
  static BatchedOrder of_split(const Problem &p, int edge, int chunk);
  TRITRI_HD constexpr int matrices_per_block() const { return warps < 4 ? 4 / warps : 1; }

 private:
  BatchedOrder() = default;
};

// Bytes that the batch moves to and from memory, lines rounded to what memory fetches at once.
double batched_bytes(const Problem &p);

}  // namespace tritri::cuda
