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
    const int64_t step = int64_t{planes} * width_;
    const Lines lines = view_.lines();
    int64_t base[max_panel];  // in rows, element (p0 + r, k) lies at base[r] + k
    if (view_.row_lines) {
      for (int r = 0; r < live; ++r) base[r] = lines.offset(p0 + r, 0);
    }
    const auto column = [&](int64_t l) { return to + (l - k.begin) * step; };
    const auto put = [&](R *at, const T &x) {
      const W value = round(conjugate_if(view_.conj, convert<W>(x)));
      if constexpr (planes == 1) at[0] = value;
      else at[0] = value.real(), at[width_] = value.imag();
    };
    // Rows [from, end) of column l.
    const auto values = [&](int64_t l, int from, int end) {
      R *const target = column(l);
      if (view_.row_lines) {
        for (int r = from; r < end; ++r) put(target + r, data[base[r] + l]);
      } else {
        const T *source = data + lines.offset(l, 0) + p0;
        for (int r = from; r < end; ++r) put(target + r, source[r]);
      }
    };
    const auto whole = [&](Range range) {
      int64_t l = range.begin;
      if (view_.row_lines) {
        constexpr int run = 4;  // along a line, while it is in cache
        for (; l + run <= range.end; l += run) {
          for (int r = 0; r < live; ++r) {
            const T *source = data + base[r] + l;
            for (int x = 0; x < run; ++x) put(column(l + x) + r, source[x]);
          }
        }
      }
      for (; l < range.end; ++l) values(l, 0, live);
    };
    if (live < width_) std::fill(to, column(k.end), R(0));
    if (view_.fill == Fill::full && !view_.unit) return whole(k);
    // Before and after the rows that the diagonal crosses nothing needs a mask; the caller's k holds no more than the panel does.
    const int64_t first = std::clamp(p0, k.begin, k.end), last = std::clamp(p0 + live, k.begin, k.end);
    whole({k.begin, first});
    if (live == width_) std::fill(column(first), column(last), R(0));
    for (int64_t l = first; l < last; ++l) {
      const int diagonal = static_cast<int>(l - p0), from = view_.fill == Fill::lower ? diagonal : 0, end = view_.fill == Fill::upper ? diagonal + 1 : live;
      if (view_.unit) {
        values(l, from, diagonal);
        column(l)[diagonal] = R(1);
        values(l, diagonal + 1, end);
      } else {
        values(l, from, end);
      }
    }
    whole({last, k.end});
  }

  View view_;
  int width_;
  bool tf32_;
};

}  // namespace tritri::cpu
