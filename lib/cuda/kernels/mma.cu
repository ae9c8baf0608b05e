// The mma skeleton in the kernel table: what it serves, which of its shapes is expected to be fastest, and the launch.
#include <algorithm>

#include "cuda/kernels/kernel.h"
#include "cuda/kernels/mma_kernel.cuh"
#include "cuda/schedule/work.h"

namespace tritri::cuda {
namespace {

constexpr int64_t most_blocks = 65535;  // of a grid's second and third dimension

MmaVariants variants_of(Dtype dtype) { return dtype == Dtype::f16 ? mma_f16 : dtype == Dtype::bf16 ? mma_bf16 : mma_f32; }

bool fits(const MmaVariant &v, const GpuTraits &traits) { return v.shared_bytes <= traits.shared_bytes; }

double seconds_of(const Problem &p, const MmaVariant &v, const GpuTraits &traits) {
  const double batch = static_cast<double>(p.batch);
  const TileSums sums = tile_sums(p, v.tile_m, v.tile_n, block_edge);
  const double tiles = sums.tiles * batch, steps = sums.k * batch, longest = static_cast<double>(ceil_div(sums.longest, block_edge * v.slices));
  const double elements = static_cast<double>(p.m) * static_cast<double>(p.n) + static_cast<double>(p.k) * static_cast<double>(p.m + p.n);
  const double masked = 0.76 + 0.12 * ((p.a.fill != Fill::full) + (p.b.fill != Fill::full));  // of what a tile takes where both inputs are triangles
  const double memory = elements / 2 * batch * static_cast<double>(element_bytes(p.dtype)) / traits.bytes_per_second;
  const double work = std::max((tiles * masked * v.costs.tile + steps * v.costs.step) / traits.multiprocessors, memory), wait = (longest - 1) * v.costs.turn;
  // The longest tile's turns hide behind the work of others, where there is enough.
  const double more = std::max(work, wait), less = std::min(work, wait);
  // Tiles on an edge or a cut through C, with beta all of them, are stored with a look at every element.
  constexpr double careful = 1.3e-6;
  const bool all = p.beta != std::complex<double>(0, 0), edges = p.c.fill != Fill::full || p.m % v.tile_m != 0 || p.n % v.tile_n != 0;
  const double on_edges = static_cast<double>(std::max(ceil_div(p.m, v.tile_m), ceil_div(p.n, v.tile_n))) * batch;
  const double looked_at = all ? std::max(tiles, on_edges) : edges ? on_edges : 0, rounds = static_cast<double>(v.tile_m * v.tile_n) / (128.0 * v.slices);
  const double stores = looked_at == 0 ? 0 : careful * rounds * std::max(1.0, looked_at / (traits.multiprocessors * v.resident));
  return v.costs.launch + more + less * less / std::max(more, 1e-9) + stores;
}

struct Shape { const MmaVariant *variant = nullptr; double seconds = 0; };

// The fastest of those that this card can hold; null where there is none.
Shape best_of(const Problem &p, const GpuTraits &traits) {
  const MmaVariants variants = variants_of(p.dtype);
  Shape best;
  for (const MmaVariant *v = variants.first; v != variants.first + variants.count; ++v) {
    if (!fits(*v, traits) || ceil_div(p.m, v->tile_m) > most_blocks) continue;
    const double seconds = seconds_of(p, *v, traits);
    if (!best.variant || seconds < best.seconds) best = {v, seconds};
  }
  return best;
}

bool can(const Problem &p, const GpuTraits &traits) {
  const bool type = p.dtype == Dtype::f16 || p.dtype == Dtype::bf16 || (p.dtype == Dtype::f32 && p.compute == TRITRI_COMPUTE_TF32);
  if (!type || !traits.at_least(8, 0) || p.a.packed || p.b.packed || p.c.packed) return false;
  const MmaVariants variants = variants_of(p.dtype);
  return std::max({p.m, p.n, p.k}) < int64_t{1} << 30 && p.batch <= most_blocks &&
         std::any_of(variants.first, variants.first + variants.count, [&](const MmaVariant &v) { return fits(v, traits) && ceil_div(p.m, v.tile_m) <= most_blocks; });
}

Plan plan(const Problem &p, const GpuTraits &traits, size_t) {
  const Shape best = best_of(p, traits);
  Plan plan;
  plan.tile_m = best.variant->tile_m;
  plan.tile_n = best.variant->tile_n;
  plan.tile_k = block_edge;
  plan.pieces = best.variant->slices;
  plan.seconds = best.seconds;
  return plan;
}

void load(const GpuTraits &traits) {
  if (!traits.at_least(8, 0)) return;
  for (const MmaVariants &variants : {mma_f16, mma_bf16, mma_f32})
    for (int i = 0; i < variants.count; ++i)
      if (fits(variants.first[i], traits)) variants.first[i].load();
}

void launch(const Problem &p, const Plan &plan, void *, const GpuTraits &traits, cudaStream_t stream) {
  const MmaVariants variants = variants_of(p.dtype);
  const MmaVariant &v = *std::find_if(variants.first, variants.first + variants.count, [&](const MmaVariant &x) { return x.tile_m == plan.tile_m && x.slices == plan.pieces; });
  const dim3 tiles(static_cast<unsigned>(ceil_div(p.n, v.tile_n)), static_cast<unsigned>(ceil_div(p.m, v.tile_m)), static_cast<unsigned>(p.batch));
  v.launch(MmaArguments(p), tiles, traits.at_least(9, 0), stream);
}

}  // namespace

extern const Kernel mma_kernel;
const Kernel mma_kernel = {"mma", can, plan, load, launch};

}  // namespace tritri::cuda
