// Products that fit the caches nearest to a core: no panels of A, no blocks, no plan to make, so that a batch of tiny matrices costs little more than moving them.
#pragma once
#include "cpu/finish.h"
#include "cpu/pack.h"

namespace tritri::cpu {

template <class T>
class SmallProduct {
 public:
  using W = typename Accumulator<T>::type;
  using R = typename RealOf<W>::type;
  static constexpr int64_t longest = 128;  // of m, n and k

  static bool fits(const Problem &p, int64_t limit) { return p.m <= limit && p.n <= limit && p.k <= limit; }

  SmallProduct(const Problem &problem, const KernelSet &kernels)
      : p_(problem), kernel_(kernels.small<W>()), tf32_(p_.compute == TRITRI_COMPUTE_TF32), pack_a_(p_.a, kernel_.mr, tf32_, kernel_.copy),
        pack_b_(transposed(p_.b), kernel_.nr, tf32_, kernel_.copy), finish_(p_, kernel_.mr, kernel_.nr),
        direct_(std::is_same_v<T, R> && !p_.c.packed && finish_.plain()) {}

  // Numbers of workspace.
  int64_t numbers() const { return b_stride() * panels() + int64_t{kernel_.mr} * b_step() + a_stride() * (p_.c_is_a ? (p_.m + kernel_.mr - 1) / kernel_.mr : 1); }

  // One matrix. What C overwrites is read before.
  void multiply(const T *a, const T *b, T *c, R *workspace) const {
    R *const packed_b = workspace, *const sums = packed_b + b_stride() * panels(), *packed_a = sums + int64_t{kernel_.mr} * b_step();
    R *panel = packed_b;
    for (int64_t j = 0; j < p_.n; j += kernel_.nr, panel += b_stride()) {
      const Range k = pack_b_.held(j);
      if (!k.empty()) pack_b_.panel(b, j, k, panel + k.begin * b_step());
    }
    for (int64_t i = 0; i < p_.m && p_.c_is_a; i += kernel_.mr) pack_a(a, i, packed_a + i / kernel_.mr * a_stride());
    for (int64_t i = 0; i < p_.m; i += kernel_.mr) {
      const Range rows{i, std::min(i + kernel_.mr, p_.m)}, held = pack_a_.held(i);
      if (!p_.c_is_a) pack_a(a, i, packed_a);
      else if (i > 0) packed_a += a_stride();
      panel = packed_b;
      for (int64_t j = 0; j < p_.n; j += kernel_.nr, panel += b_stride()) {
        const Range cols{j, std::min(j + kernel_.nr, p_.n)};
        if (touches(p_.c.fill, rows, cols)) tile(rows, cols, held, packed_a, panel, sums, c);
      }
    }
  }

 private:
  static constexpr int planes = Kernel<W>::planes;

  int64_t panels() const { return (p_.n + kernel_.nr - 1) / kernel_.nr; }
  int64_t a_stride() const { return kernel_.mr * kernel_.a_step * planes; }
  int64_t b_step() const { return int64_t{kernel_.nr} * planes; }
  int64_t b_stride() const { return b_step() * p_.k; }

  void pack_a(const T *a, int64_t i, R *to) const {
    const Range k = pack_a_.held(i);
    if (k.empty()) return;
    if (pack_a_.has_rows()) pack_a_.rows(a, {i, std::min(i + kernel_.mr, p_.m)}, k, to, kernel_.a_step);
    else pack_a_.panel(a, i, k, to);
  }

  void tile(Range rows, Range cols, Range held, const R *packed_a, const R *panel, R *sums, T *c) const {
    const Range k = k_range(p_.a.fill, p_.b.fill, p_.k, rows, cols);
    if (k.empty() && !direct_) return finish_.blank(rows, cols, c);
    const bool in_rows = pack_a_.has_rows();
    const Packed<R> a{packed_a + (k.begin - held.begin) * (in_rows ? 1 : planes * kernel_.mr), in_rows ? 1 : planes * kernel_.mr, in_rows ? kernel_.a_step : 1, kernel_.mr};
    SmallTile<R> x{k.size(), rows.size(), a.data, panel + k.begin * b_step(), sums, kernel_.nr, {0, 0, kernel_.nr, 0, kernel_.nr}};
    const auto run = [&] { return in_rows ? kernel_.by_row[rows.size() - 1](x) : kernel_.by_k(x); };
    if constexpr (std::is_same_v<T, R>) {
      if (direct_) {
        x.c = c + rows.begin * p_.c.ld + cols.begin;
        x.c_step = p_.c.ld;
        x.band = {0, 0, cols.size(), 0, cols.size()};
        if (p_.c.fill == Fill::lower) x.band.end = rows.begin + 1 - cols.begin, x.band.end_step = 1;
        if (p_.c.fill == Fill::upper) x.band.begin = rows.begin - cols.begin, x.band.begin_step = 1;
        if (run()) return;
        x.c = sums;
        x.c_step = kernel_.nr;
        x.band = {0, 0, kernel_.nr, 0, kernel_.nr};
      }
    }
    if (!run()) finish_.mend(k, rows, cols, a, {x.b, b_step(), 1, kernel_.nr}, sums);
    finish_.store(rows, cols, sums, c);
  }

  const Problem &p_;
  const SmallKernel<W> &kernel_;
  bool tf32_;
  Packer<T> pack_a_, pack_b_;
  Finish<T> finish_;
  bool direct_;
};

}  // namespace tritri::cpu
