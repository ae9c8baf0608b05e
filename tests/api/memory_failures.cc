// B6: every allocation inside the library may fail. This program brings its own malloc, which the library uses too, and lets the first, the second, the
// third ... allocation of a call fail until the call gets through.
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "api/fixture.h"

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
}

namespace {

// Counts down the calling thread's allocations; at 0 one fails, and all after it until the countdown is off again (negative).
thread_local long countdown = -1;
thread_local bool happened = false;

bool fails() {
  if (countdown < 0) return false;
  if (countdown > 0) {
    --countdown;
    return false;
  }
  happened = true;
  errno = ENOMEM;
  return true;
}

}  // namespace

extern "C" {
void *malloc(size_t bytes) { return fails() ? nullptr : __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { return fails() ? nullptr : __libc_calloc(count, bytes); }
void *realloc(void *memory, size_t bytes) { return fails() ? nullptr : __libc_realloc(memory, bytes); }
void *memalign(size_t align, size_t bytes) { return fails() ? nullptr : __libc_memalign(align, bytes); }
void *aligned_alloc(size_t align, size_t bytes) { return fails() ? nullptr : __libc_memalign(align, bytes); }
int posix_memalign(void **out, size_t align, size_t bytes) {
  void *memory = fails() ? nullptr : __libc_memalign(align, bytes);
  if (!memory) return ENOMEM;
  *out = memory;
  return 0;
}
}

using namespace api_tests;
using support::call;

namespace {

// Lets allocation number 0, 1, 2 ... fail until the call succeeds without one. After each failure: the status, a message, and `untouched`. A call
// that succeeds although an allocation failed has found another way, which is fine when its result is right.
void fail_each_allocation(const char *function, const std::function<tritri_status()> &run, const std::function<bool()> &untouched, const std::function<bool()> &right) {
  int failures = 0;
  for (long at = 0;; ++at) {
    REQUIRE(at < 2000);
    happened = false;
    countdown = at;
    const tritri_status status = run();
    countdown = -1;
    INFO(function << " with allocation " << at << " failing: " << tritri_status_name(status) << ": " << tritri_last_error());
    if (status == TRITRI_OK) {
      CHECK(right());
      if (!happened) break;
      continue;
    }
    ++failures;
    REQUIRE(happened);
    REQUIRE(status == TRITRI_OUT_OF_MEMORY);
    CHECK(std::strstr(tritri_last_error(), "memory") != nullptr);
    CHECK(untouched());
  }
  INFO(function << " allocates nothing");
  CHECK((failures > 0 || std::string(function) == "tritri_multiply"));
}

}  // namespace

TEST_CASE("B6 the stand-in for malloc is the one that the library calls") {
  tritri_context_options options = TRITRI_CONTEXT_OPTIONS_INIT;
  options.device = TRITRI_DEVICE_CPU;
  tritri_context *context = nullptr;
  countdown = 0;
  happened = false;
  const tritri_status status = tritri_context_create(&options, &context);
  countdown = -1;
  CHECK(happened);
  CHECK(status == TRITRI_OUT_OF_MEMORY);
  CHECK(context == nullptr);
}

TEST_CASE("B6 failing allocations while contexts and matrices are made") {
  Fixture f;
  tritri_context_options options = TRITRI_CONTEXT_OPTIONS_INIT;
  options.device = TRITRI_DEVICE_CPU;
  support::Context context;
  support::Matrix matrix;
  void *memory = nullptr;
  fail_each_allocation("tritri_context_create", [&] { return tritri_context_create(&options, context.out()); }, [&] { return !context; }, [&] { return context != nullptr; });
  fail_each_allocation("tritri_upload", [&] { return tritri_upload(f.context, &f.full, f.c, matrix.out()); }, [&] { return !matrix; }, [&] { return matrix != nullptr; });
  matrix = support::Matrix();
  fail_each_allocation("tritri_matrix_create", [&] { return tritri_matrix_create(f.context, &f.full, matrix.out()); }, [&] { return !matrix; }, [&] { return matrix != nullptr; });
  matrix = support::Matrix();
  fail_each_allocation("tritri_matrix_wrap", [&] { return tritri_matrix_wrap(f.context, &f.full, f.c, matrix.out()); }, [&] { return !matrix; }, [&] { return matrix != nullptr; });
  fail_each_allocation("tritri_host_allocate", [&] { return tritri_host_allocate(f.context, 100, &memory); }, [&] { return !memory; }, [&] { return memory != nullptr; });
  CHECK(tritri_host_free(f.context, memory) == TRITRI_OK);
}

TEST_CASE("B6 failing allocations inside products of every type and size") {
  for (const int32_t dtype : support::all_dtypes) {
    for (const int64_t n : {2, 40, 300}) {
      for (const int32_t threads : {1, 4}) {
        for (const bool in_place : {false, true}) {
          const tritri_matrix_desc lower = support::describe(dtype, TRITRI_FILL_LOWER, n, n);
          const support::Operand a(lower), separate(lower);
          a.fill([](int64_t, int64_t i, int64_t j) { return support::Wide(i == j ? 1 : 0); });
          const support::Operand &c = in_place ? a : separate;
          const support::Buffer before = *c.buffer;
          // Each attempt has a fresh context, so that no workspace of an earlier one hides an allocation.
          support::Context context = support::make_context(TRITRI_DEVICE_CPU, threads);
          const auto run = [&] { return tritri_multiply_host(context, nullptr, &lower, a.data(), &lower, a.data(), &lower, c.data()); };
          const auto untouched = [&] {
            const bool same = *c.buffer == before;
            context = support::make_context(TRITRI_DEVICE_CPU, threads);
            return same;
          };
          const auto right = [&] { return c.value(0, n - 1, n - 1) == support::Wide(1) && c.value(0, n - 1, 0) == support::Wide(n == 1 ? 1 : 0); };
          INFO(support::name_of(dtype) << ", n = " << n << ", threads " << threads << (in_place ? ", in place" : ""));
          fail_each_allocation("tritri_multiply", run, untouched, right);
        }
      }
    }
  }
}

TEST_CASE("B6 failing allocations inside plan and verify") {
  Fixture f;
  char text[64] = "kept";
  double residual = 5;
  size_t bytes = 5;
  call(tritri_multiply(f.context, nullptr, f.a, f.b, f.result));
  fail_each_allocation("tritri_plan_describe", [&] { return tritri_plan_describe(f.context, nullptr, f.a, f.b, f.result, text, sizeof text); },
                       [&] { return std::strcmp(text, "kept") == 0; }, [&] { return std::strncmp(text, "device=cpu", 10) == 0; });
  fail_each_allocation("tritri_verify", [&] { return tritri_verify(f.context, nullptr, f.a, f.b, f.result, 4, &residual); }, [&] { return residual == 5; }, [&] { return residual < 1e-14; });
  call(tritri_workspace_size(f.context, nullptr, f.a, f.b, f.result, &bytes));
}

TEST_CASE("B6 a refusal whose message finds no memory is still a status") {
  Fixture f;
  tritri_matrix *none = nullptr;
  tritri_matrix_desc wrong = f.full;
  wrong.rows = -1;
  for (long at = 0; at < 8; ++at) {
    countdown = at;
    const tritri_status status = tritri_matrix_create(f.context, &wrong, &none);
    countdown = -1;
    CHECK((status == TRITRI_INVALID_ARGUMENT || status == TRITRI_OUT_OF_MEMORY));
    CHECK(none == nullptr);
    CHECK(std::strlen(tritri_last_error()) > 0);
  }
}
