// Devices, versions, host memory and what the environment says.
#include <cstdlib>
#include <cstring>

#include "api/fixture.h"

using namespace api_tests;
using support::call;

namespace {

// TRITRI_DEVICE for as long as this lives; NULL takes it away.
struct Environment {
  explicit Environment(const char *value) {
    if (value) setenv("TRITRI_DEVICE", value, 1);
    else unsetenv("TRITRI_DEVICE");
  }
  ~Environment() { unsetenv("TRITRI_DEVICE"); }
};

int32_t cuda_devices() {
  int32_t count = -1;
  call(tritri_device_count(TRITRI_DEVICE_CUDA, &count));
  return count;
}

int32_t kind_of(tritri_context *context) {
  tritri_device_info info = TRITRI_DEVICE_INFO_INIT;
  call(tritri_context_device_info(context, &info));
  return info.kind;
}

}  // namespace

TEST_CASE("version and status names") {
  CHECK(tritri_version() == TRITRI_VERSION);
  const std::string text = std::to_string(TRITRI_VERSION_MAJOR) + "." + std::to_string(TRITRI_VERSION_MINOR) + "." + std::to_string(TRITRI_VERSION_PATCH);
  CHECK(text == tritri_version_string());
  const char *const names[] = {"TRITRI_OK", "TRITRI_INVALID_ARGUMENT", "TRITRI_OUT_OF_MEMORY", "TRITRI_NO_DEVICE", "TRITRI_NOT_SUPPORTED", "TRITRI_DEVICE_ERROR", "TRITRI_INTERNAL_ERROR"};
  for (int status = 0; status < 7; ++status) CHECK(std::string(tritri_status_name(static_cast<tritri_status>(status))) == names[status]);
  CHECK(std::string(tritri_status_name(static_cast<tritri_status>(7))) == "TRITRI_UNKNOWN_STATUS");
  CHECK(std::string(tritri_status_name(static_cast<tritri_status>(-1))) == "TRITRI_UNKNOWN_STATUS");
}

TEST_CASE("L1 device counts and descriptions where there may be no GPU") {
  int32_t cpus = 0, all = 0;
  call(tritri_device_count(TRITRI_DEVICE_CPU, &cpus));
  call(tritri_device_count(TRITRI_DEVICE_AUTO, &all));
  CHECK(cpus == 1);
  CHECK(cuda_devices() >= 0);
  CHECK(all == 1 + cuda_devices());
  tritri_device_info info = TRITRI_DEVICE_INFO_INIT;
  call(tritri_device_info_get(TRITRI_DEVICE_CPU, 0, &info));
  CHECK(info.kind == TRITRI_DEVICE_CPU);
  CHECK(info.multiprocessors >= 1);
  CHECK(info.memory_total > 0);
  CHECK(info.memory_free <= info.memory_total);
  CHECK(std::strlen(info.name) > 0);
  CHECK(std::strlen(info.details) > 0);
  require_refused(tritri_device_info_get(TRITRI_DEVICE_CPU, 1, &info), TRITRI_NO_DEVICE, "tritri_device_info_get", "index: there is one CPU device, 0, got 1");
  require_refused(tritri_device_info_get(TRITRI_DEVICE_CPU, -1, &info), TRITRI_INVALID_ARGUMENT, "tritri_device_info_get", "index: must be at least 0, got -1");
  require_refused(tritri_device_info_get(TRITRI_DEVICE_CUDA, 1000, &info), TRITRI_NO_DEVICE, "tritri_device_info_get", "index");
}

TEST_CASE("L1 a CUDA device that is not there is TRITRI_NO_DEVICE with the reason, and the CPU still computes") {
  tritri_context_options options = TRITRI_CONTEXT_OPTIONS_INIT;
  options.device = TRITRI_DEVICE_CUDA;
  options.device_index = cuda_devices();
  tritri_context *context = nullptr;
  require_refused(tritri_context_create(&options, &context), TRITRI_NO_DEVICE, "tritri_context_create", "device");
  CHECK(context == nullptr);
  options.device = TRITRI_DEVICE_CPU;
  options.device_index = 1;
  require_refused(tritri_context_create(&options, &context), TRITRI_NO_DEVICE, "tritri_context_create", "device_index: there is one CPU device, 0, got 1");
  options.device_index = 0;
  options.stream = &options;
  require_refused(tritri_context_create(&options, &context), TRITRI_INVALID_ARGUMENT, "tritri_context_create", "stream must be NULL on the CPU device");
  CHECK(context == nullptr);
  Fixture f;
  call(tritri_multiply_host(f.context, nullptr, &f.upper, f.u, &f.lower, f.l, &f.full, f.c));
  CHECK(f.c[0] == 14);
  require_refused(tritri_context_set_stream(f.context, &options), TRITRI_INVALID_ARGUMENT, "tritri_context_set_stream", "cuda_stream: must be NULL on a CPU context");
  call(tritri_context_set_stream(f.context, nullptr));
  call(tritri_context_synchronize(f.context));
}

TEST_CASE("TRITRI_DEVICE steers AUTO and nothing else") {
  const int32_t best = cuda_devices() > 0 ? TRITRI_DEVICE_CUDA : TRITRI_DEVICE_CPU;
  for (const char *unset : {static_cast<const char *>(nullptr), ""}) {
    const Environment environment(unset);
    support::Context context;
    call(tritri_context_create(nullptr, context.out()));
    CHECK(kind_of(context) == best);
  }
  {
    const Environment environment("cpu");
    support::Context context;
    call(tritri_context_create(nullptr, context.out()));
    CHECK(kind_of(context) == TRITRI_DEVICE_CPU);
  }
  tritri_context *none = nullptr;
  for (const char *wrong : {"gpu", "CPU", "cuda:", "cuda:x", "cuda:-1", "cuda1", "cuda:99999", " cpu", "cpu:1"}) {
    const Environment environment(wrong);
    require_refused(tritri_context_create(nullptr, &none), TRITRI_INVALID_ARGUMENT, "tritri_context_create",
                    std::string("environment: TRITRI_DEVICE must be cpu, cuda or cuda:N, got \"") + wrong + "\"");
    CHECK(kind_of(support::make_context(TRITRI_DEVICE_CPU)) == TRITRI_DEVICE_CPU);  // asked for by name: the environment is not read
  }
  {
    const Environment environment("cuda:999");
    require_refused(tritri_context_create(nullptr, &none), TRITRI_NO_DEVICE, "tritri_context_create", "device");
  }
  if (cuda_devices() == 0) {
    const Environment environment("cuda");
    require_refused(tritri_context_create(nullptr, &none), TRITRI_NO_DEVICE, "tritri_context_create", "needs a CUDA device, got none: ");
  }
  CHECK(none == nullptr);
}

TEST_CASE("host memory is given and taken back once") {
  Fixture f, g;
  void *memory = nullptr, *nothing = nullptr;
  call(tritri_host_allocate(f.context, 1000, &memory));
  REQUIRE(memory != nullptr);
  CHECK(reinterpret_cast<uintptr_t>(memory) % 64 == 0);
  std::memset(memory, 1, 1000);
  call(tritri_host_allocate(f.context, 0, &nothing));
  CHECK(nothing != nullptr);
  call(tritri_host_free(f.context, nothing));
  int own = 0;
  require_refused(tritri_host_free(f.context, &own), TRITRI_INVALID_ARGUMENT, "tritri_host_free", "pointer: must come from tritri_host_allocate and not be freed yet");
  CHECK(tritri_host_free(g.context, memory) == TRITRI_OK);  // any context of the same device
  require_refused(tritri_host_free(f.context, memory), TRITRI_INVALID_ARGUMENT, "tritri_host_free", "pointer: must come from tritri_host_allocate and not be freed yet");
}

TEST_CASE("host memory of a context that is gone can still be freed through another") {
  void *memory = nullptr;
  {
    Fixture first;
    call(tritri_host_allocate(first.context, 64, &memory));
  }
  std::memset(memory, 1, 64);
  Fixture second;
  CHECK(tritri_host_free(second.context, memory) == TRITRI_OK);
}
