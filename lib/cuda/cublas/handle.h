// One cuBLAS handle: belongs to a context, lives on its device.
#pragma once
#include "cuda/cublas/library.h"

namespace tritri::cuda {

[[noreturn]] void throw_cublas_error(const CublasLibrary &library, cublasStatus_t status, const char *call, const char *file, int line);

class Cublas {
 public:
  Cublas();  // with the device current; throws where there is no cuBLAS
  ~Cublas();
  Cublas(const Cublas &) = delete;
  Cublas &operator=(const Cublas &) = delete;

  const CublasLibrary &library() const { return library_; }
  cublasHandle_t handle() const { return handle_; }
  // Where cuBLAS works from now on. Told only when it changes: a call costs as much as a launch, and setting the stream takes the workspace away.
  void use(cudaStream_t stream, void *workspace, size_t bytes);
  void abandon() { handle_ = nullptr; }  // the driver is gone: nothing may be freed any more

 private:
  const CublasLibrary &library_;
  cublasHandle_t handle_ = nullptr;
  cudaStream_t stream_ = nullptr;
  void *workspace_ = nullptr;
  size_t workspace_bytes_ = 0;
};

}  // namespace tritri::cuda

#define TRITRI_CUBLAS_CHECK(library, call)                                                                                           \
  do {                                                                                                                               \
    const cublasStatus_t tritri_status_ = (call);                                                                                    \
    if (tritri_status_ != CUBLAS_STATUS_SUCCESS) ::tritri::cuda::throw_cublas_error(library, tritri_status_, #call, __FILE__, __LINE__); \
  } while (false)
