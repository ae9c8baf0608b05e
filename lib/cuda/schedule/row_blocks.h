// A triangle times a triangle, cut into blocks of rows that can be computed while later rows are still on their way to the device and earlier ones
// on their way back. No CUDA header.
#pragma once
#include <optional>
#include <vector>

#include "core/canonical.h"

namespace tritri::cuda {

// Rows [begin, end) of C need those rows of A and B and, of B, the rows of earlier blocks. All products are of the problem's own memory.
struct RowBlock {
  Range rows;
  std::optional<Problem> ahead;   // of these rows of A and earlier ones of B; not of the first block
  std::vector<Problem> products;  // these come after it, in this order
};

// Whether row_blocks() serves it: A and B square triangles on the same side, stored by rows, one matrix, beta 0, not in place, nothing but C's
// fill beside the triangle, and no 16-bit sums that would be rounded halfway.
bool has_row_blocks(const Problem &problem);

// In the order in which they can be computed, each of `height` rows but for the one that ends at the matrix's end.
std::vector<RowBlock> row_blocks(const Problem &problem, int64_t height);

}  // namespace tritri::cuda
