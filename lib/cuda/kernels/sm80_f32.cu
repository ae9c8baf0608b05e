#include "cuda/kernels/sm80_kernel.cuh"
#include "cuda/tile/sm80_ffma.cuh"

namespace tritri::cuda {
namespace {

struct Large {
  using Core = FfmaCore<float, 2, 2>;  // 32 x 64 per warp
  static constexpr int tile_m = 64, tile_n = 128, tile_k = 32, stages = 3, resident = 2;
  static constexpr double rate = 0.54, alone = 0.45;
};
struct Small {
  using Core = FfmaCore<float, 2, 1>;  // 32 x 32 per warp
  static constexpr int tile_m = 64, tile_n = 64, tile_k = 32, stages = 4, resident = 3;
  static constexpr double rate = 0.5, alone = 0.45;
};
constexpr Sm80Variant variants[] = {sm80_variant<Large>(), sm80_variant<Small>()};

}  // namespace

const Sm80Variants sm80_f32 = {variants, 2};

}  // namespace tritri::cuda
