// Programmatic dependent launch, the host's half of it.
#pragma once
#include <cuda_runtime.h>

#include "cuda/runtime/check.h"

namespace tritri::cuda {

// A kernel launched with it may begin before what is ahead of it in the stream has ended, and waits for that end itself (tile/hopper.cuh): what a launch takes hides. Cards of
// compute capability 9.0 on.
inline cudaLaunchAttribute early_start() {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return attribute;
}

// Such a launch of a kernel that takes one structure.
template <class Parameter>
void launch_early(void (*kernel)(Parameter), dim3 grid, dim3 block, cudaStream_t stream, const Parameter &parameter) {
  cudaLaunchAttribute attribute = early_start();
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  TRITRI_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, parameter));
}

}  // namespace tritri::cuda
