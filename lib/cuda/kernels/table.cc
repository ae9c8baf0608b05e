#include "cuda/kernels/table.h"

namespace tritri::cuda {

// One line per kernel here, and one in the list below.
extern const Kernel simt_kernel;

const std::vector<const Kernel *> &kernels() {
  static const std::vector<const Kernel *> table = {
      &simt_kernel,
  };
  return table;
}

}  // namespace tritri::cuda
