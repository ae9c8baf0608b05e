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
  static constexpr int most_tiles = 64, most_warps = 8;

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

// Where a block of threads keeps an operand in shared memory: in cells of 32 or 16 lines by 64 bytes, those of the fill alone, one panel of so many lines after the other.
// The matrix is made up to whole tiles of 32 with zeros. Cells are swizzled: 16-byte pieces that a warp reads together, along lines or across them, lie in different banks.
struct BatchedPanels {
  static constexpr int piece = 16, line_bytes = 64, most = static_cast<int>(BatchedOrder::most_size) / 16;
  static TRITRI_HD constexpr int lines(int element) { return element == 2 ? 32 : 16; }
  static TRITRI_HD constexpr int cell_bytes(int element) { return lines(element) * line_bytes; }

  int8_t count = 0;
  uint8_t begin[most] = {}, end[most] = {};  // cells of each panel
  int16_t first[most] = {};                  // where the panel's cell 0 would be
  int16_t cells = 0;                         // of all panels, and of whatever comes before them

  BatchedPanels(const View &view, int element, int before);

  TRITRI_HD int start(int panel, int cell, int element) const { return (first[panel] + cell) * cell_bytes(element); }
  // From a cell's start to byte `byte` of its line `line`: exclusive or of this and of that. Wide elements are read from two cells at once, which `turned` tells apart.
  static TRITRI_HD constexpr int place(int line, int byte) {
    return ((line * 4 + (byte / piece ^ line / 4 % 4)) ^ ((line / 2 ^ line / 4 ^ line / 8 ^ line / 16) & 1) << 2) * piece + byte % piece;
  }
  static TRITRI_HD constexpr int turned(int panel, int cell, int element) { return element >= 4 ? (panel + cell) % 2 * line_bytes : 0; }
};

// Bytes that the batch moves to and from memory, lines rounded to what memory fetches at once.
double batched_bytes(const Problem &p);

}  // namespace tritri::cuda
