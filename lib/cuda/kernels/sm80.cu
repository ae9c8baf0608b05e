// The sm_80 skeleton in the kernel table: what it serves, which of its shapes is expected to be fastest, and the launch.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cuda/kernels/kernel.h"
#include "cuda/kernels/sm80_kernel.cuh"
#include "cuda/schedule/work.h"

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

bool fits(const Sm80Variant &v, const GpuTraits &traits) { return v.shared_bytes <= traits.shared_bytes; }

double seconds_of(const Problem &p, const Sm80Variant &v, const GpuTraits &traits) {
  // Only the data-centre chips have double-precision tensor units at the rate of float32 FMA.
  const bool is_double = p.dtype == Dtype::f64 || p.dtype == Dtype::c128;
  const double unit = traits.fma32_per_second * (is_double && traits.compute_minor != 0 ? 1.0 / 64 : 1.0);
  const double real_products = is_complex(p.dtype) ? 4 : 1, sms = traits.multiprocessors, batch = static_cast<double>(p.batch);
  // Packed lines are copied in shorter pieces.
  const double apart = p.a.packed || p.b.packed ? (p.dtype == Dtype::f32 ? 1.15 : 1.05) : 1;
  const TileSums sums = tile_sums(p, v.tile_m, v.tile_n);
  // Of `count` blocks that share a multiprocessor.
  const auto shared_rate = [&](double count) { return v.alone + (v.rate - v.alone) * (v.resident > 1 ? (count - 1) / (v.resident - 1) : 1); };
  // Where all sums are as long, the last blocks of a multiprocessor take as long as the others, and longer where they do not share it.
  const double rounds = sums.tiles * batch / sms, whole = std::floor(rounds / v.resident) * v.resident, rest = std::ceil(rounds - whole);
  const bool alike = p.a.fill == Fill::full && p.b.fill == Fill::full && rounds > 1;
  const double last_round = alike ? (whole + (rest > 0 ? rest * v.rate / shared_rate(rest) : 0)) / rounds : 1;
  const double work = sums.k * v.tile_m * v.tile_n * real_products * batch * apart * last_round;
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
  const double beside = each * size * std::max(0.0, blocks / sms - v.resident) * std::min(1.0, (few ? 128 : 256) / std::max(1.0, few ? length : average));
  // Sums that come out as zero are looked at again.
  const double zeros = p.a.fill != Fill::full && p.b.fill != Fill::full ? 1e-6 : 0;
  return 4e-6 + zeros + beside + std::max({work / (unit * v.rate), longest / rate_per_sm, bytes / traits.bytes_per_second});
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
Plan plan(const Problem &p, const GpuTraits &traits) {
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

void load(const GpuTraits &traits) {
  if (!traits.at_least(8, 0)) return;
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128}) {
    const Sm80Variants variants = variants_of(dtype);
    for (int i = 0; i < variants.count; ++i)
      if (fits(variants.first[i], traits)) variants.first[i].load();
  }
}

void launch(const Problem &p, const Plan &plan, void *, const GpuTraits &, cudaStream_t stream) {
  const Sm80Variants variants = variants_of(p.dtype);
  const Sm80Variant &v = *std::find_if(variants.first, variants.first + variants.count,
                                       [&](const Sm80Variant &x) { return x.tile_m == plan.tile_m && x.tile_n == plan.tile_n; });
  sm80_launch(p, v, stream);
}

}  // namespace

void sm80_launch(const Problem &p, const Sm80Variant &v, cudaStream_t stream) {
  const GroupedOrder order = order_of(p, v);
  v.launch(Sm80Arguments(p, order), static_cast<unsigned>(order.count() * p.batch), stream);
}

extern const Kernel sm80_kernel;
const Kernel sm80_kernel = {"sm80", can, plan, load, launch};

}  // namespace tritri::cuda
