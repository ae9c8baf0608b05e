#include "cuda/kernels/cluster_kernel.cuh"

namespace tritri::cuda {
namespace {

// For few tiles: their sums are short, and more of them run at a time.
struct Small {
  using T = float;
  static constexpr int rows = 1, cols = 1, resident = 3;
  static constexpr ClusterCosts costs{1.84e-6, 1.14e-6, 0.262e-6, 0.3e-6};
};
// For full and cut products, whose tiles are alike: they pull half as much through the L2 cache.
struct Large {
  using T = float;
  static constexpr int rows = 2, cols = 2, resident = 1;
  static constexpr ClusterCosts costs{3.35e-6, 4.95e-6, 0.366e-6, 0.23e-6};
};

constexpr ClusterVariant variants[] = {cluster_variant<Small>(), cluster_variant<Large>()};

}  // namespace

const ClusterVariants cluster_tf32 = {variants, 2};

}  // namespace tritri::cuda
