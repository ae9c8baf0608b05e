// Times of lower x lower through the C API, as JSON lines: every type and algorithm, uploads and downloads, the first multiply beside the tenth.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>

#include "gpu/harness.h"

using namespace gpu;
using support::call;
using support::Context;
using support::create;
using support::Matrix;

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[x.size() / 2];
}

// Finite values that repeat, whatever the type: the same bytes serve every dtype.
std::vector<unsigned char> random_bytes(size_t bytes, int32_t dtype) {
  std::vector<unsigned char> x(bytes);
  uint64_t state = 99;
  const auto next = [&] { return static_cast<float>((state = state * 6364136223846793005ull + 1442695040888963407ull) >> 40) * 0x1p-24f - 0.5f; };
  if (dtype == TRITRI_FLOAT64 || dtype == TRITRI_COMPLEX128) {
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
      const double value = next();
      std::memcpy(&x[i], &value, 8);
    }
  } else if (dtype == TRITRI_BFLOAT16) {
    for (size_t i = 0; i + 2 <= bytes; i += 2) {
      const float value = next();
      std::memcpy(&x[i], reinterpret_cast<const unsigned char *>(&value) + 2, 2);
    }
  } else if (dtype == TRITRI_FLOAT16) {
    for (size_t i = 0; i + 2 <= bytes; i += 2) {
      const uint16_t bits = static_cast<uint16_t>(0x3000 + (static_cast<unsigned>(next() * 1000 + 600) & 0x7ff));
      std::memcpy(&x[i], &bits, 2);
    }
  } else {
    for (size_t i = 0; i + 4 <= bytes; i += 4) {
      const float value = next();
      std::memcpy(&x[i], &value, 4);
    }
  }
  return x;
}

const char *const dtypes[] = {"float32", "float64", "complex64", "complex128", "float16", "bfloat16"};
const char *const computes[] = {"default", "pedantic", "tf32"};
const char *const algorithms[] = {"auto", "kernel", "cublas"};
const int64_t widths[] = {4, 8, 8, 16, 2, 2};

// Milliseconds of one product on the device, the median of several groups; small products are enqueued back to back, so that the host's share hides.
double time_multiply(tritri_context *context, cudaStream_t stream, const tritri_multiply_options &options, tritri_matrix *a, tritri_matrix *b, tritri_matrix *c, int64_t n) {
  const int group = n <= 2048 ? 20 : 1, groups = n <= 4096 ? 15 : 7;
  for (int i = 0; i < 3; ++i) call(tritri_multiply(context, &options, a, b, c));
  cudaEvent_t from, to;
  cuda(cudaEventCreate(&from));
  cuda(cudaEventCreate(&to));
  std::vector<double> times;
  for (int i = 0; i < groups; ++i) {
    cuda(cudaEventRecord(from, stream));
    for (int j = 0; j < group; ++j) call(tritri_multiply(context, &options, a, b, c));
    cuda(cudaEventRecord(to, stream));
    cuda(cudaEventSynchronize(to));
    float ms = 0;
    cuda(cudaEventElapsedTime(&ms, from, to));
    times.push_back(ms / group);
  }
  cuda(cudaEventDestroy(from));
  cuda(cudaEventDestroy(to));
  return median(times);
}

// lower * lower by every algorithm, and its peers in the same run: cuBLAS GEMM and, where cuBLAS has one, TRMM on the same values.
void time_products(tritri_context *context, cudaStream_t stream, int64_t n, int32_t dtype, int32_t compute, bool cublas) {
  struct Row { const char *product; int32_t a, b, algorithm; };
  const std::vector<Row> rows = {{"lower*lower", TRITRI_FILL_LOWER, TRITRI_FILL_LOWER, TRITRI_ALGORITHM_AUTO},
                                 {"lower*lower", TRITRI_FILL_LOWER, TRITRI_FILL_LOWER, TRITRI_ALGORITHM_KERNEL},
                                 {"lower*lower", TRITRI_FILL_LOWER, TRITRI_FILL_LOWER, TRITRI_ALGORITHM_CUBLAS},
                                 {"full*full", TRITRI_FILL_FULL, TRITRI_FILL_FULL, TRITRI_ALGORITHM_CUBLAS},
                                 {"lower*full", TRITRI_FILL_LOWER, TRITRI_FILL_FULL, TRITRI_ALGORITHM_CUBLAS},
                                 {"lower*full", TRITRI_FILL_LOWER, TRITRI_FILL_FULL, TRITRI_ALGORITHM_AUTO}};
  const std::vector<unsigned char> host = random_bytes(static_cast<size_t>(n * n * widths[dtype]), dtype);
  const tritri_matrix_desc full = describe(n, n, TRITRI_FILL_FULL, dtype);
  const Matrix a_memory = support::upload(context, full, host.data()), b_memory = support::upload(context, full, host.data());
  const Matrix c = create(context, full);
  const auto with_fill = [&](const Matrix &matrix, int32_t fill) {
    tritri_matrix_desc desc = TRITRI_MATRIX_DESC_INIT;
    void *data = nullptr;
    call(tritri_matrix_desc_get(matrix, &desc));
    call(tritri_matrix_data(matrix, &data));
    desc.fill = fill;
    return support::wrap(context, desc, data);
  };
  for (const Row &row : rows) {
    if (row.algorithm == TRITRI_ALGORITHM_CUBLAS && !cublas) continue;
    const Matrix a = with_fill(a_memory, row.a), b = with_fill(b_memory, row.b);
    tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
    options.compute = compute;
    options.algorithm = row.algorithm;
    char plan[512];
    call(tritri_plan_describe(context, &options, a, b, c, plan, sizeof plan));
    const char *begin = std::strstr(plan, "kernel="), *end = begin ? std::strchr(begin, ' ') : nullptr;
    const std::string kernel = begin && end ? std::string(begin + 7, end) : "";
    const char *modelled = std::strstr(plan, "seconds="), *flops = std::strstr(plan, "flops=");
    const double ms = time_multiply(context, stream, options, a, b, c, n);
    std::printf("{\"timing\": \"multiply\", \"product\": \"%s\", \"n\": %lld, \"dtype\": \"%s\", \"compute\": \"%s\", \"algorithm\": \"%s\", \"kernel\": \"%s\", \"ms\": %.4f, "
                "\"modelled_ms\": %.4f, \"useful_tflops\": %.2f}\n",
                row.product, static_cast<long long>(n), dtypes[dtype], computes[compute], algorithms[row.algorithm], kernel.c_str(), ms,
                modelled ? 1e3 * std::atof(modelled + 8) : 0.0, flops ? std::atof(flops + 6) / (ms * 1e9) : 0.0);
    std::fflush(stdout);
  }
}

void time_transfers(tritri_context *context, int64_t n) {
  const size_t bytes = static_cast<size_t>(n * n) * 4;
  std::vector<float> ordinary(static_cast<size_t>(n * n), 1.0f);
  void *pinned = nullptr;
  call(tritri_host_allocate(context, bytes, &pinned));
  const std::shared_ptr<void> pin(pinned, [&](void *p) { call(tritri_host_free(context, p)); });
  std::memset(pinned, 0, bytes);
  const tritri_matrix_desc lower = describe(n, n, TRITRI_FILL_LOWER);
  const Matrix a = support::upload(context, lower, pinned);
  for (void *host : {static_cast<void *>(ordinary.data()), pinned}) {
    std::vector<double> up, down;
    for (int i = 0; i < 5; ++i) {
      const double t0 = now();
      call(tritri_upload_into(context, a, &lower, host));
      const double t1 = now();
      call(tritri_download(context, a, &lower, host));
      up.push_back(t1 - t0);
      down.push_back(now() - t1);
    }
    const double gigabytes = 0.5 * static_cast<double>(bytes) * 1e-9;
    std::printf("{\"timing\": \"transfer\", \"n\": %lld, \"memory\": \"%s\", \"upload_ms\": %.3f, \"upload_gb_per_s\": %.1f, \"download_ms\": %.3f, \"download_gb_per_s\": %.1f}\n",
                static_cast<long long>(n), host == pinned ? "pinned" : "pageable", 1e3 * median(up), gigabytes / median(up), 1e3 * median(down), gigabytes / median(down));
    std::fflush(stdout);
  }
}

void time_start(int64_t n) {
  double t0 = now();
  const Context context = make_context();
  const double created = now() - t0;
  const std::vector<unsigned char> host = random_bytes(static_cast<size_t>(n * n * 4), TRITRI_FLOAT32);
  const tritri_matrix_desc lower = describe(n, n, TRITRI_FILL_LOWER);
  const Matrix a = support::upload(context, lower, host.data()), c = create(context, describe(n, n, TRITRI_FILL_FULL));
  std::vector<double> times;
  for (int i = 0; i < 10; ++i) {
    t0 = now();
    call(tritri_multiply(context, nullptr, a, a, c));
    call(tritri_context_synchronize(context));
    times.push_back(now() - t0);
  }
  t0 = now();
  make_context();
  std::printf("{\"timing\": \"start\", \"first_context_s\": %.3f, \"second_context_s\": %.3f, \"n\": %lld, \"first_multiply_ms\": %.4f, \"tenth_multiply_ms\": %.4f}\n", created,
              now() - t0, static_cast<long long>(n), 1e3 * times.front(), 1e3 * times.back());
}

}  // namespace

int main(int argc, char **argv) {
  const bool quick = argc == 2 && std::string(argv[1]) == "--quick";
  try {
    for (const int64_t n : {1024, 4096}) time_start(n);
    tritri_device_info info = TRITRI_DEVICE_INFO_INIT;
    call(tritri_device_info_get(TRITRI_DEVICE_CUDA, 0, &info));
    Stream stream;
    const Context context = make_context(stream.get());
    for (const int64_t n : quick ? std::vector<int64_t>{1024, 4096} : std::vector<int64_t>{256, 512, 1024, 2048, 4096, 8192, 16384}) {
      for (int32_t compute = 0; compute < 3; ++compute) time_products(context, stream.get(), n, TRITRI_FLOAT32, compute, info.blas_version != 0);
      for (int32_t dtype = TRITRI_FLOAT64; dtype <= TRITRI_BFLOAT16; ++dtype) {
        // The slow types stop at 8192: this program has minutes, not hours.
        if (n > 8192 && (dtype == TRITRI_COMPLEX64 || dtype == TRITRI_COMPLEX128)) continue;
        time_products(context, stream.get(), n, dtype, TRITRI_COMPUTE_DEFAULT, info.blas_version != 0);
      }
    }
    time_transfers(context, 4096);
    if (!quick) time_transfers(context, 16384);
  } catch (const std::exception &error) {
    std::printf("FAIL timing: %s\n", error.what());
    return 1;
  }
  return 0;
}
