// Compiled for the target as it is: SSE2 on x86-64, NEON on AArch64, whatever 16-byte vectors become elsewhere.
#include "cpu/vector_kernel.h"

namespace tritri::cpu {

const KernelSet *generic_kernels() {
#ifdef __aarch64__
  static const KernelSet set = vector_kernels<16, 8, 4>("generic");  // 32 registers: 16 sums
#else
  static const KernelSet set = vector_kernels<16, 4, 2>("generic");  // 16 registers: 8 sums
#endif
  return &set;
}

}  // namespace tritri::cpu
