// Every small layout, for brute force.
#pragma once
#include "core/operand.h"
#include "support/matrix.h"

namespace unit {

constexpr tritri::Fill all_fills[] = {tritri::Fill::full, tritri::Fill::lower, tritri::Fill::upper};

// Calls use(desc, layout) for every fill, order and storage with up to `most` rows and columns; strided ones with and without padding.
template <class Use> void each_layout(int64_t most, Use &&use) {
  for (int64_t rows = 0; rows <= most; ++rows) for (int64_t cols = 0; cols <= most; ++cols) for (const tritri::Fill fill : all_fills)
  for (const int32_t order : {TRITRI_ORDER_ROW, TRITRI_ORDER_COLUMN}) for (const int64_t pad : {-1, 0, 3}) {
    const bool packed = pad < 0;
    if (packed && fill == tritri::Fill::full) continue;
    tritri_matrix_desc desc = support::describe(TRITRI_FLOAT64, static_cast<int32_t>(fill), rows, cols, order);
    const int64_t length = order == TRITRI_ORDER_ROW ? cols : rows;
    desc.storage = packed ? TRITRI_STORAGE_PACKED : TRITRI_STORAGE_STRIDED;
    desc.ld = packed ? 0 : (length < 1 ? 1 : length) + pad;
    use(desc, tritri::Layout{tritri::Dtype::f64, fill, false, static_cast<tritri::Order>(order), static_cast<tritri::Storage>(desc.storage), rows, cols, desc.ld, 1, 0});
  }
}

}  // namespace unit
