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

// Positions `along` of some lines as a band: all but the source, the target and our own step. The offset of the first line's first position, wherever its band begins.
template <class R>
int64_t describe_band(const Lines &all, Range which, Range along, int64_t unit, BandCopy<R> &x, int64_t &step) {
  const int64_t first = std::clamp(which.begin - along.begin, -along.size() - which.size(), along.size() + which.size());
  const bool lower = all.profile == Fill::lower, upper = all.profile == Fill::upper;
  // Field by field: GCC would clear an aggregate with a string instruction first, which takes longer than all the rest.
  x.band.begin = upper ? first + unit : 0;
  x.band.begin_step = upper;
  x.band.end = lower ? first + 1 - unit : along.size();
  x.band.end_step = lower;
  x.band.limit = along.size();
  step = x.longest_step = all.ld;
  x.growth = 0;
  if (all.packed) {
    x.growth = lower ? 1 : -1;
    step = lower ? std::min(which.begin + 1, all.length) : all.length - which.begin - 1;
    x.longest_step = all.length;
  }
  x.rows = which.size();
  return all.offset(which.begin, 0) + along.begin;
}

// Packs panels of an input whose element (p, k) has p along C: op(A) as it is, op(B) transposed.
template <class T>
class Packer {
 public:
  using W = typename Accumulator<T>::type;
  using R = typename RealOf<W>::type;
  static constexpr int planes = Kernel<W>::planes;

  // Panels of `width` numbers; `kernel` moves what needs no conversion.
  Packer(const View &view, int width, bool tf32, const SmallKernel<W> &kernel)
      : view_(view), width_(width), tf32_(tf32), kernel_(kernel), large_(view.rows * view.cols * int64_t{sizeof(T)} > 256 << 10) {}

  // Every k of which panel [p0, p0 + width) holds something.
  Range held(int64_t p0) const { return k_range(view_.fill, Fill::full, view_.cols, {p0, std::min(p0 + width_, view_.rows)}, {0, 1}); }

  // Writes columns k of the panel, planes * width numbers each: zeros outside the fill and beyond the last row, ones on a unit diagonal.
  void panel(const T *data, int64_t p0, Range k, R *to) const {
    if constexpr (std::is_same_v<T, R>) {
      const Range p{p0, std::min(p0 + width_, view_.rows)};
      if (!view_.row_lines && !tf32_) return lines(data, k, p, to, width_, width_);
      if (!tf32_) return across(data, p, k, to);
    }
    if constexpr (std::is_same_v<T, float>) {
      if (tf32_) return copy(data, p0, k, to, round_to_tf32);
    }
    copy(data, p0, k, to, [](const W &x) { return x; });
  }

  // Panels [p.begin, p.end), `apart`, line by line.
  void panels(const T *data, Range p, Range k, R *to, int64_t apart) const {
    while (!p.empty() && !meets(p.begin, k)) p.begin += width_, to += apart;
    while (!p.empty() && !meets((p.end - 1) / width_ * width_, k)) p.end = (p.end - 1) / width_ * width_;
    if constexpr (std::is_same_v<T, R>) {
      if (!view_.row_lines && !tf32_) return lines(data, k, p, to, width_, (p.size() + width_ - 1) / width_ * width_, apart);
    }
    for (; p.begin < p.end; p.begin += width_, to += apart) panel(data, p.begin, k, to);
  }

  // Whether lines run along k, so that panels share none.
  bool lines_along_k() const { return view_.row_lines; }

  // Whether `rows` can be had, and whether lines need no packing where only the fill's elements are read.
  bool has_rows() const { return planes == 2 || (view_.row_lines && !tf32_); }
  bool plain() const { return std::is_same_v<T, W> && !tf32_ && !view_.unit && !view_.packed && !(planes == 2 && view_.conj); }

  // Instead of a panel, rows [p.begin, p.end) of it, `step` apart, with zeros and ones likewise; complex ones as they lie in memory, real and imaginary parts in turn.
  void rows(const T *data, Range p, Range k, R *to, int64_t step) const {
    if constexpr (std::is_same_v<T, R>) lines(data, p, k, to, step, rounded(k.size()));
    if constexpr (is_half<T>) half_rows(data, p, k, to, step);
    if constexpr (std::is_same_v<T, std::complex<R>>) {
      if (view_.row_lines && !view_.conj) complex_lines(data, p, k, to, step);
      else complex_rows(data, p, k, reinterpret_cast<T *>(to), step / 2);
    }
  }

 private:
  // Whether the panel at p0 holds something there.
  bool meets(int64_t p0, Range k) const {
    const Range all = held(p0);
    return std::max(all.begin, k.begin) < std::min(all.end, k.end);
  }

  int64_t rounded(int64_t numbers) const { return (numbers + width_ - 1) / width_ * width_; }

  // Positions `along` of some lines, `width` numbers each.
  void lines(const R *data, Range which, Range along, R *to, int64_t step, int64_t width, int64_t panel_step = 0) const {
    const int64_t unit = view_.unit;
    BandCopy<R> x;
    x.from = data + describe_band(view_.lines(), which, along, unit, x, x.from_step);
    x.to = to;
    x.to_step = step;
    x.width = width;
    x.panel = panel_step == 0 ? width : width_;
    x.panel_step = panel_step;
    x.far = large_ && panel_step == 0;
    kernel_.load(x);
    if (unit) {
      for (int64_t line = std::max(which.begin, along.begin); line < std::min(which.end, along.end); ++line) {
        const int64_t at = line - along.begin;
        to[(line - which.begin) * step + (panel_step == 0 ? at : at / width_ * panel_step + at % width_)] = R(1);
      }
    }
  }

  // Complex numbers as two each.
  void complex_lines(const T *data, Range which, Range along, R *to, int64_t step) const {
    BandCopy<R> x;
    x.from = reinterpret_cast<const R *>(data + describe_band(view_.lines(), which, along, view_.unit, x, x.from_step));
    x.to = to;
    x.to_step = step;
    x.width = x.panel = x.panel_step = rounded(2 * along.size());
    x.far = false;
    for (int64_t *y : {&x.band.begin, &x.band.begin_step, &x.band.end, &x.band.end_step, &x.band.limit, &x.from_step, &x.growth, &x.longest_step}) *y *= 2;
    kernel_.load(x);
    if (view_.unit) {
      for (int64_t line = std::max(which.begin, along.begin); line < std::min(which.end, along.end); ++line) {
        R *const at = to + (line - which.begin) * step + 2 * (line - along.begin);
        at[0] = R(1), at[1] = R(0);
      }
    }
  }

  // The same where elements change or lines run down the rows: then in blocks, so that both sides stay in cache.
  void complex_rows(const T *data, Range p, Range k, T *to, int64_t step) const {
    constexpr int64_t block = 32;
    const Lines lines = view_.lines();
    for (int64_t row = p.begin; row < p.end; row += block, to += block * step) {
      const Range some{row, std::min(row + block, p.end)};
      for (int64_t i = 0; i < some.size(); ++i) std::fill(to + i * step, to + i * step + rounded(2 * k.size()) / 2, T());
      const Range across = view_.row_lines ? some : k, along = view_.row_lines ? k : some;
      const int64_t stride = view_.row_lines ? 1 : step;
      for (int64_t line = across.begin; line < across.end; ++line) {
        T *const target = to + (line - across.begin) * (view_.row_lines ? step : 1);
        const T *const source = data + lines.offset(line, 0);
        segments(lines, line, along, [&](int64_t begin, int64_t end) {
          for (int64_t x = begin; x < end; ++x) target[(x - along.begin) * stride] = conjugate_if(view_.conj, source[x]);
        }, [&](int64_t at) { target[(at - along.begin) * stride] = T(1); });
      }
    }
  }

  // Rows of 16-bit numbers, each whole.
  void half_rows(const T *data, Range p, Range k, R *to, int64_t step) const {
    const Lines lines = view_.lines();
    for (int64_t row = p.begin; row < p.end; ++row, to += step) {
      std::fill(to, to + rounded(k.size()), R(0));
      const T *const source = data + lines.offset(row, 0);
      segments(lines, row, k, [&](int64_t begin, int64_t end) { widen(source + begin, end - begin, to + begin - k.begin); }, [&](int64_t at) { to[at - k.begin] = R(1); });
    }
  }

  void widen(const T *from, int64_t count, R *to) const {
    if (count <= 0) return;
    if (const auto run = kernel_.half.widen[std::is_same_v<T, bfloat16>]) return run(reinterpret_cast<const uint16_t *>(from), to, count);
    for (int64_t x = 0; x < count; ++x) to[x] = convert<R>(from[x]);
  }

  // use(begin, end) for the positions of `along` that the line holds and memory too; one(position) on a unit diagonal.
  template <class Use, class One>
  void segments(const Lines &lines, int64_t line, Range along, const Use &use, const One &one) const {
    const Range all = lines.held(line), part{std::max(all.begin, along.begin), std::min(all.end, along.end)};
    if (!view_.unit || line < part.begin || line >= part.end) return use(part.begin, part.end);
    use(part.begin, line);
    one(line);
    use(line + 1, part.end);
  }

  // Positions `along` of some lines, one line beside the other.
  void across(const R *data, Range which, Range along, R *to) const {
    const int64_t unit = view_.unit;
    BandCopy<R> x;
    x.from = data + describe_band(view_.lines(), which, along, unit, x, x.from_step);
    x.to = to;
    x.to_step = width_;
    x.width = along.size();
    kernel_.load_across(x);
    if (unit) {
      for (int64_t line = std::max(which.begin, along.begin); line < std::min(which.end, along.end); ++line) to[(line - along.begin) * width_ + line - which.begin] = R(1);
    }
  }

  template <class Round>
  void copy(const T *data, int64_t p0, Range k, R *to, const Round &round) const {
    const int64_t live = std::min<int64_t>(width_, view_.rows - p0), step = int64_t{planes} * width_;
    // Zeros first, wherever the elements will not fill the panel: beyond the last row, and beside the diagonal.
    const bool triangle = view_.fill != Fill::full;
    const int64_t first = triangle ? std::clamp(p0, k.begin, k.end) : k.begin, last = triangle ? std::clamp(p0 + live, k.begin, k.end) : k.begin;
    if (live < width_) std::fill(to, to + k.size() * step, R(0));
    else std::fill(to + (first - k.begin) * step, to + (last - k.begin) * step, R(0));
    // Then line by line as memory has them: rows of the panel, or columns of it. Hardware does not foresee such short pieces of lines far apart:
    // asking for them ahead took packing a cold n = 1024 float64 pair from 1.8 to 0.6 ms.
    constexpr int64_t ahead = 16, per_cache_line = 64 / sizeof(T);
    const Lines lines = view_.lines();
    const int64_t stride = view_.row_lines ? step : 1;
    const Range across = view_.row_lines ? Range{p0, p0 + live} : k, along = view_.row_lines ? k : Range{p0, p0 + live};
    R *target = to;
    for (int64_t line = across.begin; line < across.end; ++line, target += view_.row_lines ? 1 : step) {
      const T *source = data + lines.offset(line, 0);
      if (large_) {
        const T *later = data + lines.offset(line + ahead, along.begin);
        for (int64_t x = 0; x < along.size(); x += per_cache_line) __builtin_prefetch(later + x);
      }
      segments(lines, line, along, [&](int64_t begin, int64_t end) {
        if (stride == 1) put(source + begin, end - begin, target + begin - along.begin, 1, round);
        else put(source + begin, end - begin, target + (begin - along.begin) * stride, stride, round);
      }, [&](int64_t at) {
        target[(at - along.begin) * stride] = R(1);
        if constexpr (planes == 2) target[(at - along.begin) * stride + width_] = R(0);
      });
    }
  }

  template <class Round>
  void put(const T *__restrict source, int64_t count, R *__restrict to, int64_t stride, const Round &round) const {
    if constexpr (is_half<T>) {
      if (stride == 1) return widen(source, count, to);
      constexpr int64_t some = 64;
      for (R wide[some]; count > 0; source += some, count -= some) {
        widen(source, std::min(count, some), wide);
        for (int64_t x = 0; x < std::min(count, some); ++x, to += stride) *to = wide[x];
      }
      return;
    }
    for (int64_t x = 0; x < count; ++x, to += stride) {
      const W value = round(conjugate_if(view_.conj, convert<W>(source[x])));
      if constexpr (planes == 1) to[0] = value;
      else to[0] = value.real(), to[width_] = value.imag();
    }
  }

  View view_;
  int width_;
  bool tf32_;
  const SmallKernel<W> &kernel_;
  bool large_;
};

}  // namespace tritri::cpu
