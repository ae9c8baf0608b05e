#include "cuda/schedule/hopper_schedule.h"

#include <algorithm>
#include <map>
#include <set>

#include "support/catch.h"
#include "unit/core/layouts.h"

using namespace tritri;
using namespace tritri::cuda;

namespace {

Tiling tiling(Fill a, Fill b, Fill c, int64_t m, int64_t n, int64_t k, int64_t batch = 1) { return {a, b, c, m, n, k, batch, 128, 256, 32}; }
int64_t row_of(const Tiling &t, const Item &item) { return item.tile / t.tiles_n() % t.tiles_m(); }
int64_t column_of(const Tiling &t, const Item &item) { return item.tile % t.tiles_n(); }
double cost_of(const Tiling &t, const Item &item, const Costs &costs) {
  const Range whole = t.stages(row_of(t, item), column_of(t, item)), part = item.part(whole.size());
  return static_cast<double>(t.cost(row_of(t, item), column_of(t, item), {whole.begin + part.begin, whole.begin + part.end})) + costs.tile;
}

void require_complete(const Tiling &t, const Schedule &schedule, int workers, bool zeros_elsewhere) {
  REQUIRE(schedule.first.size() == static_cast<size_t>(workers) + 1);
  REQUIRE(schedule.first.front() == 0);
  REQUIRE(schedule.first.back() == schedule.items.size());
  REQUIRE(schedule.slots <= most_slots(workers));
  std::map<uint32_t, std::set<int>> pieces;
  std::set<int> slots;
  for (const Item &item : schedule.items) {
    REQUIRE(item.piece < item.pieces);
    REQUIRE(pieces[item.tile].insert(item.piece).second);
    if (item.piece + 1 == item.pieces) continue;
    REQUIRE(item.slot + item.piece < schedule.slots);
    REQUIRE(slots.insert(item.slot + item.piece).second);
  }
  for (int64_t batch = 0; batch < t.batch; ++batch)
    for (int64_t i = 0; i < t.tiles_m(); ++i)
      for (int64_t j = 0; j < t.tiles_n(); ++j) {
        const auto found = pieces.find(static_cast<uint32_t>((batch * t.tiles_m() + i) * t.tiles_n() + j));
        const bool wanted = i >= t.rows_from && i < t.rows_to && j >= t.cols_from && j < t.cols_to && t.c_holds_some(i, j) && !(zeros_elsewhere && t.only_zeros(i, j));
        REQUIRE((found != pieces.end()) == wanted);
        if (!wanted) continue;
        std::map<int64_t, int64_t> parts;  // by their first stage, each up to the next one's
        const int64_t stages = t.stages(i, j).size();
        for (const Item &item : schedule.items)
          if (item.tile == found->first) {
            REQUIRE(found->second.size() == item.pieces);
            const Range part = item.part(stages);
            REQUIRE((part.size() > 0 || stages == 0));
            parts[part.begin] = part.end;
          }
        REQUIRE(parts.size() == found->second.size());
        int64_t reached = 0;
        for (const auto &part : parts) {
          REQUIRE(part.first == reached);
          reached = part.second;
        }
        REQUIRE(reached == stages);
      }
}

}  // namespace

TEST_CASE("a schedule holds every tile of C once, whole or in pieces with slots of their own") {
  for (const Fill a : unit::all_fills) for (const Fill b : unit::all_fills) for (const Fill c : unit::all_fills)
  for (const bool zeros_elsewhere : {false, true}) for (const int workers : {1, 7, 66}) for (const int neighbours : {1, 4}) for (const int spared : {0, 3}) {
    const Costs costs{2, 8, neighbours, neighbours};
    for (Tiling t : {tiling(a, b, c, 1, 1, 1), tiling(a, b, c, 700, 1100, 300), tiling(a, b, c, 1100, 520, 4000), tiling(a, b, c, 300, 300, 300, 5)}) {
      t.spared = spared;
      require_complete(t, make_schedule(t, workers, costs, zeros_elsewhere), workers, zeros_elsewhere);
    }
  }
}

TEST_CASE("a strip's schedule holds the strip's tiles and no others") {
  for (const Fill a : unit::all_fills) for (const Fill b : unit::all_fills) for (const int neighbours : {1, 4}) {
    Tiling t = tiling(a, b, Fill::full, 1500, 1100, 900);
    double stages = 0;
    const double whole = measure(t).stages;
    for (t.cols_from = 0; t.cols_from < t.tiles_n(); t.cols_from += 3) {
      t.cols_to = t.cols_from + 3;
      for (t.rows_from = 0; t.rows_from < t.tiles_m(); t.rows_from += 5) {
        t.rows_to = t.rows_from + 5;
        require_complete(t, make_schedule(t, 66, {2, 8, neighbours, neighbours}, true), 66, true);
        stages += measure(t).stages;
      }
    }
    REQUIRE(stages == whole);
  }
}

TEST_CASE("pieces that others wait for come first in every worker's list") {
  for (const int64_t n : {1024, 1500, 2048, 2900, 3072}) for (const int gather : {1, 6}) for (const Fill a : {Fill::lower, Fill::full}) {
    const Tiling t = tiling(a, Fill::lower, Fill::full, n, n, n);
    const Schedule schedule = make_schedule(t, 132, {2, 8, 1, 1, gather}, true);
    require_complete(t, schedule, 132, true);
    for (size_t w = 0; w + 1 < schedule.first.size(); ++w) {
      bool waits = false;
      for (uint32_t x = schedule.first[w]; x < schedule.first[w + 1]; ++x) {
        const Item &item = schedule.items[x];
        const bool owed = item.piece + 1 < item.pieces;
        REQUIRE_FALSE((owed && waits));
        waits = waits || !owed;
      }
    }
  }
}

TEST_CASE("a schedule is balanced, and the closed-form load foretells it") {
  for (const int64_t n : {2048, 4096, 8192}) for (const int neighbours : {1, 4, 8}) for (const int spared : {0, 3}) {
    if (neighbours > 1 && n < 8192) continue;
    Tiling t{Fill::lower, Fill::lower, Fill::full, n, n, n, 1, 128, 128, 32};
    t.spared = spared;
    const Costs costs{2, 8, neighbours, neighbours};
    const Schedule schedule = make_schedule(t, 132, costs, true);
    double longest = 0, all = 0;
    for (size_t w = 0; w < 132; ++w) {
      double sum = 0;
      for (uint32_t x = schedule.first[w]; x < schedule.first[w + 1]; ++x) sum += cost_of(t, schedule.items[x], costs);
      longest = std::max(longest, sum);
      all += sum;
    }
    REQUIRE(longest < (n > 2048 ? 1.03 : 1.15) * all / 132);
    const double foretold = measure(t).longest_worker(132, costs);
    REQUIRE(foretold > 0.8 * longest);
    REQUIRE(foretold < 1.25 * longest);
  }
}

TEST_CASE("a recalled load is the one that would be measured") {
  for (int round = 0; round < 3; ++round)
    for (int64_t n = 1; n < 6000; n += 499) for (const Fill a : unit::all_fills) {
      const Tiling t = tiling(a, Fill::upper, Fill::full, n, n + 1, n);
      const Load measured = measure(t), recalled = recall_load(t);
      REQUIRE(measured.stages == recalled.stages);
      REQUIRE(measured.tiles == recalled.tiles);
      REQUIRE(measured.longest == recalled.longest);
    }
}

TEST_CASE("a recalled schedule is the one that would be made") {
  const Costs costs{2, 8};
  for (int round = 0; round < 3; ++round)
    for (const int64_t n : {300, 600, 900, 1200, 1500, 1800}) for (const bool zeros_elsewhere : {false, true}) {
      const Tiling t = tiling(Fill::upper, Fill::full, Fill::full, n, n, n);
      const Schedule made = make_schedule(t, 66, costs, zeros_elsewhere);
      const Schedule &recalled = recall_schedule(t, 66, costs, zeros_elsewhere);
      REQUIRE(made.first == recalled.first);
      REQUIRE(made.slots == recalled.slots);
      REQUIRE(std::equal(made.items.begin(), made.items.end(), recalled.items.begin(), recalled.items.end(),
                         [](const Item &x, const Item &y) { return x.tile == y.tile && x.slot == y.slot && x.piece == y.piece && x.pieces == y.pieces; }));
    }
}
