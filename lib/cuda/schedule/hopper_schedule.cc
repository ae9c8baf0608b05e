#include "cuda/schedule/hopper_schedule.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tritri::cuda {
namespace {

constexpr int kMostPieces = 255;
constexpr int kGather = 1;  // what it costs to add one more piece, in stages

struct Entry {
  Item item;
  int cost;  // in stages
  int rank;  // dear ones go first
};

Item item_of(uint32_t tile, int slot, int piece, int pieces) {
  Item item{};
  item.tile = tile;
  item.slot = static_cast<uint32_t>(slot) & 0xfff;
  item.piece = static_cast<uint8_t>(piece);
  item.pieces = static_cast<uint8_t>(pieces);
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

// Workers by load, least first: a binary heap whose root alone ever changes.
class Workers {
 public:
  explicit Workers(int count) {
    for (int w = 0; w < count; ++w) heap_.push_back({0, w});
  }
  std::vector<int64_t> loads() const {
    std::vector<int64_t> loads(heap_.size());
    for (const Node &node : heap_) loads[static_cast<size_t>(node.worker)] = node.load;
    return loads;
  }
  int give_least_loaded(int cost) {
    const int worker = heap_[0].worker;
    const Node moved{heap_[0].load + cost, worker};
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < heap_.size(); at = child) {
      if (child + 1 < heap_.size() && heap_[child + 1].before(heap_[child])) ++child;
      if (!heap_[child].before(moved)) break;
      heap_[at] = heap_[child];
    }
    heap_[at] = moved;
    return worker;
  }

 private:
  struct Node {
    int64_t load;
    int worker;
    bool before(const Node &other) const { return load != other.load ? load < other.load : worker < other.worker; }
  };
  std::vector<Node> heap_;
};

// Beside what a tile costs.
int cost_of(const Tiling &t, const Item &item) {
  const int64_t cols = t.tiles_n(), i = item.tile / cols % t.tiles_m(), j = item.tile % cols;
  const Range whole = t.stages(i, j), part = item.part(whole.size());
  return static_cast<int>(t.cost(i, j, {whole.begin + part.begin, whole.begin + part.end}));
}

// Whole tiles leave some workers with more to do than others. Those hand the first stages of a tile to the least loaded one, which adds
// an entry at the end, and do the rest of it late, when that piece is there.
void level(const Tiling &t, std::vector<Entry> &entries, std::vector<int> &worker, std::vector<bool> &late, std::vector<int64_t> &load, Schedule &schedule, int tile_cost) {
  const int workers = static_cast<int>(load.size());
  for (int round = 0; round < workers && schedule.slots < most_slots(workers); ++round) {
    const auto high = std::max_element(load.begin(), load.end()), low = std::min_element(load.begin(), load.end());
    size_t x = 0;  // the largest tile that is not in pieces yet
    while (x < late.size() && (worker[x] != high - load.begin() || entries[x].item.pieces > 1)) ++x;
    if (x == late.size() || entries[x].cost == 0) return;
    Entry &rest = entries[x];
    Entry piece = rest;
    piece.item = item_of(rest.item.tile, schedule.slots, 0, 2);
    // As much as leaves both with the same, but no more than three quarters.
    const int64_t most = (*high - *low + kGather - tile_cost) / 2;
    int parts = 0;
    for (int step = 128; step > 0; step /= 2) {
      piece.item.end = static_cast<uint8_t>(parts + step);
      if (parts + step <= 192 && cost_of(t, piece.item) <= most) parts += step;
    }
    piece.item.end = static_cast<uint8_t>(parts);
    const int moved = cost_of(t, piece.item);
    if (moved < 2 || *low + moved + tile_cost >= *high) return;
    rest.item = item_of(rest.item.tile, schedule.slots, 1, 2);
    rest.item.begin = static_cast<uint8_t>(parts);
    late[x] = true;
    *high += kGather - moved;
    *low += moved + tile_cost;
    worker.push_back(static_cast<int>(low - load.begin()));
    entries.push_back(piece);
    ++schedule.slots;
    schedule.pieces = std::max(schedule.pieces, 2);
  }
}

}  // namespace

Load measure(const Tiling &t) {
  Load load;
  const int64_t rows = t.rows_end(), cols = t.tiles_n();
  const int64_t step_i = std::max<int64_t>(1, (rows - t.rows_from) / 64), step_j = std::max<int64_t>(1, cols / 64);
  const double weight = static_cast<double>(step_i * step_j) * static_cast<double>(t.batch);
  for (int64_t i = t.rows_from + step_i / 2; i < rows; i += step_i)
    for (int64_t j = step_j / 2; j < cols; j += step_j) {
      if (!t.c_holds_some(i, j) || t.only_zeros(i, j)) continue;
      const double stages = static_cast<double>(t.cost(i, j, t.stages(i, j)));
      load.stages += stages * weight;
      load.tiles += weight;
      load.longest = std::max(load.longest, stages);
    }
  return load;
}

Load recall_load(const Tiling &tiling) {
  struct Memory {
    Tiling tiling;
    Load load;
  };
  thread_local Memory memories[8];
  thread_local unsigned next = 0;
  for (const Memory &memory : memories)
    if (memory.tiling == tiling) return memory.load;
  Memory &memory = memories[next++ % 8];
  memory = {tiling, measure(tiling)};
  return memory.load;
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
};

// With sums cut into pieces of at most `limit` stages; 0: none is cut.
Attempt attempt(const Tiling &t, int workers, const Costs &costs, bool zeros_elsewhere, double limit) {
  const bool cut = limit > 0;
  const int64_t rows = t.tiles_m(), cols = t.tiles_n();
  const int64_t edge = costs.neighbours;
  const double longest = recall_load(t).longest;
  const int tile_cost = static_cast<int>(costs.tile);
  const int owed = static_cast<int>(t.k / t.stage_k) + tile_cost + 2;  // above every cost

  Attempt made;
  Schedule &schedule = made.schedule;
  std::vector<Entry> entries;
  entries.reserve(static_cast<size_t>(rows * cols * t.batch + 2 * workers));
  for (int64_t batch = 0; batch < t.batch; ++batch)
    for (int64_t group_i = t.rows_from; group_i < t.rows_end(); group_i += edge)
      for (int64_t group_j = 0; group_j < cols; group_j += edge) {
        const size_t group = entries.size();
        int dearest = 0;
        for (int64_t i = group_i; i < std::min(t.rows_end(), group_i + edge); ++i)
          for (int64_t j = group_j; j < std::min(cols, group_j + edge); ++j) {
            if (!t.c_holds_some(i, j) || (zeros_elsewhere && t.only_zeros(i, j))) continue;
            const int stages = static_cast<int>(t.cost(i, j, t.stages(i, j)));
            int pieces = cut ? std::clamp(static_cast<int>(std::ceil(stages / limit)), 1, kMostPieces) : 1;
            if (schedule.slots + pieces - 1 > most_slots(workers)) pieces = 1;
            for (int piece = 0; piece < pieces; ++piece) {
              const auto tile = static_cast<uint32_t>((batch * rows + i) * cols + j);
              const Item item = item_of(tile, schedule.slots, piece, pieces);
              const int cost = cost_of(t, item) + tile_cost;
              dearest = std::max(dearest, cost);
              // Pieces that others wait for come first, here and so in every worker's list: a worker that waits has handed in all that it
              // owes, and the workers that it waits for never wait before handing in theirs.
              const int rank = piece + 1 < pieces ? owed + cost : cost;
              entries.push_back({item, cost, rank});
            }
            schedule.slots += pieces - 1;
            schedule.pieces = std::max(schedule.pieces, pieces);
          }
        if (edge > 1 && 3 * dearest > longest) {  // short tiles are left for balance
          // The worker that is free first gets the longest, so that neighbours begin soon after each other.
          std::stable_sort(entries.begin() + static_cast<std::ptrdiff_t>(group), entries.end(), [](const Entry &x, const Entry &y) { return x.cost > y.cost; });
          for (size_t x = group; x < entries.size(); ++x) entries[x].rank = entries[x].rank > owed ? entries[x].rank : dearest;
        }
      }
  entries = by_rank(entries);

  Workers order(workers);
  std::vector<int> worker;
  for (const Entry &entry : entries) worker.push_back(order.give_least_loaded(entry.cost));
  const size_t whole = entries.size();
  std::vector<bool> late(whole);
  std::vector<int64_t> loads = order.loads();
  if (cut) level(t, entries, worker, late, loads, schedule, tile_cost);
  made.longest = *std::max_element(loads.begin(), loads.end());

  // In every worker's list: the pieces that level() made, what was there before, and at last the tiles that it took them from.
  schedule.first.assign(static_cast<size_t>(workers) + 1, 0);
  for (const int w : worker) ++schedule.first[static_cast<size_t>(w) + 1];
  for (size_t w = 1; w < schedule.first.size(); ++w) schedule.first[w] += schedule.first[w - 1];
  std::vector<uint32_t> next(schedule.first.begin(), schedule.first.end() - 1);
  schedule.items.resize(entries.size());
  const auto list = [&](size_t x) { schedule.items[next[static_cast<size_t>(worker[x])]++] = entries[x].item; };
  for (size_t x = whole; x < entries.size(); ++x) list(x);
  for (size_t x = 0; x < whole; ++x)
    if (!late[x]) list(x);
  for (size_t x = 0; x < whole; ++x)
    if (late[x]) list(x);
  return made;
}

}  // namespace

Schedule make_schedule(const Tiling &t, int workers, const Costs &costs, bool zeros_elsewhere) {
  const Load load = recall_load(t);
  if (!load.cuts(workers, costs)) return attempt(t, workers, costs, zeros_elsewhere, 0).schedule;
  const double mean = (load.stages + load.tiles * costs.tile) / workers;
  Attempt best = attempt(t, workers, costs, zeros_elsewhere, load.piece_limit(workers, costs));
  // As many pieces as that may just not divide among the workers: fewer or more of them do.
  for (const double limit : {2 * mean, 0.75 * mean}) {
    if (static_cast<double>(best.longest) < 1.15 * mean || limit < costs.shortest_piece) break;
    Attempt other = attempt(t, workers, costs, zeros_elsewhere, limit);
    if (other.longest < best.longest) best = std::move(other);
  }
  return best.schedule;
}

const Schedule &recall_schedule(const Tiling &tiling, int workers, const Costs &costs, bool zeros_elsewhere) {
  struct Memory {
    Tiling tiling;
    int workers = 0;
    Costs costs;
    bool zeros_elsewhere = false;
    Schedule schedule;
    bool is_of(const Tiling &t, int w, const Costs &c, bool z) const {
      return workers == w && zeros_elsewhere == z && costs.tile == c.tile && costs.shortest_piece == c.shortest_piece &&
             costs.neighbours == c.neighbours && tiling == t;
    }
  };
  thread_local Memory memories[8];
  thread_local unsigned next = 0;
  for (const Memory &memory : memories)
    if (memory.is_of(tiling, workers, costs, zeros_elsewhere)) return memory.schedule;
  Memory &memory = memories[next++ % std::size(memories)];
  memory.workers = 0;  // nothing, should making it fail
  memory.schedule = make_schedule(tiling, workers, costs, zeros_elsewhere);
  memory.tiling = tiling;
  memory.workers = workers;
  memory.costs = costs;
  memory.zeros_elsewhere = zeros_elsewhere;
  return memory.schedule;
}

}  // namespace tritri::cuda
