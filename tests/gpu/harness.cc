#include "gpu/harness.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>

namespace gpu {

using support::call;

tritri_matrix_desc describe(int64_t rows, int64_t cols, int32_t fill, int32_t dtype) {
  tritri_matrix_desc desc = TRITRI_MATRIX_DESC_INIT;
  desc.rows = rows;
  desc.cols = cols;
  desc.fill = fill;
  desc.dtype = dtype;
  return desc;
}

support::Context make_context(void *stream, size_t workspace_bytes) {
  tritri_context_options options = TRITRI_CONTEXT_OPTIONS_INIT;
  options.device = TRITRI_DEVICE_CUDA;
  options.stream = stream;
  options.workspace_bytes = workspace_bytes;
  support::Context context;
  call(tritri_context_create(&options, context.out()));
  return context;
}

static bool exists(int32_t fill, int64_t i, int64_t j) { return fill == TRITRI_FILL_FULL || (fill == TRITRI_FILL_LOWER ? i >= j : i <= j); }

std::vector<float> integers(int64_t n, int32_t fill, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> x(static_cast<size_t>(n * n), std::numeric_limits<float>::quiet_NaN());
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      if (exists(fill, i, j)) x[static_cast<size_t>(i * n + j)] = static_cast<float>(static_cast<int>(random() % 9) - 4);
  return x;
}

std::vector<float> product(int64_t n, const std::vector<float> &a, int32_t a_fill, const std::vector<float> &b, int32_t b_fill) {
  std::vector<float> c(static_cast<size_t>(n * n), 0.0f);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < n; ++k)
      if (exists(a_fill, i, k))
        for (int64_t j = 0; j < n; ++j)
          if (exists(b_fill, k, j)) c[static_cast<size_t>(i * n + j)] += a[static_cast<size_t>(i * n + k)] * b[static_cast<size_t>(k * n + j)];
  return c;
}

std::vector<float> download(tritri_context *context, tritri_matrix *matrix, int64_t elements) {
  std::vector<float> host(static_cast<size_t>(elements), std::numeric_limits<float>::quiet_NaN());
  call(tritri_download(context, matrix, nullptr, host.data()));
  return host;
}

void expect_equal(const std::vector<float> &got, const std::vector<float> &want, const std::string &what) {
  expect(got.size() == want.size(), what + ": sizes differ");
  for (size_t i = 0; i < got.size(); ++i)
    if (!(got[i] == want[i]) && !(std::isnan(got[i]) && std::isnan(want[i])))
      throw std::runtime_error(what + ": element " + std::to_string(i) + " must be " + std::to_string(want[i]) + ", got " + std::to_string(got[i]));
}

int run_alone(const std::string &name, const std::string &environment) {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length < 0) return -1;
  std::fflush(stdout);
  const int status = std::system((environment + " '" + std::string(path, static_cast<size_t>(length)) + "' --only " + name).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int run(int argc, char **argv, const std::vector<Test> &tests, const std::vector<Test> &alone) {
  const std::string only = argc == 3 && std::string(argv[1]) == "--only" ? argv[2] : "";
  std::vector<Test> chosen = tests;
  if (!only.empty()) {
    chosen.clear();
    for (const auto *list : {&tests, &alone})
      for (const Test &test : *list)
        if (only == test.name) chosen.push_back(test);
  }
  int passed = 0, failed = 0, skipped = 0;
  for (const Test &test : chosen) {
    try {
      test.body();
      ++passed;
      std::printf("pass %s\n", test.name);
    } catch (const Skip &why) {
      ++skipped;
      std::printf("skip %s: %s\n", test.name, why.what());
    } catch (const std::exception &why) {
      ++failed;
      std::printf("FAIL %s: %s\n", test.name, why.what());
    }
    std::fflush(stdout);
  }
  if (only.empty() || chosen.empty()) {
    std::printf("%d passed, %d failed", passed, failed);
    if (skipped) std::printf(", %d skipped", skipped);
    std::printf("\n");
  }
  return failed > 0 || chosen.empty() ? 1 : 0;
}

}  // namespace gpu
