// Copies of a fill's elements inside device-visible memory: between layouts, into transfer streams and out of them, into the workspace.
#pragma once
#include <cuda_runtime_api.h>

#include "core/operand.h"

namespace tritri::cuda {

// One side of a copy. The copy walks along lines of some matrix; a side may store those as its own lines or across them.
struct CopySide {
  char *data;
  Lines lines;
  int64_t batch_stride;
  int64_t origin = 0;   // elements that `data` stands after the first one
  bool across = false;  // this side's lines are the walk's positions

  TRITRI_HD int64_t offset(int64_t batch, int64_t line, int64_t position) const {
    return batch * batch_stride + (across ? lines.offset(position, line) : lines.offset(line, position)) - origin;
  }
};

// The part that is copied: these positions of these lines, as far as the fill holds them.
struct CopyBox { Range batch, line, position; };

void load_copy();
void copy_fill(Dtype dtype, const CopySide &to, const CopySide &from, const Lines &walk, const CopyBox &box, cudaStream_t stream);

}  // namespace tritri::cuda
