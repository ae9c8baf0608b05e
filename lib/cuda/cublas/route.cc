// Products through cuBLAS: enqueues what plan.cc planned.
#include "cuda/cublas/route.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <type_traits>

#include "core/error.h"
#include "cuda/cublas/blocks.h"
#include "cuda/cublas/handle.h"
#include "cuda/kernels/panels.h"
#include "cuda/runtime/check.h"

namespace tritri::cuda {
namespace {

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

  // Copies what the plan packs, whole and masked, for these matrices of the batch; what GEMM is to read instead.
  struct Inputs { Operand a, b; };
  Inputs masked(Range group, char *workspace) const {
    Inputs inputs{in_place(p.a, group.begin, 0, 0), in_place(p.b, group.begin, 0, 0)};
    MaskedCopy copies[2];
    int count = 0;
    const auto pack = [&](const View &x, int64_t ld, int64_t stride, char *to) {
      // One copy of a matrix that the whole batch shares is made with the first group.
      if (stride != 0 || group.begin == 0) copies[count++] = {x, to, ld, stride};
      return Operand{to, ld, stride, x.row_lines, false};
    };
    if (plan.pack_a) inputs.a = pack(p.a, plan.a_ld, plan.a_stride, workspace + plan.sum_bytes);
    if (plan.pack_b) inputs.b = pack(p.b, plan.b_ld, plan.b_stride, workspace + plan.sum_bytes + plan.a_bytes);
    if (count > 0) copy_masked(p, copies, count, group, stream);
    return inputs;
  }

  void run_whole(char *workspace) const {
    for (int64_t batch = 0; batch < p.batch; batch += plan.group) {
      const Range group{batch, std::min(batch + plan.group, p.batch)};
      const Inputs x = masked(group, workspace);
      if (plan.into_c) {
        char *const c = static_cast<char *>(p.c_data()) + batch * p.c.batch_stride * element_bytes(p.dtype);
        gemm(p.m, p.n, p.k, p.alpha, x.a, x.b, p.beta, c, p.dtype, p.c.ld, p.c.batch_stride, group.size());
        if (has_structure(p)) repair(p, group, stream);
      } else {
        gemm(p.m, p.n, p.k, 1, x.a, x.b, 0, workspace, accumulator(p.dtype), plan.sum_ld, plan.sum_stride, group.size());
        finish_rows(p, group, {0, p.m}, workspace, plan.sum_ld, plan.sum_stride, stream);
      }
    }
  }

  void run_trmm(char *workspace) const {
    const CublasLibrary &l = blas.library();
    const bool left = plan.triangle_is_b;  // C^T = B^T A^T: B's triangle stands on the left in cuBLAS's eyes
    const View &triangle = left ? p.b : p.a;
    // The stored matrix as columns: our lines are cuBLAS's columns.
    const Fill stored = triangle.row_lines ? flipped(triangle.fill) : triangle.fill;
    const cublasSideMode_t side = left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
    const cublasFillMode_t uplo = stored == Fill::lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
    const cublasDiagType_t diag = triangle.unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
    const Scalar alpha(p.dtype, p.alpha);
    for (int64_t batch = 0; batch < p.batch; ++batch) {
      const Inputs x = masked({batch, batch + 1}, workspace);
      const Operand &t = left ? x.b : x.a, &f = left ? x.a : x.b;
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
      repair(p, {batch, batch + 1}, stream);
    }
  }

  void run_blocked(char *workspace) const {
    char *sums = workspace, *a_panel = sums + plan.sum_bytes, *b_panel = a_panel + plan.a_bytes;
    const Dtype sum_type = accumulator(p.dtype);
    const int64_t sum_element = element_bytes(sum_type), sum_stride = plan.sum_stride, a_stride = plan.a_stride, b_stride = plan.b_stride;
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

void run_cublas(Cublas &blas, const Problem &p, const CublasPlan &plan, void *workspace, cudaStream_t stream) {
  blas.use(stream, workspace, plan.blas_bytes);
  char *const parts = static_cast<char *>(workspace) + plan.blas_bytes;
  const Run run{blas, p, plan, stream};
  switch (plan.form) {
    case CublasForm::gemm: case CublasForm::masked: return run.run_whole(parts);
    case CublasForm::trmm: return run.run_trmm(parts);
    case CublasForm::blocked: return run.run_blocked(parts);
  }
}

}  // namespace tritri::cuda
