#include "cuda/kernels/batched_kernel.cuh"

namespace tritri::cuda {
namespace {

struct Large : BatchedDmmaCore<double, 32> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 3;
  static constexpr bool ahead = true;
};
struct Small : BatchedDmmaCore<double, 16> {
  using BatchedDmmaCore::BatchedDmmaCore;
  static constexpr int resident = 6;
};

}  // namespace

const BatchedVariant batched_f64[2] = {batched_variant<Small, true>(), batched_variant<Large, false>()};

}  // namespace tritri::cuda
