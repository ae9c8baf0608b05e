// Products with a short k, of which B fits the caches nearest to a core some columns at a time: no panels of A, no plan to make, so that a batch of tiny matrices
// costs little more than moving them.
#pragma once
#include <cstring>

#include "cpu/ahead.h"
#include "cpu/finish.h"
#include "cpu/pack.h"
#include "cpu/team.h"

namespace tritri::cpu {

template <class T>
class SmallProduct {
 public:
  using W = typename Accumulator<T>::type;
  using R = typename RealOf<W>::type;
  // k, and columns at a time. A few columns may have more k.
  static constexpr int64_t longest = Kernel<W>::planes == 2 ? 768 : 576, widest = 256;

  static bool fits(const Problem &p, int64_t limit) {
    if (p.n <= std::min(limit, widest) && p.k * padded(p.n) <= most_of_b) return true;
    const int64_t most = p.a.row_lines ? longest : planes == 2 ? 384 : widest;  // columns of A are packed again for every block of C's
    return p.k <= std::min(limit, most) && (p.n <= columns(p) || !(p.c_is_a || p.c_is_b));
  }

  // `far`: operands come from memory, and C goes there. Rows of up to two cache lines are no matter; longer ones come too late where a diagonal cuts them, and tiles would write them in
  // pieces, each fetched before it is overwritten: what the next product reads is asked for ahead, and C goes past the caches.
  SmallProduct(const Problem &problem, const KernelSet &kernels, bool far = false)
      : p_(problem), kernel_(kernels.small<W>()), tf32_(p_.compute == TRITRI_COMPUTE_TF32), pack_a_(p_.a, kernel_.mr, tf32_, kernel_),
        pack_b_(transposed(p_.b), kernel_.nr, tf32_, kernel_), pack_b_rows_(p_.b, kernel_.nr, tf32_, kernel_),
        finish_(p_, kernel_.half, planes * kernel_.row_step, planes == 2 ? 1 : 0), far_(far && p_.n * int64_t{sizeof(T)} > 128) {}

  // Numbers of workspace: for B, and for strips.
  int64_t b_numbers() const { return std::max(p_.k * b_step_, (std::min(p_.n, columns_) + nr_ - 1) / nr_ * b_across_); }
  int64_t own_numbers() const { return strip_numbers() * (a_first_ ? (p_.m + kernel_.mr - 1) / kernel_.mr : 1) + 2 * kernel_.mr * kernel_.row_step * planes; }
  int64_t numbers() const { return b_numbers() + own_numbers(); }

  // After the last of a thread's products.
  void settle() const {
    if (streamed_) kernel_.settle();
  }

  // Parts of C for that many threads, about. In place there is one.
  int64_t pieces(int threads) const { return p_.c_is_a || p_.c_is_b || threads == 1 ? 1 : std::min<int64_t>(4 * threads, (std::max(p_.m, p_.n) + 63) / 64); }

  // By a team, each of whose members calls this, with two phases for each block of columns: all pack B, which lies there once, then take strips, long sums first.
  bool for_team() const { return (p_.n <= columns_ || p_.m >= columns_) && !p_.c_is_a && !p_.c_is_b; }
  int64_t blocks() const { return (p_.n + columns_ - 1) / columns_; }
  void multiply(Phase *phases, bool stay, const T *a, const T *b, T *c, R *packed_b, R *own) const {
    const int64_t count = (p_.m + kernel_.mr - 1) / kernel_.mr;
    const bool up = p_.a.fill == Fill::lower || (p_.a.fill == Fill::full && p_.c.fill == Fill::lower);
    for (int64_t j = 0; j < p_.n; j += columns_, phases += 2) {
      const Range cols{j, std::min(j + columns_, p_.n)}, all = b_rows_ ? Range{0, p_.k} : cols;
      const int64_t unit = b_rows_ ? 32 : nr_;
      phases[0].work((all.size() + unit - 1) / unit, [&](int64_t part) {
        const int64_t begin = all.begin + part * unit;
        pack_b({begin, std::min(begin + unit, all.end)}, cols, b, packed_b);
      });
      phases[1].work(count, [&](int64_t task) {
        const int64_t i = (up ? count - 1 - task : task) * kernel_.mr;
        multiply_strips({i, std::min(i + kernel_.mr, p_.m)}, cols, a, c, packed_b, own, nullptr);
      }, stay || cols.end < p_.n);
    }
  }

  // For products that follow each other, where `far`.
  bool far() const { return far_; }
  Ahead ahead() const { return {p_, sizeof(T), (p_.m + kernel_.mr - 1) / kernel_.mr * ((p_.n + nr_ - 1) / nr_)}; }

  // One of them. What C overwrites is read before. `ahead` stands at the next one.
  void multiply(int64_t piece, int64_t pieces, const T *a, const T *b, T *c, R *workspace, Ahead *ahead = nullptr) const {
    Range rows{0, p_.m}, cols{0, p_.n};
    if (pieces > 1) {  // divisions that small matrices would notice
      const bool by_rows = p_.m >= p_.n;
      Range &all = by_rows ? rows : cols;
      const int64_t unit = by_rows ? kernel_.mr : nr_, units = (all.end + unit - 1) / unit;
      all = {units * piece / pieces * unit, std::min(units * (piece + 1) / pieces * unit, all.end)};
    }
    for (int64_t j = cols.begin; j < cols.end; j += columns_) multiply(rows, {j, std::min(j + columns_, cols.end)}, a, b, c, workspace, ahead);
  }

 private:

  static constexpr int planes = Kernel<W>::planes;
  static R *numbers_of(T *x) { return reinterpret_cast<R *>(x); }
  static const R *numbers_of(const T *x) { return reinterpret_cast<const R *>(x); }
  static constexpr int64_t padded(int64_t n) { return (n + 15) / 16 * 16; }
  static constexpr int64_t most_of_b = (64 << 10) * (sizeof(T) <= 4 ? 2 : 1);  // elements at a time: half a megabyte, a whole one of complex128

  // At a time, all blocks about alike.
  static int64_t columns(const Problem &p) {
    if (p.n <= widest && p.k * padded(p.n) <= most_of_b) return widest;
    const int64_t most = std::clamp<int64_t>(most_of_b / p.k / 64 * 64, 64, widest), blocks = (p.n + most - 1) / most;
    return padded((p.n + blocks - 1) / blocks);
  }

  // Some rows of A, which begin at held.begin.
  struct Strip {
    Range rows, held;
    Packed<R> a;
    bool (*run)(const SmallTile<R> &) = nullptr;
    int64_t step = 0;  // SmallTile::a_step
  };

  void multiply(Range rows, Range cols, const T *a, const T *b, T *c, R *workspace, Ahead *ahead) const {
    pack_b(b_rows_ ? Range{0, p_.k} : cols, cols, b, workspace);
    multiply_strips(rows, cols, a, c, workspace, workspace + b_numbers(), ahead);
  }

  // Some of `cols` of B: k in `part` where rows are packed as rows, otherwise columns.
  void pack_b(Range part, Range cols, const T *b, R *packed_b) const {
    if (b_rows_) return pack_b_rows_.rows(b, part, cols, packed_b + part.begin * b_step_, b_step_);
    R *to = packed_b + (part.begin - cols.begin) / nr_ * b_across_;
    for (int64_t j = part.begin; j < part.end; j += nr_, to += b_across_) {
      const Range k = pack_b_.held(j);
      if (!k.empty()) pack_b_.panel(b, j, k, to + k.begin * b_step_);
    }
  }

  void multiply_strips(Range rows, Range cols, const T *a, T *c, const R *packed_b, R *own, Ahead *ahead) const {
    R *const sums = own, *const strip_of_c = sums + kernel_.mr * kernel_.row_step * planes, *packed_a = strip_of_c + kernel_.mr * kernel_.row_step * planes;
    for (int64_t i = 0; i < p_.m && a_first_; i += kernel_.mr) pack_a(a, i, packed_a + i / kernel_.mr * strip_numbers());
    for (int64_t i = rows.begin; i < rows.end; i += kernel_.mr) {
      const int upper = p_.a.fill == Fill::upper;
      Strip strip{{i, std::min(i + kernel_.mr, rows.end)}, pack_a_.held(i), {packed_a, a_along_, a_across_, 1}};
      if (a_in_place_ && strip.rows.size() == kernel_.mr) {
        strip.step = planes * p_.a.ld;
        if (p_.a.row_lines) strip.a = {numbers_of(a + i * p_.a.ld + strip.held.begin), planes, strip.step, 1};
        else strip.a = {numbers_of(a + strip.held.begin * p_.a.ld + i), strip.step, planes, 1};
        strip.run = kernel_.in_place.run[!p_.a.row_lines][upper];
      } else if (a_rows_ && few_rows(strip.rows)) {
        strip.run = kernel_.by_row[strip.rows.size() - 1];
      } else {  // as if the caller had them so
        strip.step = a_rows_ ? a_across_ : a_along_;
        strip.run = kernel_.in_place.run[!a_rows_][upper];
      }
      if (a_first_) packed_a += strip_numbers();
      else if (strip.a.data == packed_a) pack_a(a, i, packed_a);
      T *const target = streamed_ ? reinterpret_cast<T *>(strip_of_c) - i * p_.c.ld : c;
      const R *panel = packed_b;
      for (int64_t j = cols.begin; j < cols.end; j += nr_, panel += b_across_) {
        if (ahead) ahead->piece();
        const Range some{j, std::min(j + nr_, cols.end)};
        if (touches(p_.c.fill, strip.rows, some)) tile(strip, some, panel, sums + planes * (j - cols.begin), target);
      }
      if (!direct_) store(strip.rows, cols, sums, c);
      if (streamed_) kernel_.stream(strip_of_c, numbers_of(c + i * p_.c.ld), planes * strip.rows.size() * p_.c.ld);
    }
  }

  int64_t strip_numbers() const { return kernel_.mr * (a_rows_ ? a_across_ : p_.k); }  // of A

  // Between packed rows of A, elements: an odd number of cache lines.
  static int64_t row_step(int64_t k) { return SmallKernel<W>::row_step + (std::max<int64_t>(k - widest, 0) + 31) / 32 * 32; }

  // The last ones, for which there are kernels.
  bool few_rows(Range rows) const { return planes == 1 && rows.size() < kernel_.mr && a_across_ == kernel_.row_step; }

  void pack_a(const T *a, int64_t i, R *to) const {
    const Range k = pack_a_.held(i);
    if (k.empty()) return;
    if (a_rows_) {
      const Range rows{i, std::min(i + kernel_.mr, p_.m)};
      pack_a_.rows(a, rows, k, to, a_across_);
      if (!few_rows(rows)) std::fill(to + rows.size() * a_across_, to + kernel_.mr * a_across_, R(0));  // the kernel has more
    } else {
      pack_a_.panel(a, i, k, to);
    }
  }

  void tile(const Strip &strip, Range cols, const R *panel, R *sums, T *c) const {
    const Range rows = strip.rows, k = k_range(p_.a.fill, p_.b.fill, p_.k, rows, cols);
    SmallTile<R> x;
    x.k = k.size();
    x.a = strip.a.data + (k.begin - strip.held.begin) * strip.a.along;
    x.b = panel + k.begin * b_step_;
    x.b_step = b_step_;
    x.a_step = strip.step;
    x.diagonal = p_.a.fill == Fill::full ? k.size() : rows.begin - k.begin;
    const Packed<R> first_a{x.a, strip.a.along, strip.a.across, strip.a.imaginary}, first_b{x.b, b_step_, planes, 1};
    if (direct_) {
      x.rows = rows.size();
      x.c = numbers_of(c + rows.begin * p_.c.ld + cols.begin);
      x.c_step = planes * p_.c.ld;
      x.whole = cols.size() == nr_ && block_is_whole(p_.c.fill, false, rows, cols);
      x.band = {0, 0, planes * cols.size(), 0, planes * cols.size()};
      if (p_.c.fill == Fill::lower) x.band.end = planes * std::min<int64_t>(rows.begin + 1 - cols.begin, nr_), x.band.end_step = planes;
      if (p_.c.fill == Fill::upper) x.band.begin = planes * std::max<int64_t>(rows.begin - cols.begin, -kernel_.mr), x.band.begin_step = planes;
      if (!strip.run(x) && finish_.mend(k, rows, cols, first_a, first_b, sums)) finish_.store(rows, cols, sums, c);
      return;
    }
    x.rows = a_rows_ && few_rows(rows) ? rows.size() : kernel_.mr;
    x.c = sums;
    x.c_step = planes * kernel_.row_step;
    x.whole = true;
    if (!strip.run(x)) finish_.mend(k, rows, cols, first_a, first_b, sums);
  }

  void store(Range rows, Range cols, const R *sums, T *c) const {
    if constexpr (std::is_same_v<T, R>) {
      if (finish_.plain()) {
        BandCopy<R> x;
        x.from = sums;
        x.from_step = kernel_.row_step;
        x.to = c + describe_band(p_.c.lines(), rows, cols, 0, x, x.to_step);
        x.width = cols.size();
        return kernel_.store(x);
      }
    }
    finish_.store(rows, cols, sums, c);
  }

  const Problem &p_;
  const SmallKernel<W> &kernel_;
  bool tf32_;
  Packer<T> pack_a_, pack_b_, pack_b_rows_;
  Finish<T> finish_;
  int64_t columns_ = columns(p_);
  bool direct_ = std::is_same_v<T, W> && finish_.plain() && !p_.c.packed;
  bool far_, streamed_ = far_ && direct_ && p_.c.fill == Fill::full && p_.c.ld == p_.n && p_.n <= columns_;
  // Nothing of A is packed but its last rows; long columns, though, would evict each other.
  bool a_in_place_ = pack_a_.plain() && !p_.c_is_a && (p_.a.row_lines || p_.k <= 128);
  bool a_first_ = p_.c_is_a && !p_.a.row_lines;  // a row of C overwrites elements of many rows of A: those are few, since k is
  bool a_rows_ = pack_a_.has_rows(), b_rows_ = pack_b_rows_.has_rows();
  int64_t nr_ = kernel_.nr / planes;
  int64_t a_along_ = a_rows_ ? planes : kernel_.mr, a_across_ = a_rows_ ? planes * row_step(p_.k) : 1;
  int64_t b_step_ = !b_rows_ ? kernel_.nr : p_.k > longest ? planes * padded(p_.n) : planes * std::min(p_.n, columns_) > widest ? 2 * kernel_.row_step : kernel_.row_step;
  int64_t b_across_ = b_rows_ ? kernel_.nr : kernel_.nr * p_.k;
};

}  // namespace tritri::cpu
