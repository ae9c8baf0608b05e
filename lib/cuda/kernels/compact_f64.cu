#include "cuda/kernels/compact_kernel.cuh"
#include "cuda/tile/compact_dmma.cuh"

namespace tritri::cuda {
namespace {

struct Small {
  using Core = CompactDmmaCore<double, 1, 2>;  // 16 x 16 per warp
  static constexpr int tile_m = 16, tile_n = 16, depth = 32, slices = 4, stages = 5, resident = 4;
  static constexpr CompactCost cost = {0.92e-6, 0.57e-6, 0.391e-6, 0.411, 0.58e-6, 0.22e-6};
};
struct Wide {
  using Core = CompactDmmaCore<double, 2, 2>;  // 32 x 16 per warp
  static constexpr int tile_m = 32, tile_n = 16, depth = 32, slices = 4, stages = 4, resident = 4;
  static constexpr CompactCost cost = {1.15e-6, 0.51e-6, 0.519e-6, 0.471, 0.86e-6, 0.12e-6};
};
struct Medium {
  using Core = CompactDmmaCore<double, 2, 2>;  // 32 x 16 per warp
  static constexpr int tile_m = 32, tile_n = 32, depth = 64, slices = 4, stages = 3, resident = 2;
  static constexpr CompactCost cost = {1.88e-6, 0.19e-6, 0.978e-6, 0.717, 2.34e-6, 1.15e-6};
};
struct Large {
  using Core = CompactDmmaCore<double, 2, 2>;  // 32 x 16 per warp
  static constexpr int tile_m = 64, tile_n = 64, depth = 32, slices = 1, stages = 4, resident = 1;
  static constexpr CompactCost cost = {3.13e-6, 0.51e-6, 1e-6, 0.535, 2.86e-6, 1.66e-6};
};
constexpr CompactVariant variants[] = {compact_variant<Small>(), compact_variant<Wide>(), compact_variant<Medium>(), compact_variant<Large>()};

}  // namespace

const CompactVariants compact_f64 = {variants, 4};

}  // namespace tritri::cuda
