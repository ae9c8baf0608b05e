// The CUDA device's choices as data, and its search for cuBLAS. Runs without a GPU.
#include "core/error.h"
#include "cuda/cublas/library.h"
#include "cuda/cublas/route.h"
#include "cuda/heuristics.h"
#include "cuda/kernels/table.h"
#include "gpu/harness.h"

using namespace gpu;
using namespace tritri;
using namespace tritri::cuda;

namespace {

constexpr size_t plenty = size_t{256} << 20;

Problem square(int64_t n, Fill a, Fill b, Fill c, Dtype dtype = Dtype::f32) {
  Problem p;
  p.dtype = dtype;
  p.m = p.n = p.k = n;
  for (View *x : {&p.a, &p.b, &p.c}) {
    x->rows = x->cols = x->ld = n;
    x->data = reinterpret_cast<void *>(uintptr_t{4096});
  }
  p.a.fill = a;
  p.b.fill = b;
  p.c.fill = c;
  return p;
}

GpuTraits h200(int cublas = 130100) {
  GpuTraits traits;
  traits.cublas_version = cublas;
  return traits;
}

void every_problem_has_a_kernel() {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128, Dtype::f16, Dtype::bf16}) {
    for (const Fill a : {Fill::full, Fill::lower, Fill::upper}) {
      for (const Fill b : {Fill::full, Fill::lower, Fill::upper}) {
        for (const Fill c : {Fill::full, Fill::lower, Fill::upper}) {
          for (const int64_t n : {1, 17, 64, 1000, 20000}) {
            const Problem p = square(n, a, b, c, dtype);
            const Plan own = make_plan(p, TRITRI_ALGORITHM_KERNEL, h200(), plenty), automatic = make_plan(p, TRITRI_ALGORITHM_AUTO, h200(), plenty),
                       blas = make_plan(p, TRITRI_ALGORITHM_CUBLAS, h200(), plenty);
            expect(own.algorithm == TRITRI_ALGORITHM_KERNEL && blas.algorithm == TRITRI_ALGORITHM_CUBLAS, "the algorithm asked for must be the one planned");
            expect(own.seconds > 0 && blas.seconds > 0, "every candidate has a modelled time");
            expect(automatic.seconds <= own.seconds && automatic.seconds <= blas.seconds, "AUTO must not be slower than what it could have had");
            expect(own.workspace <= plenty && blas.workspace <= plenty, "the default workspace must do for products that are not in place");
            expect(make_plan(p, TRITRI_ALGORITHM_KERNEL, h200(), 0).workspace == 0, "some kernel must do without workspace");
          }
        }
      }
    }
  }
}

void cublas_forms() {
  const auto form = [](const Problem &p) { return static_cast<CublasForm>(make_plan(p, TRITRI_ALGORITHM_CUBLAS, h200(), plenty).kernel); };
  Problem p = square(4096, Fill::full, Fill::full, Fill::full);
  expect(form(p) == CublasForm::gemm, "full times full is one GEMM");
  p.c.fill = Fill::lower;
  expect(form(p) == CublasForm::blocked, "a cut result must not be written beyond its cut");
  p = square(4096, Fill::lower, Fill::lower, Fill::full);
  expect(form(p) == CublasForm::blocked, "two triangles skip more than TRMM can");
  p = square(4096, Fill::full, Fill::full, Fill::full);
  p.compute = TRITRI_COMPUTE_TF32;
  expect(form(p) == CublasForm::blocked, "TF32 rounds its inputs to nearest, which cuBLAS does not promise");
  p = square(4096, Fill::full, Fill::full, Fill::full, Dtype::c64);
  p.a.conj = true;
  expect(form(p) == CublasForm::blocked, "cuBLAS has no conjugate without transposition");
  p.a.row_lines = false;
  expect(form(p) == CublasForm::gemm, "a conjugate transpose is one of cuBLAS's operations");
  p.a.data = reinterpret_cast<void *>(uintptr_t{4100});
  expect(form(p) == CublasForm::blocked, "cuBLAS wants complex numbers aligned to their size");
  p = square(4096, Fill::full, Fill::full, Fill::full, Dtype::f16);
  expect(form(p) == CublasForm::gemm, "whole vectors of 16-bit elements are read where they lie");
  p.b.ld = 4097;
  expect(form(p) == CublasForm::blocked, "cuBLAS reads 16-bit elements in vectors, beyond the end of a line too");
  p = square(64, Fill::full, Fill::full, Fill::full);
  p.batch = 3;
  p.a.batch_stride = p.b.batch_stride = p.c.batch_stride = 4096;
  expect(form(p) == CublasForm::gemm, "a batch of full products is one batched GEMM");
  p.b.batch_stride = -4096;
  expect(form(p) == CublasForm::blocked, "cuBLAS takes no steps back through a batch");
  expect(form(square(1, Fill::full, Fill::full, Fill::full, Dtype::c64)) == CublasForm::blocked, "a dimension of 1 never reaches cuBLAS");
}

void workspace_limits() {
  const Problem p = square(6000, Fill::lower, Fill::lower, Fill::full);
  size_t least = SIZE_MAX;
  for (size_t limit = size_t{8} << 20; limit <= (size_t{1} << 30); limit *= 2) {
    const Plan plan = make_plan(p, TRITRI_ALGORITHM_CUBLAS, h200(), limit);
    least = std::min(least, plan.workspace);
    if (limit >= (size_t{64} << 20)) expect(plan.workspace <= limit, "blocks must shrink to what there is");
  }
  expect(make_plan(p, TRITRI_ALGORITHM_CUBLAS, h200(), 0).workspace <= least, "with no room at all the least need is what is told");
  expect(make_plan(p, TRITRI_ALGORITHM_AUTO, h200(), 0).workspace == 0, "AUTO falls back on what needs nothing");
}

void no_cublas_no_plan() {
  try {
    make_plan(square(10, Fill::lower, Fill::lower, Fill::full), TRITRI_ALGORITHM_CUBLAS, h200(0), plenty);
  } catch (const Error &error) {
    expect(error.status() == TRITRI_NOT_SUPPORTED, error.what());
    expect(make_plan(square(10, Fill::lower, Fill::lower, Fill::full), TRITRI_ALGORITHM_AUTO, h200(0), plenty).algorithm == TRITRI_ALGORITHM_KERNEL, "AUTO has kernels");
    return;
  }
  throw std::runtime_error("CUBLAS without cuBLAS must be refused");
}

void copies_in_place() {
  Problem p = square(100, Fill::upper, Fill::lower, Fill::full);
  p.b.row_lines = false;  // X X^T: both inputs have X's lines
  p.c_is_a = p.c_is_b = true;
  char *const base = reinterpret_cast<char *>(uintptr_t{1} << 20);
  InPlace moved = in_place(p, base);
  expect(moved.copy_a && !moved.copy_b && moved.problem.b.data == moved.problem.a.data, "one copy serves an operand that is both inputs");
  p.b.row_lines = true;  // the same memory as upper A and lower B
  moved = in_place(p, base);
  expect(moved.copy_a && moved.copy_b && moved.problem.b.data != moved.problem.a.data, "two triangles of one memory are two copies");
  expect(moved.problem.a.data == base && reinterpret_cast<uintptr_t>(moved.problem.b.data) % 256 == 0, "copies are aligned");
  expect(moved.problem.a.ld % 4 == 0 && moved.problem.a.ld >= 100, "lines of copies are padded to whole vectors");
  expect(make_plan(p, TRITRI_ALGORITHM_KERNEL, h200(), plenty).workspace >= moved.bytes, "the plan counts the copies");
  p.alpha = 0;
  expect(in_place(p, base).bytes == 0 && make_plan(p, TRITRI_ALGORITHM_AUTO, h200(), plenty).workspace == 0, "scaling C needs no copy");
}

void cublas_folder_that_is_not_there() {
  const CublasLibrary &library = cublas_library();
  expect(library.version == 0 && library.create == nullptr, "nothing may be found in a folder that is not there");
  for (const char *file : {"/nowhere/libcublas.so.13", "/nowhere/libcublas.so.12"}) expect(library.report.find(file) != std::string::npos, library.report);
}

// L11
void cublas_beside_another_cublaslt() {
  const CublasLibrary &library = cublas_library();
  expect(library.version == 0, "a cuBLAS with another version's cublasLt must be refused");
  for (const char *words : {"13.1.0", "13.0.2", "libcublasLt.so.13"}) expect(library.report.find(words) != std::string::npos, library.report);
}

}  // namespace

int main(int argc, char **argv) {
  const auto alone = [](const char *name, const std::string &environment) {
    return [=] { expect(run_alone(name, environment) == 0, "the process failed"); };
  };
  return run(argc, argv,
             {
                 {"every_problem_has_a_kernel", every_problem_has_a_kernel},
                 {"cublas_forms", cublas_forms},
                 {"workspace_limits", workspace_limits},
                 {"no_cublas_no_plan", no_cublas_no_plan},
                 {"copies_in_place", copies_in_place},
                 {"cublas_folder_that_is_not_there", alone("alone_no_folder", "TRITRI_CUBLAS=/nowhere")},
                 {"L11_cublas_beside_another_cublaslt", alone("alone_other_version", "TRITRI_CUBLAS=" TRITRI_STAND_IN)},
             },
             {
                 {"alone_no_folder", cublas_folder_that_is_not_there},
                 {"alone_other_version", cublas_beside_another_cublaslt},
             });
}
