// What follows the kernels, for one of their tiles at a time: sums that met an Inf done again, then alpha, beta and C's own fill.
#pragma once
#include <algorithm>

#include "core/k_range.h"
#include "cpu/kernel.h"
#include "cpu/scale.h"

namespace tritri::cpu {

constexpr Range cut(Range x, Range y) { return {std::max(x.begin, y.begin), std::max(std::min(x.end, y.end), std::max(x.begin, y.begin))}; }

// Packed numbers of op(A) or op(B) from some k on: along k, along C, and from a real part to its imaginary one.
template <class R>
struct Packed {
  const R *data;
  int64_t along, across, imaginary;
};

// Sums lie row by row, `step` apart; imaginary parts at a distance from the real ones, or right behind each.
template <class T>
class Finish {
 public:
  using W = typename Accumulator<T>::type;
  using R = typename RealOf<W>::type;

  Finish(const Problem &problem, const HalfKernel<R> &half, int64_t step, int64_t imaginary) : p_(problem), half_(half), step_(step), imaginary_(imaginary), across_(planes == 2 && imaginary == 1 ? 2 : 1) {}

  // Whether sums are C as they are.
  bool plain() const { return alpha_is_1_ && beta_is_0_; }

  // A masked zero times Inf may have made a NaN where nothing should have been computed: such a tile is done again, each element over its own part of k,
  // where a and b begin. Says whether it has been.
  bool mend(Range k, Range rows, Range cols, const Packed<R> &a, const Packed<R> &b, R *sums) const {
    if (block_is_whole(p_.a.fill, false, rows, k) && block_is_whole(p_.b.fill, false, k, cols)) return false;
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      for (int64_t col = cols.begin; col < cols.end; ++col) {
        const Range own = cut(k_range(p_.a.fill, p_.b.fill, p_.k, {row, row + 1}, {col, col + 1}), k);
        const R *u = a.data + (own.begin - k.begin) * a.along + (row - rows.begin) * a.across;
        const R *v = b.data + (own.begin - k.begin) * b.along + (col - cols.begin) * b.across;
        R *re = sums + (row - rows.begin) * step_ + (col - cols.begin) * across_, sum_re(0), sum_im(0);
        for (int64_t l = own.begin; l < own.end; ++l, u += a.along, v += b.along) {
          if constexpr (planes == 1) {
            sum_re += u[0] * v[0];
          } else {
            sum_re += u[0] * v[0] - u[a.imaginary] * v[b.imaginary];
            sum_im += u[0] * v[b.imaginary] + u[a.imaginary] * v[0];
          }
        }
        re[0] = sum_re;
        if constexpr (planes == 2) re[imaginary_] = sum_im;
      }
    }
    return true;
  }

  // Whether the block's sums, all of them, are what C gets.
  bool direct(Range rows, Range cols) const {
    return std::is_same_v<T, R> && plain() && !p_.c.packed && block_is_whole(p_.c.fill, false, rows, cols) && live(rows, cols);
  }

  // C = alpha sums + beta C where C holds something.
  void store(Range rows, Range cols, const R *sums, T *c) const {
    if (k_range(p_.a.fill, p_.b.fill, p_.k, rows, cols).empty()) return blank(rows, cols, c);
    const R *sum = sums - cols.begin * across_;
    if (!p_.c.packed && block_is_whole(p_.c.fill, false, rows, cols) && live(rows, cols)) {
      T *line = c + p_.c.offset(rows.begin, 0);
      for (int64_t row = rows.begin; row < rows.end; ++row, line += p_.c.ld, sum += step_) combine(line, cols, sum);
      return;
    }
    for (int64_t row = rows.begin; row < rows.end; ++row, sum += step_) {
      T *line = c + p_.c.offset(row, 0);
      const Range held = cut(row_held(p_.c.fill, row, p_.n), cols), own = cut(held, live_columns(row));
      zero(line, {held.begin, std::min(own.begin, held.end)});
      combine(line, own, sum);
      zero(line, {std::max(own.end, held.begin), held.end});
    }
  }

  // Where the product is structurally zero.
  void blank(Range rows, Range cols, T *c) const {
    for (int64_t row = rows.begin; row < rows.end; ++row) zero(c + p_.c.offset(row, 0), cut(row_held(p_.c.fill, row, p_.n), cols));
  }

 private:
  // Columns of op(A) op(B) in which this row is not structurally zero.
  Range live_columns(int64_t row) const {
    const Range k = k_range(p_.a.fill, Fill::full, p_.k, {row, row + 1}, {0, 1});
    if (k.empty()) return {0, 0};
    return {p_.b.fill == Fill::upper ? k.begin : 0, p_.b.fill == Fill::lower ? std::min(k.end, p_.n) : p_.n};
  }

  // Whether all columns are live in all rows: they only grow or only shrink from row to row, so the first and the last row speak for all.
  bool live(Range rows, Range cols) const {
    const Range all = cut(live_columns(rows.begin), live_columns(rows.end - 1));
    return all.begin <= cols.begin && all.end >= cols.end;
  }

  void zero(T *line, Range columns) const {
    if (beta_is_0_) {
      for (int64_t j = columns.begin; j < columns.end; ++j) line[j] = T();
    } else {
      for (int64_t j = columns.begin; j < columns.end; ++j) line[j] = scaled<W>(p_.beta, line[j]);
    }
  }

  void combine(T *line, Range columns, const R *sum) const {
    // Copies, which no store to C can change.
    const std::complex<double> alpha = p_.alpha, beta = p_.beta;
    const int64_t imaginary = imaginary_, across = across_;
    const auto value = [&](int64_t j) {
      if constexpr (planes == 1) return sum[j];
      else return W(sum[j * across], sum[j * across + imaginary]);
    };
    if constexpr (is_half<T>) {
      const auto narrow = half_.narrow[std::is_same_v<T, bfloat16>];
      if (plain() && narrow && !columns.empty()) return narrow(sum + columns.begin, reinterpret_cast<uint16_t *>(line + columns.begin), columns.size());
    }
    if (plain()) {
      for (int64_t j = columns.begin; j < columns.end; ++j) line[j] = convert<T>(value(j));
    } else {
      for (int64_t j = columns.begin; j < columns.end; ++j) line[j] = combined(alpha, W(value(j)), beta, line[j]);
    }
  }

  static constexpr int planes = Kernel<W>::planes;

  const Problem &p_;
  const HalfKernel<R> &half_;
  int64_t step_, imaginary_, across_;  // numbers, the last from column to column
  bool alpha_is_1_ = p_.alpha == std::complex<double>(1, 0), beta_is_0_ = p_.beta == std::complex<double>(0, 0);
};

}  // namespace tritri::cpu
