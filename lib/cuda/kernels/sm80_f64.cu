#include "cuda/kernels/sm80_kernel.cuh"
#include "cuda/tile/sm80_dmma.cuh"

namespace tritri::cuda {
namespace {

struct Large {
  using Core = DmmaCore<4, 4>;  // 64 x 32 per warp
  static constexpr int tile_m = 64, tile_n = 128, tile_k = 16, stages = 3, resident = 2;
  static constexpr double rate = 0.7, alone = 0.45;
};
struct Small {
  using Core = DmmaCore<2, 4>;  // 32 x 32 per warp
  static constexpr int tile_m = 64, tile_n = 64, tile_k = 32, stages = 3, resident = 2;
  static constexpr double rate = 0.55, alone = 0.35;
};
constexpr Sm80Variant variants[] = {sm80_variant<Large>(), sm80_variant<Small>()};

}  // namespace

const Sm80Variants sm80_f64 = {variants, 2};

}  // namespace tritri::cuda
