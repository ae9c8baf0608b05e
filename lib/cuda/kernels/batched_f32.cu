#include "cuda/kernels/batched_kernel.cuh"

namespace tritri::cuda {
namespace {

// resident: thread blocks that share a multiprocessor, of 4 warps where a warp has matrices to itself, else of 8; depth: chunks loaded before the
// first product; stages: chunks of a ring; the others as in BatchedVariant. All as measured on an H200.
struct SplitTiles : Tf32x3Core<32> {
  using Tf32x3Core::Tf32x3Core;
  static constexpr int resident = 2, stages = 2, most = 128, share = 4;
  static constexpr double turn = 105e-9, wait = 0.67e-6;
};
struct DoubleSingle : BatchedDmmaCore<float, 16> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 8, most = 8, share = 1;
  static constexpr double turn = 32e-9, wait = 0.3e-6;
};
struct DoubleSmall : BatchedDmmaCore<float, 16> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 4, depth = 1, most = 32, share = 4;
  static constexpr double turn = 43e-9, wait = 0.3e-6;
};
struct DoubleMiddle : BatchedDmmaCore<float, 16> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 4, stages = 2, most = 64, share = 4;
  static constexpr double turn = 37e-9, wait = 0.3e-6;
};
struct DoubleTiles : BatchedDmmaCore<float, 32> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 2, stages = 2, most = 128, share = 4;
  static constexpr double turn = 114e-9, wait = 0.67e-6;
};
struct DoubleBlock : BatchedDmmaCore<float, 16> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 3, most = 128, least_k = 33, share = 8;
  static constexpr double turn = 29e-9, wait = 0.36e-6;
};
struct RoundedSmall : Tf32Core<16> {
  using Tf32Core::Tf32Core;
  static constexpr int resident = 8, most = 16, share = 1;
  static constexpr double turn = 40e-9, wait = 0.3e-6;
};
struct RoundedSingle : Tf32Core<32> {
  using Tf32Core::Tf32Core;
  static constexpr int resident = 3, most = 32, share = 1;
  static constexpr double turn = 120e-9, wait = 0.6e-6;
};
struct RoundedTiles : Tf32Core<32> {
  using Tf32Core::Tf32Core;
  static constexpr int resident = 2, stages = 3, most = 128, share = 4;
  static constexpr double turn = 105e-9, wait = 0.6e-6;
};
struct FmaSmall : BatchedFfmaCore<16> {
  using BatchedFfmaCore::BatchedFfmaCore;
  static constexpr int resident = 8, most = 16, share = 1;
  static constexpr double turn = 45e-9, wait = 0.35e-6;
};
struct FmaSingle : BatchedFfmaCore<32> {
  using BatchedFfmaCore::BatchedFfmaCore;
  static constexpr int resident = 3, most = 32, share = 1;
  static constexpr double turn = 165e-9, wait = 0.7e-6;
};
struct FmaTiles : BatchedFfmaCore<32> {
  using BatchedFfmaCore::BatchedFfmaCore;
  static constexpr int resident = 2, depth = 1, most = 128, share = 4;
  static constexpr double turn = 195e-9, wait = 1.1e-6;
};

struct SplitSplit : Tf32x3Core<16> {
  using Tf32x3Core::Tf32x3Core;
  static constexpr int most = 128, share = 1;
  static constexpr double turn = 85e-9, wait = 0.35e-6;
};
struct DoubleSplit : BatchedDmmaCore<float, 16> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int most = 128, share = 1;
  static constexpr double turn = 80e-9, wait = 0.3e-6;
};
struct RoundedSplit : Tf32Core<16> {
  using Tf32Core::Tf32Core;
  static constexpr int most = 128, share = 1;
  static constexpr double turn = 80e-9, wait = 0.3e-6;
};
struct FmaSplit : BatchedFfmaCore<16> {
  using BatchedFfmaCore::BatchedFfmaCore;
  static constexpr int most = 128, share = 1;
  static constexpr double turn = 100e-9, wait = 0.4e-6;
};

constexpr BatchedVariant split[] = {batched_variant<SplitTiles, BatchedWay::ring>(), batched_variant<SplitSplit, BatchedWay::split>()};
constexpr BatchedVariant in_double[] = {batched_variant<DoubleSingle, BatchedWay::single>(), batched_variant<DoubleSmall, BatchedWay::tiles>(),
                                        batched_variant<DoubleMiddle, BatchedWay::ring>(), batched_variant<SplitTiles, BatchedWay::ring>(), batched_variant<DoubleTiles, BatchedWay::ring>(),
                                        batched_variant<DoubleSplit, BatchedWay::split>(), batched_variant<DoubleBlock, BatchedWay::block>()};
constexpr BatchedVariant rounded[] = {batched_variant<RoundedSmall, BatchedWay::single>(), batched_variant<RoundedSingle, BatchedWay::single>(),
                                      batched_variant<RoundedTiles, BatchedWay::ring>(), batched_variant<RoundedSplit, BatchedWay::split>()};
constexpr BatchedVariant fma[] = {batched_variant<FmaSmall, BatchedWay::single>(), batched_variant<FmaSingle, BatchedWay::single>(),
                                  batched_variant<FmaTiles, BatchedWay::tiles>(), batched_variant<FmaSplit, BatchedWay::split>()};

}  // namespace

const BatchedVariants batched_tf32x3 = {split, 2}, batched_f32_double = {in_double, 7}, batched_tf32 = {rounded, 4}, batched_ffma = {fma, 4};

}  // namespace tritri::cuda
