// Products through cuBLAS. The plan is a pure function; the run only enqueues.
#pragma once
#include <vector>

#include "core/canonical.h"
#include "cuda/traits.h"

struct CUstream_st;

namespace tritri::cuda {

class Cublas;

// GEMM: everything is full and cuBLAS reads and writes in place. TRMM: one triangle times a full matrix. MASKED: what cuBLAS cannot read as it lies is
// copied whole, with explicit zeros and ones, and multiplied by one GEMM: few launches, so small products are its business. BLOCKED: strips of C's rows;
// for each, panels of k whose rows of A and columns of B exist, packed densely with explicit zeros on the diagonal and summed by one GEMM each.
enum class CublasForm : int { gemm, trmm, masked, blocked };
const char *name(CublasForm form);

struct CublasPlan {
  CublasForm form = CublasForm::blocked;
  int64_t strip = 0, panel = 0;       // rows of C and k taken at a time
  int64_t group = 1;                  // matrices of the batch taken at a time
  bool pack_a = false, pack_b = false;
  bool triangle_is_b = false;                         // of TRMM
  bool into_c = true;                                 // MASKED: GEMM writes C itself, not sums that are finished afterwards
  int64_t a_ld = 0, b_ld = 0, sum_ld = 0;             // elements, of packed panels and of the sums
  int64_t a_stride = 0, b_stride = 0, sum_stride = 0; // from one matrix of a group to the next; 0: one copy serves the batch
  size_t blas_bytes = 0;                              // cuBLAS's own part of the workspace, first: it stays where it is from call to call
  size_t sum_bytes = 0, a_bytes = 0, b_bytes = 0;     // then these in this order
  size_t bytes = 0;                                   // all of it
  double seconds = 0;                                 // modelled
};

// Every form that can serve the problem, each within `limit` bytes of workspace if it can.
std::vector<CublasPlan> cublas_candidates(const Problem &problem, const GpuTraits &traits, size_t limit);

// The one of them with the least modelled time among those that fit.
CublasPlan plan_cublas(const Problem &problem, const GpuTraits &traits, size_t limit);

void run_cublas(Cublas &blas, const Problem &problem, const CublasPlan &plan, void *workspace, CUstream_st *stream);

}  // namespace tritri::cuda
