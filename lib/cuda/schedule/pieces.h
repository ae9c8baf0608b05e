// How what crosses the bus is cut into pieces that fit a slot of pinned memory. No CUDA header.
#pragma once
#include <algorithm>
#include <vector>

#include "core/operand.h"

namespace tritri::cuda {

// What these positions of these lines hold. In a slot the lines lie `pitch` elements apart, the matrices of a batch one after the other.
struct Piece {
  Range batch, line, position;
  int64_t pitch;

  int64_t elements() const { return batch.size() * line.size() * pitch; }  // of a slot

  // Parts of it for threads to copy, of about `most` elements or few more, in the places that they have in the piece.
  int64_t shares(int64_t most) const { return std::clamp<int64_t>(elements() / most, 1, divisible().size()); }
  Piece share(int64_t index, int64_t of) const;

 private:
  const Range &divisible() const { return batch.size() > 1 ? batch : line.size() > 1 ? line : position; }
};

// All of `batches` matrices, each element once, in their order: several matrices a piece, else lines, else parts of a line; none needs more than `most` elements, at least 1.
std::vector<Piece> pieces(const Lines &lines, int64_t batches, int64_t element, int64_t most);

}  // namespace tritri::cuda
