#include "cuda/runtime/traits.h"

#include "cuda/cublas/library.h"
#include "cuda/runtime/check.h"

namespace tritri::cuda {
namespace {

int attribute(cudaDeviceAttr what, int device) {
  int value = 0;
  TRITRI_CUDA_CHECK(cudaDeviceGetAttribute(&value, what, device));
  return value;
}

}  // namespace

GpuTraits read_traits(int device) {
  GpuTraits traits;
  traits.compute_major = attribute(cudaDevAttrComputeCapabilityMajor, device);
  traits.compute_minor = attribute(cudaDevAttrComputeCapabilityMinor, device);
  traits.multiprocessors = attribute(cudaDevAttrMultiProcessorCount, device);
  traits.shared_bytes = static_cast<size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  traits.l2_bytes = static_cast<size_t>(attribute(cudaDevAttrL2CacheSize, device));
  const bool half_width = traits.compute_major < 8 || (traits.compute_major == 8 && traits.compute_minor == 0);  // 64 FMA lanes per multiprocessor
  traits.fma32_per_second = 1e3 * attribute(cudaDevAttrClockRate, device) * traits.multiprocessors * (half_width ? 64 : 128);
  // Two transfers per clock on every wire; 0.85 is what copies reach of it.
  traits.bytes_per_second = 0.85 * 2e3 * attribute(cudaDevAttrMemoryClockRate, device) * attribute(cudaDevAttrGlobalMemoryBusWidth, device) / 8;
  traits.cublas_version = cublas_library().version;
  return traits;
}

}  // namespace tritri::cuda
