#include "cuda/kernels/cluster_kernel.cuh"

namespace tritri::cuda {
namespace {

// For few tiles: their sums are short, and more of them run at a time.
template <class E>
struct Small {
  using T = E;
  static constexpr int rows = 1, cols = 1, resident = 3;
  static constexpr ClusterCosts costs{1.84e-6, 0.76e-6, 0.206e-6, 0.226e-6};
};
template <class E>
struct Wide {
  using T = E;
  static constexpr int rows = 1, cols = 2, resident = 3;
  static constexpr ClusterCosts costs{2.24e-6, 1.4e-6, 0.3e-6, 0.39e-6};
};
template <class E>
struct Large {
  using T = E;
  static constexpr int rows = 2, cols = 2, resident = 2;
  static constexpr ClusterCosts costs{3.7e-6, 2.6e-6, 0.57e-6, 0.65e-6};
};

template <class T>
constexpr ClusterVariant variants[] = {cluster_variant<Small<T>>(), cluster_variant<Wide<T>>(), cluster_variant<Large<T>>()};

}  // namespace

const ClusterVariants cluster_f16 = {variants<__half>, 3}, cluster_bf16 = {variants<__nv_bfloat16>, 3};

}  // namespace tritri::cuda
