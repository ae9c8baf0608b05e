#include "cuda/kernels/compact_kernel.cuh"
#include "cuda/tile/compact_dmma.cuh"

namespace tritri::cuda {
namespace {

struct Small {
  using Core = CompactDmmaCore<float, 1, 2>;  // 16 x 16 per warp
  static constexpr int tile_m = 16, tile_n = 16, depth = 32, slices = 4, stages = 5, resident = 4;
  static constexpr CompactCost cost = {0.88e-6, 0.73e-6, 0.475e-6, 0.524, 0.51e-6, 0.11e-6, 1};
};
struct Wide {
  using Core = CompactDmmaCore<float, 2, 2>;  // 32 x 16 per warp
  static constexpr int tile_m = 32, tile_n = 16, depth = 32, slices = 4, stages = 5, resident = 4;
  static constexpr CompactCost cost = {1.14e-6, 0.75e-6, 0.491e-6, 0.668, 0.72e-6, 0.14e-6, 1};
};
struct Medium {
  using Core = CompactDmmaCore<float, 2, 2>;  // 32 x 16 per warp
  static constexpr int tile_m = 32, tile_n = 32, depth = 64, slices = 4, stages = 5, resident = 2;
  static constexpr CompactCost cost = {1.85e-6, 0.71e-6, 0.969e-6, 0.75, 1.3e-6, 0.46e-6, 1};
};
constexpr CompactVariant variants[] = {compact_variant<Small>(), compact_variant<Wide>(), compact_variant<Medium>()};

}  // namespace

const CompactVariants compact_f32 = {variants, 3};

}  // namespace tritri::cuda
