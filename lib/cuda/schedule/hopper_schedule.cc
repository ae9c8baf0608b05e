#include "cuda/schedule/hopper_schedule.h"

#include <algorithm>
#include <cmath>
#include <queue>

namespace tritri::cuda {
namespace {

constexpr int kMostPieces = 255, kMostSlots = 65535;
constexpr int64_t kFewTiles = 1024;  // below, balance decides; above, locality
constexpr int64_t kNeighbours = 8;   // tiles along each side of a group that should run together

struct Candidate {
  Item item;
  double cost, group_cost;
  int64_t group;
};

}  // namespace

Load measure(const Tiling &t) {
  Load load;
  const int64_t rows = t.tiles_m(), cols = t.tiles_n();
  const int64_t step_i = std::max<int64_t>(1, rows / 64), step_j = std::max<int64_t>(1, cols / 64);
  const double weight = static_cast<double>(step_i * step_j) * static_cast<double>(t.batch);
  for (int64_t i = step_i / 2; i < rows; i += step_i)
    for (int64_t j = step_j / 2; j < cols; j += step_j) {
      if (!t.c_holds_some(i, j) || t.only_zeros(i, j)) continue;
      const double stages = static_cast<double>(t.stages(i, j).size());
      load.stages += stages * weight;
      load.tiles += weight;
      load.longest = std::max(load.longest, stages);
    }
  return load;
}

double Load::piece_limit(int workers, const Costs &costs) const {
  return std::max<double>(costs.shortest_piece, (stages + tiles * costs.tile) / workers);
}

bool Load::cuts(int workers, const Costs &costs) const { return longest + costs.tile > piece_limit(workers, costs) + 1; }

double Load::longest_worker(int workers, const Costs &costs) const {
  const double mean = (stages + tiles * costs.tile) / workers, piece = std::min(longest, piece_limit(workers, costs)) + costs.tile;
  // A worker gets whole pieces: the mean, and part of one more.
  return std::max(piece, mean + (tiles > workers ? 0.1 : 0.5) * std::min(piece, mean));
}

Schedule make_schedule(const Tiling &t, int workers, const Costs &costs, bool zeros_elsewhere) {
  const Load load = measure(t);
  const double limit = load.piece_limit(workers, costs);
  const bool cut = load.cuts(workers, costs);
  const int64_t rows = t.tiles_m(), cols = t.tiles_n(), group_cols = (cols + kNeighbours - 1) / kNeighbours;
  const bool local = rows * cols * t.batch > kFewTiles;

  Schedule schedule;
  std::vector<Candidate> candidates;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < cols; ++j) {
      if (!t.c_holds_some(i, j) || (zeros_elsewhere && t.only_zeros(i, j))) continue;
      const double stages = static_cast<double>(t.stages(i, j).size());
      int pieces = cut ? std::max(1, static_cast<int>(std::ceil(stages / limit))) : 1;
      pieces = std::min({pieces, kMostPieces, std::max(1, static_cast<int>(stages))});
      for (int64_t batch = 0; batch < t.batch; ++batch) {
        const bool fits = schedule.slots + pieces - 1 <= kMostSlots;
        const int count = fits ? pieces : 1;
        for (int piece = 0; piece < count; ++piece)
          candidates.push_back({{static_cast<uint32_t>((batch * rows + i) * cols + j), static_cast<uint16_t>(schedule.slots),
                                 static_cast<uint8_t>(piece), static_cast<uint8_t>(count)},
                                stages / count + costs.tile,
                                0,
                                local ? (batch * rows + i) / kNeighbours * group_cols + j / kNeighbours : 0});
        schedule.slots += count - 1;
        schedule.pieces = std::max(schedule.pieces, count);
      }
    }

  if (local) {  // a group ranks by its dearest tile
    std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate &x, const Candidate &y) { return x.group < y.group; });
    for (size_t begin = 0, end; begin < candidates.size(); begin = end) {
      double dearest = 0;
      for (end = begin; end < candidates.size() && candidates[end].group == candidates[begin].group; ++end) dearest = std::max(dearest, candidates[end].cost);
      for (size_t x = begin; x < end; ++x) candidates[x].group_cost = dearest;
    }
  }
  // Pieces that others wait for come first, here and so in every worker's list: a worker that waits has handed in all that it owes, and
  // the workers that it waits for never wait before handing in theirs.
  std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate &x, const Candidate &y) {
    const bool owed_x = x.item.piece + 1 < x.item.pieces, owed_y = y.item.piece + 1 < y.item.pieces;
    if (owed_x != owed_y) return owed_x;
    if (x.group_cost != y.group_cost) return x.group_cost > y.group_cost;
    if (x.group != y.group) return x.group < y.group;
    return x.cost > y.cost;
  });

  using Worker = std::pair<double, int>;
  std::priority_queue<Worker, std::vector<Worker>, std::greater<Worker>> idle;
  for (int w = 0; w < workers; ++w) idle.push({0.0, w});
  std::vector<std::vector<Item>> lists(static_cast<size_t>(workers));
  for (const Candidate &candidate : candidates) {
    auto [busy, worker] = idle.top();
    idle.pop();
    lists[static_cast<size_t>(worker)].push_back(candidate.item);
    idle.push({busy + candidate.cost, worker});
  }
  schedule.first.push_back(0);
  for (const std::vector<Item> &list : lists) {
    schedule.items.insert(schedule.items.end(), list.begin(), list.end());
    schedule.first.push_back(static_cast<uint32_t>(schedule.items.size()));
  }
  return schedule;
}

}  // namespace tritri::cuda
