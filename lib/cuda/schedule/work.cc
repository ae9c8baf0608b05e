#include "cuda/schedule/work.h"

#include <algorithm>

namespace tritri::cuda {
namespace {

// Multiples of `step` from `first` on, `count` of them.
struct Steps {
  int64_t first, step, count;
  double per_step;

  Steps(int64_t size, int64_t tile) {
    const int64_t tiles = ceil_div(size, tile), together = ceil_div(tiles, 32);
    step = together * tile;
    first = (together - 1) / 2 * tile;
    count = ceil_div(size, step);
    per_step = 1 / static_cast<double>(step);
  }
  int64_t at(int64_t index) const { return first + index * step; }
  // How many lie before x. Divides by multiplying, and puts right what rounding may have done.
  int64_t before(int64_t x) const {
    if (x <= first) return 0;
    const int64_t index = std::min(count, static_cast<int64_t>(static_cast<double>(x - first) * per_step));
    return index + (index < count && at(index) < x) - (at(index - 1) >= x);
  }
};

}  // namespace

TileSums tile_sums(const Problem &p, int64_t tile_m, int64_t tile_n, int64_t unit) {
  const Steps rows(p.m, tile_m), cols(p.n, tile_n);
  const auto units = [&](int64_t length) { return unit == 1 ? length : (length + unit - 1) / unit; };
  int64_t samples = 0, sum = 0, longest = 0;
  for (int64_t i = 0; i < rows.count; ++i) {
    const Range row{rows.at(i), rows.at(i) + tile_m};
    // Tiles of C's fill, and the k of this row in A.
    const int64_t from = p.c.fill == Fill::upper ? cols.before(row.begin - tile_n + 1) : 0, to = p.c.fill == Fill::lower ? cols.before(row.end) : cols.count;
    const Range k = k_range(p.a.fill, Fill::full, p.k, row, {0, p.n});
    if (from >= to || k.empty()) continue;
    // Lengths along the row are constant where A bounds them, and grow or shrink by as much from tile to tile where B does.
    const auto add = [&](int64_t begin, int64_t end, int64_t first, int64_t last) {
      if (begin >= end) return;
      samples += end - begin;
      sum += (end - begin) * (units(first) + units(last)) / 2;
      longest = std::max({longest, first, last});
    };
    const auto within = [&](int64_t index) { return std::clamp(index, from, to); };
    if (p.b.fill == Fill::full) {
      add(from, to, k.size(), k.size());
    } else if (p.b.fill == Fill::lower) {
      const int64_t whole = within(cols.before(k.begin + 1)), none = within(cols.before(k.end));
      add(from, whole, k.size(), k.size());
      add(whole, none, k.end - cols.at(whole), k.end - cols.at(none - 1));
    } else {
      const int64_t some = within(cols.before(k.begin - tile_n + 1)), whole = within(cols.before(k.end - tile_n));
      add(some, whole, cols.at(some) + tile_n - k.begin, cols.at(whole - 1) + tile_n - k.begin);
      add(whole, to, k.size(), k.size());
    }
  }
  const double weight = static_cast<double>(rows.step / tile_m * (cols.step / tile_n));
  return {weight * static_cast<double>(samples), weight * static_cast<double>(sum), longest};
}

}  // namespace tritri::cuda
