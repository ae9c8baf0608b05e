#include "cuda/kernels/compact_kernel.cuh"
#include "cuda/tile/compact_dmma.cuh"

namespace tritri::cuda {
namespace {

struct Small {
  using Core = CompactDmmaCore<Complex<double>, 1, 2>;  // 16 x 16 per warp
  static constexpr int tile_m = 16, tile_n = 16, depth = 32, slices = 4, stages = 5, resident = 2;
  static constexpr CompactCost cost = {1.58e-6, 0.3e-6, 0.514e-6, 0.527, 0.94e-6, 0.37e-6};
};
struct Wide {
  using Core = CompactDmmaCore<Complex<double>, 2, 2>;  // 32 x 16 per warp
  static constexpr int tile_m = 32, tile_n = 16, depth = 32, slices = 4, stages = 4, resident = 2;
  static constexpr CompactCost cost = {2.33e-6, 0.37e-6, 0.879e-6, 0.717, 2.85e-6, 1.04e-6};
};
constexpr CompactVariant variants[] = {compact_variant<Small>(), compact_variant<Wide>()};

}  // namespace

const CompactVariants compact_c128 = {variants, 2};

}  // namespace tritri::cuda
