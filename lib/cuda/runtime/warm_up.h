// What is slow once: first launches, and cuBLAS's loading of its kernels. Done while a context is created; nothing of it outlives that.
#pragma once
#include <cuda_runtime_api.h>

#include <atomic>
#include <future>
#include <vector>

#include "cuda/cublas/handle.h"
#include "cuda/traits.h"

namespace tritri::cuda {

// False where the environment says TRITRI_WARM_UP=0: under a sanitizer or debugger the launches below take minutes.
bool wants_warm_up();

// Launches each of our kernels that serves this card, and each of its shapes, with operands in `memory`.
void launch_every_kernel(const GpuTraits &traits, void *memory, size_t bytes, cudaStream_t stream);

// Products of every type by every form of cuBLAS. The first of each loads what it needs, 10 to 100 ms of host time, of which cuBLAS and the driver let about
// half run in parallel: threads work at it, each with a handle and memory of its own, while the context sees to the rest.
class CublasWarmUp {
 public:
  CublasWarmUp(int device, const GpuTraits &traits, int threads);  // fewer where there is no thread or no memory to be had
  // Takes part, with a handle and memory that the caller has, until all is done.
  void finish(Cublas &blas, void *memory, size_t bytes, cudaStream_t stream);

 private:
  void help();
  void work(Cublas &blas, void *memory, size_t bytes, cudaStream_t stream);

  int device_;
  GpuTraits traits_;
  std::atomic<int> next_{0};
  std::vector<std::future<void>> helpers_;  // their end is waited for, whatever happens
};

}  // namespace tritri::cuda
