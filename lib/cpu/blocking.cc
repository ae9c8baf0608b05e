#include "cpu/blocking.h"

#include <algorithm>

#include "core/k_range.h"

namespace tritri::cpu {
namespace {

constexpr int64_t divide_up(int64_t x, int64_t y) { return (x + y - 1) / y; }
constexpr int64_t round_up(int64_t x, int64_t y) { return divide_up(x, y) * y; }

// `size` in equal blocks of at most `limit`, in multiples of `unit`.
int64_t even_block(int64_t size, int64_t limit, int64_t unit) {
  const int64_t blocks = divide_up(size, std::max(limit / unit * unit, unit));
  return round_up(divide_up(size, blocks), unit);
}

}  // namespace

Blocking choose_blocking(const Problem &p, const KernelShape &kernel, int64_t pack_bytes, int threads) {
  constexpr int64_t longest_kc = 2048, longest_chunk = 8192, tile_edge = 192, tile_bytes = 320 << 10, strip_bytes = 1536 << 10;
  Blocking b;
  b.kc = even_block(p.k, longest_kc, 64);
  b.chunk = round_up(std::min({p.k, longest_chunk, std::max(pack_bytes / (kernel.bytes * tile_edge), b.kc)}), b.kc);
  const int64_t limit = pack_bytes / (b.chunk * kernel.bytes);
  b.block_m = even_block(p.m, limit, kernel.mr);
  b.block_n = even_block(p.n, limit, kernel.nr);
  b.tile_m = std::min(std::clamp(strip_bytes / (b.kc * kernel.bytes), tile_edge / 2, tile_edge) / kernel.mr * kernel.mr, b.block_m);
  b.tile_n = std::min(tile_edge / kernel.nr * kernel.nr, b.block_n);
  const auto halve = [](int64_t &edge, int64_t unit) { edge = std::max(edge / 2 / unit * unit, unit); };
  if (b.tile_m * b.tile_n * kernel.bytes > tile_bytes) halve(b.tile_m, kernel.mr);
  // Enough tiles for every thread, without cutting below the kernel's own.
  while (threads > 1 && divide_up(b.block_m, b.tile_m) * divide_up(b.block_n, b.tile_n) < 8 * threads) {
    const int64_t before = b.tile_m * b.tile_n;
    if (b.tile_m / kernel.mr > b.tile_n / kernel.nr) halve(b.tile_m, kernel.mr);
    else halve(b.tile_n, kernel.nr);
    if (b.tile_m * b.tile_n == before) break;
  }
  return b;
}

std::vector<Step> steps(const Problem &p, const Blocking &b) {
  std::vector<Step> all;
  for (int64_t i = 0; i < p.m; i += b.block_m) {
    for (int64_t j = 0; j < p.n; j += b.block_n) {
      const Range rows{i, std::min(i + b.block_m, p.m)}, cols{j, std::min(j + b.block_n, p.n)};
      if (!touches(p.c.fill, rows, cols)) continue;
      const Range k = k_range(p.a.fill, p.b.fill, p.k, rows, cols);
      if (k.empty()) {
        all.push_back({rows, cols, {0, 0}, true, true});
        continue;
      }
      for (int64_t begin = k.begin; begin < k.end;) {
        const int64_t end = std::min((begin / b.kc * b.kc) + b.chunk, k.end);  // chunks end at multiples of kc
        all.push_back({rows, cols, {begin, end}, begin == k.begin, end == k.end});
        begin = end;
      }
    }
  }
  return all;
}

}  // namespace tritri::cpu
