// L10, L6: contexts on many threads at once, and on threads that come and go.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>

#include "api/fixture.h"
#include "support/random.h"

using namespace api_tests;
using support::call;

// Sanitizers run the same, fewer times.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int calls = 100, short_lived = 500;
#else
constexpr int calls = 1000, short_lived = 10000;
#endif

namespace {

// Integers, so that the sum is exact: C[i][j] = sum over k from j to i of (i + k) (k - j).
bool product_is_right(tritri_context *context, int64_t n, int64_t salt) {
  std::vector<double> a(static_cast<size_t>(n * n), Fixture::nan), b = a, c(a.size(), -1);
  for (int64_t i = 0; i < n; ++i) for (int64_t j = 0; j <= i; ++j) {
    a[static_cast<size_t>(i * n + j)] = static_cast<double>(i + j + salt);
    b[static_cast<size_t>(i * n + j)] = static_cast<double>(i - j);
  }
  const tritri_matrix_desc lower = support::describe(TRITRI_FLOAT64, TRITRI_FILL_LOWER, n, n), full = support::describe(TRITRI_FLOAT64, TRITRI_FILL_FULL, n, n);
  if (tritri_multiply_host(context, nullptr, &lower, a.data(), &lower, b.data(), &full, c.data()) != TRITRI_OK) return false;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      int64_t sum = 0;
      for (int64_t k = j; k <= i; ++k) sum += (i + k + salt) * (k - j);
      if (c[static_cast<size_t>(i * n + j)] != static_cast<double>(sum)) return false;
    }
  }
  return true;
}

int64_t resident_kilobytes() {
  int64_t kilobytes = -1;
  char line[256];
  FILE *status = std::fopen("/proc/self/status", "r");
  while (status && std::fgets(line, sizeof line, status)) std::sscanf(line, "VmRSS: %ld", &kilobytes);
  if (status) std::fclose(status);
  return kilobytes;
}

}  // namespace

TEST_CASE("L10 8 threads with a context each and 1000 calls") {
  std::atomic<int> right{0}, wrong_messages{0};
  std::vector<std::thread> threads;
  for (int index = 0; index < 8; ++index) {
    threads.emplace_back([&, index] {
      const support::Context context = support::make_context(TRITRI_DEVICE_CPU, index % 2 == 0 ? 1 : 3);
      support::Random random(static_cast<uint64_t>(index));
      const std::string mine = "rows must be at least 0, got " + std::to_string(-1 - index);
      tritri_matrix_desc wrong = support::describe(TRITRI_FLOAT32, TRITRI_FILL_FULL, -1 - index, 1);
      tritri_matrix *none = nullptr;
      for (int round = 0; round < calls; ++round) {
        right += product_is_right(context, random.between(1, round % 50 == 0 ? 90 : 24), index);
        // Each thread reads its own failure.
        if (tritri_matrix_create(context, &wrong, &none) != TRITRI_INVALID_ARGUMENT || std::string(tritri_last_error()).find(mine) == std::string::npos) ++wrong_messages;
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  CHECK(right == 8 * calls);
  CHECK(wrong_messages == 0);
}

TEST_CASE("L10 functions without a context are called from every thread") {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int index = 0; index < 8; ++index) {
    threads.emplace_back([&] {
      for (int round = 0; round < calls; ++round) {
        int32_t count = 0;
        tritri_device_info info = TRITRI_DEVICE_INFO_INIT;
        if (tritri_version() != TRITRI_VERSION || tritri_device_count(TRITRI_DEVICE_CPU, &count) != TRITRI_OK || count != 1 ||
            tritri_device_info_get(TRITRI_DEVICE_CPU, 0, &info) != TRITRI_OK || std::strcmp(tritri_status_name(TRITRI_OK), "TRITRI_OK") != 0)
          ++wrong;
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("L6 10,000 create, multiply and destroy on short-lived threads leave memory flat") {
  std::atomic<int> right{0};
  const auto one = [&] {
    std::thread([&] {
      const support::Context context = support::make_context(TRITRI_DEVICE_CPU, 2);
      right += product_is_right(context, 40, 0);
    }).join();
  };
  for (int warm_up = 0; warm_up < short_lived / 10; ++warm_up) one();
  const int64_t before = resident_kilobytes();
  right = 0;
  for (int round = 0; round < short_lived; ++round) one();
  const int64_t after = resident_kilobytes();
  CHECK(right == short_lived);
  INFO("resident before " << before << " KiB, after " << after << " KiB");
  REQUIRE(before > 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose quarantine and shadow grow by design
  CHECK(after - before < 4096);
#endif
}

TEST_CASE("a context moves between threads, one at a time, and so does the message of a failure not") {
  const support::Context context = support::make_context(TRITRI_DEVICE_CPU, 2);
  bool right = false;
  for (int round = 0; round < 4; ++round) {
    std::thread([&] { right = product_is_right(context, 50, round); }).join();
    CHECK(right);
    CHECK(product_is_right(context, 50, round));
  }
}
