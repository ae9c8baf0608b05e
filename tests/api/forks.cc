// L3: a child of a process that has computed computes too, whatever threads the parent had.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "api/fixture.h"

using namespace api_tests;
using support::call;

namespace {

// Ones: C[i][j] = i - j + 1.
bool product_is_right(tritri_context *context, int64_t n) {
  const tritri_matrix_desc lower = support::describe(TRITRI_FLOAT32, TRITRI_FILL_LOWER, n, n), full = support::describe(TRITRI_FLOAT32, TRITRI_FILL_FULL, n, n);
  const std::vector<float> ones(static_cast<size_t>(n * n), 1.0f);
  std::vector<float> c(ones.size(), -1.0f);
  if (tritri_multiply_host(context, nullptr, &lower, ones.data(), &lower, ones.data(), &full, c.data()) != TRITRI_OK) return false;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      if (c[static_cast<size_t>(i * n + j)] != static_cast<float>(j <= i ? i - j + 1 : 0)) return false;
  return true;
}

// The exit status of a child that does `work`, -1 if it hung for a minute or died.
int in_child(const std::function<bool()> &work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(work() ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("L3 product in the parent, fork, product in the child") {
  for (const int64_t n : {7, 8, 200, 700}) {
    for (const int32_t threads : {1, 4}) {
      const support::Context context = support::make_context(TRITRI_DEVICE_CPU, threads);
      REQUIRE(product_is_right(context, n));
      INFO("n = " << n << ", " << threads << " threads");
      CHECK(in_child([&] { return product_is_right(context, n); }) == 0);
      CHECK(in_child([&] { return product_is_right(support::make_context(TRITRI_DEVICE_CPU, threads), n); }) == 0);
      CHECK(product_is_right(context, n));
    }
  }
}

TEST_CASE("L3 a grandchild computes as well") {
  const support::Context context = support::make_context(TRITRI_DEVICE_CPU, 4);
  REQUIRE(product_is_right(context, 200));
  CHECK(in_child([&] { return product_is_right(context, 200) && in_child([&] { return product_is_right(context, 200); }) == 0; }) == 0);
}
