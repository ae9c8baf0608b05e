#include "cuda/kernels/batched_kernel.cuh"

namespace tritri::cuda {
namespace {

// resident: thread blocks that share a multiprocessor, of 4 warps where a warp has matrices to itself, else of 8; depth: chunks loaded before the
// first product; the others as in BatchedVariant. All as measured on an H200.
struct SplitTiles : Tf32x3Core<32> {
  using Tf32x3Core::Tf32x3Core;
  static constexpr int resident = 2, depth = 1, most = 128, share = 4;
  static constexpr double turn = 125e-9;
};
struct DoubleSingle : BatchedDmmaCore<float, 16> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 8, most = 8, share = 1;
  static constexpr double turn = 32e-9;
};
struct DoubleSmall : BatchedDmmaCore<float, 16> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 4, depth = 1, most = 64, share = 4;
  static constexpr double turn = 43e-9;
};
struct DoubleTiles : BatchedDmmaCore<float, 32> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 2, depth = 1, most = 128, share = 4;
  static constexpr double turn = 122e-9;
};
struct RoundedSmall : Tf32Core<16> {
  using Tf32Core::Tf32Core;
  static constexpr int resident = 8, most = 16, share = 1;
  static constexpr double turn = 40e-9;
};
struct RoundedSingle : Tf32Core<32> {
  using Tf32Core::Tf32Core;
  static constexpr int resident = 3, most = 32, share = 1;
  static constexpr double turn = 120e-9;
};
struct RoundedTiles : Tf32Core<32> {
  using Tf32Core::Tf32Core;
  static constexpr int resident = 2, depth = 2, most = 128, share = 4;
  static constexpr double turn = 115e-9;
};
struct FmaSmall : BatchedFfmaCore<16> {
  using BatchedFfmaCore::BatchedFfmaCore;
  static constexpr int resident = 8, most = 16, share = 1;
  static constexpr double turn = 45e-9;
};
struct FmaSingle : BatchedFfmaCore<32> {
  using BatchedFfmaCore::BatchedFfmaCore;
  static constexpr int resident = 3, most = 32, share = 1;
  static constexpr double turn = 165e-9;
};
struct FmaTiles : BatchedFfmaCore<32> {
  using BatchedFfmaCore::BatchedFfmaCore;
  static constexpr int resident = 2, depth = 1, most = 128, share = 4;
  static constexpr double turn = 175e-9;
};

constexpr BatchedVariant split[] = {batched_variant<SplitTiles, false>()};
constexpr BatchedVariant in_double[] = {batched_variant<DoubleSingle, true>(), batched_variant<DoubleSmall, false>(), batched_variant<DoubleTiles, false>()};
constexpr BatchedVariant rounded[] = {batched_variant<RoundedSmall, true>(), batched_variant<RoundedSingle, true>(), batched_variant<RoundedTiles, false>()};
constexpr BatchedVariant fma[] = {batched_variant<FmaSmall, true>(), batched_variant<FmaSingle, true>(), batched_variant<FmaTiles, false>()};

}  // namespace

const BatchedVariants batched_tf32x3 = {split, 1}, batched_f32_double = {in_double, 3}, batched_tf32 = {rounded, 3}, batched_ffma = {fma, 3};

}  // namespace tritri::cuda
