// What cuBLAS can be asked for, what that needs and what it would take: pure functions.
#include <algorithm>

#include "core/k_range.h"
#include "cuda/cublas/blocks.h"
#include "cuda/cublas/route.h"

namespace tritri::cuda {
namespace {

constexpr int64_t most_batches = 65535;  // cuBLAS's batch count reaches its kernels' grid; chunks keep it inside every version's limits

int64_t round_up(int64_t x, int64_t unit) { return (x + unit - 1) / unit * unit; }

bool is_aligned(const void *data, int64_t bytes) { return reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(bytes) == 0; }

// cuBLAS can read the operand where it lies. A conjugate without transposition is not among its operations (in its column-major eyes our rows
// are columns, so lines along rows mean "no transposition"). Of 16-bit elements its kernels read several at once, beyond the end of a line too, so
// those must come in whole vectors.
bool readable(const Problem &p, const View &x) {
  const int64_t element = element_bytes(p.dtype), vector = 16 / element, length = x.lines().length;
  const bool whole_vectors = is_aligned(x.data, 16) && x.ld % vector == 0 && x.batch_stride % vector == 0 && length % vector == 0;
  if (element == 2 && !whole_vectors) return false;
  if (x.batch_stride < 0) return false;  // cuBLAS takes no steps back, or only for some types
  return x.fill == Fill::full && !x.unit && !x.packed && !(x.conj && x.row_lines) && p.compute != TRITRI_COMPUTE_TF32 && is_aligned(x.data, element);
}

bool writable(const Problem &p) {
  return p.c.fill == Fill::full && !p.c.packed && p.c.batch_stride >= 0 && is_aligned(p.c.data, element_bytes(p.dtype));
}

// Below 256 it never is the fastest form, and its kernels read the other half of a small triangle, if only to drop it.
bool has_trmm(const Problem &p) {
  return std::min({p.m, p.n, p.k}) >= 256 && writable(p) && p.beta == std::complex<double>(0, 0) && p.compute != TRITRI_COMPUTE_TF32 && p.batch <= 16 &&
         p.dtype != Dtype::f16 && p.dtype != Dtype::bf16;
}

// TRMM can take the operand as its triangle, which it reads in place.
bool is_trmm_triangle(const Problem &p, const View &x) {
  return x.fill != Fill::full && x.rows == x.cols && !x.packed && !(x.conj && x.row_lines) && is_aligned(x.data, element_bytes(p.dtype));
}

// Measured on an H200 with cuBLAS 13.1 (tests/gpu/candidates.cc). `gemm` and `trmm`: multiply-adds per second on large matrices, relative to the card's float32
// FMA rate. `launch`, `per_k`: what a GEMM loses whatever its size, and for each k. `adding`: the part of its rate that GEMM reaches on a blocked product's panels.
// `per_line`: what TRMM loses for each row of its triangle, since it works through the diagonal block after block.
struct Speed { double gemm, launch, per_k, adding, trmm, per_line; };
Speed speed(const Problem &p, const GpuTraits &traits) {
  const bool fast_double = traits.compute_minor == 0 && traits.compute_major >= 6;
  switch (p.dtype) {
    case Dtype::f64: return fast_double ? Speed{0.94, 2.4e-6, 3.7e-9, 0.92, 0.80, 20e-9} : Speed{0.016, 2.4e-6, 3.7e-9, 0.92, 0.014, 14e-9};
    case Dtype::c64: return {0.2025, 6e-6, 2.3e-9, 0.92, 0.165, 55e-9};
    case Dtype::c128: return fast_double ? Speed{0.222, 3.3e-6, 1e-9, 0.95, 0.205, 18e-9} : Speed{0.004, 3.3e-6, 1e-9, 0.95, 0.0035, 5e-9};
    case Dtype::f16: case Dtype::bf16: return {12.4, 2.3e-6, 0.8e-9, 0.46, 0, 0};
    case Dtype::f32: break;
  }
  if (p.compute == TRITRI_COMPUTE_TF32) return {5.8, 3.4e-6, 4.3e-9, 0.75, 0, 0};
  return {0.77, 3e-6, 10e-9, 0.83, 0.72, 55e-9};
}

// Beside cuBLAS's own: a launch of one of our kernels around it.
constexpr double small_launch = 2.2e-6;

double moving(const GpuTraits &traits, double elements, Dtype dtype) { return elements * static_cast<double>(element_bytes(dtype)) / traits.bytes_per_second; }

// `efficiency` of the rate that large GEMMs reach. Arithmetic and traffic overlap for the greater part.
double gemm_seconds(const Problem &p, const GpuTraits &traits, double rows, double cols, double k, double count, double efficiency) {
  const Speed s = speed(p, traits);
  const double odd = p.dtype == Dtype::c128 && rows <= 64 && cols <= 64 ? 6e-6 : 0;  // cuBLAS has no good kernel there
  const double short_lines = count > 1 && element_bytes(p.dtype) == 2 ? std::max(1.0, 96 / cols) : 1;  // of less than 192 bytes
  if (count > 1 && cols <= 256 && p.dtype == Dtype::f32 && p.compute != TRITRI_COMPUTE_TF32) efficiency *= 0.78;
  const double arithmetic = rows * cols * k * count / (efficiency * s.gemm * traits.fma32_per_second), traffic = short_lines * moving(traits, (rows * k + k * cols + rows * cols) * count, p.dtype);
  return s.launch + odd + s.per_k * k + std::max(arithmetic, traffic) + 0.35 * std::min(arithmetic, traffic);
}

void total_bytes(CublasPlan *plan) { plan->bytes = plan->sum_bytes + plan->a_bytes + plan->b_bytes + plan->blas_bytes; }

size_t part_bytes(int64_t elements, Dtype dtype) { return static_cast<size_t>(round_up(elements * element_bytes(dtype), 256)); }

CublasPlan plan_gemm(const Problem &p, const GpuTraits &traits, size_t blas_bytes) {
  CublasPlan plan;
  plan.form = CublasForm::gemm;
  plan.strip = p.m;
  plan.panel = p.k;
  plan.group = std::min(p.batch, most_batches);
  plan.blas_bytes = plan.bytes = blas_bytes;
  plan.seconds = gemm_seconds(p, traits, static_cast<double>(p.m), static_cast<double>(p.n), static_cast<double>(p.k), static_cast<double>(p.batch), 1);
  return plan;
}

// A copy of a whole operand, lines as they lie, padded to whole vectors.
void size_copy(const View &x, Dtype dtype, int64_t group, int64_t *ld, int64_t *stride, size_t *bytes) {
  const Lines lines = x.lines();
  *ld = round_up(lines.length, 16 / element_bytes(dtype));
  *stride = x.batch_stride == 0 ? 0 : lines.count * *ld;
  *bytes = part_bytes(*stride == 0 ? lines.count * *ld : group * *stride, dtype);
}

// Many matrices at a time reach half of the memory's rate, and lines shorter than a warp's vectors leave lanes idle.
double walking(const GpuTraits &traits, double elements, Dtype dtype, int64_t length, double group) {
  const double lanes = static_cast<double>(length) / static_cast<double>(32 * 16 / element_bytes(dtype));
  return moving(traits, elements * group, dtype) * (group > 1 ? 2 / std::min(1.0, lanes) : 1);
}

// Storing a result from sums beside it looks at each element, the longer the shorter the rows.
double cutting(const GpuTraits &traits, double elements, double row) { return 8e-12 * (1 + 90 / row) * elements * 132 / traits.multiprocessors; }

double copy_seconds(const View &x, Dtype dtype, const GpuTraits &traits, double group) {
  const double elements = static_cast<double>(x.rows) * static_cast<double>(x.cols);
  return walking(traits, (x.fill == Fill::full ? 2 : 1.5) * elements, dtype, x.lines().length, x.batch_stride == 0 ? 1 : group);
}

void size_masked(const Problem &p, CublasPlan *plan) {
  if (plan->pack_a) size_copy(p.a, p.dtype, plan->group, &plan->a_ld, &plan->a_stride, &plan->a_bytes);
  if (plan->pack_b) size_copy(p.b, p.dtype, plan->group, &plan->b_ld, &plan->b_stride, &plan->b_bytes);
  if (!plan->into_c) {
    const Dtype sum = accumulator(p.dtype);
    plan->sum_ld = round_up(p.n, std::max<int64_t>(1, 16 / element_bytes(sum)));
    plan->sum_stride = p.m * plan->sum_ld;
    plan->sum_bytes = part_bytes(plan->group * plan->sum_stride, sum);
  }
  total_bytes(plan);
}

CublasPlan plan_masked(const Problem &p, const GpuTraits &traits, size_t blas_bytes, size_t limit) {
  CublasPlan plan;
  plan.form = CublasForm::masked;
  plan.strip = p.m;
  plan.panel = p.k;
  plan.blas_bytes = blas_bytes;
  plan.pack_a = !readable(p, p.a);
  plan.pack_b = !readable(p, p.b);
  // A sum that must be looked at again before C's former value joins it cannot be made in C.
  plan.into_c = writable(p) && (p.beta == std::complex<double>(0, 0) || !has_structure(p));
  plan.group = std::min(p.batch, most_batches);
  size_masked(p, &plan);
  while (plan.bytes > limit && plan.group > 1) {
    plan.group -= (plan.group + 15) / 16;
    size_masked(p, &plan);
  }
  const double m = static_cast<double>(p.m), n = static_cast<double>(p.n), group = static_cast<double>(plan.group), all = m * n * group;
  double seconds = gemm_seconds(p, traits, m, n, static_cast<double>(p.k), group, 1);
  if (plan.pack_a || plan.pack_b) seconds += small_launch;
  if (plan.pack_a) seconds += copy_seconds(p.a, p.dtype, traits, group);
  if (plan.pack_b) seconds += copy_seconds(p.b, p.dtype, traits, group);
  if (!plan.into_c) seconds += small_launch + std::max(cutting(traits, all, n), moving(traits, all, accumulator(p.dtype)) + moving(traits, all, p.dtype));
  else if (has_structure(p)) seconds += small_launch + walking(traits, static_cast<double>(p.m) * static_cast<double>(p.n), p.dtype, p.n, group);
  plan.seconds = seconds * static_cast<double>((p.batch + plan.group - 1) / plan.group);
  return plan;
}

CublasPlan plan_trmm(const Problem &p, const GpuTraits &traits, size_t blas_bytes, bool triangle_is_b) {
  const View &full = triangle_is_b ? p.a : p.b;
  CublasPlan plan;
  plan.form = CublasForm::trmm;
  plan.strip = p.m;
  plan.panel = p.k;
  plan.triangle_is_b = triangle_is_b;
  plan.blas_bytes = blas_bytes;
  bool &pack = triangle_is_b ? plan.pack_a : plan.pack_b;
  pack = !readable(p, full);
  size_masked(p, &plan);
  const Speed s = speed(p, traits);
  const double pairs = 0.5 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  // cuBLAS takes another way for small double-precision triangles, which suits them less.
  const bool slow = !(p.dtype == Dtype::f64 || p.dtype == Dtype::c128) || p.k < 512;
  double seconds = s.launch + (slow ? 4e-6 + std::max(s.per_line, 55e-9) * static_cast<double>(p.k) : s.per_line * static_cast<double>(p.k)) + pairs / (s.trmm * traits.fma32_per_second);
  seconds += small_launch + moving(traits, static_cast<double>(p.m) * static_cast<double>(p.n), p.dtype);
  if (pack) seconds += small_launch + copy_seconds(full, p.dtype, traits, 1);
  plan.seconds = seconds * static_cast<double>(p.batch);
  return plan;
}

void size_blocked(const Problem &p, CublasPlan *plan) {
  const int64_t element = element_bytes(p.dtype), sum = element_bytes(accumulator(p.dtype));
  plan->sum_ld = round_up(p.n, 16 / std::min<int64_t>(sum, 16));
  plan->a_ld = round_up(plan->panel, 16 / element);
  plan->b_ld = round_up(p.n, 16 / element);
  plan->sum_stride = plan->strip * plan->sum_ld;
  plan->a_stride = plan->strip * plan->a_ld;
  plan->b_stride = plan->panel * plan->b_ld;
  plan->sum_bytes = part_bytes(plan->group * plan->sum_stride, accumulator(p.dtype));
  plan->a_bytes = plan->pack_a ? part_bytes(plan->group * plan->a_stride, p.dtype) : 0;
  plan->b_bytes = plan->pack_b ? part_bytes(plan->group * plan->b_stride, p.dtype) : 0;
  total_bytes(plan);
}

CublasPlan plan_blocked(const Problem &p, const GpuTraits &traits, size_t blas_bytes, size_t limit, int64_t panel) {
  CublasPlan plan;
  plan.blas_bytes = blas_bytes;
  plan.pack_a = !readable(p, p.a);
  plan.pack_b = !readable(p, p.b);
  plan.panel = panel;
  plan.strip = p.c.fill == Fill::full ? p.m : std::min(p.m, std::max<int64_t>(512, round_up(p.m / 8, 128)));
  size_blocked(p, &plan);
  // Thin strips pack B again and again, thin panels only make more GEMMs.
  while (plan.bytes > limit && plan.panel > 1024) {
    plan.panel = round_up(plan.panel / 2, 128);
    size_blocked(p, &plan);
  }
  while (plan.bytes > limit && plan.strip > 128) {
    plan.strip = round_up(plan.strip / 2, 128);
    size_blocked(p, &plan);
  }
  while (plan.bytes > limit && plan.panel > 128) {
    plan.panel = round_up(plan.panel / 2, 128);
    size_blocked(p, &plan);
  }
  const size_t each = plan.bytes - plan.blas_bytes, room = limit > plan.blas_bytes ? limit - plan.blas_bytes : 0;
  if (p.batch > 1 && plan.strip == p.m) {
    plan.group = std::clamp<int64_t>(static_cast<int64_t>(room / each), 1, std::min(p.batch, most_batches));
    size_blocked(p, &plan);
    while (plan.bytes > limit && plan.group > 1) {
      plan.group -= (plan.group + 15) / 16;
      size_blocked(p, &plan);
    }
  }
  const Dtype sum = accumulator(p.dtype);
  const double group = static_cast<double>(plan.group), adding = speed(p, traits).adding;
  double seconds = 0;
  each_gemm(p, plan, [&](Range panel, const Block &block) {
    const double rows = static_cast<double>(block.rows.size()), cols = static_cast<double>(block.cols.size()), k = static_cast<double>(panel.size());
    seconds += gemm_seconds(p, traits, rows, cols, k, group, adding) + moving(traits, 2 * rows * cols * group, sum);
    if (plan.pack_a) seconds += small_launch + moving(traits, 2 * group * rows * k, p.dtype);
    if (plan.pack_b) seconds += small_launch + moving(traits, 2 * group * k * cols, p.dtype);
  }, [&](Range strip) {
    const double elements = group * static_cast<double>(strip.size()) * static_cast<double>(p.n);
    seconds += 2 * small_launch + moving(traits, 2 * elements, sum) + moving(traits, elements, p.dtype);
  });
  plan.seconds = seconds * static_cast<double>((p.batch + plan.group - 1) / plan.group);
  return plan;
}

bool better(const CublasPlan &x, const CublasPlan &y, size_t limit) {
  const bool x_fits = x.bytes <= limit, y_fits = y.bytes <= limit;
  if (x_fits != y_fits) return x_fits;
  return x_fits ? x.seconds < y.seconds : x.bytes < y.bytes;
}

// Thin panels waste little on the diagonals, thick ones make fewer and better GEMMs: the model decides.
CublasPlan plan_blocked(const Problem &p, const GpuTraits &traits, size_t blas_bytes, size_t limit) {
  CublasPlan best = plan_blocked(p, traits, blas_bytes, limit, p.k);
  if (!has_structure(p)) return best;
  for (int64_t panel = 128; panel < p.k && panel <= 2048; panel *= 2) {
    if (p.k / panel > 64) continue;
    const CublasPlan plan = plan_blocked(p, traits, blas_bytes, limit, panel);
    if (better(plan, best, limit)) best = plan;
  }
  return best;
}

}  // namespace

const char *name(CublasForm form) {
  switch (form) {
    case CublasForm::gemm: return "cublas_gemm";
    case CublasForm::trmm: return "cublas_trmm";
    case CublasForm::masked: return "cublas_masked_gemm";
    case CublasForm::blocked: break;
  }
  return "cublas_blocked_gemm";
}

std::vector<CublasPlan> cublas_candidates(const Problem &p, const GpuTraits &traits, size_t limit) {
  // What NVIDIA recommends for cuBLAS on the architecture; with little room a smaller part, as on older ones.
  const size_t blas_bytes = traits.at_least(9, 0) && limit >= (size_t{96} << 20) ? size_t{32} << 20 : size_t{4} << 20;
  const bool thin = is_thin(p.m, p.n, p.k);
  if (!thin && writable(p) && readable(p, p.a) && readable(p, p.b)) return {plan_gemm(p, traits, blas_bytes)};
  std::vector<CublasPlan> plans = {plan_blocked(p, traits, blas_bytes, limit)};
  if (!thin) plans.push_back(plan_masked(p, traits, blas_bytes, limit));
  // TRMM wants its full operand with lines along rows, in place or copied.
  if (has_trmm(p) && is_trmm_triangle(p, p.a) && p.b.row_lines) plans.push_back(plan_trmm(p, traits, blas_bytes, false));
  if (has_trmm(p) && is_trmm_triangle(p, p.b) && p.a.row_lines) plans.push_back(plan_trmm(p, traits, blas_bytes, true));
  return plans;
}

CublasPlan plan_cublas(const Problem &p, const GpuTraits &traits, size_t limit) {
  const std::vector<CublasPlan> plans = cublas_candidates(p, traits, limit);
  return *std::min_element(plans.begin(), plans.end(), [&](const CublasPlan &x, const CublasPlan &y) { return better(x, y, limit); });
}

}  // namespace tritri::cuda
