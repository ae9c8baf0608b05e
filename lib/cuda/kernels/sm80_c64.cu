#include "cuda/kernels/sm80_kernel.cuh"
#include "cuda/tile/sm80_ffma.cuh"

namespace tritri::cuda {
namespace {

struct Large {
  using Core = FfmaCore<Complex<float>, 4, 4>;  // 32 x 64 per warp
  static constexpr int tile_m = 64, tile_n = 128, tile_k = 16, slices = 1, stages = 4, resident = 2;
  static constexpr bool cuts = false, mirrors = false;
  static constexpr double rate = 0.745, alone = 0.44;
};
struct Medium {
  using Core = FfmaCore<Complex<float>, 4, 4>;  // 32 x 64 per warp
  static constexpr int tile_m = 32, tile_n = 64, tile_k = 32, slices = 4, stages = 4, resident = 2;
  static constexpr bool cuts = false, mirrors = false;
  static constexpr double rate = 0.67, alone = 0.42;
};
struct Small {
  using Core = FfmaCore<Complex<float>, 2, 2>;  // 16 x 32 per warp
  static constexpr int tile_m = 32, tile_n = 32, tile_k = 32, slices = 4, stages = 4, resident = 2;
  static constexpr bool cuts = false, mirrors = false;
  static constexpr double rate = 0.53, alone = 0.46;
};
constexpr Sm80Variant variants[] = {sm80_variant<Large>(), sm80_variant<Medium>(), sm80_variant<Small>()};

}  // namespace

const Sm80Variants sm80_c64 = {variants, 3};

}  // namespace tritri::cuda
