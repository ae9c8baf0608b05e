#include "cuda/kernels/batched_kernel.cuh"

namespace tritri::cuda {
namespace {

// resident: thread blocks that share a multiprocessor, of 4 warps where a matrix is one tile, else of 8; depth: chunks loaded before the first product.
struct SplitTiles : Tf32x3Core<32> {
  using Tf32x3Core::Tf32x3Core;
  static constexpr int resident = 2, depth = 1;
  static constexpr double turn = 150e-9;
};
struct DoubleSmall : BatchedDmmaCore<float, 16> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 8;
  static constexpr double turn = 40e-9;
};
struct DoubleSingle : BatchedDmmaCore<float, 32> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 3;
  static constexpr double turn = 140e-9;
};
struct DoubleTiles : BatchedDmmaCore<float, 32> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 2, depth = 1;
  static constexpr double turn = 140e-9;
};
struct RoundedSmall : Tf32Core<16> {
  using Tf32Core::Tf32Core;
  static constexpr int resident = 8;
  static constexpr double turn = 40e-9;
};
struct RoundedSingle : Tf32Core<32> {
  using Tf32Core::Tf32Core;
  static constexpr int resident = 3;
  static constexpr double turn = 120e-9;
};
struct RoundedTiles : Tf32Core<32> {
  using Tf32Core::Tf32Core;
  static constexpr int resident = 2, depth = 1;
  static constexpr double turn = 140e-9;
};
struct FmaSmall : BatchedFfmaCore<16> {
  using BatchedFfmaCore::BatchedFfmaCore;
  static constexpr int resident = 8;
  static constexpr double turn = 60e-9;
};
struct FmaSingle : BatchedFfmaCore<32> {
  using BatchedFfmaCore::BatchedFfmaCore;
  static constexpr int resident = 3;
  static constexpr double turn = 170e-9;
};
struct FmaTiles : BatchedFfmaCore<32> {
  using BatchedFfmaCore::BatchedFfmaCore;
  static constexpr int resident = 2, depth = 1;
  static constexpr double turn = 180e-9;
};

constexpr BatchedVariant split[] = {batched_variant<SplitTiles, false>()};
constexpr BatchedVariant in_double[] = {batched_variant<DoubleSmall, true>(), batched_variant<DoubleSingle, true>(), batched_variant<DoubleTiles, false>()};
constexpr BatchedVariant rounded[] = {batched_variant<RoundedSmall, true>(), batched_variant<RoundedSingle, true>(), batched_variant<RoundedTiles, false>()};
constexpr BatchedVariant fma[] = {batched_variant<FmaSmall, true>(), batched_variant<FmaSingle, true>(), batched_variant<FmaTiles, false>()};

}  // namespace

const BatchedVariants batched_tf32x3 = {split, 1}, batched_f32_double = {in_double, 3}, batched_tf32 = {rounded, 3}, batched_ffma = {fma, 3};

}  // namespace tritri::cuda
