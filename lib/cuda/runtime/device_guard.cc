#include "cuda/runtime/device_guard.h"

#include <cuda.h>

#include "cuda/runtime/check.h"

namespace tritri::cuda {
namespace {

// The driver's functions, found through the runtime: libcuda is never linked.
struct Driver {
  CUresult (*get_current)(CUcontext *) = nullptr;
  CUresult (*set_current)(CUcontext) = nullptr;
};

void *driver_function(const char *name) {
  void *function = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t error = cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
  if (error != cudaSuccess) (void)cudaGetLastError();
  return error == cudaSuccess && found == cudaDriverEntryPointSuccess ? function : nullptr;
}

const Driver &driver() {
  static const Driver functions{reinterpret_cast<CUresult (*)(CUcontext *)>(driver_function("cuCtxGetCurrent")),
                                reinterpret_cast<CUresult (*)(CUcontext)>(driver_function("cuCtxSetCurrent"))};
  return functions;
}

}  // namespace

DeviceGuard::DeviceGuard(int device) {
  CUcontext current = nullptr;
  if (driver().get_current && driver().set_current) driver().get_current(&current);
  former_ = current;
  const cudaError_t error = cudaSetDevice(device);
  if (error == cudaSuccess) return;
  if (driver().set_current) driver().set_current(current);
  throw_cuda_error(error, "cudaSetDevice(device)", __FILE__, __LINE__);
}

DeviceGuard::~DeviceGuard() {
  if (driver().set_current) driver().set_current(static_cast<CUcontext>(former_));
}

}  // namespace tritri::cuda
