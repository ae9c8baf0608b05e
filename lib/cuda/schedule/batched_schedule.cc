#include "cuda/schedule/batched_schedule.h"

#include <algorithm>

namespace tritri::cuda {
namespace {

struct Tile { BatchedPlace place; int16_t cost; };

// Calls f(row, column, first chunk, one past the last) for every tile that holds some of C, in chunks of its k.
template <class F>
void each_tile(const Problem &p, int64_t edge, int64_t chunk, F &&f) {
  for (int64_t i = 0; i * edge < p.m; ++i)
    for (int64_t j = 0; j * edge < p.n; ++j) {
      const Range rows{i * edge, std::min((i + 1) * edge, p.m)}, cols{j * edge, std::min((j + 1) * edge, p.n)};
      if (p.c.fill == Fill::lower && rows.end - 1 < cols.begin) continue;
      if (p.c.fill == Fill::upper && rows.begin > cols.end - 1) continue;
      const Range k = k_range(p.a.fill, p.b.fill, p.k, rows, cols);
      const int64_t begin = k.begin / chunk;
      f(i, j, begin, k.empty() ? begin : (k.end + chunk - 1) / chunk);
    }
}

// Of one matrix: lines in whole units of 64 bytes, which is what an H200's memory fetches at once.
double line_bytes(const View &x, Dtype dtype) {
  constexpr int64_t unit = 64;
  const Lines lines = x.lines();
  double bytes = 0;
  for (int64_t line = 0; line < lines.count; ++line) {
    const Range held = lines.held(line);
    if (held.empty()) continue;
    const int64_t element = element_bytes(dtype);
    const int64_t length = x.packed ? held.size() * element : (held.end * element + unit - 1) / unit * unit - held.begin * element / unit * unit;
    bytes += static_cast<double>(length);
  }
  return bytes;
}

}  // namespace

BatchedOrder::BatchedOrder(const Problem &p, int edge, int chunk, int share) {
  Tile tiles[most_tiles];
  int count = 0;
  each_tile(p, edge, chunk, [&](int64_t i, int64_t j, int64_t begin, int64_t end) {
    tiles[count] = {{static_cast<uint8_t>(i), static_cast<uint8_t>(j), static_cast<uint8_t>(begin), static_cast<uint8_t>(end)}, static_cast<int16_t>(end - begin + 1)};
    total = static_cast<int16_t>(total + tiles[count++].cost);  // 1 is for the store
  });
  std::stable_sort(tiles, tiles + count, [](const Tile &x, const Tile &y) { return x.cost > y.cost; });

  // As many warps as can be kept busy: matrices come and go faster, and their warps find each other's reads in the L1 cache.
  for (int8_t w = static_cast<int8_t>(share); w >= 1; --w) {
    int16_t load[most_warps] = {};
    int owner[most_tiles];
    for (int t = 0; t < count; ++t) {
      owner[t] = static_cast<int>(std::min_element(load, load + w) - load);
      load[owner[t]] = static_cast<int16_t>(load[owner[t]] + tiles[t].cost);
    }
    longest = *std::max_element(load, load + w);
    if (w > 1 && 0.85 * longest * w > total) continue;
    warps = w;
    int next = 0;
    for (int8_t own = 0; own < w; ++own) {
      for (int t = 0; t < count; ++t) {
        if (owner[t] != own) continue;
        place[next++] = tiles[t].place;
      }
      first[own + 1] = static_cast<int8_t>(next);
    }
    return;
  }
}

BatchedOrder BatchedOrder::of_split(const Problem &p, int edge, int chunk) {
  BatchedOrder order;
  int64_t most = 0, sums = 0;
  each_tile(p, edge, chunk, [&](int64_t, int64_t, int64_t begin, int64_t end) {
    most = std::max(most, end - begin);
    sums += end > begin;
    order.total = static_cast<int16_t>(order.total + end - begin + 1);
  });
  // A warp for every chunk, while the card holds them all.
  constexpr int64_t at_once = 4096;
  order.warps = static_cast<int8_t>(std::clamp<int64_t>(most, 1, sums * p.batch * most_warps <= at_once ? most_warps : most_warps / 2));
  order.longest = static_cast<int16_t>((most + order.warps - 1) / order.warps + 1);
  return order;
}

BatchedPanels::BatchedPanels(const View &view, int element, int before) : cells(static_cast<int16_t>(before)) {
  constexpr int64_t whole = 32;
  const auto padded = [](int64_t x) { return (x + whole - 1) / whole * whole; };
  Lines all = view.lines();
  all.count = padded(all.count);
  all.length = padded(all.length);
  for (int64_t line = 0; line < all.count; line += lines(element), ++count) {
    const Range top = all.held(line), bottom = all.held(line + lines(element) - 1);
    begin[count] = static_cast<uint8_t>(top.begin * element / line_bytes);
    end[count] = static_cast<uint8_t>((bottom.end * element + line_bytes - 1) / line_bytes);
    first[count] = static_cast<int16_t>(cells - begin[count]);
    cells = static_cast<int16_t>(cells + end[count] - begin[count]);
  }
}

double batched_bytes(const Problem &p) {
  const double batch = static_cast<double>(p.batch);
  const auto of = [&](const View &x) { return line_bytes(x, p.dtype) * (x.batch_stride == 0 ? 1 : batch); };
  const bool reads_c = p.beta != std::complex<double>(0, 0);
  return of(p.a) + of(p.b) + line_bytes(p.c, p.dtype) * batch * (reads_c ? 2 : 1);
}

}  // namespace tritri::cuda
