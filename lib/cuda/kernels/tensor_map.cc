#include "cuda/kernels/tensor_map.h"

#include <cuda_runtime.h>

#include "core/error.h"
#include "cuda/runtime/check.h"

namespace tritri::cuda {
namespace {

// The driver's encoder, found through the runtime: the library does not link against the driver.
using Encode = CUresult (*)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                            const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
Encode encoder() {
  static const Encode encode = [] {
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result;
    TRITRI_CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result));
    if (result != cudaDriverEntryPointSuccess) fail(TRITRI_DEVICE_ERROR, "tritri: CUDA: the driver must offer cuTensorMapEncodeTiled, got status ", static_cast<int>(result));
    return reinterpret_cast<Encode>(found);
  }();
  return encode;
}

}  // namespace

bool mappable(const View &x, int64_t element) {
  const auto divides16 = [&](int64_t elements) { return elements * element % 16 == 0; };
  return !x.packed && reinterpret_cast<uintptr_t>(x.data) % 16 == 0 && divides16(x.ld) && divides16(x.batch_stride) && x.batch_stride >= 0 && x.ld * element < int64_t{1} << 40 &&
         x.batch_stride * element < int64_t{1} << 40;
}

void load_tensor_maps() { encoder(); }

CUtensorMap tensor_map(const Boxes &x) {
  const bool many = x.batch > 1 && x.batch_stride != 0;
  const cuuint64_t sizes[3] = {static_cast<cuuint64_t>(x.length), static_cast<cuuint64_t>(x.lines), many ? static_cast<cuuint64_t>(x.batch) : 1};
  const cuuint64_t strides[2] = {static_cast<cuuint64_t>(x.ld * x.element), static_cast<cuuint64_t>((many ? x.batch_stride : x.ld) * x.element)};
  const cuuint32_t box[3] = {static_cast<cuuint32_t>(x.box_length), static_cast<cuuint32_t>(x.box_lines), 1}, steps[3] = {1, 1, 1};
  CUtensorMap map;
  const CUresult result = encoder()(&map, x.type, 3, const_cast<void *>(x.data), sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, x.swizzle,
                                    CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) fail(TRITRI_DEVICE_ERROR, "tritri: CUDA: cuTensorMapEncodeTiled must succeed, got ", static_cast<int>(result));
  return map;
}

}  // namespace tritri::cuda
