// One tile of C: kernels over the packed panels, then alpha, beta and C's own fill.
#pragma once
#include <algorithm>
#include <cmath>

#include "core/k_range.h"
#include "cpu/blocking.h"
#include "cpu/kernel.h"
#include "cpu/scale.h"

namespace tritri::cpu {

// The packed panels that a tile needs, one after the other.
template <class R>
struct Panels {
  const R *data;
  int64_t step, stride;  // numbers from k to k, from panel to panel
  int64_t k_begin;

  const R *at(int64_t panel, int64_t k) const { return data + panel * stride + (k - k_begin) * step; }
};

template <class T>
class TileMaker {
 public:
  using W = typename Accumulator<T>::type;
  using R = typename RealOf<W>::type;

  TileMaker(const Problem &problem, const Kernel<W> &kernel, int64_t kc) : p_(problem), kernel_(kernel), kc_(kc) {}

  // sums = op(A) op(B) over `step.k`, small tile after small tile. Both ranges begin on the kernel's grid.
  void multiply(const Step &step, Range rows, Range cols, const Panels<R> &a, const Panels<R> &b, R *sums) const {
    const Range k = cut(k_range(p_.a.fill, p_.b.fill, p_.k, rows, cols), step.k);
    for (int64_t k0 = k.begin; k0 < k.end; k0 = (k0 / kc_ + 1) * kc_) {
      const Range part{k0, std::min((k0 / kc_ + 1) * kc_, k.end)};
      each(rows, cols, sums, [&](const Small<R> &x) {
        const Range whole = small_range(step, x), now = cut(whole, part);
        if (now.empty()) return;
        const bool finite = kernel_.run(now.size(), a.at(x.row_panel, now.begin), b.at(x.col_panel, now.begin), x.sums, now.begin > whole.begin);
        if (!finite && now.end == whole.end) mend(whole, x, a, b);
      });
    }
  }

  // totals (+)= sums, for a block whose k comes in several chunks.
  void add(const Step &step, Range rows, Range cols, const R *sums, R *totals) const {
    each(rows, cols, totals, [&](const Small<R> &x) {
      const R *sum = sums + (x.sums - totals);
      const Range now = small_range(step, x);
      if (now.empty()) return;
      const bool first = now.begin == k_range(p_.a.fill, p_.b.fill, p_.k, x.rows, x.cols).begin;
      for (int64_t i = 0; i < kernel_.tile_numbers(); ++i) x.sums[i] = first ? sum[i] : x.sums[i] + sum[i];
    });
  }

  // C = alpha sums + beta C where C holds something.
  void store(Range rows, Range cols, const R *sums, T *c) const {
    if (k_range(p_.a.fill, p_.b.fill, p_.k, rows, cols).empty()) return blank(rows, cols, c);
    each(rows, cols, sums, [&](const Small<const R> &x) {
      if (k_range(p_.a.fill, p_.b.fill, p_.k, x.rows, x.cols).empty()) return blank(x.rows, x.cols, c);
      const R *sum = x.sums - x.cols.begin;
      // Live columns only grow or only shrink from row to row, so the first and the last row speak for all.
      const Range live = cut(live_columns(x.rows.begin), live_columns(x.rows.end - 1));
      if (!p_.c.packed && block_is_whole(p_.c.fill, false, x.rows, x.cols) && live.begin <= x.cols.begin && live.end >= x.cols.end) {
        T *line = c + p_.c.offset(x.rows.begin, 0);
        for (int64_t row = x.rows.begin; row < x.rows.end; ++row, line += p_.c.ld, sum += kernel_.nr) combine(line, x.cols, sum);
        return;
      }
      for (int64_t row = x.rows.begin; row < x.rows.end; ++row, sum += kernel_.nr) {
        T *line = c + p_.c.offset(row, 0);
        const Range held = cut(row_held(p_.c.fill, row, p_.n), x.cols), own = cut(held, live_columns(row));
        zero(line, {held.begin, std::min(own.begin, held.end)});
        combine(line, own, sum);
        zero(line, {std::max(own.end, held.begin), held.end});
      }
    });
  }

 private:
  // One tile of the kernel's.
  template <class Number>
  struct Small {
    Range rows, cols;
    int64_t row_panel, col_panel;
    Number *sums;
  };

  static Range cut(Range x, Range y) { return {std::max(x.begin, y.begin), std::max(std::min(x.end, y.end), std::max(x.begin, y.begin))}; }

  Range small_range(const Step &step, const Small<R> &x) const { return cut(k_range(p_.a.fill, p_.b.fill, p_.k, x.rows, x.cols), step.k); }

  // Columns of op(A) op(B) in which this row is not structurally zero.
  Range live_columns(int64_t row) const {
    const Range k = k_range(p_.a.fill, Fill::full, p_.k, {row, row + 1}, {0, 1});
    if (k.empty()) return {0, 0};
    return {p_.b.fill == Fill::upper ? k.begin : 0, p_.b.fill == Fill::lower ? std::min(k.end, p_.n) : p_.n};
  }

  // use(small tile) over the kernel's grid, where C holds something; a panel of B serves all rows while it is in cache.
  template <class Number, class Use>
  void each(Range rows, Range cols, Number *sums, const Use &use) const {
    Small<Number> x{{}, {}, 0, 0, sums};
    for (int64_t j = cols.begin; j < cols.end; j += kernel_.nr, ++x.col_panel) {
      x.cols = {j, std::min(j + kernel_.nr, cols.end)};
      x.row_panel = 0;
      for (int64_t i = rows.begin; i < rows.end; i += kernel_.mr, ++x.row_panel, x.sums += kernel_.tile_numbers()) {
        x.rows = {i, std::min(i + kernel_.mr, rows.end)};
        if (touches(p_.c.fill, x.rows, x.cols)) use(x);
      }
    }
  }

  // A masked zero times Inf may have made a NaN where nothing should have been computed: such a tile is done again, each element over its own k.
  void mend(Range k, const Small<R> &x, const Panels<R> &a, const Panels<R> &b) const {
    if (block_is_whole(p_.a.fill, false, x.rows, k) && block_is_whole(p_.b.fill, false, k, x.cols)) return;
    for (int64_t row = x.rows.begin; row < x.rows.end; ++row) {
      for (int64_t col = x.cols.begin; col < x.cols.end; ++col) {
        const Range own = cut(k_range(p_.a.fill, p_.b.fill, p_.k, {row, row + 1}, {col, col + 1}), k);
        const int64_t r = row - x.rows.begin, c = col - x.cols.begin;
        R *re = x.sums + r * kernel_.nr + c;
        if constexpr (Kernel<W>::planes == 1) {
          R sum(0);
          for (int64_t l = own.begin; l < own.end; ++l) sum += a.at(x.row_panel, l)[r] * b.at(x.col_panel, l)[c];
          *re = sum;
        } else {
          R sum_re(0), sum_im(0);
          for (int64_t l = own.begin; l < own.end; ++l) {
            const R *u = a.at(x.row_panel, l) + r, *v = b.at(x.col_panel, l) + c;
            sum_re += u[0] * v[0] - u[kernel_.mr] * v[kernel_.nr];
            sum_im += u[0] * v[kernel_.nr] + u[kernel_.mr] * v[0];
          }
          re[0] = sum_re;
          re[kernel_.mr * kernel_.nr] = sum_im;
        }
      }
    }
  }

  // Where the product is structurally zero.
  void blank(Range rows, Range cols, T *c) const {
    for (int64_t row = rows.begin; row < rows.end; ++row) zero(c + p_.c.offset(row, 0), cut(row_held(p_.c.fill, row, p_.n), cols));
  }

  void zero(T *line, Range columns) const {
    if (beta_is_0_) {
      for (int64_t j = columns.begin; j < columns.end; ++j) line[j] = T();
    } else {
      for (int64_t j = columns.begin; j < columns.end; ++j) line[j] = scaled<W>(p_.beta, line[j]);
    }
  }

  void combine(T *line, Range columns, const R *sum) const {
    const int64_t imaginary = int64_t{kernel_.mr} * kernel_.nr;
    const auto value = [&](int64_t j) {
      if constexpr (Kernel<W>::planes == 1) return sum[j];
      else return W(sum[j], sum[j + imaginary]);
    };
    if (alpha_is_1_ && beta_is_0_) {
      for (int64_t j = columns.begin; j < columns.end; ++j) line[j] = convert<T>(value(j));
    } else {
      for (int64_t j = columns.begin; j < columns.end; ++j) line[j] = combined(p_.alpha, W(value(j)), p_.beta, line[j]);
    }
  }

  const Problem &p_;
  const Kernel<W> &kernel_;
  int64_t kc_;
  bool alpha_is_1_ = p_.alpha == std::complex<double>(1, 0), beta_is_0_ = p_.beta == std::complex<double>(0, 0);
};

}  // namespace tritri::cpu
