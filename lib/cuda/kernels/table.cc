#include "cuda/kernels/table.h"

namespace tritri::cuda {

// simt first: it serves everything, and clears and scales C.
extern const Kernel simt_kernel, sm80_kernel, sm80_cut_kernel, compact_kernel, cluster_kernel, mma_kernel, batched_kernel;
extern const Kernel hopper_float32_kernel, hopper_tf32_kernel, hopper_tf32_small_kernel, hopper_float16_kernel, hopper_bfloat16_kernel, hopper_float16_small_kernel, hopper_bfloat16_small_kernel;

const std::vector<const Kernel *> &kernels() {
  static const std::vector<const Kernel *> table = {
      &simt_kernel, &sm80_kernel, &sm80_cut_kernel, &compact_kernel, &cluster_kernel, &mma_kernel, &batched_kernel, &hopper_float32_kernel, &hopper_tf32_kernel,
      &hopper_tf32_small_kernel, &hopper_float16_kernel, &hopper_bfloat16_kernel, &hopper_float16_small_kernel, &hopper_bfloat16_small_kernel,
  };
  return table;
}

}  // namespace tritri::cuda
