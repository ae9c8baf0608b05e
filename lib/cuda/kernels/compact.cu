// The compact skeleton in the kernel table: what it serves, which of its shapes and how many pieces are expected to be fastest, and the launch.
#include <algorithm>
#include <cmath>

#include "cuda/kernels/compact_kernel.cuh"
#include "cuda/kernels/kernel.h"
#include "cuda/schedule/work.h"

namespace tritri::cuda {
namespace {

constexpr int most_pieces = 4;

CompactVariants variants_of(const Problem &p) {
  switch (p.dtype) {
    case Dtype::f32: return p.compute == TRITRI_COMPUTE_PEDANTIC ? compact_ffma : compact_f32;
    case Dtype::f64: return compact_f64;
    case Dtype::c64: return compact_c64;
    case Dtype::c128: return compact_c128;
    case Dtype::f16: case Dtype::bf16: break;
  }
  return {nullptr, 0};
}

bool fits(const CompactVariant &v, const GpuTraits &traits) { return v.shared_bytes <= traits.shared_bytes; }

// What a variant's times depend on.
struct Amount {
  double products = 0, summed = 0, all = 0;  // real multiply-adds, tiles that have any, tiles
  double length = 0;                         // of the longest sum
  double apart = 1;                          // what copies element by element make of the time for products and of a turn
  bool many = false;                         // matrices
  bool alike = false;                        // sums, in length
};
Amount amount_of(const Problem &p, const CompactVariant &v) {
  Amount amount;
  const double batch = static_cast<double>(p.batch), real_products = is_complex(p.dtype) ? 4 : 1;
  const TileSums sums = tile_sums(p, v.tile_m, v.tile_n);
  amount.products = real_products * batch * sums.k * static_cast<double>(v.tile_m * v.tile_n);
  amount.summed = batch * sums.tiles;
  amount.all = batch * static_cast<double>(ceil_div(p.m, v.tile_m)) * static_cast<double>(ceil_div(p.n, v.tile_n));
  amount.length = static_cast<double>(k_range(p.a.fill, p.b.fill, p.k, {0, p.m}, {0, p.n}).size());
  amount.apart = 1 + (is_complex(p.dtype) ? 0.07 : 0.25) * (p.a.packed + p.b.packed);
  amount.many = p.batch > 1;
  amount.alike = p.a.fill == Fill::full && p.b.fill == Fill::full;
  return amount;
}

double seconds_of(const Amount &amount, const CompactVariant &v, int pieces, const GpuTraits &traits) {
  const CompactCost &cost = v.cost;
  // Beside many others of a batch, what a tile costs of its own hides in part, unless sums are long.
  const double others = amount.many ? std::clamp(amount.all / (16.0 * traits.multiprocessors), 0.0, 1.0) * std::clamp((1024 - amount.length) / 896, 0.0, 1.0) : 0;
  const double beside = 1 - (1 - cost.in_batches) * others;
  // Where all sums are as long, a last round takes its time however few its tiles are.
  const double rounds = amount.summed * pieces / (traits.multiprocessors * v.resident), whole = std::floor(rounds);
  const double last = amount.alike && whole > 0 && rounds > whole ? std::max(rounds, whole + 0.3) / rounds : 1;
  const double throughput = last * (amount.apart * amount.products / (traits.fma32_per_second * cost.rate) + pieces * beside * amount.summed * cost.block / traits.multiprocessors) +
                            pieces * beside * (amount.all - amount.summed) * cost.zeros / traits.multiprocessors;
  const double latency = cost.turn * amount.apart * amount.length / (v.depth * pieces);
  constexpr double first = 0.3e-6;  // of a batch
  return cost.launch + (amount.many ? first : 0) + (pieces > 1 ? cost.join : 0) + std::cbrt(std::pow(throughput, 3) + std::pow(latency, 3));
}

struct Shape { const CompactVariant *variant = nullptr; int pieces = 1; double seconds = 0; };

// The fastest of those that this card and the launch can hold; null where there is none.
Shape best_of(const Problem &p, const GpuTraits &traits) {
  Shape best;
  const CompactVariants variants = variants_of(p);
  for (const CompactVariant *v = variants.first; v != variants.first + variants.count; ++v) {
    if (!fits(*v, traits)) continue;
    const Amount amount = amount_of(p, *v);
    for (int pieces = 1; pieces <= (traits.at_least(9, 0) ? most_pieces : 1); pieces *= 2) {
      const double seconds = seconds_of(amount, *v, pieces, traits);
      if (!best.variant || seconds < best.seconds) best = {v, pieces, seconds};
    }
  }
  return best;
}

bool can(const Problem &p, const GpuTraits &traits) {
  // Only the data-centre chips have double-precision tensor units at the rate of float32 FMA.
  if (!traits.at_least(8, 0) || traits.compute_minor != 0 || p.batch > 65535) return false;
  if (!has_line_starts(p.a.lines()) || !has_line_starts(p.b.lines()) || !has_line_starts(p.c.lines())) return false;
  if (std::max({p.m, p.n, p.k}) > (p.dtype == Dtype::c64 ? 2048 : 1536)) return false;  // beyond that, tiles of this size read too much
  if (p.dtype == Dtype::f32 && p.compute == TRITRI_COMPUTE_TF32) return false;
  const CompactVariants variants = variants_of(p);
  return std::any_of(variants.first, variants.first + variants.count, [&](const CompactVariant &v) { return fits(v, traits); });
}

Plan plan(const Problem &p, const GpuTraits &traits, size_t) {
  const Shape best = best_of(p, traits);
  Plan plan;
  plan.tile_m = best.variant->tile_m;
  plan.tile_n = best.variant->tile_n;
  plan.tile_k = best.variant->depth;
  plan.pieces = best.pieces;
  plan.seconds = best.seconds;
  return plan;
}

void load(const GpuTraits &traits) {
  if (!traits.at_least(8, 0) || traits.compute_minor != 0) return;
  for (const CompactVariants &variants : {compact_f32, compact_ffma, compact_f64, compact_c64, compact_c128})
    for (int i = 0; i < variants.count; ++i)
      if (fits(variants.first[i], traits)) variants.first[i].load();
}

void launch(const Problem &p, const Plan &plan, void *, const GpuTraits &traits, cudaStream_t stream) {
  const CompactVariants variants = variants_of(p);
  const CompactVariant &v = *std::find_if(variants.first, variants.first + variants.count,
                                          [&](const CompactVariant &x) { return x.tile_m == plan.tile_m && x.tile_n == plan.tile_n; });
  compact_launch(p, v, static_cast<int>(plan.pieces), traits, stream);
}

}  // namespace

void compact_launch(const Problem &p, const CompactVariant &v, int pieces, const GpuTraits &traits, cudaStream_t stream) {
  int log_pieces = 0;
  while (1 << log_pieces < pieces) ++log_pieces;
  v.launch(CompactArguments(p, v.tile_m, v.tile_n, log_pieces), traits.at_least(9, 0), stream);
}

extern const Kernel compact_kernel;
const Kernel compact_kernel = {"compact", can, plan, load, launch};

}  // namespace tritri::cuda
