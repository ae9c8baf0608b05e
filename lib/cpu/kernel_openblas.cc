// OpenBLAS has tuned kernels for every processor, so it serves those that have no kernel of ours. A tile is one small GEMM of the packed panels.
#include <cblas.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <thread>

#include "cpu/kernel.h"
#include "cpu/openblas.h"

namespace tritri::cpu {
namespace {

// OpenBLAS has 128 buffers for the whole process and aborts when they are used up, so no more than `slots` threads are inside it at a time. In the child of
// a fork nobody is.
constexpr int slots = 64;
std::atomic<int> inside{0};

class Slot {
 public:
  Slot() {
    static const int registered = pthread_atfork(nullptr, nullptr, [] { inside.store(0, std::memory_order_relaxed); });
    (void)registered;
    while (inside.fetch_add(1, std::memory_order_acquire) >= slots) {
      inside.fetch_sub(1, std::memory_order_relaxed);
      std::this_thread::yield();
    }
  }
  ~Slot() { inside.fetch_sub(1, std::memory_order_release); }
  Slot(const Slot &) = delete;
  Slot &operator=(const Slot &) = delete;
};

// tile (m x n, row by row) = beta tile + alpha a^T b, where a step of k takes lda, respectively ldb numbers.
void gemm(int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb, float beta, float *tile) {
  cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, alpha, a, lda, b, ldb, beta, tile, n);
}
void gemm(int m, int n, int k, double alpha, const double *a, int lda, const double *b, int ldb, double beta, double *tile) {
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, alpha, a, lda, b, ldb, beta, tile, n);
}

constexpr int edge = 48;

template <class R>
bool all_finite(const R *tile, int count) {
  return std::all_of(tile, tile + count, [](R x) { return std::isfinite(x); });
}

template <class R>
bool real_tile(int64_t k, const R *a, const R *b, R *tile, bool add) {
  const Slot slot;
  gemm(edge, edge, static_cast<int>(k), R(1), a, edge, b, edge, R(add), tile);
  return all_finite(tile, edge * edge);
}

template <class R>
bool complex_tile(int64_t k, const R *a, const R *b, R *tile, bool add) {
  const Slot slot;
  const int steps = static_cast<int>(k), step = 2 * edge;
  R *re = tile, *im = tile + edge * edge;
  gemm(edge, edge, steps, R(1), a, step, b, step, R(add), re);
  gemm(edge, edge, steps, R(-1), a + edge, step, b + edge, step, R(1), re);
  gemm(edge, edge, steps, R(1), a, step, b + edge, step, R(add), im);
  gemm(edge, edge, steps, R(1), a + edge, step, b, step, R(1), im);
  return all_finite(tile, 2 * edge * edge);
}

}  // namespace

const KernelSet *openblas_kernels() {
  static const KernelSet set = {"openblas", {edge, edge, real_tile<float>}, {edge, edge, real_tile<double>}, {edge, edge, complex_tile<float>},
                                {edge, edge, complex_tile<double>}};
  return &set;
}

int32_t openblas_version() {
  int major = 0, minor = 0, patch = 0;
  std::sscanf(openblas_get_config(), "OpenBLAS %d.%d.%d", &major, &minor, &patch);
  return major * 10000 + minor * 100 + patch;
}

std::string openblas_description() {
  const int32_t v = openblas_version();
  return "OpenBLAS " + std::to_string(v / 10000) + "." + std::to_string(v / 100 % 100) + "." + std::to_string(v % 100) + " (" + openblas_get_corename() + ")";
}

}  // namespace tritri::cpu
