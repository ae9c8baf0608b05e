#include "cuda/kernels/sm80_kernel.cuh"
#include "cuda/tile/sm80_dmma.cuh"

namespace tritri::cuda {
namespace {

struct Large {
  using Core = DmmaCore<Complex<double>, 4, 4, false>;  // 32 x 32 per warp
  static constexpr int tile_m = 64, tile_n = 64, tile_k = 8, slices = 1, stages = 6, resident = 2;
  static constexpr bool cuts = false, mirrors = false;
  static constexpr double rate = 0.81, alone = 0.5;
};
struct LargeLines : Large {
  using Core = DmmaCore<Complex<double>, 4, 4, true>;
};
struct Small {
  using Core = DmmaCore<Complex<double>, 4, 2, false>;  // 32 x 16 per warp
  static constexpr int tile_m = 32, tile_n = 32, tile_k = 32, slices = 4, stages = 4, resident = 1;
  static constexpr bool cuts = false, mirrors = false;
  static constexpr double rate = 0.39, alone = 0.39;
};
constexpr Sm80Variant variants[] = {sm80_variant<Large, LargeLines>(), sm80_variant<Small>()};

}  // namespace

const Sm80Variants sm80_c128 = {variants, 2};

}  // namespace tritri::cuda
