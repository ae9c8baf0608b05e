// Times that only the C API shows, as JSON lines: the first multiply beside the tenth, uploads and downloads, products from host memory to host memory.
// Products on the device are timed by `tritri bench`, beside their peers.
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

// Two triangles in, one out, beside the same three transfers alone, one after the other from pinned memory. "new C": the result goes to memory that nobody has touched yet,
// as where an array is made for it.
void time_host_to_host(tritri_context *context, int64_t n) {
  const size_t elements = static_cast<size_t>(n * n), bytes = elements * sizeof(float);
  const int repeat = n <= 8192 ? 9 : 3;
  void *pinned = nullptr;
  call(tritri_host_allocate(context, 3 * bytes, &pinned));
  const std::shared_ptr<void> pin(pinned, [&](void *p) { call(tritri_host_free(context, p)); });
  std::vector<float> ordinary(3 * elements);
  const tritri_matrix_desc lower = describe(n, n, TRITRI_FILL_LOWER);
  float *const fixed = static_cast<float *>(pinned);
  for (float *host : {ordinary.data(), fixed})
    for (size_t i = 0; i < 2 * elements; ++i) host[i] = static_cast<float>(i % 1021) / 1021 - 0.5f;
  const auto time = [&](auto &&work) {
    std::vector<double> times;
    for (int i = -1; i < repeat; ++i) {
      const double start = now();
      work();
      if (i >= 0) times.push_back(now() - start);
    }
    return median(times);
  };
  const Matrix a = support::upload(context, lower, fixed), b = support::upload(context, lower, fixed);
  const double moved = time([&] {
    call(tritri_upload_into(context, a, &lower, fixed));
    call(tritri_upload_into(context, b, &lower, fixed + elements));
    call(tritri_download(context, a, &lower, fixed + 2 * elements));
  });
  const auto report = [&](const char *memory, int32_t fill, double product) {
    std::printf("{\"timing\": \"host to host\", \"n\": %lld, \"memory\": \"%s\", \"c\": \"%s\", \"ms\": %.3f, \"transfers_alone_ms\": %.3f, \"ratio\": %.2f}\n",
                static_cast<long long>(n), memory, fill == TRITRI_FILL_FULL ? "full" : "lower", 1e3 * product, 1e3 * moved, product / moved);
    std::fflush(stdout);
  };
  for (float *host : {ordinary.data(), fixed}) {
    for (const int32_t fill : {TRITRI_FILL_LOWER, TRITRI_FILL_FULL}) {
      const tritri_matrix_desc out = describe(n, n, fill);
      const double product = time([&] { call(tritri_multiply_host(context, nullptr, &lower, host, &lower, host + elements, &out, host + 2 * elements)); });
      report(host == fixed ? "pinned" : "pageable", fill, product);
    }
  }
  const tritri_matrix_desc out = describe(n, n, TRITRI_FILL_FULL);
  std::vector<double> times;
  for (int i = 0; i < repeat; ++i) {
    const std::unique_ptr<float[]> c(new float[elements]);
    const double start = now();
    call(tritri_multiply_host(context, nullptr, &lower, ordinary.data(), &lower, ordinary.data() + elements, &out, c.get()));
    times.push_back(now() - start);
  }
  report("pageable, new C", TRITRI_FILL_FULL, median(times));
}

void time_start(int64_t n) {
  double t0 = now();
  const Context context = make_context();
  const double created = now() - t0;
  std::vector<float> host(static_cast<size_t>(n * n));
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i % 1021) / 1021 - 0.5f;
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
    const Context context = make_context();
    for (const int64_t n : quick ? std::vector<int64_t>{4096} : std::vector<int64_t>{4096, 16384}) time_transfers(context, n);
    for (const int64_t n : quick ? std::vector<int64_t>{1024, 4096} : std::vector<int64_t>{1024, 4096, 8192, 16384}) time_host_to_host(context, n);
  } catch (const std::exception &error) {
    std::printf("FAIL timing: %s\n", error.what());
    return 1;
  }
  return 0;
}
