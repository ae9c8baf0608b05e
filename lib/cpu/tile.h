// One tile of C: kernels over the packed panels, then alpha, beta and C's own fill.
#pragma once
#include <algorithm>
#include <cmath>

#include "core/k_range.h"
#include "cpu/blocking.h"
#include "cpu/kernel.h"
#include "cpu/scale.h"

namespace tritri::cpu {

// The packed panels of a block: element k of the panel at row (column) p lies (k - k.begin) steps into panel (p - begin) / width.
template <class R>
struct Panels {
  const R *data;
  int64_t begin, width, step, stride;  // numbers per step, numbers from panel to panel
  int64_t k_begin;

  const R *at(int64_t p, int64_t k) const { return data + (p - begin) / width * stride + (k - k_begin) * step; }
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
      each(rows, cols, sums, [&](Range i, Range j, R *tile) {
        const Range whole = small_range(step, i, j), now = cut(whole, part);
        if (!now.empty()) kernel_.run(now.size(), a.at(i.begin, now.begin), b.at(j.begin, now.begin), tile, now.begin > whole.begin);
      });
    }
    each(rows, cols, sums, [&](Range i, Range j, R *tile) { mend(small_range(step, i, j), i, j, a, b, tile); });
  }

  // totals (+)= sums, for a block whose k comes in several chunks.
  void add(const Step &step, Range rows, Range cols, const R *sums, R *totals) const {
    each(rows, cols, totals, [&](Range i, Range j, R *total) {
      const R *sum = sums + (total - totals);
      const Range now = small_range(step, i, j);
      if (now.empty()) return;
      const bool first = now.begin == k_range(p_.a.fill, p_.b.fill, p_.k, i, j).begin;
      for (int64_t x = 0; x < kernel_.tile_numbers(); ++x) total[x] = first ? sum[x] : total[x] + sum[x];
    });
  }

  // C = alpha sums + beta C where C holds something.
  void store(Range rows, Range cols, const R *sums, T *c) const {
    each(rows, cols, sums, [&](Range i, Range j, const R *tile) {
      for (int64_t row = i.begin; row < i.end; ++row) {
        const Range held = cut(row_held(p_.c.fill, row, p_.n), j);
        if (held.empty()) continue;
        const Range live = cut(held, live_columns(row));
        T *line = c + p_.c.offset(row, held.begin) - held.begin;
        const R *sum = tile + (row - i.begin) * kernel_.nr - j.begin;
        zero(line, {held.begin, std::min(live.begin, held.end)});
        combine(line, live, sum);
        zero(line, {std::max(live.end, held.begin), held.end});
      }
    });
  }

 private:
  static Range cut(Range x, Range y) { return {std::max(x.begin, y.begin), std::max(std::min(x.end, y.end), std::max(x.begin, y.begin))}; }

  Range small_range(const Step &step, Range i, Range j) const { return cut(k_range(p_.a.fill, p_.b.fill, p_.k, i, j), step.k); }

  // Columns of op(A) op(B) in which this row is not structurally zero.
  Range live_columns(int64_t row) const {
    const Range k = k_range(p_.a.fill, Fill::full, p_.k, {row, row + 1}, {0, 1});
    if (k.empty()) return {0, 0};
    return {p_.b.fill == Fill::upper ? k.begin : 0, p_.b.fill == Fill::lower ? std::min(k.end, p_.n) : p_.n};
  }

  // use(rows, columns, small tile) over the kernel's grid, where C holds something; a panel of B serves all rows while it is in cache.
  template <class Number, class Use>
  void each(Range rows, Range cols, Number *sums, const Use &use) const {
    for (int64_t j = cols.begin; j < cols.end; j += kernel_.nr) {
      for (int64_t i = rows.begin; i < rows.end; i += kernel_.mr, sums += kernel_.tile_numbers()) {
        const Range small_rows{i, std::min(i + kernel_.mr, rows.end)}, small_cols{j, std::min(j + kernel_.nr, cols.end)};
        if (touches(p_.c.fill, small_rows, small_cols)) use(small_rows, small_cols, sums);
      }
    }
  }

  // A masked zero times Inf has made a NaN where nothing should have been computed: such a tile is done again, each element over its own k.
  void mend(Range k, Range i, Range j, const Panels<R> &a, const Panels<R> &b, R *tile) const {
    if (k.empty() || (block_is_whole(p_.a.fill, false, i, k) && block_is_whole(p_.b.fill, false, k, j))) return;
    if (std::none_of(tile, tile + kernel_.tile_numbers(), [](R x) { return std::isnan(x); })) return;
    for (int64_t row = i.begin; row < i.end; ++row) {
      for (int64_t col = j.begin; col < j.end; ++col) {
        const Range own = cut(k_range(p_.a.fill, p_.b.fill, p_.k, {row, row + 1}, {col, col + 1}), k);
        R *re = tile + (row - i.begin) * kernel_.nr + col - j.begin;
        if constexpr (Kernel<W>::planes == 1) {
          R sum(0);
          for (int64_t l = own.begin; l < own.end; ++l) sum += a.at(row, l)[row - i.begin] * b.at(col, l)[col - j.begin];
          *re = sum;
        } else {
          R sum_re(0), sum_im(0);
          for (int64_t l = own.begin; l < own.end; ++l) {
            const R *x = a.at(row, l) + (row - i.begin), *y = b.at(col, l) + (col - j.begin);
            sum_re += x[0] * y[0] - x[kernel_.mr] * y[kernel_.nr];
            sum_im += x[0] * y[kernel_.nr] + x[kernel_.mr] * y[0];
          }
          re[0] = sum_re;
          re[kernel_.mr * kernel_.nr] = sum_im;
        }
      }
    }
  }

  void zero(T *line, Range columns) const {
    for (int64_t j = columns.begin; j < columns.end; ++j) line[j] = scaled<W>(p_.beta, line[j]);
  }

  void combine(T *line, Range columns, const R *sum) const {
    const auto value = [&](int64_t j) {
      if constexpr (Kernel<W>::planes == 1) return sum[j];
      else return W(sum[j], sum[j + kernel_.mr * kernel_.nr]);
    };
    const std::complex<double> none(0, 0), one(1, 0);
    if (p_.alpha == one && p_.beta == none) {
      for (int64_t j = columns.begin; j < columns.end; ++j) line[j] = convert<T>(value(j));
    } else {
      for (int64_t j = columns.begin; j < columns.end; ++j) line[j] = combined(p_.alpha, W(value(j)), p_.beta, line[j]);
    }
  }

  const Problem &p_;
  const Kernel<W> &kernel_;
  int64_t kc_;
};

}  // namespace tritri::cpu
