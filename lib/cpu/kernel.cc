#include "cpu/kernel.h"

namespace tritri::cpu {

const KernelSet &best_kernels() {
  static const KernelSet &best = []() -> const KernelSet & {
    if (const KernelSet *set = avx512_kernels()) return *set;
    if (const KernelSet *set = avx2_kernels()) return *set;
    return *generic_kernels();
  }();
  return best;
}

}  // namespace tritri::cpu
