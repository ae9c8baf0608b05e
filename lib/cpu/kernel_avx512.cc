// Compiled with -mavx512f -mfma where the target is x86-64.
#include "cpu/vector_kernel.h"

namespace tritri::cpu {

#ifdef __AVX512F__
// 32 registers: 24 sums, 2 vectors of B, the rest for A.
const KernelSet *avx512_kernels() {
  static const KernelSet set = vector_kernels<64, 12, 6>("avx512");
  return __builtin_cpu_supports("avx512f") ? &set : nullptr;
}
#else
const KernelSet *avx512_kernels() { return nullptr; }
#endif

}  // namespace tritri::cpu
