#include "cpu/reference.h"

#include <cstring>
#include <vector>

#include "core/k_range.h"
#include "core/visit.h"
#include "cpu/scale.h"

namespace tritri::cpu {
namespace {

// op(X)(i, j) of an element that exists.
template <class W, class T>
W element(const View &x, const T *data, int64_t i, int64_t j) {
  return x.unit && i == j ? W(1) : conjugate_if(x.conj, convert<W>(data[x.offset(i, j)]));
}

template <class W> W product_of(const W &x, const W &y) {
  if constexpr (is_complex_type<W>::value) return W(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
  else return x * y;
}

template <class T>
void compute(const Problem &p) {
  using W = typename Wide<T>::type;
  // In place, the input is read from a copy: a row of C overwrites what later rows still need.
  const auto copy_if = [&](bool in_place, const View &x) {
    const int64_t extent = in_place ? x.lines().extent() + (p.batch - 1) * x.batch_stride : 0;
    std::vector<T> copy(static_cast<size_t>(extent));
    if (extent > 0) std::memcpy(static_cast<void *>(copy.data()), x.data, static_cast<size_t>(extent) * sizeof(T));
    return copy;
  };
  const std::vector<T> a_copy = copy_if(p.c_is_a, p.a), b_copy = copy_if(p.c_is_b, p.b);
  for (int64_t batch = 0; batch < p.batch; ++batch) {
    const T *a = (p.c_is_a ? a_copy.data() : static_cast<const T *>(p.a.data)) + batch * p.a.batch_stride;
    const T *b = (p.c_is_b ? b_copy.data() : static_cast<const T *>(p.b.data)) + batch * p.b.batch_stride;
    T *c = static_cast<T *>(p.c_data()) + batch * p.c.batch_stride;
    for (int64_t i = 0; i < p.m; ++i) {
      const Range columns = row_held(p.c.fill, i, p.n);
      for (int64_t j = columns.begin; j < columns.end; ++j) {
        const Range range = k_range(p.a.fill, p.b.fill, p.k, {i, i + 1}, {j, j + 1});
        T &target = c[p.c.offset(i, j)];
        if (!p.reads_inputs() || range.empty()) {
          target = scaled<W>(p.beta, target);
          continue;
        }
        W sum(0);
        for (int64_t k = range.begin; k < range.end; ++k) sum += product_of(element<W>(p.a, a, i, k), element<W>(p.b, b, k, j));
        target = combined(p.alpha, sum, p.beta, target);
      }
    }
  }
}

}  // namespace

void reference(const Problem &problem) {
  visit(problem.dtype, [&](auto type) { compute<typename decltype(type)::type>(problem); });
}

}  // namespace tritri::cpu
