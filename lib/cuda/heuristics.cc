#include "cuda/heuristics.h"

#include <algorithm>

#include "core/error.h"
#include "cuda/cublas/route.h"
#include "cuda/kernels/table.h"

namespace tritri::cuda {
namespace {

constexpr size_t workspace_align = 256;

size_t round_up(size_t bytes) { return (bytes + workspace_align - 1) / workspace_align * workspace_align; }

// The view of a copy: strided, lines padded to 16 bytes, to 128 where they are long.
View copied(const View &x, int64_t batch, int64_t element, void *memory, size_t *bytes) {
  View copy = x;
  const Lines lines = x.lines();
  const int64_t align = (lines.length * element >= 256 ? 128 : 16) / element;
  copy.data = memory;
  copy.packed = false;
  copy.ld = align > 1 ? (lines.length + align - 1) / align * align : lines.length;
  const int64_t one = lines.count * copy.ld;
  copy.batch_stride = x.batch_stride == 0 ? 0 : one;
  *bytes = round_up(static_cast<size_t>((x.batch_stride == 0 ? 1 : batch) * one * element));
  return copy;
}

bool better(const Plan &x, const Plan &y, size_t limit) {
  const bool x_fits = x.workspace <= limit, y_fits = y.workspace <= limit;
  if (x_fits != y_fits) return x_fits;
  return x_fits ? x.seconds < y.seconds : x.workspace < y.workspace;
}

Plan plan_cublas(const InPlace &moved, const GpuTraits &traits, size_t limit) {
  const CublasPlan blas = plan_cublas(moved.problem, traits, limit > moved.bytes ? limit - moved.bytes : 0);
  Plan plan;
  plan.algorithm = TRITRI_ALGORITHM_CUBLAS;
  plan.kernel = static_cast<int>(blas.form);
  plan.kernel_name = name(blas.form);
  plan.tile_m = blas.strip;
  plan.tile_n = moved.problem.n;
  plan.tile_k = blas.panel;
  plan.workspace = moved.bytes + blas.bytes;
  plan.seconds = blas.seconds;
  return plan;
}

}  // namespace

InPlace in_place(const Problem &problem, void *workspace) {
  InPlace moved;
  moved.problem = problem;
  if (only_scales(problem) || problem.m == 0 || problem.n == 0) return moved;
  const int64_t element = element_bytes(problem.dtype);
  char *base = static_cast<char *>(workspace);
  size_t bytes = 0;
  if (problem.c_is_a) {
    moved.problem.a = copied(problem.a, problem.batch, element, base, &bytes);
    moved.copy_a = true;
    moved.bytes += bytes;
  }
  if (problem.c_is_b) {
    const Lines a = problem.a.lines(), b = problem.b.lines();
    const bool same_lines = problem.c_is_a && a.profile == b.profile && a.count == b.count && a.length == b.length && a.packed == b.packed;
    moved.problem.b = copied(problem.b, problem.batch, element, same_lines ? base : base + moved.bytes, &bytes);
    moved.copy_b = !same_lines;
    if (!same_lines) moved.bytes += bytes;
  }
  moved.problem.c_is_a = moved.problem.c_is_b = false;
  return moved;
}

Plan make_plan(const Problem &problem, int32_t algorithm, const GpuTraits &traits, size_t limit) {
  if (algorithm == TRITRI_ALGORITHM_CUBLAS && traits.cublas_version == 0)
    fail(TRITRI_NOT_SUPPORTED, "tritri_multiply: options: algorithm TRITRI_ALGORITHM_CUBLAS (2) needs cuBLAS 12 or 13, got none on this machine"
         " (tritri_device_info_get says what was tried)");
  Plan best;
  if (only_scales(problem) || problem.m == 0 || problem.n == 0) {
    best.algorithm = algorithm == TRITRI_ALGORITHM_CUBLAS ? TRITRI_ALGORITHM_CUBLAS : TRITRI_ALGORITHM_KERNEL;
    best.kernel_name = "scale";
    best.reason = "there is nothing to multiply";
    return best;
  }
  const InPlace moved = in_place(problem, nullptr);
  int candidates = 0;
  const auto consider = [&](const Plan &plan) {
    if (candidates++ == 0 || better(plan, best, limit)) best = plan;
  };
  if (algorithm != TRITRI_ALGORITHM_CUBLAS) {
    for (size_t index = 0; index < kernels().size(); ++index) {
      const Kernel &kernel = *kernels()[index];
      if (!kernel.can(moved.problem, traits)) continue;
      Plan plan = kernel.plan(moved.problem, traits);
      plan.algorithm = TRITRI_ALGORITHM_KERNEL;
      plan.kernel = static_cast<int>(index);
      plan.kernel_name = kernel.name;
      plan.workspace += moved.bytes;
      consider(plan);
    }
  }
  if (algorithm != TRITRI_ALGORITHM_KERNEL && traits.cublas_version != 0) consider(plan_cublas(moved, traits, limit));
  best.reason = algorithm == TRITRI_ALGORITHM_AUTO ? text("least modelled time of ", candidates, " candidates") : "asked for";
  return best;
}

}  // namespace tritri::cuda
