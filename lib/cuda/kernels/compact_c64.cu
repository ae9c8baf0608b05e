#include "cuda/kernels/compact_kernel.cuh"
#include "cuda/tile/compact_dmma.cuh"

namespace tritri::cuda {
namespace {

struct Small {
  using Core = CompactDmmaCore<Complex<float>, 1, 2>;  // 16 x 16 per warp
  static constexpr int tile_m = 16, tile_n = 16, depth = 32, slices = 4, stages = 5, resident = 4;
  static constexpr CompactCost cost = {1.34e-6, 0.73e-6, 0.619e-6, 0.818, 0.72e-6, 0.18e-6, 0.7};
};
struct Wide {
  using Core = CompactDmmaCore<Complex<float>, 2, 2>;  // 32 x 16 per warp
  static constexpr int tile_m = 32, tile_n = 16, depth = 32, slices = 4, stages = 4, resident = 3;
  static constexpr CompactCost cost = {1.79e-6, 0.57e-6, 0.842e-6, 0.84, 1.17e-6, 0.08e-6, 0.7};
};
constexpr CompactVariant variants[] = {compact_variant<Small>(), compact_variant<Wide>()};

}  // namespace

const CompactVariants compact_c64 = {variants, 2};

}  // namespace tritri::cuda
