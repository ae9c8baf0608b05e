// Batches of small matrices in the kernel table: what they are served by, what that costs, the launch.
#include <algorithm>

#include "cuda/kernels/batched_kernel.cuh"
#include "cuda/kernels/kernel.h"

namespace tritri::cuda {
namespace {

// Sums of float32 up to this long are made in double: splitting into TF32 would round more than adding them up in float32 does.
constexpr int64_t short_sum = 48;

bool fast_double(const GpuTraits &traits) { return traits.compute_minor == 0; }  // the data-centre chips

struct Choice {
  const BatchedVariant *variant;
  double rate;  // multiply-adds, those of masked zeros too, relative to the card's float32 FMA rate
};

Choice choose(const Problem &p, const GpuTraits &traits) {
  const int large = std::max({p.m, p.n, p.k}) > 16;
  switch (p.dtype) {
    case Dtype::f64: return {&batched_f64[large], fast_double(traits) ? 0.7 : 0.015};
    case Dtype::f16: return {&batched_f16[large], 3};
    case Dtype::bf16: return {&batched_bf16[large], 3};
    default: break;
  }
  if (p.compute == TRITRI_COMPUTE_TF32) return {&batched_tf32[large], 2};
  const bool split = p.compute == TRITRI_COMPUTE_DEFAULT && p.k > short_sum && large;
  if (split) return {&batched_tf32x3, 1};
  if (p.compute == TRITRI_COMPUTE_DEFAULT && fast_double(traits)) return {&batched_f32_double[large], 0.6};
  return {&batched_ffma[large], 0.5};
}

bool can(const Problem &p, const GpuTraits &traits) {
  return traits.at_least(8, 0) && !is_complex(p.dtype) && std::max({p.m, p.n, p.k}) <= BatchedOrder::most_size && p.batch <= INT32_MAX;
}

Plan plan(const Problem &p, const GpuTraits &traits) {
  const Choice choice = choose(p, traits);
  const int tile = choice.variant->tile, chunk = choice.variant->chunk;
  const BatchedOrder order(p, tile, chunk);
  constexpr double launch = 3e-6, turn = 0.5e-6;  // what a warp takes for a chunk when it waits for memory alone
  const double pairs = static_cast<double>(order.total) * tile * tile * chunk * static_cast<double>(p.batch);
  Plan plan;
  plan.tile_m = plan.tile_n = tile;
  plan.tile_k = chunk;
  plan.seconds = launch + turn * order.longest + std::max(batched_bytes(p) / traits.bytes_per_second, pairs / (choice.rate * traits.fma32_per_second));
  return plan;
}

void load(const GpuTraits &traits) {
  if (!traits.at_least(8, 0)) return;
  batched_tf32x3.load();
  for (const BatchedVariant *both : {batched_f32_double, batched_tf32, batched_ffma, batched_f64, batched_f16, batched_bf16})
    for (int large = 0; large < 2; ++large) both[large].load();
}

void launch(const Problem &p, const Plan &, void *, const GpuTraits &traits, cudaStream_t stream) {
  const BatchedVariant &variant = *choose(p, traits).variant;
  variant.launch(BatchedArguments(p, BatchedOrder(p, variant.tile, variant.chunk)), traits.multiprocessors, stream);
}

}  // namespace

extern const Kernel batched_kernel;
const Kernel batched_kernel = {"batched", can, plan, load, launch};

}  // namespace tritri::cuda
