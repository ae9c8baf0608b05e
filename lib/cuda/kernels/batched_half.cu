#include "cuda/kernels/batched_kernel.cuh"

namespace tritri::cuda {
namespace {

template <class T>
struct Large : HalfCore<T, 32> {
  using HalfCore<T, 32>::HalfCore;
  static constexpr int resident = 4;
  static constexpr bool ahead = true;
};
template <class T>
struct Small : HalfCore<T, 16> {
  using HalfCore<T, 16>::HalfCore;
  static constexpr int resident = 8;
};

}  // namespace

const BatchedVariant batched_f16[2] = {batched_variant<Small<__half>, true>(), batched_variant<Large<__half>, false>()};
const BatchedVariant batched_bf16[2] = {batched_variant<Small<__nv_bfloat16>, true>(), batched_variant<Large<__nv_bfloat16>, false>()};

}  // namespace tritri::cuda
