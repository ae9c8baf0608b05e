#include "cuda/kernels/compact_kernel.cuh"
#include "cuda/tile/compact_ffma.cuh"

namespace tritri::cuda {
namespace {

struct Small {
  using Core = CompactFfmaCore<1>;  // 16 x 32 per warp
  static constexpr int tile_m = 16, tile_n = 32, depth = 32, slices = 4, stages = 5, resident = 4;
  static constexpr CompactCost cost = {1.26e-6, 0.61e-6, 0.556e-6, 0.435, 0.65e-6, 0.22e-6, 0.65};
};
struct Medium {
  using Core = CompactFfmaCore<2>;  // 32 x 32 per warp
  static constexpr int tile_m = 32, tile_n = 32, depth = 32, slices = 4, stages = 5, resident = 4;
  static constexpr CompactCost cost = {1.47e-6, 0.86e-6, 0.841e-6, 0.502, 0.97e-6, 0.13e-6, 0.65};
};
constexpr CompactVariant variants[] = {compact_variant<Small>(), compact_variant<Medium>()};

}  // namespace

const CompactVariants compact_ffma = {variants, 2};

}  // namespace tritri::cuda
