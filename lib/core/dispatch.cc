#include "core/dispatch.h"

#include <cstdlib>
#include <string>

#include "core/error.h"
#include "cpu/cpu_device.h"
#ifdef TRITRI_WITH_CUDA
#include "cuda/runtime/cuda_device.h"
#endif

namespace tritri {
namespace {

#ifdef TRITRI_WITH_CUDA
int32_t cuda_count() { return cuda::device_count(); }
std::string why_no_cuda() { return cuda::why_no_device(); }
#else
int32_t cuda_count() { return 0; }
std::string why_no_cuda() { return "this libtritri was built without CUDA"; }
#endif

[[noreturn]] void no_cuda_device(const char *function, const char *argument, int32_t index) {
  const int32_t count = cuda_count();
  if (count == 0) fail(TRITRI_NO_DEVICE, function, ": ", argument, ": needs a CUDA device, got none: ", why_no_cuda());
  fail(TRITRI_NO_DEVICE, function, ": ", argument, ": device index must be below the number of CUDA devices, ", count, ", got ", index);
}

void check_kind(const char *function, int32_t kind) {
  if (kind < TRITRI_DEVICE_AUTO || kind > TRITRI_DEVICE_CUDA)
    fail(TRITRI_INVALID_ARGUMENT, function, ": kind: must be TRITRI_DEVICE_AUTO, CPU or CUDA (0 to 2), got ", kind);
}

// "cpu", "cuda", "cuda:N" from the environment into options whose device is AUTO.
void steer(const char *function, const char *wish, tritri_context_options &options) {
  const std::string device(wish);
  const auto wrong = [&] {
    fail(TRITRI_INVALID_ARGUMENT, function, ": environment: TRITRI_DEVICE must be cpu, cuda or cuda:N, got \"", device, "\"");
  };
  if (device == "cpu") {
    options.device = TRITRI_DEVICE_CPU;
    options.device_index = 0;
    return;
  }
  if (device.rfind("cuda", 0) != 0) wrong();
  options.device = TRITRI_DEVICE_CUDA;
  if (device.size() == 4) return;
  const std::string number = device.substr(5);
  if (device[4] != ':' || number.empty() || number.size() > 4 || number.find_first_not_of("0123456789") != std::string::npos) wrong();
  options.device_index = std::atoi(number.c_str());
}

}  // namespace

int32_t device_count(const char *function, int32_t kind) {
  check_kind(function, kind);
  return (kind == TRITRI_DEVICE_CUDA ? 0 : 1) + (kind == TRITRI_DEVICE_CPU ? 0 : cuda_count());
}

tritri_device_info device_info(const char *function, int32_t kind, int32_t index) {
  check_kind(function, kind);
  if (index < 0) fail(TRITRI_INVALID_ARGUMENT, function, ": index: must be at least 0, got ", index);
  if (kind == TRITRI_DEVICE_AUTO) kind = cuda_count() > 0 ? TRITRI_DEVICE_CUDA : TRITRI_DEVICE_CPU;
  if (kind == TRITRI_DEVICE_CPU) {
    if (index > 0) fail(TRITRI_NO_DEVICE, function, ": index: there is one CPU device, 0, got ", index);
    return cpu::device_info();
  }
#ifdef TRITRI_WITH_CUDA
  if (index < cuda_count()) return cuda::device_info(index);
#endif
  no_cuda_device(function, "index", index);
}

std::shared_ptr<Device> make_device(const char *function, tritri_context_options options) {
  if (options.device == TRITRI_DEVICE_AUTO) {
    const char *wish = std::getenv("TRITRI_DEVICE");
    if (wish && *wish) steer(function, wish, options);
    else options.device = cuda_count() > 0 ? TRITRI_DEVICE_CUDA : TRITRI_DEVICE_CPU;
  }
  if (options.device == TRITRI_DEVICE_CPU) {
    if (options.device_index > 0) fail(TRITRI_NO_DEVICE, function, ": options: device_index: there is one CPU device, 0, got ", options.device_index);
    if (options.stream) fail(TRITRI_INVALID_ARGUMENT, function, ": options: stream must be NULL on the CPU device, got ", options.stream);
    return cpu::make_device(options);
  }
#ifdef TRITRI_WITH_CUDA
  if (options.device_index < cuda_count()) return cuda::make_device(options);
#endif
  no_cuda_device(function, "options: device", options.device_index);
}

}  // namespace tritri
