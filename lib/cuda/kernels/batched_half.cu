#include "cuda/kernels/batched_kernel.cuh"

namespace tritri::cuda {
namespace {

template <class T>
struct Small : HalfCore<T, 16> {
  using HalfCore<T, 16>::HalfCore;
  static constexpr int resident = 8, most = 16, share = 1;
  static constexpr double turn = 35e-9, wait = 0.3e-6;
};
template <class T>
struct Single : HalfCore<T, 32> {
  using HalfCore<T, 32>::HalfCore;
  static constexpr int resident = 5, most = 31, share = 1;
  static constexpr double turn = 80e-9, wait = 0.6e-6;
};
template <class T>
struct Tiles : HalfCore<T, 32> {
  using HalfCore<T, 32>::HalfCore;
  static constexpr int resident = 3, depth = 1, most = 128, share = 6;
  static constexpr double turn = 85e-9, wait = 0.65e-6;
};

template <class T>
struct Split : HalfCore<T, 16> {
  using HalfCore<T, 16>::HalfCore;
  static constexpr int most = 128, share = 1;
  static constexpr double turn = 80e-9, wait = 0.3e-6;
};
template <class T>
struct Block : HalfCore<T, 32> {
  using HalfCore<T, 32>::HalfCore;
  static constexpr int resident = 3, most = 128, least_k = 65, share = 8;
  static constexpr double turn = 70e-9, wait = 0.55e-6;
};

template <class T>
constexpr BatchedVariant variants[] = {batched_variant<Small<T>, BatchedWay::single>(), batched_variant<Single<T>, BatchedWay::single>(),
                                       batched_variant<Tiles<T>, BatchedWay::tiles>(), batched_variant<Split<T>, BatchedWay::split>(),
                                       batched_variant<Block<T>, BatchedWay::block>()};

}  // namespace

const BatchedVariants batched_f16 = {variants<__half>, 5}, batched_bf16 = {variants<__nv_bfloat16>, 5};

}  // namespace tritri::cuda
