// Batches of small matrices in the kernel table: what they are served by, what that costs, the launch.
#include <algorithm>
#include <cmath>

#include "cuda/kernels/batched_kernel.cuh"
#include "cuda/kernels/kernel.h"

namespace tritri::cuda {
namespace {

bool fast_double(const GpuTraits &traits) { return traits.compute_minor == 0; }  // the data-centre chips

const BatchedVariants &variants_of(const Problem &p, const GpuTraits &traits) {
  switch (p.dtype) {
    case Dtype::f64: return batched_f64;
    case Dtype::f16: return batched_f16;
    case Dtype::bf16: return batched_bf16;
    default: break;
  }
  if (p.compute == TRITRI_COMPUTE_TF32) return batched_tf32;
  if (p.compute == TRITRI_COMPUTE_PEDANTIC) return batched_ffma;
  if (fast_double(traits)) return batched_f32_double;
  return batched_tf32x3.first->can(p) ? batched_tf32x3 : batched_ffma;
}

// The fastest by modelled time, of equals the first.
const BatchedVariant &variant_of(const Problem &p, const GpuTraits &traits) {
  const BatchedVariants &variants = variants_of(p, traits);
  const BatchedVariant *best = nullptr;
  double least = 0;
  for (const BatchedVariant *v = variants.first; v < variants.first + variants.count; ++v) {
    if (!v->can(p)) continue;
    const double seconds = batched_seconds(*v, p, traits);
    if (best && seconds >= least) continue;
    best = v;
    least = seconds;
  }
  return *best;
}

bool can(const Problem &p, const GpuTraits &traits) {
  return traits.at_least(8, 0) && !is_complex(p.dtype) && std::max({p.m, p.n, p.k}) <= BatchedOrder::most_size && p.batch <= INT32_MAX;
}

Plan plan(const Problem &p, const GpuTraits &traits, size_t) {
  const BatchedVariant &v = variant_of(p, traits);
  Plan plan;
  plan.tile_m = plan.tile_n = v.tile;
  plan.tile_k = v.chunk;
  if (v.way == BatchedWay::split) plan.pieces = v.order(p).warps;
  plan.seconds = batched_seconds(v, p, traits);
  return plan;
}

void load(const GpuTraits &traits) {
  if (!traits.at_least(8, 0)) return;
  for (const BatchedVariants *variants : {&batched_tf32x3, &batched_f32_double, &batched_tf32, &batched_ffma, &batched_f64, &batched_f16, &batched_bf16})
    for (int i = 0; i < variants->count; ++i) variants->first[i].load();
}

void launch(const Problem &p, const Plan &, void *, const GpuTraits &traits, cudaStream_t stream) {
  const BatchedVariant &v = variant_of(p, traits);
  v.launch(BatchedArguments(p, v.order(p)), traits.multiprocessors, stream);
}

}  // namespace

double batched_seconds(const BatchedVariant &v, const Problem &p, const GpuTraits &traits) {
  const BatchedOrder order = v.order(p);
  const bool cut = p.c.fill != Fill::full;
  // As seen on an H200: warps that share a tile meet, the more of them the later.
  const double launch = (v.way == BatchedWay::split ? 1.7e-6 + 3e-9 * static_cast<double>(std::max({p.m, p.n, p.k})) : 2.1e-6) + (cut ? 0.5e-6 : 0);
  const double slow = p.dtype == Dtype::f64 && !fast_double(traits) ? 40 : 1;
  const int per_tile = v.way == BatchedWay::single && std::max({p.m, p.n, p.k}) <= 8 ? 2 : 1;  // matrices
  // Tiles that a cut through C crosses are stored an element at a time.
  const double crossed = cut && p.dtype != Dtype::f64 ? 0.4e-6 * std::pow(v.tile / 32.0, 1.5) * std::ceil(static_cast<double>(std::min(p.m, p.n)) / v.tile) : 0;
  const double turns = (slow * v.turn * order.total / per_tile + crossed) * static_cast<double>(p.batch) / traits.multiprocessors;
  // Waiting hides behind the work of many matrices.
  return launch + std::hypot(v.wait * order.longest, std::max(batched_bytes(p) / traits.bytes_per_second, turns));
}

extern const Kernel batched_kernel;
const Kernel batched_kernel = {"batched", can, plan, load, launch};

}  // namespace tritri::cuda
