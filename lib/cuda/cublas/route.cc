#include "cuda/cublas/route.h"

#include <cuda_runtime_api.h>

#include <algorithm>

#include "core/error.h"
#include "core/k_range.h"
#include "cuda/cublas/handle.h"
#include "cuda/kernels/panels.h"
#include "cuda/runtime/check.h"

namespace tritri::cuda {
namespace {

int64_t round_up(int64_t x, int64_t unit) { return (x + unit - 1) / unit * unit; }

Dtype accumulator(Dtype dtype) { return dtype == Dtype::f16 || dtype == Dtype::bf16 ? Dtype::f32 : dtype; }

// cuBLAS 13.1 crashes in products where a dimension is 1 (1 x 1 x 1 in complex64, for one): those never reach it.
bool is_thin(int64_t m, int64_t n, int64_t k) { return m < 2 || n < 2 || k < 2; }

// cuBLAS can read the operand where it lies. A conjugate without transposition is not among its operations (in its column-major eyes our rows
// are columns, so lines along rows mean "no transposition"). Of 16-bit elements its kernels read several at once, beyond the end of a line too, so
// those must come in whole vectors.
bool readable(const Problem &p, const View &x) {
  const int64_t element = element_bytes(p.dtype), vector = 16 / element, length = x.lines().length;
  const bool whole_vectors = reinterpret_cast<uintptr_t>(x.data) % 16 == 0 && x.ld % vector == 0 && x.batch_stride % vector == 0 && length % vector == 0;
  if (element == 2 && !whole_vectors) return false;
  if (x.batch_stride < 0) return false;  // cuBLAS takes no steps back, or only for some types
  return x.fill == Fill::full && !x.unit && !x.packed && !(x.conj && x.row_lines) && p.compute != TRITRI_COMPUTE_TF32 &&
         reinterpret_cast<uintptr_t>(x.data) % static_cast<uintptr_t>(element) == 0;
}

bool writable(const Problem &p) {
  return p.c.fill == Fill::full && !p.c.packed && p.c.batch_stride >= 0 && reinterpret_cast<uintptr_t>(p.c.data) % static_cast<uintptr_t>(element_bytes(p.dtype)) == 0;
}

bool fits_trmm(const Problem &p) {
  if (is_thin(p.m, p.n, p.k) || !writable(p) || p.beta != std::complex<double>(0, 0) || p.compute == TRITRI_COMPUTE_TF32 || p.batch > 16) return false;
  if (p.dtype == Dtype::f16 || p.dtype == Dtype::bf16) return false;
  const bool a_full = p.a.fill == Fill::full && !p.a.unit;
  const View &triangle = a_full ? p.b : p.a, &full = a_full ? p.a : p.b;
  const bool aligned = reinterpret_cast<uintptr_t>(triangle.data) % static_cast<uintptr_t>(element_bytes(p.dtype)) == 0;
  return triangle.fill != Fill::full && triangle.rows == triangle.cols && !triangle.packed && !(triangle.conj && triangle.row_lines) && aligned &&
         readable(p, full) && full.row_lines;
}

// Multiply-adds per second relative to the card's float32 FMA rate, as cuBLAS reaches on large GEMMs of an H200.
double rate(const Problem &p, const GpuTraits &traits) {
  const bool fast_double = traits.compute_minor == 0 && traits.compute_major >= 6;
  switch (p.dtype) {
    case Dtype::f64: return fast_double ? 0.85 : 0.016;
    case Dtype::c64: return 0.19;
    case Dtype::c128: return fast_double ? 0.26 : 0.004;
    case Dtype::f16: case Dtype::bf16: return 6;
    case Dtype::f32: break;
  }
  return p.compute == TRITRI_COMPUTE_TF32 ? 3.5 : 0.6;
}

// One GEMM in waves of 128 x 128 tiles; where it adds to sums that are in memory, it reads and writes those.
double gemm_seconds(const Problem &p, const GpuTraits &traits, double rows, double cols, double k, double count, bool adds) {
  const auto tiles = [](double size) { return size <= 128 ? 1.0 : size / 128; };
  const double waves = std::max(1.0, tiles(rows) * tiles(cols) * count / traits.multiprocessors);
  const double traffic = adds ? 2 * rows * cols * count * static_cast<double>(element_bytes(accumulator(p.dtype))) / traits.bytes_per_second : 0;
  return 5e-6 + traffic + waves * traits.multiprocessors * 128 * 128 * k / (rate(p, traits) * traits.fma32_per_second);
}

struct Block { Range rows, cols; };

// What panel `k` contributes to within a strip of C's rows.
Block touched(const Problem &p, Range strip, Range k) {
  Block t{strip, {0, p.n}};
  if (p.a.fill == Fill::lower) t.rows.begin = std::max(strip.begin, k.begin);
  if (p.a.fill == Fill::upper) t.rows.end = std::min(strip.end, k.end);
  if (p.b.fill == Fill::lower) t.cols.end = std::min(t.cols.end, k.end);
  if (p.b.fill == Fill::upper) t.cols.begin = std::max(t.cols.begin, k.begin);
  if (p.c.fill == Fill::lower) t.cols.end = std::min(t.cols.end, t.rows.end);
  if (p.c.fill == Fill::upper) t.cols.begin = std::max(t.cols.begin, t.rows.begin);
  return t;
}

// Calls f(strip, panel, block) for every GEMM of one group, strip by strip.
template <class StripEnd, class F>
void each_gemm(const Problem &p, const CublasPlan &plan, F &&gemm, StripEnd &&strip_end) {
  for (int64_t i = 0; i < p.m; i += plan.strip) {
    const Range strip{i, std::min(i + plan.strip, p.m)};
    for (int64_t k = 0; k < p.k; k += plan.panel) {
      const Range panel{k, std::min(k + plan.panel, p.k)};
      const Block block = touched(p, strip, panel);
      if (!block.rows.empty() && !block.cols.empty()) gemm(panel, block);
    }
    strip_end(strip);
  }
}

void size_blocked(const Problem &p, CublasPlan *plan) {
  const int64_t element = element_bytes(p.dtype), sum = element_bytes(accumulator(p.dtype)), align = 256;
  plan->sum_ld = round_up(p.n, 16 / std::min<int64_t>(sum, 16));
  plan->a_ld = round_up(plan->panel, 16 / element);
  plan->b_ld = round_up(p.n, 16 / element);
  plan->sum_bytes = static_cast<size_t>(round_up(plan->group * plan->strip * plan->sum_ld * sum, align));
  plan->a_bytes = plan->pack_a ? static_cast<size_t>(round_up(plan->group * plan->strip * plan->a_ld * element, align)) : 0;
  plan->b_bytes = plan->pack_b ? static_cast<size_t>(round_up(plan->group * plan->panel * plan->b_ld * element, align)) : 0;
  plan->bytes = plan->sum_bytes + plan->a_bytes + plan->b_bytes + plan->blas_bytes;
}

CublasPlan plan_blocked(const Problem &p, const GpuTraits &traits, size_t blas_bytes, size_t limit, int64_t panel) {
  CublasPlan plan;
  plan.blas_bytes = blas_bytes;
  plan.pack_a = !readable(p, p.a);
  plan.pack_b = !readable(p, p.b);
  plan.panel = panel;
  plan.strip = p.c.fill == Fill::full ? p.m : std::min(p.m, std::max<int64_t>(512, round_up(p.m / 8, 128)));
  plan.group = 1;
  size_blocked(p, &plan);
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
    plan.group = std::clamp<int64_t>(static_cast<int64_t>(room / each), 1, std::min<int64_t>(p.batch, 65535));
    size_blocked(p, &plan);
    while (plan.bytes > limit && plan.group > 1) {
      plan.group -= (plan.group + 15) / 16;
      size_blocked(p, &plan);
    }
  }
  const double element = static_cast<double>(element_bytes(p.dtype)), sum = static_cast<double>(element_bytes(accumulator(p.dtype))), group = static_cast<double>(plan.group);
  double seconds = 0;
  each_gemm(p, plan, [&](Range panel, const Block &block) {
    const double rows = static_cast<double>(block.rows.size()), cols = static_cast<double>(block.cols.size()), k = static_cast<double>(panel.size());
    seconds += gemm_seconds(p, traits, rows, cols, k, group, true);
    if (plan.pack_a) seconds += 3e-6 + 2 * group * rows * k * element / traits.bytes_per_second;
    if (plan.pack_b) seconds += 3e-6 + 2 * group * k * cols * element / traits.bytes_per_second;
  }, [&](Range strip) {
    seconds += 6e-6 + group * static_cast<double>(strip.size()) * static_cast<double>(p.n) * (2 * sum + element) / traits.bytes_per_second;
  });
  plan.seconds = seconds * static_cast<double>((p.batch + plan.group - 1) / plan.group);
  return plan;
}

// Thin panels waste little on the diagonals, thick ones make fewer and better GEMMs: the model decides.
CublasPlan plan_blocked(const Problem &p, const GpuTraits &traits, size_t blas_bytes, size_t limit) {
  CublasPlan best = plan_blocked(p, traits, blas_bytes, limit, p.k);
  if (p.a.fill == Fill::full && p.b.fill == Fill::full) return best;
  for (int64_t panel = 128; panel < p.k && panel <= 2048; panel *= 2) {
    if (p.k / panel > 64) continue;
    const CublasPlan plan = plan_blocked(p, traits, blas_bytes, limit, panel);
    const bool fits = plan.bytes <= limit, best_fits = best.bytes <= limit;
    if (fits != best_fits ? fits : plan.seconds < best.seconds) best = plan;
  }
  return best;
}

// What runs, with everything a call needs at hand.
struct Run {
  const Cublas &blas;
  const Problem &p;
  const CublasPlan &plan;
  cudaStream_t stream;

  cudaDataType type(Dtype dtype) const {
    switch (dtype) {
      case Dtype::f64: return CUDA_R_64F;
      case Dtype::c64: return CUDA_C_32F;
      case Dtype::c128: return CUDA_C_64F;
      case Dtype::f16: return CUDA_R_16F;
      case Dtype::bf16: return CUDA_R_16BF;
      case Dtype::f32: break;
    }
    return CUDA_R_32F;
  }

  cublasComputeType_t compute() const {
    if (p.dtype == Dtype::f64 || p.dtype == Dtype::c128) return CUBLAS_COMPUTE_64F;
    if (p.compute == TRITRI_COMPUTE_PEDANTIC) return CUBLAS_COMPUTE_32F_PEDANTIC;
    return p.compute == TRITRI_COMPUTE_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  }

  // An operand as cuBLAS is given it: in our row-major eyes rows x cols with lines along the rows, or across them.
  struct Operand { const void *data; int64_t ld, stride; bool row_lines, conj; };

  cublasOperation_t op(const Operand &x) const { return x.row_lines ? CUBLAS_OP_N : x.conj ? CUBLAS_OP_C : CUBLAS_OP_T; }

  // C (m x n) := alpha A B + beta C, all as rows: cuBLAS computes the columns of C^T = B^T A^T.
  void gemm(int64_t m, int64_t n, int64_t k, std::complex<double> alpha, const Operand &a, const Operand &b, std::complex<double> beta, void *c, Dtype c_type,
            int64_t ldc, int64_t c_stride, int64_t count) const {
    const CublasLibrary &l = blas.library();
    const Scalar alpha_value(p.dtype, alpha), beta_value(p.dtype, beta);
    const cudaDataType in = type(p.dtype), out = type(c_type);
    if (count == 1) {
      TRITRI_CUBLAS_CHECK(l, l.gemm(blas.handle(), op(b), op(a), n, m, k, alpha_value.pointer(), b.data, in, b.ld, a.data, in, a.ld, beta_value.pointer(), c, out, ldc,
                                    compute(), CUBLAS_GEMM_DEFAULT));
    } else {
      TRITRI_CUBLAS_CHECK(l, l.gemm_batched(blas.handle(), op(b), op(a), n, m, k, alpha_value.pointer(), b.data, in, b.ld, b.stride, a.data, in, a.ld, a.stride,
                                            beta_value.pointer(), c, out, ldc, c_stride, count, compute(), CUBLAS_GEMM_DEFAULT));
    }
  }

  // A factor in the type that the product is computed in.
  class Scalar {
   public:
    Scalar(Dtype dtype, std::complex<double> x) : narrow_(x), wide_(x), is_wide_(dtype == Dtype::f64 || dtype == Dtype::c128) {}
    const void *pointer() const { return is_wide_ ? static_cast<const void *>(&wide_) : &narrow_; }

   private:
    std::complex<float> narrow_;
    std::complex<double> wide_;
    bool is_wide_;
  };

  Operand in_place(const View &x, int64_t batch, int64_t row, int64_t col) const {
    const char *data = static_cast<const char *>(x.data) + (batch * x.batch_stride + x.offset(row, col)) * element_bytes(p.dtype);
    return {data, x.ld, x.batch_stride, x.row_lines, x.conj};
  }

  void run_gemm() const {
    // cuBLAS's batch count reaches its kernels' grid; chunks keep it inside every version's limits.
    for (int64_t batch = 0; batch < p.batch; batch += plan.group) {
      const int64_t count = std::min(plan.group, p.batch - batch);
      char *c = static_cast<char *>(p.c_data()) + batch * p.c.batch_stride * element_bytes(p.dtype);
      gemm(p.m, p.n, p.k, p.alpha, in_place(p.a, batch, 0, 0), in_place(p.b, batch, 0, 0), p.beta, c, p.dtype, p.c.ld, p.c.batch_stride, count);
    }
  }

  void run_trmm() const {
    const CublasLibrary &l = blas.library();
    const bool left = p.a.fill == Fill::full;  // C^T = B^T A^T: B's triangle stands on the left in cuBLAS's eyes
    const View &triangle = left ? p.b : p.a, &full = left ? p.a : p.b;
    // The stored matrix as columns: our lines are cuBLAS's columns.
    const Fill stored = triangle.row_lines ? flipped(triangle.fill) : triangle.fill;
    const cublasSideMode_t side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
    const cublasFillMode_t uplo = stored == Fill::lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
    const cublasDiagType_t diag = triangle.unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
    const Scalar alpha(p.dtype, p.alpha);
    for (int64_t batch = 0; batch < p.batch; ++batch) {
      const Operand t = in_place(triangle, batch, 0, 0), f = in_place(full, batch, 0, 0);
      char *c = static_cast<char *>(p.c_data()) + batch * p.c.batch_stride * element_bytes(p.dtype);
      const auto call = [&](auto trmm, auto *real) {
        using R = std::remove_pointer_t<decltype(real)>;
        TRITRI_CUBLAS_CHECK(l, trmm(blas.handle(), side, uplo, op(t), diag, p.n, p.m, static_cast<const R *>(alpha.pointer()), static_cast<const R *>(t.data), t.ld,
                                    static_cast<const R *>(f.data), f.ld, reinterpret_cast<R *>(c), p.c.ld));
      };
      if (p.dtype == Dtype::f32) call(l.strmm, static_cast<float *>(nullptr));
      else if (p.dtype == Dtype::f64) call(l.dtrmm, static_cast<double *>(nullptr));
      else if (p.dtype == Dtype::c64) call(l.ctrmm, static_cast<cuComplex *>(nullptr));
      else call(l.ztrmm, static_cast<cuDoubleComplex *>(nullptr));
      repair(p, batch, stream);
    }
  }

  void run_blocked(char *workspace) const {
    char *sums = workspace, *a_panel = sums + plan.sum_bytes, *b_panel = a_panel + plan.a_bytes;
    const Dtype sum_type = accumulator(p.dtype);
    const int64_t sum_element = element_bytes(sum_type), sum_stride = plan.strip * plan.sum_ld, a_stride = plan.strip * plan.a_ld, b_stride = plan.panel * plan.b_ld;
    for (int64_t batch = 0; batch < p.batch; batch += plan.group) {
      const Range group{batch, std::min(batch + plan.group, p.batch)};
      int64_t strip_begin = 0;
      const auto clear = [&] {
        TRITRI_CUDA_CHECK(cudaMemsetAsync(sums, 0, static_cast<size_t>(group.size() * sum_stride * sum_element), stream));
      };
      clear();
      each_gemm(p, plan, [&](Range panel, const Block &block) {
        char *target = sums + ((block.rows.begin - strip_begin) * plan.sum_ld + block.cols.begin) * sum_element;
        if (is_thin(block.rows.size(), block.cols.size(), panel.size())) {
          add_thin(p, group, block.rows, block.cols, panel, target, plan.sum_ld, sum_stride, stream);
          return;
        }
        Operand a{a_panel, plan.a_ld, a_stride, true, false}, b{b_panel, plan.b_ld, b_stride, true, false};
        if (plan.pack_a) pack_panel(p, p.a, group, block.rows, panel, a_panel, plan.a_ld, a_stride, stream);
        else a = in_place(p.a, group.begin, block.rows.begin, panel.begin);
        if (plan.pack_b) pack_panel(p, p.b, group, panel, block.cols, b_panel, plan.b_ld, b_stride, stream);
        else b = in_place(p.b, group.begin, panel.begin, block.cols.begin);
        gemm(block.rows.size(), block.cols.size(), panel.size(), 1, a, b, 1, target, sum_type, plan.sum_ld, sum_stride, group.size());
      }, [&](Range strip) {
        finish_rows(p, group, strip, sums, plan.sum_ld, sum_stride, stream);
        strip_begin = strip.end;
        if (strip.end < p.m) clear();
      });
    }
  }
};

}  // namespace

const char *name(CublasForm form) {
  switch (form) {
    case CublasForm::gemm: return "cublas_gemm";
    case CublasForm::trmm: return "cublas_trmm";
    case CublasForm::blocked: break;
  }
  return "cublas_blocked_gemm";
}

CublasPlan plan_cublas(const Problem &p, const GpuTraits &traits, size_t limit) {
  // What NVIDIA recommends for cuBLAS on the architecture; with little room a smaller part, as on older ones.
  const size_t blas_bytes = traits.at_least(9, 0) && limit >= (size_t{96} << 20) ? size_t{32} << 20 : size_t{4} << 20;
  if (!is_thin(p.m, p.n, p.k) && writable(p) && readable(p, p.a) && readable(p, p.b)) {
    CublasPlan plan;
    plan.form = CublasForm::gemm;
    plan.strip = p.m;
    plan.panel = p.k;
    plan.group = std::min<int64_t>(p.batch, 65535);
    plan.blas_bytes = plan.bytes = blas_bytes;
    plan.seconds = gemm_seconds(p, traits, static_cast<double>(p.m), static_cast<double>(p.n), static_cast<double>(p.k), static_cast<double>(p.batch), false);
    return plan;
  }
  const CublasPlan blocked = plan_blocked(p, traits, blas_bytes, limit);
  if (!fits_trmm(p)) return blocked;
  CublasPlan trmm;
  trmm.form = CublasForm::trmm;
  trmm.strip = p.m;
  trmm.panel = p.k;
  trmm.blas_bytes = trmm.bytes = blas_bytes;
  const double pairs = 0.5 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  trmm.seconds = static_cast<double>(p.batch) * (6e-5 + pairs / (0.85 * rate(p, traits) * traits.fma32_per_second));
  return trmm.seconds <= blocked.seconds || blocked.bytes > limit ? trmm : blocked;
}

void run_cublas(const Cublas &blas, const Problem &p, const CublasPlan &plan, void *workspace, cudaStream_t stream) {
  const CublasLibrary &l = blas.library();
  char *base = static_cast<char *>(workspace);
  // In this order: setting the stream takes the workspace away.
  TRITRI_CUBLAS_CHECK(l, l.set_stream(blas.handle(), stream));
  TRITRI_CUBLAS_CHECK(l, l.set_workspace(blas.handle(), base + plan.sum_bytes + plan.a_bytes + plan.b_bytes, plan.blas_bytes));
  const Run run{blas, p, plan, stream};
  if (plan.form == CublasForm::gemm) run.run_gemm();
  else if (plan.form == CublasForm::trmm) run.run_trmm();
  else run.run_blocked(base);
}

}  // namespace tritri::cuda
