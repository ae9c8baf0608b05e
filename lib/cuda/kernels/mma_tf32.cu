#include "cuda/kernels/mma_kernel.cuh"

namespace tritri::cuda {
namespace {

// For few tiles: all warps that there is room for at one of them.
struct Single {
  using T = float;
  static constexpr int rows = 1, cols = 1, slices = 8, stages = 1, resident = 2;
  static constexpr MmaCosts costs{2.4e-6, 0.4e-6, 1.2e-6, 0.124e-6};
};
struct Small {
  using T = float;
  static constexpr int rows = 1, cols = 1, slices = 4, stages = 1, resident = 4;
  static constexpr MmaCosts costs{2.4e-6, 0.7e-6, 0.544e-6, 0.132e-6};
};
struct Large {
  using T = float;
  static constexpr int rows = 2, cols = 2, slices = 4, stages = 1, resident = 2;
  static constexpr MmaCosts costs{4.65e-6, 1.0e-6, 2.28e-6, 0.274e-6};
};

constexpr MmaVariant variants[] = {mma_variant<Single>(), mma_variant<Small>(), mma_variant<Large>()};

}  // namespace

const MmaVariants mma_f32 = {variants, 3};

}  // namespace tritri::cuda
