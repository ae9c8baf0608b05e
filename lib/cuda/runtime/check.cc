#include "cuda/runtime/check.h"

#include <cstring>

namespace tritri::cuda {

void throw_cuda_error(cudaError_t error, const char *call, const char *file, int line) {
  (void)cudaGetLastError();
  const char *slash = std::strrchr(file, '/');
  const tritri_status status = error == cudaErrorMemoryAllocation ? TRITRI_OUT_OF_MEMORY : TRITRI_DEVICE_ERROR;
  fail(status, "tritri: CUDA: ", call, " (", slash ? slash + 1 : file, ":", line, ") must succeed, got ", cudaGetErrorName(error), ": ", cudaGetErrorString(error));
}

}  // namespace tritri::cuda
