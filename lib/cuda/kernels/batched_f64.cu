#include "cuda/kernels/batched_kernel.cuh"

namespace tritri::cuda {
namespace {

struct Single : BatchedDmmaCore<double, 16> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 6, most = 8, share = 1;
  static constexpr double turn = 75e-9, wait = 1.0e-6;
};
struct Small : BatchedDmmaCore<double, 16> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 3, stages = 3, most = 64, share = 4;
  static constexpr double turn = 46e-9, wait = 0.3e-6;
};
struct Tiles : BatchedDmmaCore<double, 32> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 1, stages = 3, most = 128, share = 6;
  static constexpr double turn = 100e-9, wait = 0.66e-6;
};

struct Split : BatchedDmmaCore<double, 16> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int most = 128, share = 1;
  static constexpr double turn = 65e-9, wait = 0.32e-6;
};
struct Block : BatchedDmmaCore<double, 16> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 3, most = 64, least_k = 33, share = 8;
  static constexpr double turn = 43e-9, wait = 0.37e-6;
};

constexpr BatchedVariant variants[] = {batched_variant<Single, BatchedWay::single>(), batched_variant<Small, BatchedWay::ring>(), batched_variant<Tiles, BatchedWay::ring>(),
                                       batched_variant<Split, BatchedWay::split>(), batched_variant<Block, BatchedWay::block>()};

}  // namespace

const BatchedVariants batched_f64 = {variants, 5};

}  // namespace tritri::cuda
