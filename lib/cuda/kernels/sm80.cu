// The sm_80 skeleton in the kernel table: what it serves, which of its shapes is expected to be fastest, and the launch.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "cuda/kernels/kernel.h"
#include "cuda/kernels/sm80_kernel.cuh"
#include "cuda/schedule/cut_sums.h"

namespace tritri::cuda {
namespace {

Sm80Variants variants_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32: return sm80_f32;
    case Dtype::f64: return sm80_f64;
    case Dtype::c64: return sm80_c64;
    case Dtype::c128: return sm80_c128;
    case Dtype::f16: case Dtype::bf16: break;
  }
  return {nullptr, 0};
}

// Neighbouring tiles share panels in the L2 cache; but large groups leave a long tail, so they grow with the matrix.
GroupedOrder order_of(const Problem &p, const Sm80Variant &v) {
  const int64_t tiles_m = ceil_div(p.m, v.tile_m), tiles_n = ceil_div(p.n, v.tile_n);
  const int64_t edge = 128, largest = 8;
  const int64_t side = std::clamp<int64_t>(std::min(p.m, p.n) / 3072, 1, largest) * edge;
  return {p.a.fill, p.b.fill, tiles_m, tiles_n, static_cast<int32_t>(std::max<int64_t>(1, side / v.tile_m)), static_cast<int32_t>(std::max<int64_t>(1, side / v.tile_n))};
}

// A square C beside whose triangle all is zero, in whole vectors.
bool has_mirror_images(const Problem &p) {
  const auto bits = reinterpret_cast<uintptr_t>(p.c.data) | static_cast<uint64_t>((p.c.ld | p.c.batch_stride) * element_bytes(p.dtype));
  return p.a.fill == p.b.fill && p.a.fill != Fill::full && p.c.fill == Fill::full && p.m == p.n && p.beta == 0.0 && bits % 16 == 0;
}

bool fits(const Sm80Variant &v, const GpuTraits &traits) { return v.shared_bytes <= traits.shared_bytes; }

// Real multiply-adds per second. Only the data-centre chips have double-precision tensor units at the rate of float32 FMA.
double unit_of(const Problem &p, const GpuTraits &traits) {
  const bool is_double = p.dtype == Dtype::f64 || p.dtype == Dtype::c128;
  return traits.fma32_per_second * (is_double && traits.compute_minor != 0 ? 1.0 / 64 : 1.0);
}

// Lines that begin anywhere are copied element by element.
double apart_of(const Problem &p) { return !p.a.packed && !p.b.packed ? 1 : p.dtype == Dtype::f32 || p.dtype == Dtype::c64 ? 1.03 : 1.05; }

double seconds_of(const Problem &p, const Sm80Variant &v, const GpuTraits &traits) {
  const double unit = unit_of(p, traits);
  const double real_products = is_complex(p.dtype) ? 4 : 1, sms = traits.multiprocessors, batch = static_cast<double>(p.batch);
  const TileSums sums = tile_sums(p, v.tile_m, v.tile_n);
  // Of `count` blocks that share a multiprocessor.
  const auto shared_rate = [&](double count) { return v.alone + (v.rate - v.alone) * (v.resident > 1 ? (count - 1) / (v.resident - 1) : 1); };
  // Where all sums are as long, the last blocks of a multiprocessor take as long as the others, and longer where they do not share it.
  const double rounds = sums.tiles * batch / sms, whole = std::floor(rounds / v.resident) * v.resident, rest = std::ceil(rounds - whole);
  const bool alike = p.a.fill == Fill::full && p.b.fill == Fill::full && rounds > 1;
  const double last_round = alike ? (whole + (rest > 0 ? rest * v.rate / shared_rate(rest) : 0)) / rounds : 1;
  const double work = sums.k * v.tile_m * v.tile_n * real_products * batch * apart_of(p) * last_round;
  const double blocks = static_cast<double>(ceil_div(p.m, v.tile_m)) * static_cast<double>(ceil_div(p.n, v.tile_n)) * batch;
  const double together = std::clamp(blocks / sms, 1.0, static_cast<double>(v.resident));
  // The longest sum of all, on a multiprocessor that `together` blocks share. Of four, some have shorter ones.
  const double length = static_cast<double>(k_range(p.a.fill, p.b.fill, p.k, {0, p.m}, {0, p.n}).size());
  const double longest = static_cast<double>(v.tile_m) * v.tile_n * length * real_products * std::min(together, 3.0);
  const double rate_per_sm = unit / sms * shared_rate(together);
  const double bytes = static_cast<double>(p.m) * static_cast<double>(p.n) * batch * static_cast<double>(element_bytes(p.dtype));
  // Where many short tiles follow each other on a multiprocessor, what each takes beside its products is not hidden; least so among matrices of a batch.
  const double average = work / (real_products * v.tile_m * v.tile_n * blocks);
  const bool few = (p.dtype == Dtype::f32 || p.dtype == Dtype::f64) && p.batch == 1;
  const double each = few ? 4e-6 : p.dtype == Dtype::f64 ? 10e-6 : p.dtype == Dtype::f32 ? 6e-6 : p.dtype == Dtype::c64 ? 12e-6 : 7e-6;
  const double area = v.tile_m * v.tile_n / 8192.0, size = p.dtype == Dtype::c64 ? std::pow(area, 0.75) : std::max(1.0, area);
  const bool whole_tiles = p.c.fill == Fill::full && (p.a.fill == Fill::full || p.b.fill == Fill::full);  // nothing but sums in any of them
  const double hidden = few ? length / 128 : average / (whole_tiles ? 64 : 256);
  const double beside = each * size * std::max(0.0, blocks / sms - v.resident) / std::max(1.0, hidden);
  // Sums that come out as zero are looked at again.
  const double zeros = p.a.fill != Fill::full && p.b.fill != Fill::full ? 1e-6 : 0;
  const double first = p.batch > 1 ? 2e-6 : 0;  // of a batch
  return 4e-6 + first + zeros + beside + std::max({work / (unit * v.rate), longest / rate_per_sm, bytes / traits.bytes_per_second});
}

// Calls f with those that this card and the launch can hold.
template <class F>
void each_possible(const Problem &p, const GpuTraits &traits, F &&f) {
  const Sm80Variants variants = variants_of(p.dtype);
  for (const Sm80Variant *v = variants.first; v != variants.first + variants.count; ++v) {
    const double blocks = static_cast<double>(order_of(p, *v).count()) * static_cast<double>(p.batch);
    if (fits(*v, traits) && blocks < INT32_MAX) f(*v);
  }
}

bool can(const Problem &p, const GpuTraits &traits) {
  if (!traits.at_least(8, 0) || !has_line_starts(p.a.lines()) || !has_line_starts(p.b.lines())) return false;
  if (std::max({p.m, p.n, p.k}) >= int64_t{1} << 30) return false;
  if (p.dtype == Dtype::f32 && p.compute == TRITRI_COMPUTE_TF32) return false;
  bool any = false;
  each_possible(p, traits, [&](const Sm80Variant &) { any = true; });
  return any;
}

// The fastest. A modelled time takes a thousand samples, and a new shape's first product waits for them: each variant's once.
Plan plan(const Problem &p, const GpuTraits &traits, size_t) {
  Plan plan;
  plan.seconds = std::numeric_limits<double>::infinity();
  each_possible(p, traits, [&](const Sm80Variant &v) {
    const double seconds = seconds_of(p, v, traits);
    if (seconds >= plan.seconds) return;
    plan.tile_m = v.tile_m;
    plan.tile_n = v.tile_n;
    plan.tile_k = v.tile_k;
    plan.seconds = seconds;
  });
  return plan;
}

// Where tiles are few, their long sums are cut: the only shape that does so, or none.
const Sm80Variant *cutting(const Problem &p, const GpuTraits &traits) {
  const Sm80Variant *found = nullptr;
  each_possible(p, traits, [&](const Sm80Variant &v) {
    if (v.piece_bytes > 0) found = &v;
  });
  return found;
}

// Sums that are short, and tiles of which every multiprocessor gets several, are better left whole.
constexpr int64_t least_length = 1280;
constexpr double most_tiles = 3;  // for each multiprocessor
constexpr size_t most_workspace = size_t{64} << 20;

bool can_cut(const Problem &p, const GpuTraits &traits) {
  if (!can(p, traits) || p.batch > 1) return false;
  const Sm80Variant *v = cutting(p, traits);
  if (!v) return false;
  const TileSums sums = tile_sums(p, v->tile_m, v->tile_n);
  return sums.longest >= least_length && sums.tiles <= most_tiles * traits.multiprocessors && like_tiles(p, order_of(p, *v), v->tile_m, v->tile_n).size() <= size_t{CutSums::most_runs};
}

Plan plan_cut(const Problem &p, const GpuTraits &traits, size_t) {
  const Sm80Variant &v = *cutting(p, traits);
  const std::vector<LikeTiles> tiles = like_tiles(p, order_of(p, v), v.tile_m, v.tile_n);
  // Of an H200: what a tile takes beside its products stands here, and not in the rate. A lone launch and the two ends of its blocks take `ends`.
  const bool is_double = p.dtype == Dtype::f64;
  const double area = v.tile_m * v.tile_n, c_bytes = area * static_cast<double>(element_bytes(p.dtype)), rate = v.rate * (is_double ? 1.2 : 1.08), ends = 14e-6;
  const PieceCosts costs{apart_of(p) * area * traits.multiprocessors / (unit_of(p, traits) * rate), is_double ? 11e-6 : 8e-6, 3e-6, c_bytes * traits.multiprocessors / traits.bytes_per_second};
  Plan plan;
  plan.tile_m = v.tile_m;
  plan.tile_n = v.tile_n;
  plan.tile_k = v.tile_k;
  plan.seconds = std::numeric_limits<double>::infinity();
  for (const int64_t pieces : {2, 3, 4, 6, 8}) {
    const double seconds = ends + cut_seconds(tiles, pieces, traits.multiprocessors, costs);
    if (seconds >= plan.seconds || (plan.pieces > 1 && sm80_workspace(p, v, pieces) > most_workspace)) continue;
    plan.pieces = pieces;
    plan.seconds = seconds;
  }
  plan.workspace = sm80_workspace(p, v, plan.pieces);
  return plan;
}

// Of workspace: a word and a tile for each piece of a cut sum.
constexpr int64_t counters_align = 32;
int64_t counters_of(int64_t slots) { return ceil_div(slots, counters_align) * counters_align; }
CutSums cut_of(const Problem &p, const Sm80Variant &v, int64_t pieces) {
  return pieces > 1 && p.batch == 1 ? CutSums(like_tiles(p, order_of(p, v), v.tile_m, v.tile_n), pieces) : CutSums();
}

void load(const GpuTraits &traits) {
  if (!traits.at_least(8, 0)) return;
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128}) {
    const Sm80Variants variants = variants_of(dtype);
    for (int i = 0; i < variants.count; ++i)
      if (fits(variants.first[i], traits)) variants.first[i].load();
  }
}

void launch(const Problem &p, const Plan &plan, void *workspace, const GpuTraits &, cudaStream_t stream) {
  const Sm80Variants variants = variants_of(p.dtype);
  const Sm80Variant &v = *std::find_if(variants.first, variants.first + variants.count,
                                       [&](const Sm80Variant &x) { return x.tile_m == plan.tile_m && x.tile_n == plan.tile_n; });
  sm80_launch(p, v, plan.pieces, workspace, stream);
}

}  // namespace

size_t sm80_workspace(const Problem &p, const Sm80Variant &v, int64_t pieces) {
  const int64_t slots = cut_of(p, v, pieces).slots;
  return static_cast<size_t>(counters_of(slots)) * sizeof(uint64_t) + static_cast<size_t>(slots) * v.piece_bytes;
}

void sm80_launch(const Problem &p, const Sm80Variant &v, int64_t pieces, void *workspace, cudaStream_t stream) {
  const GroupedOrder order = order_of(p, v);
  const CutSums cut = cut_of(p, v, pieces);
  const bool mirrors = v.mirrors && cut.runs == 0 && has_mirror_images(p);
  auto *const counters = static_cast<unsigned long long *>(workspace);
  const auto now = static_cast<unsigned long long>(std::chrono::steady_clock::now().time_since_epoch().count());
  const Sm80CutArguments arguments(p, order, mirrors, cut, counters + counters_of(cut.slots), counters, (now * 0x9e3779b97f4a7c15u & ~0xffull) | 0x100);
  // Of mirror images, the order's first half computes and clears all.
  const int64_t tiles = mirrors && p.m % v.tile_m == 0 && order.groups_m == order.groups_n ? order.groups_m * (order.groups_m + 1) / 2 * order.group_m * order.group_n : order.count();
  v.launch(arguments, static_cast<unsigned>(cut.runs > 0 ? cut.blocks : tiles * p.batch), stream);
}

extern const Kernel sm80_kernel, sm80_cut_kernel;
const Kernel sm80_kernel = {"sm80", can, plan, load, launch};
const Kernel sm80_cut_kernel = {"sm80-cut", can_cut, plan_cut, [](const GpuTraits &) {}, launch};

}  // namespace tritri::cuda
