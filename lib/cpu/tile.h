// A part of C for one thread: kernels over the packed panels.
#pragma once
#include "cpu/blocking.h"
#include "cpu/finish.h"

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

  TileMaker(const Problem &problem, const Kernel<W> &kernel, const HalfKernel<R> &half, int64_t kc) : p_(problem), kernel_(kernel), kc_(kc), finish_(problem, half, kernel.nr, int64_t{kernel.mr} * kernel.nr) {}

  // sums = op(A) op(B) over `step.k`, small tile after small tile; a small tile that is C as it is goes there. Both ranges begin on the kernel's grid.
  void multiply(const Step &step, Range rows, Range cols, const Panels<R> &a, const Panels<R> &b, R *sums, T *c) const {
    const Range k = cut(k_range(p_.a.fill, p_.b.fill, p_.k, rows, cols), step.k);
    for (int64_t k0 = k.begin; k0 < k.end; k0 = (k0 / kc_ + 1) * kc_) {
      const Range part{k0, std::min((k0 / kc_ + 1) * kc_, k.end)};
      each(rows, cols, sums, [&](const Small<R> &x) {
        const Range whole = small_range(step, x), now = cut(whole, part);
        if (now.empty()) return;
        R *to = x.sums;
        int64_t apart = kernel_.nr;
        if constexpr (std::is_same_v<T, R>) {
          if (direct(step, x)) to = c + p_.c.offset(x.rows.begin, x.cols.begin), apart = p_.c.ld;
        }
        const bool finite = kernel_.run(now.size(), edge(now, x.cols.begin), a.at(x.row_panel, now.begin), b.at(x.col_panel, now.begin), to, apart, now.begin > whole.begin);
        if (!finite && now.end == whole.end &&
            finish_.mend(whole, x.rows, x.cols, packed(a, x.row_panel, whole.begin, kernel_.mr), packed(b, x.col_panel, whole.begin, kernel_.nr), x.sums) && to != x.sums)
          finish_.store(x.rows, x.cols, x.sums, c);
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
  void store(const Step &step, Range rows, Range cols, const R *sums, T *c) const {
    if (k_range(p_.a.fill, p_.b.fill, p_.k, rows, cols).empty()) return finish_.blank(rows, cols, c);
    each(rows, cols, sums, [&](const Small<const R> &x) {
      if (!direct(step, x)) finish_.store(x.rows, x.cols, x.sums, c);
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

  // Part of a panel's k in which B's diagonal, or its last column, leaves half of the columns, see Kernel::run.
  int64_t edge(Range k, int64_t col) const {
    const int64_t middle = col + kernel_.nr / 2;
    if (middle >= p_.n) return k.size();
    if (p_.b.fill == Fill::lower) return std::clamp<int64_t>(middle - k.begin, 0, k.size());
    if (p_.b.fill == Fill::upper) return -std::clamp<int64_t>(k.end - middle, 0, k.size());
    return 0;
  }

  // Whether the kernel's tile is C as it is.
  template <class Number>
  bool direct(const Step &step, const Small<Number> &x) const {
    return step.first && step.last && x.rows.size() == kernel_.mr && x.cols.size() == kernel_.nr && finish_.direct(x.rows, x.cols);
  }

  Range small_range(const Step &step, const Small<R> &x) const { return cut(k_range(p_.a.fill, p_.b.fill, p_.k, x.rows, x.cols), step.k); }

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

  Packed<R> packed(const Panels<R> &panels, int64_t panel, int64_t k, int width) const { return {panels.at(panel, k), panels.step, 1, width}; }

  const Problem &p_;
  const Kernel<W> &kernel_;
  int64_t kc_;
  Finish<T> finish_;
};

}  // namespace tritri::cpu
