// How a product is cut up for the caches and the memory at hand. Pure. Sums over k are cut at the same
// places however many threads there are, so that the bits do not depend on them.
#pragma once
#include <vector>

#include "core/canonical.h"

namespace tritri::cpu {

// What cutting needs to know of a kernel.
struct KernelShape {
  int64_t mr, nr;
  int64_t bytes;  // per packed element
};

struct Blocking {
  int64_t kc;                // k taken through a tile at a time: long, since sums cost more than panels from the second-level cache
  int64_t chunk;             // k packed at a time, a multiple of kc
  int64_t block_m, block_n;  // C computed from one packing, multiples of mr and nr
  int64_t tile_m, tile_n;    // what one thread computes at a time, multiples of mr and nr
};

// Packed memory stays near `pack_bytes` for each operand.
Blocking choose_blocking(const Problem &problem, const KernelShape &kernel, int64_t pack_bytes, int threads);

// One packing and the products from it, in the order of work.
struct Step {
  Range rows, cols, k;  // k is empty where the block is structurally zero
  bool first, last;     // of the block's chunks of k
};
std::vector<Step> steps(const Problem &problem, const Blocking &blocking);

// Whether a matrix with this fill has an element in the block.
constexpr bool touches(Fill fill, Range rows, Range cols) {
  return fill == Fill::full || (fill == Fill::lower ? rows.end - 1 >= cols.begin : rows.begin <= cols.end - 1);
}

}  // namespace tritri::cpu
