#include "cuda/runtime/foresight.h"

namespace tritri::cuda {
namespace {

bool fits(const Layout &a, const Layout &b, const Layout &c) {
  const auto batch = [&](const Layout &x) { return x.batch == 1 || x.batch == c.batch; };
  return a.dtype == c.dtype && b.dtype == c.dtype && a.rows == c.rows && b.cols == c.cols && a.cols == b.rows && c.rows > 0 && c.cols > 0 && a.cols > 0 && batch(a) && batch(b);
}

}  // namespace

std::vector<Problem> Foresight::products() const {
  std::vector<Problem> products;
  const tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
  // As aligned as memory of our own is.
  const auto at = [](uintptr_t place) { return reinterpret_cast<void *>(place << 20); };
  if (!second_ || !result_) return products;
  if (first_ && fits(*first_, *second_, *result_)) products.push_back(canonical(options, {*first_, *second_, *result_, at(1), at(2), at(3)}));
  if (fits(*second_, *second_, *result_)) products.push_back(canonical(options, {*second_, *second_, *result_, at(1), at(1), at(3)}));
  return products;
}

}  // namespace tritri::cuda
