#include "cuda/kernels/batched_kernel.cuh"

namespace tritri::cuda {
namespace {

// Thread blocks that share a multiprocessor, which is what the registers of a thread are limited by.
struct SplitLarge : Tf32x3Core<32> {
  using Tf32x3Core::Tf32x3Core;
  static constexpr int resident = 4;
  static constexpr bool ahead = false;
};
struct DoubleLarge : BatchedDmmaCore<float, 32> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 3;
  static constexpr bool ahead = true;
};
struct DoubleSmall : BatchedDmmaCore<float, 16> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 8;
};
struct RoundedLarge : Tf32Core<32> {
  using Tf32Core::Tf32Core;
  static constexpr int resident = 4;
  static constexpr bool ahead = true;
};
struct RoundedSmall : Tf32Core<16> {
  using Tf32Core::Tf32Core;
  static constexpr int resident = 8;
};
struct FmaLarge : BatchedFfmaCore<32> {
  using BatchedFfmaCore::BatchedFfmaCore;
  static constexpr int resident = 4;
  static constexpr bool ahead = true;
};
struct FmaSmall : BatchedFfmaCore<16> {
  using BatchedFfmaCore::BatchedFfmaCore;
  static constexpr int resident = 8;
};

}  // namespace

const BatchedVariant batched_tf32x3 = batched_variant<SplitLarge, false>();
const BatchedVariant batched_f32_double[2] = {batched_variant<DoubleSmall, true>(), batched_variant<DoubleLarge, false>()};
const BatchedVariant batched_tf32[2] = {batched_variant<RoundedSmall, true>(), batched_variant<RoundedLarge, false>()};
const BatchedVariant batched_ffma[2] = {batched_variant<FmaSmall, true>(), batched_variant<FmaLarge, false>()};

}  // namespace tritri::cuda
