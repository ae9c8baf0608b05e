// Compiled with -mavx2 -mfma where the target is x86-64.
#include "cpu/vector_kernel.h"

namespace tritri::cpu {

#ifdef __AVX2__
// 16 registers: 12 sums, or 8 of complex numbers, whose B takes 4, 2 vectors of B, the rest for A.
const KernelSet *avx2_kernels() {
  static const KernelSet set = vector_kernels<32, 6, 2>("avx2");
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &set : nullptr;
}
#else
const KernelSet *avx2_kernels() { return nullptr; }
#endif

}  // namespace tritri::cpu
