#include "cuda/kernels/sm80_kernel.cuh"
#include "cuda/tile/sm80_dmma.cuh"

namespace tritri::cuda {
namespace {

struct Large {
  using Core = ComplexDmmaCore<2, 2>;  // 32 x 16 per warp
  static constexpr int tile_m = 64, tile_n = 64, tile_k = 8, stages = 4, resident = 2;
  static constexpr double rate = 0.6, alone = 0.4;
};
struct Small {
  using Core = ComplexDmmaCore<1, 2>;  // 16 x 16 per warp
  static constexpr int tile_m = 32, tile_n = 64, tile_k = 8, stages = 4, resident = 3;
  static constexpr double rate = 0.52, alone = 0.3;
};
constexpr Sm80Variant variants[] = {sm80_variant<Large>(), sm80_variant<Small>()};

}  // namespace

const Sm80Variants sm80_c128 = {variants, 2};

}  // namespace tritri::cuda
