#include "cuda/schedule/hopper_schedule.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>

namespace tritri::cuda {
namespace {

// A row or a column of tiles, in elements and in the stages that these touch as k.
struct Line {
  Range elements, stages;
};

// Tiling's answers from lines whose divisions are done: lists of work have many tiles on few lines, and a launch waits for them.
class Sums {
 public:
  explicit Sums(const Tiling &t) : t_(t), all_(up(t.k)) {}
  Line row(int64_t i) const { return line(t_.rows(i)); }
  Line col(int64_t j) const { return line(t_.cols(j)); }
  Range stages(const Line &row, const Line &col) const {
    return k_range(t_.a, t_.b, t_.k, row.elements, col.elements).empty() ? Range{0, 0} : k_range(t_.a, t_.b, all_, row.stages, col.stages);
  }
  int64_t cost(const Line &row, const Line &col, Range r) const {
    if (t_.spared == 0) return r.size();
    const auto crossed = [&](Fill fill, Range diagonal) {
      return fill == Fill::full ? 0 : std::max<int64_t>(0, std::min(r.end, diagonal.end) - std::max(r.begin, diagonal.begin));
    };
    return r.size() - t_.spared * (crossed(t_.a, row.stages) + crossed(t_.b, col.stages)) / 8;
  }

 private:
  int64_t up(int64_t k) const { return (k + t_.stage_k - 1) / t_.stage_k; }
  Line line(Range elements) const { return {elements, {elements.begin / t_.stage_k, up(elements.end)}}; }

  const Tiling &t_;
  int64_t all_;
};

constexpr int kMostPieces = 255;
constexpr int kMostFilled = 4;  // pieces of one tile where workers are filled up: adding them up takes its time
constexpr unsigned remembered = 64;  // shapes of each thread: a product of host arrays has up to 50 parts. Larger products in more strips work theirs out each time

// The last few answers.
template <class Key, class Value>
class Recent {
 public:
  template <class Make>
  const Value &recall(const Key &key, Make &&make) {
    for (const Entry &entry : entries_)
      if (entry.there && entry.key == key) return entry.value;
    Entry &entry = entries_[next_++ % remembered];
    entry.there = false;  // should making it fail
    entry.value = make();
    entry.key = key;
    entry.there = true;
    return entry.value;
  }

 private:
  struct Entry {
    Key key;
    Value value;
    bool there = false;
  };
  Entry entries_[remembered];
  unsigned next_ = 0;
};

struct Entry {
  Item item;
  int cost;  // in stages
  int rank;  // dear ones go first
  int begin;  // the tile's first stage
};

Item item_of(uint32_t tile, int slot, int piece, int pieces) {
  Item item{};
  item.tile = tile;
  item.slot = static_cast<uint32_t>(slot) & 0xfff;
  item.piece = static_cast<uint8_t>(piece);
  item.pieces = static_cast<uint8_t>(pieces);
  if (pieces == 1) return item;  // the whole of it needs no division
  item.begin = static_cast<uint8_t>(256 * piece / pieces);
  item.end = static_cast<uint8_t>(256 * (piece + 1) / pieces);
  return item;
}

// Stable, highest rank first; a launch waits for this, so it is linear.
std::vector<Entry> by_rank(const std::vector<Entry> &entries) {
  int most = 0;
  for (const Entry &entry : entries) most = std::max(most, entry.rank);
  std::vector<size_t> place(static_cast<size_t>(most) + 2);
  for (const Entry &entry : entries) ++place[static_cast<size_t>(most - entry.rank) + 1];
  for (size_t x = 1; x < place.size(); ++x) place[x] += place[x - 1];
  std::vector<Entry> sorted(entries.size());
  for (const Entry &entry : entries) sorted[place[static_cast<size_t>(most - entry.rank)]++] = entry;
  return sorted;
}

// Workers by load, least first, of equals the first. A key holds load and worker, so that comparing needs no branches.
class Workers {
 public:
  explicit Workers(int count) : count_(static_cast<size_t>(count)) { heap_.reserve(count_ + 1); }
  std::vector<int64_t> loads() const {
    std::vector<int64_t> loads(count_);
    for (size_t x = 0; x < std::min(heap_.size(), count_); ++x) loads[worker_of(heap_[x])] = static_cast<int64_t>(heap_[x] >> kBits);
    return loads;
  }
  int64_t least() const { return heap_.size() < count_ ? 0 : static_cast<int64_t>(heap_[0] >> kBits); }
  int give_least_loaded(int cost) {
    const uint64_t more = static_cast<uint64_t>(cost) << kBits;
    if (heap_.size() < count_) return give_idle(more);
    const uint64_t moved = heap_[0] + more;
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < count_; at = child) {
      child += heap_[child + 1] < heap_[child];
      if (heap_[child] > moved) break;
      heap_[at] = heap_[child];
    }
    heap_[at] = moved;
    return static_cast<int>(worker_of(moved));
  }

 private:
  static constexpr int kBits = 16;
  static size_t worker_of(uint64_t key) { return static_cast<size_t>(key & ((1 << kBits) - 1)); }

  // While some have nothing to do, the first of them is the least loaded; the others need no order yet.
  int give_idle(uint64_t more) {
    const size_t worker = heap_.size();
    if (more == 0) return static_cast<int>(worker);
    heap_.push_back(more + worker);
    if (heap_.size() == count_) {
      std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
      heap_.push_back(UINT64_MAX);  // every child has a neighbour
    }
    return static_cast<int>(worker);
  }

  size_t count_;
  std::vector<uint64_t> heap_;  // a binary one whose root alone changes, once all have something
};

// The least and the most loaded worker, of equals the first.
struct Ends {
  size_t low, high;
};
Ends ends(const std::vector<int64_t> &load) {
  Ends ends{0, 0};
  for (size_t w = 1; w < load.size(); ++w) {
    if (load[w] < load[ends.low]) ends.low = w;
    if (load[w] > load[ends.high]) ends.high = w;
  }
  return ends;
}

// A tiling's lines, each looked at once.
struct Grid {
  const Tiling &t;
  Sums sums{t};
  std::vector<Line> rows, cols;

  explicit Grid(const Tiling &tiling) : t(tiling) {
    for (int64_t i = 0; i < t.rows_end(); ++i) rows.push_back(sums.row(i));
    for (int64_t j = 0; j < t.cols_end(); ++j) cols.push_back(sums.col(j));
  }
  // Beside what a tile costs.
  int cost_of(const Line &row, const Line &col, Range whole, const Item &item) const {
    const Range part = item.part(whole.size());
    return static_cast<int>(sums.cost(row, col, {whole.begin + part.begin, whole.begin + part.end}));
  }
};

// When a worker comes to an entry: to pieces that others wait for at first, to those that wait for others at last.
enum class Turn : uint8_t { first, middle, last };

void list(Schedule &schedule, const std::vector<Entry> &entries, const std::vector<int> &worker, const std::vector<Turn> &turns, int workers) {
  schedule.first.assign(static_cast<size_t>(workers) + 1, 0);
  for (const int w : worker) ++schedule.first[static_cast<size_t>(w) + 1];
  for (size_t w = 1; w < schedule.first.size(); ++w) schedule.first[w] += schedule.first[w - 1];
  std::vector<uint32_t> next(schedule.first.begin(), schedule.first.end() - 1);
  schedule.items.resize(entries.size());
  for (const Turn turn : {Turn::first, Turn::middle, Turn::last})
    for (size_t x = 0; x < entries.size(); ++x)
      if (turns[x] == turn) schedule.items[next[static_cast<size_t>(worker[x])]++] = entries[x].item;
}

// When the last worker would end, in stages: one that adds pieces up waits until they are there.
int64_t end_of(const Grid &grid, const Schedule &schedule, const Costs &costs) {
  const int64_t tiles_m = grid.t.tiles_m(), tiles_n = grid.t.tiles_n(), never = INT64_MAX;
  const size_t workers = schedule.first.size() - 1;
  std::vector<int64_t> now(workers), there(static_cast<size_t>(schedule.slots), never);
  std::vector<uint32_t> next(schedule.first.begin(), schedule.first.end() - 1);
  const auto run = [&](size_t w) {  // as far as it comes
    for (; next[w] < schedule.first[w + 1]; ++next[w]) {
      const Item &item = schedule.items[next[w]];
      const Line &row = grid.rows[static_cast<size_t>(item.tile / tiles_n % tiles_m)], &col = grid.cols[static_cast<size_t>(item.tile % tiles_n)];
      int64_t end = now[w] + grid.cost_of(row, col, grid.sums.stages(row, col), item) + static_cast<int64_t>(costs.tile);
      if (item.piece + 1 < item.pieces) there[item.slot + item.piece] = end;
      else
        for (size_t piece = item.slot; piece + 1 < item.slot + size_t{item.pieces}; ++piece) {
          if (there[piece] == never) return true;
          end = std::max(end, there[piece]) + costs.gather;
        }
      now[w] = end;
    }
    return false;
  };
  std::vector<size_t> waiting(workers);
  for (size_t w = 0; w < workers; ++w) waiting[w] = w;
  while (!waiting.empty()) waiting.erase(std::remove_if(waiting.begin(), waiting.end(), [&](size_t w) { return !run(w); }), waiting.end());
  return *std::max_element(now.begin(), now.end());
}

// Whole tiles leave some workers with more to do than others. Those hand the first stages of a tile to the least loaded one, which adds
// an entry at the end, and do the rest of it late, when that piece is there.
void level(const Grid &grid, std::vector<Entry> &entries, std::vector<int> &worker, std::vector<Turn> &turns, std::vector<int64_t> &load, Schedule &schedule, const Costs &costs) {
  const int workers = static_cast<int>(load.size()), tile_cost = static_cast<int>(costs.tile);
  const int64_t tiles_m = grid.t.tiles_m(), tiles_n = grid.t.tiles_n();
  // Every worker's tiles that are not in pieces yet, the largest first.
  const size_t whole = entries.size();
  std::vector<size_t> first(load.size(), whole), next(whole);
  for (size_t x = whole; x-- > 0;) {
    if (entries[x].item.pieces > 1) continue;
    size_t &head = first[static_cast<size_t>(worker[x])];
    next[x] = head;
    head = x;
  }
  for (int round = 0; round < workers && schedule.slots < most_slots(workers); ++round) {
    const auto [low, high] = ends(load);
    const size_t x = first[high];
    if (x == whole || entries[x].cost == 0) return;
    Entry &rest = entries[x];
    Entry piece = rest;
    piece.item = item_of(rest.item.tile, schedule.slots, 0, 2);
    const Line &row = grid.rows[static_cast<size_t>(rest.item.tile / tiles_n % tiles_m)], &col = grid.cols[static_cast<size_t>(rest.item.tile % tiles_n)];
    const Range stages = grid.sums.stages(row, col);
    // As much as leaves both with the same, but no more than three quarters.
    const int64_t most = (load[high] - load[low] + costs.gather - tile_cost) / 2;
    int parts = 0;
    for (int step = 128; step > 0; step /= 2) {
      piece.item.end = static_cast<uint8_t>(parts + step);
      if (parts + step <= 192 && grid.cost_of(row, col, stages, piece.item) <= most) parts += step;
    }
    piece.item.end = static_cast<uint8_t>(parts);
    const int moved = grid.cost_of(row, col, stages, piece.item);
    if (moved < 1 + costs.gather || load[low] + moved + tile_cost >= load[high]) return;
    rest.item = item_of(rest.item.tile, schedule.slots, 1, 2);
    rest.item.begin = static_cast<uint8_t>(parts);
    turns[x] = Turn::last;
    first[high] = next[x];
    load[high] += costs.gather - moved;
    load[low] += moved + tile_cost;
    worker.push_back(static_cast<int>(low));
    entries.push_back(piece);
    turns.push_back(Turn::first);
    ++schedule.slots;
    schedule.pieces = std::max(schedule.pieces, 2);
  }
}

}  // namespace

int64_t Tiling::cost(int64_t i, int64_t j, Range r) const {
  const Sums sums(*this);
  return sums.cost(sums.row(i), sums.col(j), r);
}

Load measure(const Tiling &t) {
  Load load;
  const int64_t rows = t.rows_end(), cols = t.cols_end();
  const int64_t step_i = std::max<int64_t>(1, (rows - t.rows_from) / 64), step_j = std::max<int64_t>(1, (cols - t.cols_from) / 64);
  const double weight = static_cast<double>(step_i * step_j) * static_cast<double>(t.batch);
  const Sums sums(t);
  std::vector<Line> columns;
  for (int64_t j = t.cols_from + step_j / 2; j < cols; j += step_j) columns.push_back(sums.col(j));
  int64_t tiles = 0, longest = 0, all = 0;
  for (int64_t i = t.rows_from + step_i / 2; i < rows; i += step_i) {
    const Line row = sums.row(i);
    for (const Line &col : columns) {
      if (!t.c_holds_some(row.elements, col.elements)) continue;
      const Range range = sums.stages(row, col);
      if (range.empty() && block_is_whole(t.c, false, row.elements, col.elements)) continue;
      const int64_t stages = sums.cost(row, col, range);
      all += stages;
      ++tiles;
      longest = std::max(longest, stages);
    }
  }
  load.stages = static_cast<double>(all) * weight;
  load.tiles = static_cast<double>(tiles) * weight;
  load.longest = static_cast<double>(longest);
  return load;
}

Load recall_load(const Tiling &tiling) {
  thread_local Recent<Tiling, Load> recent;
  return recent.recall(tiling, [&] { return measure(tiling); });
}

double Load::piece_limit(int workers, const Costs &costs) const {
  return std::max<double>(costs.shortest_piece, (stages + tiles * costs.tile) / workers);
}

// Where a tile is more than half of a worker's share, or where the last round of whole tiles would leave most workers idle.
bool Load::cuts(int workers, const Costs &costs) const {
  const double share = tiles / workers;
  return tiles > 0 && (2 * (longest + costs.tile) > piece_limit(workers, costs) + 1 || std::ceil(share) > 1.05 * share);
}

double Load::longest_worker(int workers, const Costs &costs) const {
  const double mean = (stages + tiles * costs.tile) / workers, piece = std::min(longest, piece_limit(workers, costs)) + costs.tile;
  // A worker gets whole pieces: the mean, and part of one more; or whole tiles, if those do as well.
  return std::min(std::max(piece, mean + (tiles > workers ? 0.1 : 0.5) * std::min(piece, mean)), std::ceil(tiles / workers) * (longest + costs.tile));
}

namespace {

struct Attempt {
  Schedule schedule;
  int64_t longest = 0;  // worker, in stages

  void better(const Grid &grid, Schedule &&other, const Costs &costs) {
    const int64_t end = end_of(grid, other, costs);
    if (end >= longest) return;
    schedule = std::move(other);
    longest = end;
  }
};

// With sums cut into pieces of at most `limit` stages; 0: none is cut. Tiles run together in groups whose longest one costs more than `grouped`: shorter ones are
// left for balance.
Schedule attempt(const Grid &grid, double grouped, int workers, const Costs &costs, bool zeros_elsewhere, double limit) {
  const Tiling &t = grid.t;
  const bool cut = limit > 0;
  const int64_t rows = t.tiles_m(), cols = t.tiles_n();
  const int tile_cost = static_cast<int>(costs.tile);
  const int owed = static_cast<int>(t.k / t.stage_k) + tile_cost + costs.gather * kMostPieces + 2;  // above every cost

  Schedule schedule;
  std::vector<Entry> entries;
  entries.reserve(static_cast<size_t>(rows * cols * t.batch + 2 * workers));
  for (int64_t batch = 0; batch < t.batch; ++batch)
    for (int64_t group_i = t.rows_from; group_i < t.rows_end(); group_i += costs.group_rows)
      for (int64_t group_j = t.cols_from; group_j < t.cols_end(); group_j += costs.group_cols) {
        const size_t group = entries.size();
        int dearest = 0;
        for (int64_t i = group_i; i < std::min(t.rows_end(), group_i + costs.group_rows); ++i)
          for (int64_t j = group_j; j < std::min(t.cols_end(), group_j + costs.group_cols); ++j) {
            const Line &row = grid.rows[static_cast<size_t>(i)], &col = grid.cols[static_cast<size_t>(j)];
            if (!t.c_holds_some(row.elements, col.elements)) continue;
            const Range whole = grid.sums.stages(row, col);
            if (zeros_elsewhere && whole.empty() && block_is_whole(t.c, false, row.elements, col.elements)) continue;
            const int stages = static_cast<int>(grid.sums.cost(row, col, whole));
            int pieces = cut && stages > limit ? std::min(static_cast<int>(std::ceil(stages / limit)), kMostPieces) : 1;
            if (schedule.slots + pieces - 1 > most_slots(workers)) pieces = 1;
            for (int piece = 0; piece < pieces; ++piece) {
              const auto tile = static_cast<uint32_t>((batch * rows + i) * cols + j);
              const Item item = item_of(tile, schedule.slots, piece, pieces);
              const int gathered = piece + 1 == pieces ? costs.gather * piece : 0;
              const int cost = (pieces == 1 ? stages : grid.cost_of(row, col, whole, item)) + tile_cost + gathered;
              dearest = std::max(dearest, cost);
              // Pieces that others wait for come first, here and so in every worker's list: a worker that waits has handed in all that it
              // owes, and the workers that it waits for never wait before handing in theirs.
              const int rank = piece + 1 < pieces ? owed + cost : cost;
              entries.push_back({item, cost, rank, static_cast<int>(whole.begin)});
            }
            schedule.slots += pieces - 1;
            schedule.pieces = std::max(schedule.pieces, pieces);
          }
        if (costs.group_rows * costs.group_cols > 1 && dearest > grouped) {
          // The worker that is free first gets what begins at the lowest k, so that neighbours come to the same k at the same time. Where sums begin at the
          // columns of B and end at the rows of A, workers end a group in the order in which the next one begins, and stay in step.
          std::stable_sort(entries.begin() + static_cast<std::ptrdiff_t>(group), entries.end(),
                           [](const Entry &x, const Entry &y) { return x.begin != y.begin ? x.begin < y.begin : x.cost > y.cost; });
          for (size_t x = group; x < entries.size(); ++x) entries[x].rank = entries[x].rank > owed ? entries[x].rank : dearest;
        }
      }
  entries = by_rank(entries);

  Workers order(workers);
  std::vector<int> worker;
  for (const Entry &entry : entries) worker.push_back(order.give_least_loaded(entry.cost));
  std::vector<Turn> turns(entries.size(), Turn::middle);
  std::vector<int64_t> loads = order.loads();
  if (cut) level(grid, entries, worker, turns, loads, schedule, costs);
  list(schedule, entries, worker, turns, workers);
  return schedule;
}

// A tile, or the first stages of one whose others are dealt out already.
struct Rest {
  int cost;
  uint32_t tile;
  int end;     // of it, in 256ths
  int pieces;  // that are dealt out
  bool operator<(const Rest &o) const { return cost != o.cost ? cost < o.cost : tile > o.tile; }
};

std::vector<Rest> whole_tiles(const Grid &grid, bool zeros_elsewhere) {
  const Tiling &t = grid.t;
  const int64_t rows = t.tiles_m(), cols = t.tiles_n();
  std::vector<Rest> tiles;
  for (int64_t batch = 0; batch < t.batch; ++batch)
    for (int64_t i = t.rows_from; i < t.rows_end(); ++i)
      for (int64_t j = t.cols_from; j < t.cols_end(); ++j) {
        const Line &row = grid.rows[static_cast<size_t>(i)], &col = grid.cols[static_cast<size_t>(j)];
        if (!t.c_holds_some(row.elements, col.elements)) continue;
        const Range whole = grid.sums.stages(row, col);
        if (zeros_elsewhere && whole.empty() && block_is_whole(t.c, false, row.elements, col.elements)) continue;
        tiles.push_back({static_cast<int>(grid.sums.cost(row, col, whole)), static_cast<uint32_t>((batch * rows + i) * cols + j), 256, 0});
      }
  return tiles;
}

// With every worker full up to `most` stages: the largest rest goes to the least loaded worker, and what that has no room for is cut off and dealt out again. A worker so has one last
// piece at most, and that last in its list, when the earlier ones are there: those go first in theirs. No schedule, if it cannot be done.
std::optional<Schedule> filled(const Grid &grid, const std::vector<Rest> &tiles, int workers, const Costs &costs, int64_t most) {
  const int64_t rows = grid.t.tiles_m(), cols = grid.t.tiles_n();
  const int tile_cost = static_cast<int>(costs.tile);
  const auto row = [&](uint32_t tile) -> const Line & { return grid.rows[static_cast<size_t>(tile / cols % rows)]; };
  const auto col = [&](uint32_t tile) -> const Line & { return grid.cols[static_cast<size_t>(tile % cols)]; };
  std::priority_queue<Rest> rests(std::less<Rest>(), tiles);
  Workers order(workers);
  Schedule schedule;
  std::vector<Entry> entries;
  std::vector<int> worker;
  std::vector<Turn> turns;
  std::map<uint32_t, std::vector<size_t>> cut;  // every such tile's pieces, the last first
  while (!rests.empty()) {
    Rest rest = rests.top();
    rests.pop();
    const int64_t room = most - order.least() - tile_cost;
    int from = 0, cost = rest.cost;
    if (cost > room) {
      const int64_t left = room - (rest.pieces == 0 ? costs.gather : 0);
      if (left < costs.shortest_piece / 2 || rest.pieces + 1 == kMostFilled || schedule.slots == most_slots(workers)) return std::nullopt;
      const Range whole = grid.sums.stages(row(rest.tile), col(rest.tile));
      const auto cost_of = [&](int begin, int end) {
        return static_cast<int>(grid.sums.cost(row(rest.tile), col(rest.tile), {whole.begin + whole.size() * begin / 256, whole.begin + whole.size() * end / 256}));
      };
      for (int step = 128; step > 0; step /= 2)  // the last place from which there would be too much
        if (from + step < rest.end && cost_of(from + step, rest.end) > left) from += step;
      ++from;
      cost = cost_of(from, rest.end);
      ++schedule.slots;
      rests.push({cost_of(0, from), rest.tile, from, rest.pieces + 1});
    }
    if (from > 0 || rest.pieces > 0) cut[rest.tile].push_back(entries.size());
    Item item = item_of(rest.tile, 0, 0, 1);
    item.begin = static_cast<uint8_t>(from);
    item.end = static_cast<uint8_t>(rest.end);
    turns.push_back(rest.end < 256 ? Turn::first : from > 0 ? Turn::last : Turn::middle);
    worker.push_back(order.give_least_loaded(cost + tile_cost + (from > 0 && rest.pieces == 0 ? costs.gather : 0)));
    entries.push_back({item, cost, 0, 0});
  }
  int slot = 0;
  for (auto &[tile, pieces] : cut) {
    const int count = static_cast<int>(pieces.size());
    for (int x = 0; x < count; ++x) {
      Item &item = entries[pieces[static_cast<size_t>(count - 1 - x)]].item;
      item.slot = static_cast<uint32_t>(slot) & 0xfff;
      item.piece = static_cast<uint8_t>(x);
      item.pieces = static_cast<uint8_t>(count);
    }
    slot += count - 1;
    schedule.pieces = std::max(schedule.pieces, count);
  }
  list(schedule, entries, worker, turns, workers);
  return schedule;
}

}  // namespace

Schedule make_schedule(const Tiling &t, int workers, const Costs &costs, bool zeros_elsewhere) {
  const Load load = recall_load(t);
  const Grid grid(t);
  const double grouped = load.longest * std::clamp(3.2 * workers / load.tiles, 1.0 / 6, 0.4);  // the more tiles, the fewer of them balance the rest
  if (!load.cuts(workers, costs)) return attempt(grid, grouped, workers, costs, zeros_elsewhere, 0);
  const double mean = (load.stages + load.tiles * costs.tile) / workers;
  Attempt best{{}, INT64_MAX};
  best.better(grid, attempt(grid, grouped, workers, costs, zeros_elsewhere, load.piece_limit(workers, costs)), costs);
  // As many pieces as that may just not divide among the workers: fewer or more of them do.
  for (const double limit : {2 * mean, 0.75 * mean}) {
    if (static_cast<double>(best.longest) < 1.15 * mean || limit < costs.shortest_piece) break;
    best.better(grid, attempt(grid, grouped, workers, costs, zeros_elsewhere, limit), costs);
  }
  if (costs.group_rows * costs.group_cols > 1 || static_cast<double>(best.longest) < 1.05 * mean || load.tiles > 8 * workers) return best.schedule;
  const std::vector<Rest> tiles = whole_tiles(grid, zeros_elsewhere);
  for (int64_t least = static_cast<int64_t>(mean), most = best.longest; most > least;) {  // fewer than `most`, not fewer than `least`
    const int64_t middle = (least + most) / 2;
    if (std::optional<Schedule> other = filled(grid, tiles, workers, costs, middle)) {
      best.better(grid, std::move(*other), costs);
      most = middle;
    } else {
      least = middle + 1;
    }
  }
  return best.schedule;
}

const Schedule &recall_schedule(const Tiling &tiling, int workers, const Costs &costs, bool zeros_elsewhere) {
  struct Key {
    Tiling tiling;
    int workers = 0;
    Costs costs;
    bool zeros_elsewhere = false;
    bool operator==(const Key &o) const { return workers == o.workers && zeros_elsewhere == o.zeros_elsewhere && costs == o.costs && tiling == o.tiling; }
  };
  thread_local Recent<Key, Schedule> recent;
  return recent.recall({tiling, workers, costs, zeros_elsewhere}, [&] { return make_schedule(tiling, workers, costs, zeros_elsewhere); });
}

}  // namespace tritri::cuda
