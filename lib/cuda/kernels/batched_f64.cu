#include "cuda/kernels/batched_kernel.cuh"

namespace tritri::cuda {
namespace {

struct Small : BatchedDmmaCore<double, 16> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 6;
  static constexpr double turn = 60e-9;
};
struct Tiles : BatchedDmmaCore<double, 32> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 2, depth = 1;
  static constexpr double turn = 172e-9;
};

constexpr BatchedVariant variants[] = {batched_variant<Small, true>(), batched_variant<Tiles, false>()};

}  // namespace

const BatchedVariants batched_f64 = {variants, 2};

}  // namespace tritri::cuda
