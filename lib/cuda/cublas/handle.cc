#include "cuda/cublas/handle.h"

#include <cuda_runtime_api.h>

#include <cstring>

#include "core/error.h"

namespace tritri::cuda {

void throw_cublas_error(const CublasLibrary &library, cublasStatus_t status, const char *call, const char *file, int line) {
  (void)cudaGetLastError();
  const char *slash = std::strrchr(file, '/');
  const tritri_status kind = status == CUBLAS_STATUS_ALLOC_FAILED ? TRITRI_OUT_OF_MEMORY : TRITRI_DEVICE_ERROR;
  fail(kind, "tritri: cuBLAS: ", call, " (", slash ? slash + 1 : file, ":", line, ") must succeed, got ", library.status_string(status), " from ", library.path);
}

Cublas::Cublas() : library_(cublas_library()) {
  TRITRI_CUBLAS_CHECK(library_, library_.create(&handle_));
  // Sums of 16-bit products stay in float32, and nothing turns float32 into TF32 unasked.
  TRITRI_CUBLAS_CHECK(library_, library_.set_math_mode(handle_, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)));
}

void Cublas::use(cudaStream_t stream, void *workspace, size_t bytes) {
  if (workspace_ && stream == stream_ && workspace == workspace_ && bytes == workspace_bytes_) return;
  workspace_ = nullptr;  // nothing is known, should a call fail
  TRITRI_CUBLAS_CHECK(library_, library_.set_stream(handle_, stream));
  TRITRI_CUBLAS_CHECK(library_, library_.set_workspace(handle_, workspace, bytes));
  stream_ = stream;
  workspace_ = workspace;
  workspace_bytes_ = bytes;
}

Cublas::~Cublas() {
  if (handle_) library_.destroy(handle_);
}

}  // namespace tritri::cuda
