// Programmatic dependent launch, the host's half of it.
#pragma once
#include <cuda_runtime_api.h>

namespace tritri::cuda {

// A kernel launched with it may begin before what is ahead of it in the stream has ended, and waits for that end itself (tile/hopper.cuh): what a launch takes hides. Cards of
// compute capability 9.0 on.
inline cudaLaunchAttribute early_start() {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  return attribute;
}

}  // namespace tritri::cuda
