#include "core/operand.h"

#include <tuple>

namespace tritri {

const char *name(Dtype dtype) {
  static const char *const names[] = {"float32", "float64", "complex64", "complex128", "float16", "bfloat16"};
  return names[static_cast<int>(dtype)];
}

const char *name(Fill fill) {
  static const char *const names[] = {"FULL", "LOWER", "UPPER"};
  return names[static_cast<int>(fill)];
}

int64_t Layout::elements() const { return lines().elements(); }

int64_t Layout::bytes() const {
  const int64_t one = lines().extent();
  return one == 0 ? 0 : ((batch - 1) * batch_stride + one) * element_bytes(dtype);
}

bool operator==(const Layout &x, const Layout &y) {
  const auto fields = [](const Layout &l) { return std::tie(l.dtype, l.fill, l.unit, l.order, l.storage, l.rows, l.cols, l.ld, l.batch, l.batch_stride); };
  return fields(x) == fields(y);
}

Layout tight(Layout layout, int64_t align) {
  const int64_t length = layout.order == Order::row ? layout.cols : layout.rows;
  if (layout.storage == Storage::strided) layout.ld = length < 1 ? 1 : (length + align - 1) / align * align;
  const bool broadcast = layout.batch > 1 && layout.batch_stride == 0;
  const Lines lines = layout.lines();
  layout.batch_stride = broadcast || layout.batch == 1 ? 0 : lines.packed ? lines.extent() : lines.count * layout.ld;
  if (layout.batch > 1 && !broadcast && layout.batch_stride == 0) layout.batch_stride = 1;  // matrices without elements
  return layout;
}

tritri_matrix_desc describe(const Layout &layout) {
  tritri_matrix_desc desc = TRITRI_MATRIX_DESC_INIT;
  desc.dtype = static_cast<int32_t>(layout.dtype);
  desc.fill = static_cast<int32_t>(layout.fill);
  desc.diag = layout.unit ? TRITRI_DIAG_UNIT : TRITRI_DIAG_NON_UNIT;
  desc.order = static_cast<int32_t>(layout.order);
  desc.storage = static_cast<int32_t>(layout.storage);
  desc.rows = layout.rows;
  desc.cols = layout.cols;
  desc.ld = layout.ld;
  desc.batch_count = layout.batch;
  desc.batch_stride = layout.batch_stride;
  return desc;
}

}  // namespace tritri
