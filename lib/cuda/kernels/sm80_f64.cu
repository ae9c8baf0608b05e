#include "cuda/kernels/sm80_kernel.cuh"
#include "cuda/tile/sm80_dmma.cuh"

namespace tritri::cuda {
namespace {

// Deep enough that copies may take three turns; on cards with less shared memory Large does it.
struct Huge {
  using Core = DmmaCore<double, 4, 4, false>;  // 32 x 64 per warp
  static constexpr int tile_m = 128, tile_n = 128, tile_k = 16, slices = 1, stages = 6, resident = 1;
  static constexpr bool cuts = true, mirrors = true;
  static constexpr double rate = 0.81, alone = 0.81;
};
struct HugeLines : Huge {
  using Core = DmmaCore<double, 4, 4, true>;
};
struct Large {
  using Core = DmmaCore<double, 4, 4, false>;  // 32 x 64 per warp
  static constexpr int tile_m = 64, tile_n = 128, tile_k = 16, slices = 1, stages = 4, resident = 2;
  static constexpr bool cuts = false, mirrors = false;
  static constexpr double rate = 0.735, alone = 0.39;
};
struct Medium {
  using Core = DmmaCore<double, 2, 2, false>;  // 16 x 32 per warp
  static constexpr int tile_m = 32, tile_n = 64, tile_k = 32, slices = 2, stages = 4, resident = 2;
  static constexpr bool cuts = false, mirrors = false;
  static constexpr double rate = 0.49, alone = 0.39;
};
struct Small {
  using Core = DmmaCore<double, 2, 2, false>;  // 16 x 32 per warp
  static constexpr int tile_m = 32, tile_n = 32, tile_k = 64, slices = 4, stages = 4, resident = 1;
  static constexpr bool cuts = false, mirrors = false;
  static constexpr double rate = 0.29, alone = 0.29;
};
constexpr Sm80Variant variants[] = {sm80_variant<Huge, HugeLines>(), sm80_variant<Large>(), sm80_variant<Medium>(), sm80_variant<Small>()};

}  // namespace

const Sm80Variants sm80_f64 = {variants, 4};

}  // namespace tritri::cuda
