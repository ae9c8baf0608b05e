// V20: n = 46341, so that n * n > 2^31. The inputs are made on the device's side of one upload, the check is tritri_verify.
#include <chrono>
#include <cstdio>
#include <memory>

#include "gpu/harness.h"

using namespace gpu;
using support::call;
using support::Context;
using support::create;
using support::Matrix;

namespace {

constexpr int64_t n = 46341;

// A A with A lower; packed: A and C. `workspace`: bytes, 0 what a context has by itself.
void verify_large(int32_t algorithm, bool packed = false, size_t workspace = 0) {
  size_t free = 0, total = 0;
  cuda(cudaMemGetInfo(&free, &total));
  if (free < size_t{30} << 30) throw Skip("needs 30 GB of device memory");
  const Context context = make_context(nullptr, workspace);
  void *host = nullptr;
  call(tritri_host_allocate(context, static_cast<size_t>(packed ? n * (n + 1) / 2 : n * n) * sizeof(float), &host));
  const std::shared_ptr<void> pinned(host, [&](void *p) { call(tritri_host_free(context, p)); });
  float *values = static_cast<float *>(host);
  uint32_t state = 12345;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < (packed ? i + 1 : n); ++j) {
      state = state * 1664525u + 1013904223u;
      *values++ = j <= i ? static_cast<float>(state >> 8) * 0x1p-24f - 0.5f : __builtin_nanf("");
    }
  }
  const auto start = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  tritri_matrix_desc triangle = describe(n, n, TRITRI_FILL_LOWER);
  if (packed) triangle.storage = TRITRI_STORAGE_PACKED, triangle.ld = 0;
  const Matrix a = support::upload(context, triangle, host);
  const double uploaded = seconds();
  const Matrix c = create(context, packed ? triangle : describe(n, n, TRITRI_FILL_FULL));
  tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
  options.algorithm = algorithm;
  char plan[256];
  call(tritri_plan_describe(context, &options, a, a, c, plan, sizeof plan));
  call(tritri_multiply(context, &options, a, a, c));
  call(tritri_context_synchronize(context));
  const double multiplied = seconds();
  double residual = 1;
  call(tritri_verify(context, &options, a, a, c, 1, &residual));
  std::printf("     n = %lld%s: upload %.3f s, multiply %.3f s, verify %.1f s, residual %.3g; %s\n", static_cast<long long>(n), packed ? ", packed" : "", uploaded, multiplied - uploaded,
              seconds() - multiplied, residual, plan);
  expect(residual < 1e-4, "the residual must be below 1e-4, got " + std::to_string(residual));
}

}  // namespace

int main(int argc, char **argv) {
  return run(argc, argv, {{"V20_large_46341_kernel", [] { verify_large(TRITRI_ALGORITHM_KERNEL); }},
                           {"V20_large_46341_packed", [] { verify_large(TRITRI_ALGORITHM_KERNEL, true); }},
                           {"V20_large_46341_packed_copied", [] { verify_large(TRITRI_ALGORITHM_KERNEL, true, size_t{14} << 30); }},
                           {"V20_large_46341_cublas", [] {
                            tritri_device_info info = TRITRI_DEVICE_INFO_INIT;
                            call(tritri_device_info_get(TRITRI_DEVICE_CUDA, 0, &info));
                            if (info.blas_version == 0) throw Skip("no cuBLAS here");
                            verify_large(TRITRI_ALGORITHM_CUBLAS);
                          }}});
}
