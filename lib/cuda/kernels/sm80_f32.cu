#include "cuda/kernels/sm80_kernel.cuh"
#include "cuda/tile/sm80_ffma.cuh"

namespace tritri::cuda {
namespace {

// Large tiles read less, and their turns, which cost the same for all, are longer; but so are their sums.
struct Vast {
  using Core = FfmaCore<float, 4, 2>;  // 64 x 64 per warp
  static constexpr int tile_m = 128, tile_n = 256, tile_k = 32, slices = 1, stages = 4, resident = 1;
  static constexpr bool cuts = false, mirrors = false;
  static constexpr double rate = 0.80, alone = 0.82;
};
struct Huge {
  using Core = FfmaCore<float, 4, 2>;  // 64 x 64 per warp
  static constexpr int tile_m = 128, tile_n = 128, tile_k = 48, slices = 2, stages = 4, resident = 1;
  static constexpr bool cuts = true, mirrors = true;
  static constexpr double rate = 0.745, alone = 0.75;
};
struct Large {
  using Core = FfmaCore<float, 4, 2>;  // 64 x 64 per warp
  static constexpr int tile_m = 64, tile_n = 128, tile_k = 32, slices = 2, stages = 4, resident = 2;
  static constexpr bool cuts = false, mirrors = false;
  static constexpr double rate = 0.70, alone = 0.42;
};
struct Medium {
  using Core = FfmaCore<float, 2, 2>;  // 32 x 64 per warp
  static constexpr int tile_m = 32, tile_n = 64, tile_k = 32, slices = 4, stages = 4, resident = 4;
  static constexpr bool cuts = false, mirrors = false;
  static constexpr double rate = 0.575, alone = 0.30;
};
struct Small {
  using Core = FfmaCore<float, 2, 1>;  // 32 x 32 per warp
  static constexpr int tile_m = 32, tile_n = 32, tile_k = 64, slices = 8, stages = 4, resident = 2;
  static constexpr bool cuts = false, mirrors = false;
  static constexpr double rate = 0.38, alone = 0.25;
};
constexpr Sm80Variant variants[] = {sm80_variant<Vast>(), sm80_variant<Huge>(), sm80_variant<Large>(), sm80_variant<Medium>(), sm80_variant<Small>()};

}  // namespace

const Sm80Variants sm80_f32 = {variants, 5};

}  // namespace tritri::cuda
