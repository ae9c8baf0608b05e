// One check per CUDA call: a failure becomes tritri::Error that says which call, where, and what CUDA answered; the runtime's own
// record of it is cleared, so that the caller's next cudaGetLastError is not ours.
#pragma once
#include <cuda_runtime_api.h>

#include "core/error.h"

namespace tritri::cuda {

[[noreturn]] void throw_cuda_error(cudaError_t error, const char *call, const char *file, int line);

// Forgets a failure that the application met before it called us and that is none of ours. Sticky errors stay.
inline void forget_earlier_errors() { (void)cudaGetLastError(); }

}  // namespace tritri::cuda

#define TRITRI_CUDA_CHECK(call)                                                                                    \
  do {                                                                                                             \
    const cudaError_t tritri_error_ = (call);                                                                      \
    if (tritri_error_ != cudaSuccess) ::tritri::cuda::throw_cuda_error(tritri_error_, #call, __FILE__, __LINE__);  \
  } while (false)
