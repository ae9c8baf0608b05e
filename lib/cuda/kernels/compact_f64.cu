#include "cuda/kernels/compact_kernel.cuh"
#include "cuda/tile/compact_dmma.cuh"

namespace tritri::cuda {
namespace {

struct Small {
  using Core = CompactDmmaCore<double, 1, 2>;  // 16 x 16 per warp
  static constexpr int tile_m = 16, tile_n = 16, depth = 32, slices = 4, stages = 5, resident = 4;
  static constexpr CompactCost cost = {0.95e-6, 0.57e-6, 0.374e-6, 0.432, 0.6e-6, 0.17e-6, 0.68};
};
struct Wide {
  using Core = CompactDmmaCore<double, 2, 2>;  // 32 x 16 per warp
  static constexpr int tile_m = 32, tile_n = 16, depth = 32, slices = 4, stages = 4, resident = 4;
  static constexpr CompactCost cost = {1.17e-6, 0.52e-6, 0.496e-6, 0.473, 0.86e-6, 0.04e-6, 0.68};
};
struct Medium {
  using Core = CompactDmmaCore<double, 2, 2>;  // 32 x 16 per warp
  static constexpr int tile_m = 32, tile_n = 32, depth = 64, slices = 4, stages = 3, resident = 2;
  static constexpr CompactCost cost = {1.93e-6, 0.21e-6, 0.914e-6, 0.725, 2.34e-6, 0.88e-6, 0.68};
};
struct Large {
  using Core = CompactDmmaCore<double, 2, 4>;  // 32 x 32 per warp
  static constexpr int tile_m = 32, tile_n = 64, depth = 32, slices = 4, stages = 4, resident = 2;
  static constexpr CompactCost cost = {2.3e-6, 0.1e-6, 0.59e-6, 0.66, 2e-6, 1.69e-6, 0.68};
};
constexpr CompactVariant variants[] = {compact_variant<Small>(), compact_variant<Wide>(), compact_variant<Medium>(), compact_variant<Large>()};

}  // namespace

const CompactVariants compact_f64 = {variants, 4};

}  // namespace tritri::cuda
