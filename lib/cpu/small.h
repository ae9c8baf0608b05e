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
  static constexpr int64_t longest = 256;  // of m, n and k

  static bool fits(const Problem &p, int64_t limit) { return std::max({p.m, p.n, p.k}) <= std::min(limit, longest); }

  SmallProduct(const Problem &problem, const KernelSet &kernels)
      : p_(problem), kernel_(kernels.small<W>()), tf32_(p_.compute == TRITRI_COMPUTE_TF32), pack_a_(p_.a, kernel_.mr, tf32_, kernel_.load),
        pack_b_(transposed(p_.b), kernel_.nr, tf32_, kernel_.load), pack_b_rows_(p_.b, kernel_.nr, tf32_, kernel_.load),
        finish_(p_, kernel_.row_step, kernel_.mr * kernel_.row_step) {}

  // Numbers of workspace.
  int64_t numbers() const { return b_numbers() + strip_numbers() * (1 + (p_.c_is_a ? (p_.m + kernel_.mr - 1) / kernel_.mr : 1)); }

  // One matrix. What C overwrites is read before.
  void multiply(const T *a, const T *b, T *c, R *workspace) const {
    R *const packed_b = workspace, *const sums = packed_b + b_numbers(), *packed_a = sums + strip_numbers();
    const R *panel = packed_b;
    if (pack_b_rows_.has_rows()) {
      pack_b_rows_.rows(b, {0, p_.k}, {0, p_.n}, packed_b, kernel_.row_step);
    } else {
      R *to = packed_b;
      for (int64_t j = 0; j < p_.n; j += kernel_.nr, to += b_across_) {
        const Range k = pack_b_.held(j);
        if (!k.empty()) pack_b_.panel(b, j, k, to + k.begin * b_step_);
      }
    }
    for (int64_t i = 0; i < p_.m && p_.c_is_a; i += kernel_.mr) pack_a(a, i, packed_a + i / kernel_.mr * strip_numbers());
    for (int64_t i = 0; i < p_.m; i += kernel_.mr) {
      Strip strip{{i, std::min(i + kernel_.mr, p_.m)}, pack_a_.held(i), {packed_a, a_along_, a_across_, kernel_.mr}, kernel_.by_k};
      if constexpr (std::is_same_v<T, R>) {
        if (a_in_place_ && strip.rows.size() == kernel_.mr) {
          strip.a.data = a + i * p_.a.ld + strip.held.begin;
          strip.a.across = p_.a.ld;
          strip.run = p_.a.fill == Fill::upper ? kernel_.upper : kernel_.lower;
        } else if (pack_a_.has_rows()) {
          strip.run = kernel_.by_row[strip.rows.size() - 1];
        }
      }
      if (p_.c_is_a) packed_a += strip_numbers();
      else if (strip.a.data == packed_a) pack_a(a, i, packed_a);
      panel = packed_b;
      for (int64_t j = 0; j < p_.n; j += kernel_.nr, panel += b_across_) {
        const Range cols{j, std::min(j + kernel_.nr, p_.n)};
        if (touches(p_.c.fill, strip.rows, cols)) tile(strip, cols, panel, sums + j, c);
      }
      if (!direct_) store(strip.rows, sums, c);
    }
  }

 private:
  static constexpr int planes = Kernel<W>::planes;

  // Some rows of A, which begin at held.begin.
  struct Strip {
    Range rows, held;
    Packed<R> a;
    bool (*run)(const SmallTile<R> &);
  };

  int64_t b_numbers() const { return std::max(p_.k * kernel_.row_step, (p_.n + kernel_.nr - 1) / kernel_.nr * b_across_); }
  int64_t strip_numbers() const { return kernel_.mr * kernel_.row_step * planes; }  // of A or of sums

  void pack_a(const T *a, int64_t i, R *to) const {
    const Range k = pack_a_.held(i);
    if (k.empty()) return;
    if (pack_a_.has_rows()) pack_a_.rows(a, {i, std::min(i + kernel_.mr, p_.m)}, k, to, kernel_.row_step);
    else pack_a_.panel(a, i, k, to);
  }

  void tile(const Strip &strip, Range cols, const R *panel, R *sums, T *c) const {
    const Range rows = strip.rows, k = k_range(p_.a.fill, p_.b.fill, p_.k, rows, cols);
    SmallTile<R> x;
    x.k = k.size();
    x.a = strip.a.data + (k.begin - strip.held.begin) * strip.a.along;
    x.b = panel + k.begin * b_step_;
    x.b_step = b_step_;
    x.a_step = strip.a.across;
    x.diagonal = p_.a.fill == Fill::full ? k.size() : rows.begin - k.begin;
    if constexpr (std::is_same_v<T, R>) {
      if (direct_) {
        x.rows = rows.size();
        x.c = c + rows.begin * p_.c.ld + cols.begin;
        x.c_step = p_.c.ld;
        x.whole = cols.size() == kernel_.nr && block_is_whole(p_.c.fill, false, rows, cols);
        x.band = {0, 0, cols.size(), 0, cols.size()};
        if (p_.c.fill == Fill::lower) x.band.end = rows.begin + 1 - cols.begin, x.band.end_step = 1;
        if (p_.c.fill == Fill::upper) x.band.begin = rows.begin - cols.begin, x.band.begin_step = 1;
        if (strip.run(x)) return;
      }
    }
    x.rows = a_along_ == 1 ? rows.size() : kernel_.mr;
    x.c = sums;
    x.c_step = kernel_.row_step;
    x.whole = true;
    if (!strip.run(x)) finish_.mend(k, rows, cols, {x.a, strip.a.along, strip.a.across, strip.a.imaginary}, {x.b, b_step_, 1, kernel_.nr}, sums);
    if (direct_) finish_.store(rows, cols, sums, c);
  }

  void store(Range rows, const R *sums, T *c) const {
    if constexpr (std::is_same_v<T, R>) {
      if (finish_.plain()) {
        BandCopy<R> x;
        x.from = sums;
        x.from_step = kernel_.row_step;
        x.to = c + describe_band(p_.c.lines(), rows, {0, p_.n}, 0, x, x.to_step);
        x.width = p_.n;
        return kernel_.store(x);
      }
    }
    finish_.store(rows, {0, p_.n}, sums, c);
  }

  const Problem &p_;
  const SmallKernel<W> &kernel_;
  bool tf32_;
  Packer<T> pack_a_, pack_b_, pack_b_rows_;
  Finish<T> finish_;
  bool direct_ = std::is_same_v<T, R> && finish_.plain() && !p_.c.packed;
  bool a_in_place_ = pack_a_.plain_rows() && !p_.c_is_a;
  int64_t a_along_ = pack_a_.has_rows() ? 1 : planes * kernel_.mr, a_across_ = pack_a_.has_rows() ? kernel_.row_step : 1;
  int64_t b_step_ = pack_b_rows_.has_rows() ? kernel_.row_step : kernel_.nr * planes, b_across_ = pack_b_rows_.has_rows() ? kernel_.nr : kernel_.nr * planes * p_.k;
};

}  // namespace tritri::cpu
