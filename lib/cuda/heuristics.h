// How a product is computed on a GPU, decided from the problem and the card's figures alone: no CUDA header, no GPU needed.
#pragma once
#include "core/canonical.h"
#include "core/plan.h"

namespace tritri::cuda {

// What a choice may depend on. Read off the card once, when a context is made.
struct GpuTraits {
  int compute_major = 9, compute_minor = 0;
  int multiprocessors = 132;
  size_t shared_bytes = 232448;      // the most that one block may opt in to
  size_t l2_bytes = 60u << 20;
  double fma32_per_second = 31e12;   // multiply-adds of IEEE float32 outside the tensor cores, whole card
  double bytes_per_second = 4.0e12;  // device memory, read or written
  int cublas_version = 0;            // as CUDA counts; 0: not found

  bool at_least(int major, int minor) const { return compute_major > major || (compute_major == major && compute_minor >= minor); }
};

// C is cleared or scaled and no kernel is needed: alpha 0, or an inner dimension of 0.
inline bool only_scales(const Problem &problem) { return !problem.reads_inputs(); }

// Where an input that shares C's memory lies while the product runs: lines as they were, but strided and padded to whole sectors. The
// copies stand at the start of the workspace, each aligned to 256 bytes; `bytes` is what they take.
struct InPlace {
  Problem problem;  // with the copies in place of the aliased inputs
  size_t bytes = 0;
  bool copy_a = false, copy_b = false;  // copy_b is false where the copy of A serves B too
};
InPlace in_place(const Problem &problem, void *workspace);

// The fastest way by modelled time whose workspace fits into `workspace_limit`; where none fits, the one that needs least. Plan::workspace
// includes the copies of in_place(). Throws TRITRI_NOT_SUPPORTED where `algorithm` cannot serve the problem.
Plan make_plan(const Problem &problem, int32_t algorithm, const GpuTraits &traits, size_t workspace_limit);

}  // namespace tritri::cuda
