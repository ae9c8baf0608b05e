// Packing: where fills, unit diagonals, orders, storage, conjugates and narrow types end. What comes out are dense panels for the kernels.
#pragma once
#include <algorithm>

#include "core/canonical.h"
#include "core/k_range.h"
#include "core/visit.h"
#include "cpu/kernel.h"

namespace tritri::cpu {

// To the nearest TF32, ties to even: 13 bits of the mantissa go.
inline float round_to_tf32(float x) {
  const uint32_t u = bits_of(x);
  if ((u & 0x7f800000u) == 0x7f800000u) return x;
  return float_of((u + 0xfffu + ((u >> 13) & 1u)) & ~0x1fffu);
}

// Packs panels of an input whose element (p, k) has p along C: op(A) as it is, op(B) transposed.
template <class T>
class Packer {
 public:
  using W = typename Accumulator<T>::type;
  using R = typename RealOf<W>::type;
  static constexpr int planes = Kernel<W>::planes;

  Packer(const View &view, int width, bool tf32) : view_(view), width_(width), tf32_(tf32) {}

  // Every k of which panel [p0, p0 + width) holds something.
  Range held(int64_t p0) const { return k_range(view_.fill, Fill::full, view_.cols, {p0, std::min(p0 + width_, view_.rows)}, {0, 1}); }

  // Writes columns k of the panel, planes * width numbers each: zeros outside the fill and beyond the last row, ones on a unit diagonal.
  void panel(const T *data, int64_t p0, Range k, R *to) const {
    if constexpr (std::is_same_v<T, float>) {
      if (tf32_) return copy(data, p0, k, to, round_to_tf32);
    }
    copy(data, p0, k, to, [](const W &x) { return x; });
  }

 private:
  template <class Round>
  void copy(const T *data, int64_t p0, Range k, R *to, const Round &round) const {
    const int live = static_cast<int>(std::min<int64_t>(width_, view_.rows - p0));
    const Lines lines = view_.lines();
    int64_t base[max_panel];  // in rows, element (p0 + r, k) lies at base[r] + k
    if (view_.row_lines) {
      for (int r = 0; r < live; ++r) base[r] = lines.offset(p0 + r, 0);
    }
    const auto put = [&](R *column, int r, const T &x) {
      const W value = round(conjugate_if(view_.conj, convert<W>(x)));
      if constexpr (planes == 1) column[r] = value;
      else column[r] = value.real(), column[width_ + r] = value.imag();
    };
    const auto values = [&](R *column, int64_t l, int from, int end) {
      if (view_.row_lines) {
        for (int r = from; r < end; ++r) put(column, r, data[base[r] + l]);
      } else {
        const T *source = data + lines.offset(l, 0) + p0;
        for (int r = from; r < end; ++r) put(column, r, source[r]);
      }
    };
    const auto zeros = [&](R *column, int from, int end) {
      for (int plane = 0; plane < planes; ++plane) std::fill(column + plane * width_ + from, column + plane * width_ + end, R(0));
    };
    const auto whole = [&](Range range) {
      int64_t l = range.begin;
      if (view_.row_lines) {
        constexpr int steps = 4;  // along a line, while it is in cache
        for (; l + steps <= range.end; l += steps) {
          R *column = to + (l - k.begin) * planes * width_;
          for (int r = 0; r < live; ++r) {
            const T *source = data + base[r] + l;
            for (int step = 0; step < steps; ++step) put(column + step * planes * width_, r, source[step]);
          }
          if (live < width_) {
            for (int step = 0; step < steps; ++step) zeros(column + step * planes * width_, live, width_);
          }
        }
      }
      for (; l < range.end; ++l) {
        R *column = to + (l - k.begin) * planes * width_;
        values(column, l, 0, live);
        if (live < width_) zeros(column, live, width_);
      }
    };
    if (view_.fill == Fill::full && !view_.unit) return whole(k);
    // Before and after the rows that the diagonal crosses nothing needs a mask; the caller's k holds no more than the panel does.
    const int64_t first = std::clamp(p0, k.begin, k.end), last = std::clamp(p0 + live, k.begin, k.end);
    whole({k.begin, first});
    for (int64_t l = first; l < last; ++l) {
      R *column = to + (l - k.begin) * planes * width_;
      const int diagonal = static_cast<int>(l - p0);
      const int from = view_.fill == Fill::lower ? diagonal : 0, end = view_.fill == Fill::upper ? diagonal + 1 : live;
      zeros(column, 0, from);
      if (view_.unit) {
        values(column, l, from, diagonal);
        zeros(column, diagonal, diagonal + 1);
        column[diagonal] = R(1);
        values(column, l, diagonal + 1, end);
      } else {
        values(column, l, from, end);
      }
      zeros(column, end, width_);
    }
    whole({last, k.end});
  }

  View view_;
  int width_;
  bool tf32_;
};

}  // namespace tritri::cpu
