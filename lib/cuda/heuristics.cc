#include "cuda/heuristics.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "core/error.h"
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

bool better(const Choice &x, const Choice &y, size_t limit) {
  const bool x_fits = x.workspace() <= limit, y_fits = y.workspace() <= limit;
  if (x_fits != y_fits) return x_fits;
  return x_fits ? x.plan.seconds < y.plan.seconds : x.workspace() < y.workspace();
}

// Calls f with everything that can serve a product, simt first.
template <class F>
void each_choice(const Problem &problem, const GpuTraits &traits, size_t limit, F &&f) {
  for (size_t index = 0; index < kernels().size(); ++index) {
    const Kernel &kernel = *kernels()[index];
    if (!kernel.can(problem, traits)) continue;
    Choice choice;
    choice.plan = kernel.plan(problem, traits, limit);
    choice.plan.algorithm = TRITRI_ALGORITHM_KERNEL;
    choice.plan.kernel = static_cast<int>(index);
    choice.plan.kernel_name = kernel.name;
    f(choice);
  }
  if (traits.cublas_version == 0) return;
  for (const CublasPlan &blas : cublas_candidates(problem, traits, limit)) {
    Choice choice;
    choice.cublas = blas;
    choice.plan.algorithm = TRITRI_ALGORITHM_CUBLAS;
    choice.plan.kernel = static_cast<int>(blas.form);
    choice.plan.kernel_name = name(blas.form);
    choice.plan.tile_m = blas.strip;
    choice.plan.tile_n = problem.n;
    choice.plan.tile_k = blas.panel;
    choice.plan.workspace = blas.bytes;
    choice.plan.seconds = blas.seconds;
    f(choice);
  }
}

// Nothing; the result alone, since some kernels read packed inputs; the inputs alone, since some write a packed result at no cost; everything.
std::vector<Unpacking> unpackings(const Problem &p) {
  std::vector<Unpacking> ways = {{}};
  if (p.c.packed) ways.push_back({false, false, true});
  if (p.a.packed || p.b.packed) ways.push_back({p.a.packed, p.b.packed, false});
  if (p.c.packed && (p.a.packed || p.b.packed)) ways.push_back({p.a.packed, p.b.packed, true});
  return ways;
}

// Of unpacking and packing: what a launch takes, and each element of the fill read and written.
double copy_seconds(const Problem &p, const Staged &staged, const GpuTraits &traits) {
  constexpr double launch = 2.5e-6;
  double seconds = 0;
  const auto add = [&](const View &x, int times) {
    const double elements = static_cast<double>(x.rows) * static_cast<double>(x.cols) * (x.fill == Fill::full ? 1 : 0.5) * static_cast<double>(x.batch_stride == 0 ? 1 : p.batch);
    seconds += times * (launch + 2 * elements * static_cast<double>(element_bytes(p.dtype)) / traits.bytes_per_second);
  };
  if (staged.copy_a) add(p.a, 1);
  if (staged.copy_b) add(p.b, 1);
  if (staged.copy_c) add(p.c, p.beta != std::complex<double>(0, 0) ? 2 : 1);
  return seconds;
}

// Of an address a choice may depend on no more than this.
constexpr uintptr_t strictest_alignment = 256;

bool same(const View &x, const View &y) {
  return x.fill == y.fill && x.unit == y.unit && x.conj == y.conj && x.row_lines == y.row_lines && x.packed == y.packed && x.rows == y.rows && x.cols == y.cols &&
         x.ld == y.ld && x.batch_stride == y.batch_stride && (reinterpret_cast<uintptr_t>(x.data) ^ reinterpret_cast<uintptr_t>(y.data)) % strictest_alignment == 0;
}

// Of alpha and beta no more matters than whether they are 0.
bool same(const Problem &x, const Problem &y) {
  return x.dtype == y.dtype && x.m == y.m && x.n == y.n && x.k == y.k && x.batch == y.batch && same(x.a, y.a) && same(x.b, y.b) && same(x.c, y.c) &&
         (x.alpha == 0.0) == (y.alpha == 0.0) && (x.beta == 0.0) == (y.beta == 0.0) && x.compute == y.compute && x.c_is_a == y.c_is_a && x.c_is_b == y.c_is_b;
}

}  // namespace

Staged staged(const Problem &problem, const Unpacking &unpacking, void *workspace) {
  Staged moved;
  moved.problem = problem;
  if (only_scales(problem) || problem.m == 0 || problem.n == 0) return moved;
  const int64_t element = element_bytes(problem.dtype);
  char *const base = static_cast<char *>(workspace);
  size_t bytes = 0;
  if (problem.c_is_a || unpacking.a) {
    moved.problem.a = copied(problem.a, problem.batch, element, base, &bytes);
    moved.copy_a = true;
    moved.bytes += bytes;
  }
  if (problem.c_is_b || unpacking.b) {
    const Lines a = problem.a.lines(), b = problem.b.lines();
    const bool same_lines = moved.copy_a && problem.a.data == problem.b.data && a.profile == b.profile && a.count == b.count && a.length == b.length && a.packed == b.packed &&
                            a.ld == b.ld && problem.a.batch_stride == problem.b.batch_stride;
    moved.problem.b = copied(problem.b, problem.batch, element, same_lines ? base : base + moved.bytes, &bytes);
    moved.copy_b = !same_lines;
    if (!same_lines) moved.bytes += bytes;
  }
  if (unpacking.c) {
    moved.problem.c = copied(problem.c, problem.batch, element, base + moved.bytes, &bytes);
    moved.copy_c = true;
    moved.bytes += bytes;
  }
  moved.problem.c_is_a = moved.problem.c_is_b = false;
  return moved;
}

std::vector<Choice> every_choice(const Problem &problem, const GpuTraits &traits, size_t limit) {
  std::vector<Choice> choices;
  each_choice(problem, traits, limit, [&](Choice &choice) { choices.push_back(std::move(choice)); });
  return choices;
}

Choice choose(const Problem &problem, int32_t algorithm, const GpuTraits &traits, size_t limit) {
  if (algorithm == TRITRI_ALGORITHM_CUBLAS && traits.cublas_version == 0)
    fail_below(TRITRI_NOT_SUPPORTED, "options: algorithm TRITRI_ALGORITHM_CUBLAS (2) needs cuBLAS 12 or 13, got none on this machine"
               " (tritri_device_info_get says what was tried)");
  if (only_scales(problem) || problem.m == 0 || problem.n == 0) {
    Choice nothing;
    nothing.plan.algorithm = algorithm == TRITRI_ALGORITHM_CUBLAS ? TRITRI_ALGORITHM_CUBLAS : TRITRI_ALGORITHM_KERNEL;
    nothing.plan.kernel_name = "scale";
    nothing.plan.reason = "there is nothing to multiply";
    return nothing;
  }
  Choice best;
  int candidates = 0;
  for (const Unpacking &unpacking : unpackings(problem)) {
    const Staged moved = staged(problem, unpacking, nullptr);
    each_choice(moved.problem, traits, limit > moved.bytes ? limit - moved.bytes : 0, [&](Choice &choice) {
      if (algorithm != TRITRI_ALGORITHM_AUTO && choice.plan.algorithm != algorithm) return;
      choice.unpacking = unpacking;
      choice.copies = moved.bytes;
      choice.plan.seconds += copy_seconds(problem, moved, traits);
      if (candidates++ == 0 || better(choice, best, limit)) best = choice;
    });
  }
  best.plan.reason = algorithm == TRITRI_ALGORITHM_AUTO ? "least modelled time of " + std::to_string(candidates) + " candidates" : "asked for";
  return best;
}

Plan make_plan(const Problem &problem, int32_t algorithm, const GpuTraits &traits, size_t limit) {
  Choice choice = choose(problem, algorithm, traits, limit);
  choice.plan.workspace = choice.workspace();
  return choice.plan;
}

const Choice &Choices::recall(const Problem &problem, int32_t algorithm, const GpuTraits &traits, size_t limit) {
  const bool one_input = problem.a.data == problem.b.data;
  for (const Entry &entry : entries_)
    if (entry.algorithm == algorithm && entry.one_input == one_input && same(entry.problem, problem)) return entry.choice;
  Entry &entry = entries_[next_++ % std::size(entries_)];
  entry.algorithm = -1;  // nothing, should choosing fail
  entry.choice = choose(problem, algorithm, traits, limit);
  entry.problem = problem;
  entry.one_input = one_input;
  entry.algorithm = algorithm;
  return entry.choice;
}

}  // namespace tritri::cuda
