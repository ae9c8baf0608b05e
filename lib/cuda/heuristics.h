// How a product is computed on a GPU, decided from the problem and the card's figures alone: no CUDA header, no GPU needed.
#pragma once
#include "core/canonical.h"
#include "core/plan.h"
#include "cuda/cublas/route.h"
#include "cuda/traits.h"

namespace tritri::cuda {

// C is cleared or scaled and no kernel is needed: alpha 0, or an inner dimension of 0.
inline bool only_scales(const Problem &problem) { return !problem.reads_inputs(); }

// Which packed operands a product reads or writes through copies with whole lines, since most kernels want those.
struct Unpacking {
  bool a = false, b = false, c = false;
};

// A product whose operands stand in the workspace in part: inputs that share C's memory, and packed operands that are to be unpacked. Lines are as they
// were, but strided and padded to whole sectors. The copies stand at the start of the workspace, each aligned to 256 bytes; `bytes` is what they take.
struct Staged {
  Problem problem;  // with the copies in place of what they stand for
  size_t bytes = 0;
  bool copy_a = false, copy_b = false;  // before the product; copy_b is false where the copy of A serves B too
  bool copy_c = false;                  // after it, and before it if C is added to
};
Staged staged(const Problem &problem, const Unpacking &unpacking, void *workspace);

// How a product runs: one of the kernels, or a form of cuBLAS.
struct Choice {
  Plan plan;          // workspace: what the kernel or cuBLAS asks for; the copies of staged() stand before it
  CublasPlan cublas;  // where plan.algorithm is CUBLAS
  Unpacking unpacking;
  size_t copies = 0;  // bytes of workspace
  size_t workspace() const { return copies + plan.workspace; }
};

// Everything that can serve a product that is not in place and has something to multiply, simt first.
std::vector<Choice> every_choice(const Problem &problem, const GpuTraits &traits, size_t workspace_limit);

// The fastest way by modelled time whose workspace fits into `workspace_limit`; where none fits, the one that needs least. Throws
// TRITRI_NOT_SUPPORTED where `algorithm` cannot serve the problem.
Choice choose(const Problem &problem, int32_t algorithm, const GpuTraits &traits, size_t workspace_limit);

// The same as a plan to print: its workspace includes the copies.
Plan make_plan(const Problem &problem, int32_t algorithm, const GpuTraits &traits, size_t workspace_limit);

// One context's last few choices: programs multiply the same shapes again and again, and looking at every candidate takes the host longer than a launch.
class Choices {
 public:
  const Choice &recall(const Problem &problem, int32_t algorithm, const GpuTraits &traits, size_t workspace_limit);  // valid until the next call

 private:
  struct Entry {
    Problem problem;  // pointers stand for their alignment
    int32_t algorithm = -1;
    bool one_input = false;
    Choice choice;
  };
  Entry entries_[8];
  unsigned next_ = 0;
};

}  // namespace tritri::cuda
