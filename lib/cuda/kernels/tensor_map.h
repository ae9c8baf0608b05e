// Maps by which the copy engine of sm_90 finds boxes of a matrix.
#pragma once
#include <cuda.h>

#include "core/canonical.h"

namespace tritri::cuda {

// Lines of `length` elements, taken in boxes.
struct Boxes {
  const void *data;
  CUtensorMapDataType type;
  int64_t element;  // bytes
  int64_t length, lines, batch, ld, batch_stride;
  int box_length, box_lines;
  CUtensorMapSwizzle swizzle;
};

// Whether a map can describe it as it lies.
bool mappable(const View &x, int64_t element);

void load_tensor_maps();  // before the first map
CUtensorMap tensor_map(const Boxes &x);

}  // namespace tritri::cuda
