#include "cuda/schedule/batched_schedule.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "support/catch.h"

using namespace tritri;
using namespace tritri::cuda;

namespace {

Problem product(int64_t m, int64_t n, int64_t k, Fill a, Fill b, Fill c, Dtype dtype = Dtype::f32) {
  Problem p;
  p.dtype = dtype;
  p.m = m;
  p.n = n;
  p.k = k;
  const auto set = [](View &x, int64_t rows, int64_t cols, Fill fill) {
    x.rows = rows;
    x.cols = x.ld = cols;
    x.batch_stride = rows * cols;
    x.fill = fill;
  };
  set(p.a, m, k, a);
  set(p.b, k, n, b);
  set(p.c, m, n, c);
  return p;
}

}  // namespace

TEST_CASE("batched order: every tile of C's fill comes once, with all of its k") {
  const Fill fills[] = {Fill::full, Fill::lower, Fill::upper};
  for (const Fill a : fills)
    for (const Fill b : fills)
      for (const Fill c : fills)
        for (const int64_t m : {1, 31, 64, 128})
          for (const int64_t n : {5, 32, 97, 128})
            for (const int64_t k : {1, 33, 128})
              for (const int chunk : {8, 16, 32}) {
                const int64_t edge = 32;
                const Problem p = product(m, n, k, a, b, c);
                const BatchedOrder order(p, static_cast<int>(edge), chunk);
                CAPTURE(static_cast<int>(a), static_cast<int>(b), static_cast<int>(c), m, n, k, chunk);
                REQUIRE((order.warps >= 1 && order.warps <= BatchedOrder::most_warps && order.matrices_per_block() >= 1));
                REQUIRE(order.longest * order.warps >= order.total);
                for (int w = 0; w < order.warps; ++w)  // so that tiles without any k come last, which the ring relies on
                  for (int at = order.first[w] + 1; at < order.first[w + 1]; ++at)
                    REQUIRE(order.place[at].end - order.place[at].begin <= order.place[at - 1].end - order.place[at - 1].begin);
                std::set<std::pair<int, int>> seen;
                for (int at = 0; at < order.first[order.warps]; ++at) {
                  const BatchedPlace &place = order.place[at];
                  REQUIRE(seen.insert({place.row, place.col}).second);
                  const Range range = k_range(a, b, k, {place.row * edge, std::min((place.row + 1) * edge, m)}, {place.col * edge, std::min((place.col + 1) * edge, n)});
                  if (range.empty()) REQUIRE(place.begin == place.end);
                  else REQUIRE((place.begin * chunk <= range.begin && place.end * chunk >= range.end && place.end * chunk < range.end + chunk));
                }
                for (int64_t i = 0; i < m; ++i)
                  for (int64_t j = 0; j < n; ++j)
                    if (exists(c, i, j)) REQUIRE(seen.count({static_cast<int>(i / edge), static_cast<int>(j / edge)}) == 1);
              }
}

TEST_CASE("batched order: the warps of a matrix have about the same to do, longest first") {
  for (const int64_t n : {64, 96, 128}) {
    const BatchedOrder order(product(n, n, n, Fill::lower, Fill::lower, Fill::full), 32, 16);
    CAPTURE(n, order.longest, order.total);
    REQUIRE(order.warps > 1);
    REQUIRE(0.85 * order.longest * order.warps <= order.total);
    for (int w = 0; w < order.warps; ++w)
      for (int at = order.first[w] + 1; at < order.first[w + 1]; ++at)
        REQUIRE(order.place[at].end - order.place[at].begin <= order.place[at - 1].end - order.place[at - 1].begin);
  }
  REQUIRE(BatchedOrder(product(32, 32, 32, Fill::lower, Fill::lower, Fill::full), 32, 16).warps == 1);
}

TEST_CASE("batched order: the warps that share a tile's k are as many as its chunks, and fewer where batches fill the card") {
  for (const auto &[n, batch, warps] : {std::tuple<int64_t, int64_t, int>{16, 1, 1}, {32, 1, 2}, {64, 1, 4}, {128, 1, 8}, {128, 14, 8}, {128, 16, 4}, {128, 4096, 4}}) {
    Problem p = product(n, n, n, Fill::lower, Fill::lower, Fill::full);
    p.batch = batch;
    const BatchedOrder order = BatchedOrder::of_split(p, 16, 16);
    CAPTURE(n, batch);
    REQUIRE(order.warps == warps);
    REQUIRE(order.longest * order.warps >= n / 16 + order.warps);  // the store counts once for each
    REQUIRE(order.total >= order.longest);
  }
  REQUIRE(BatchedOrder::of_split(product(20, 40, 130, Fill::full, Fill::full, Fill::lower), 16, 16).warps == 8);
  REQUIRE(BatchedOrder::of_split(product(16, 16, 16, Fill::lower, Fill::upper, Fill::upper), 16, 16).total == 2);
}

TEST_CASE("batched bytes: what an H200 moves for 268 MB per operand") {
  const std::pair<int64_t, double> expected[] = {{16, .192e-3}, {32, .160e-3}, {64, .144e-3}, {128, .136e-3}};  // seconds at 4.2 TB/s
  for (const auto &[n, seconds] : expected) {
    Problem p = product(n, n, n, Fill::lower, Fill::lower, Fill::full);
    p.batch = (int64_t{1} << 26) / (n * n);
    CAPTURE(n);
    REQUIRE(std::abs(batched_bytes(p) / 4.2e12 - seconds) < 1e-6);
  }
  Problem p = product(16, 16, 16, Fill::full, Fill::full, Fill::full);
  p.batch = 1000;
  p.a.batch_stride = 0;
  REQUIRE(batched_bytes(p) == 1024 * (1 + 1000 + 1000));
  p.beta = 1;
  REQUIRE(batched_bytes(p) == 1024 * (1 + 1000 + 2000));
}

namespace {

int place_of(const BatchedPanels &panels, int line, int byte, int element) {
  const int cell = byte / BatchedPanels::line_bytes;
  const int lines = BatchedPanels::lines(element);
  return panels.start(line / lines, cell, element) + (BatchedPanels::place(line % lines, byte % BatchedPanels::line_bytes) ^ BatchedPanels::turned(line / lines, cell, element));
}

}  // namespace

TEST_CASE("batched panels: what exists of an operand has a place of its own, and lines lie an exclusive or apart") {
  for (const Fill fill : {Fill::full, Fill::lower, Fill::upper})
    for (const bool row_lines : {true, false})
      for (const int rows : {8, 40, 64, 128})
        for (const int cols : {8, 24, 96, 128})
          for (const int element : {2, 4, 8}) {
            View view;
            view.fill = fill;
            view.row_lines = row_lines;
            view.rows = rows;
            view.cols = cols;
            const int before = 3;
            const BatchedPanels panels(view, element, before);
            CAPTURE(static_cast<int>(fill), row_lines, rows, cols, element);
            std::set<int> seen;
            const Lines lines = view.lines();
            for (int line = 0; line < lines.count; ++line) {
              const Range held = lines.held(line);
              for (int byte = static_cast<int>(held.begin) * element; byte < held.end * element; byte += element) {
                const int at = place_of(panels, line, byte, element);
                REQUIRE((at >= before * BatchedPanels::cell_bytes(element) && at + element <= panels.cells * BatchedPanels::cell_bytes(element)));
                REQUIRE(seen.insert(at).second);
                const int in_panel = line % BatchedPanels::lines(element), in_cell = byte % BatchedPanels::line_bytes;
                for (const int together : {2, 4, 8}) {
                  const int step = in_panel % together;
                  REQUIRE((BatchedPanels::place(in_panel - step, in_cell) ^ BatchedPanels::place(step, 0)) == BatchedPanels::place(in_panel, in_cell));
                }
              }
            }
          }
}

TEST_CASE("batched panels: pieces read together lie in different banks") {
  View view;
  view.rows = view.cols = 128;
  const auto banks = [&](int element, auto &&piece) {
    const BatchedPanels panels(view, element, 0);
    std::set<int> seen;
    for (int e = 0; e < 4; ++e)
      for (int h = 0; h < 2; ++h) {
        const auto [line, byte] = piece(e, h);
        seen.insert(place_of(panels, line, byte, element) / BatchedPanels::piece % 8);
      }
    return seen.size();
  };
  for (int line = 0; line < 128; line += 32)
    for (int byte = 0; byte < 256; byte += 128)
      for (int q = 0; q < 4; ++q) {
        REQUIRE(banks(4, [&](int e, int h) { return std::pair(line + 4 * q + 16 * h, byte + 16 * e); }) == 8);  // float32 along its lines
        REQUIRE(banks(4, [&](int e, int h) { return std::pair(line + 4 * e, byte + 16 * q + 64 * h); }) == 8);  // and across
        REQUIRE(banks(4, [&](int e, int h) { return std::pair(line + 4 * q + 2 * h, byte + 16 * e); }) == 8);   // float32 in tiles of 16
        REQUIRE(banks(4, [&](int e, int h) { return std::pair(line + 4 * e, byte + 16 * h + 32 * (q % 2)); }) == 8);
        REQUIRE(banks(8, [&](int e, int h) { return std::pair(line + 2 * (q % 4) + 8 * h, byte + 16 * e); }) == 8);  // float64 along its lines
        REQUIRE(banks(2, [&](int e, int h) { return std::pair(line + 8 * q + 4 * h, byte + 16 * e); }) == 8);   // 16-bit types along their lines
        REQUIRE(banks(2, [&](int e, int h) { return std::pair(line + 8 * e, byte + 16 * h + 32 * (q % 2)); }) == 8);  // and across, two lanes to a piece
      }
}
