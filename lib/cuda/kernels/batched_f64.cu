#include "cuda/kernels/batched_kernel.cuh"

namespace tritri::cuda {
namespace {

struct Single : BatchedDmmaCore<double, 16> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 6, most = 8, share = 1;
  static constexpr double turn = 75e-9;
};
struct Small : BatchedDmmaCore<double, 16> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 3, depth = 2, most = 64, share = 4;
  static constexpr double turn = 50e-9;
};
struct Tiles : BatchedDmmaCore<double, 32> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 1, depth = 2, most = 128, share = 6;
  static constexpr double turn = 125e-9;
};

constexpr BatchedVariant variants[] = {batched_variant<Single, true>(), batched_variant<Small, false>(), batched_variant<Tiles, false>()};

}  // namespace

const BatchedVariants batched_f64 = {variants, 3};

}  // namespace tritri::cuda
