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
  void abandon() { handle_ = nullptr; }  // the driver is gone: nothing may be freed any more

 private:
  const CublasLibrary &library_;
  cublasHandle_t handle_ = nullptr;
};

}  // namespace tritri::cuda

#define TRITRI_CUBLAS_CHECK(library, call)                                                                                           \
  do {                                                                                                                               \
    const cublasStatus_t tritri_status_ = (call);                                                                                    \
    if (tritri_status_ != CUBLAS_STATUS_SUCCESS) ::tritri::cuda::throw_cublas_error(library, tritri_status_, #call, __FILE__, __LINE__); \
  } while (false)
