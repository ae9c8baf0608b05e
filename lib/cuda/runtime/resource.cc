#include "cuda/runtime/resource.h"

namespace tritri::cuda {

DeviceMemory allocate_device(size_t bytes) {
  if (bytes == 0) return DeviceMemory();
  void *memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, bytes);
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    size_t free = 0, total = 0;
    drop(cudaMemGetInfo(&free, &total));
    fail_below(TRITRI_OUT_OF_MEMORY, "memory: the CUDA device must have room for ", bytes, " bytes, got ", free, " free of ", total);
  }
  TRITRI_CUDA_CHECK(error);
  return DeviceMemory(memory);
}

PinnedMemory allocate_pinned(size_t bytes) {
  void *memory = nullptr;
  const cudaError_t error = cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    fail_below(TRITRI_OUT_OF_MEMORY, "memory: the host must have room for ", bytes, " bytes of pinned memory, got none");
  }
  TRITRI_CUDA_CHECK(error);
  return PinnedMemory(memory);
}

}  // namespace tritri::cuda
