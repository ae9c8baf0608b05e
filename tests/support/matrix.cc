#include "support/matrix.h"

#include <algorithm>

namespace support {
namespace {
constexpr int64_t guard = 64;
}

Layout::Layout(const tritri_matrix_desc &desc) : desc_(desc) {
  const bool row = desc.order == TRITRI_ORDER_ROW;
  const int64_t lines = row ? desc.rows : desc.cols, length = row ? desc.cols : desc.rows;
  int64_t one = 0;  // elements that one matrix spans
  if (desc.storage == TRITRI_STORAGE_PACKED) {
    for (int64_t line = 0; line < lines; ++line) {
      starts_.push_back(one);
      firsts_.push_back(length);
      for (int64_t position = 0; position < length; ++position) {
        if (!(row ? exists(line, position) : exists(position, line))) continue;
        firsts_.back() = std::min(firsts_.back(), position);
        ++one;
      }
    }
  } else {
    ld_ = desc.ld > 0 ? desc.ld : std::max<int64_t>(length, 1);
    one = lines > 0 && length > 0 ? (lines - 1) * ld_ + length : 0;
  }
  if (one == 0) return;
  const int64_t reach = (batches() - 1) * (batches() > 1 ? desc.batch_stride : 0);
  lowest_ = std::min<int64_t>(reach, 0);
  highest_ = std::max<int64_t>(reach, 0) + one - 1;
}

bool Layout::exists(int64_t i, int64_t j) const {
  if (desc_.fill == TRITRI_FILL_LOWER) return i >= j;
  if (desc_.fill == TRITRI_FILL_UPPER) return i <= j;
  return true;
}

int64_t Layout::offset(int64_t batch, int64_t i, int64_t j) const {
  const int64_t line = desc_.order == TRITRI_ORDER_ROW ? i : j, position = desc_.order == TRITRI_ORDER_ROW ? j : i;
  const int64_t start = batches() > 1 ? batch * desc_.batch_stride : 0;
  if (desc_.storage == TRITRI_STORAGE_STRIDED) return start + line * ld_ + position;
  return start + starts_[static_cast<size_t>(line)] + position - firsts_[static_cast<size_t>(line)];
}

Buffer::Buffer(int32_t dtype, int64_t elements)
    : dtype_(dtype), elements_(elements), width_(bytes_of(dtype)), bytes_(static_cast<size_t>(elements * width_)) {
  for (int64_t index = 0; index < elements; ++index) poison(index);
}

Operand::Operand(const tritri_matrix_desc &desc, int64_t shift) : layout(desc) {
  const int64_t span = layout.highest() - layout.lowest() + 1;
  origin = guard + shift - layout.lowest();
  buffer = std::make_shared<Buffer>(desc.dtype, guard + shift + span + guard);
}

tritri_matrix_desc describe(int32_t dtype, int32_t fill, int64_t rows, int64_t cols, int32_t order) {
  tritri_matrix_desc desc = TRITRI_MATRIX_DESC_INIT;
  desc.dtype = dtype;
  desc.fill = fill;
  desc.order = order;
  desc.rows = rows;
  desc.cols = cols;
  return desc;
}

}  // namespace support
