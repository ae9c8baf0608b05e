#include "cuda/kernels/mma_kernel.cuh"

namespace tritri::cuda {
namespace {

// For few tiles: all warps that there is room for at one of them.
template <class E>
struct Single {
  using T = E;
  static constexpr int rows = 1, cols = 1, slices = 8, stages = 2, resident = 2;
  static constexpr MmaCosts costs{1.8e-6, 0.15e-6, 1.12e-6, 0.073e-6};
};
template <class E>
struct Small {
  using T = E;
  static constexpr int rows = 1, cols = 1, slices = 4, stages = 2, resident = 4;
  static constexpr MmaCosts costs{1.85e-6, 0.3e-6, 0.52e-6, 0.08e-6};
};
template <class E>
struct Large {
  using T = E;
  static constexpr int rows = 2, cols = 2, slices = 4, stages = 2, resident = 2;
  static constexpr MmaCosts costs{3.06e-6, 0.5e-6, 1.72e-6, 0.176e-6};
};
// For batches: many short sums.
template <class E>
struct Many {
  using T = E;
  static constexpr int rows = 2, cols = 2, slices = 2, stages = 2, resident = 4;
  static constexpr MmaCosts costs{3.4e-6, 0.69e-6, 1.12e-6, 0.188e-6};
};

template <class T>
constexpr MmaVariant variants[] = {mma_variant<Single<T>>(), mma_variant<Small<T>>(), mma_variant<Large<T>>(), mma_variant<Many<T>>()};

}  // namespace

const MmaVariants mma_f16 = {variants<__half>, 4}, mma_bf16 = {variants<__nv_bfloat16>, 4};

}  // namespace tritri::cuda
