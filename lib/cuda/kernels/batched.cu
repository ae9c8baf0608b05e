// Batches of small matrices in the kernel table: what they are served by, what that costs, the launch.
#include <algorithm>

#include "cuda/kernels/batched_kernel.cuh"
#include "cuda/kernels/kernel.h"

namespace tritri::cuda {
namespace {

// Splitting float32 into TF32 rounds more than adding up fewer products than this does.
constexpr int64_t shortest_split = 48;

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
  return p.k > shortest_split ? batched_tf32x3 : batched_ffma;
}

const BatchedVariant &variant_of(const Problem &p, const GpuTraits &traits) {
  const BatchedVariants &variants = variants_of(p, traits);
  return *std::find_if(variants.first, variants.first + variants.count, [&](const BatchedVariant &v) { return v.can(p); });
}

bool can(const Problem &p, const GpuTraits &traits) {
  return traits.at_least(8, 0) && !is_complex(p.dtype) && std::max({p.m, p.n, p.k}) <= BatchedOrder::most_size && p.batch <= INT32_MAX;
}

Plan plan(const Problem &p, const GpuTraits &traits) {
  const BatchedVariant &v = variant_of(p, traits);
  const BatchedOrder order = v.order(p);
  // Seen on an H200: what a launch takes, and what a warp waits for memory in a turn when it is alone.
  constexpr double launch = 3.5e-6;
  const double wait = v.tile == 16 ? 0.3e-6 : 0.85e-6;
  const double slow = p.dtype == Dtype::f64 && !fast_double(traits) ? 40 : 1;
  const int per_tile = v.single && std::max({p.m, p.n, p.k}) <= 8 ? 2 : 1;  // matrices
  const double turns = slow * v.turn * order.total * static_cast<double>(p.batch) / (per_tile * traits.multiprocessors);
  Plan plan;
  plan.tile_m = plan.tile_n = v.tile;
  plan.tile_k = v.chunk;
  // Waiting hides behind the work of many matrices.
  plan.seconds = launch + std::hypot(wait * order.longest, std::max(batched_bytes(p) / traits.bytes_per_second, turns));
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

extern const Kernel batched_kernel;
const Kernel batched_kernel = {"batched", can, plan, load, launch};

}  // namespace tritri::cuda
