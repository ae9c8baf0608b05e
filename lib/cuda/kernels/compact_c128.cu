#include "cuda/kernels/compact_kernel.cuh"
#include "cuda/tile/compact_dmma.cuh"

namespace tritri::cuda {
namespace {

struct Small {
  using Core = CompactDmmaCore<Complex<double>, 1, 2>;  // 16 x 16 per warp
  static constexpr int tile_m = 16, tile_n = 16, depth = 32, slices = 4, stages = 5, resident = 2;
  static constexpr CompactCost cost = {1.58e-6, 0.3e-6, 0.512e-6, 0.542, 0.94e-6, 0.37e-6, 1};
};
struct Wide {
  using Core = CompactDmmaCore<Complex<double>, 2, 2>;  // 32 x 16 per warp
  static constexpr int tile_m = 32, tile_n = 16, depth = 32, slices = 4, stages = 4, resident = 2;
  static constexpr CompactCost cost = {2.35e-6, 0.35e-6, 0.862e-6, 0.8, 3.09e-6, 0.79e-6, 1};
};
struct Medium {
  using Core = CompactDmmaCore<Complex<double>, 2, 2>;  // 32 x 16 per warp
  static constexpr int tile_m = 32, tile_n = 32, depth = 32, slices = 2, stages = 3, resident = 2;
  static constexpr CompactCost cost = {2.45e-6, 0.3e-6, 1.15e-6, 0.84, 5.22e-6, 0, 0.32};
};
constexpr CompactVariant variants[] = {compact_variant<Small>(), compact_variant<Wide>(), compact_variant<Medium>()};

}  // namespace

const CompactVariants compact_c128 = {variants, 3};

}  // namespace tritri::cuda
