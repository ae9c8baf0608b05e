#include "cpu/cpu_device.h"

#include <sched.h>
#include <sys/sysinfo.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <set>

#include "core/error.h"
#include "cpu/blocked.h"
#include "cpu/copy.h"
#include "cpu/huge_pages.h"

namespace tritri::cpu {
namespace {

constexpr size_t alignment = 256, huge_from = size_t{4} << 20;  // as NumPy's arrays

int usable_threads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return 1;
}

void *allocate_aligned(size_t bytes) {
  void *memory = bytes <= SIZE_MAX - alignment ? std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment) : nullptr;
  if (!memory) fail_below(TRITRI_OUT_OF_MEMORY, "memory: the host must have room for ", bytes, " bytes, got none");
  if (bytes >= huge_from) prefer_huge_pages(memory, bytes);
  return memory;
}

// What host_allocate gave out. One for the process: memory may come back through any context, also when the one it came from is gone.
class HostBlocks {
 public:
  static HostBlocks &instance() {
    static HostBlocks *const blocks = new HostBlocks;  // never destroyed: an atexit handler may still free
    return *blocks;
  }
  void *allocate(size_t bytes) {
    std::unique_ptr<void, decltype(&std::free)> memory(allocate_aligned(bytes), std::free);
    const std::lock_guard<std::mutex> lock(mutex_);
    blocks_.insert(memory.get());
    return memory.release();
  }
  bool release(void *memory) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (blocks_.erase(memory) == 0) return false;
    std::free(memory);
    return true;
  }

 private:
  std::mutex mutex_;
  std::set<void *> blocks_;
};

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(const tritri_context_options &options) : threads_(options.threads > 0 ? options.threads : usable_threads()) {}

  tritri_device kind() const override { return TRITRI_DEVICE_CPU; }
  tritri_device_info info() const override { return device_info(); }
  int host_threads() const override { return threads_; }
  void *allocate(size_t bytes) override { return bytes == 0 ? nullptr : allocate_aligned(bytes); }
  void release(void *memory) noexcept override { std::free(memory); }

  void *host_allocate(size_t bytes) override { return HostBlocks::instance().allocate(bytes); }
  bool host_release(void *memory) override { return HostBlocks::instance().release(memory); }

  void upload(const Layout &to, void *device_memory, const Layout &from, const void *host) override { copy(to, device_memory, from, host); }
  void download(const Layout &from, const void *device_memory, const Layout &to, void *host) override { copy(to, host, from, device_memory); }
  int64_t line_alignment(Dtype) const override { return 1; }

  Plan plan(const Problem &problem, int32_t algorithm) override {
    check(algorithm);
    return blocked_plan(problem, settings());
  }
  void multiply(const Problem &problem, int32_t algorithm) override {
    check(algorithm);
    blocked(problem, settings(), workspace_);
  }
  void multiply_host(const tritri_multiply_options &options, const Operands &operands) override { multiply(canonical(options, operands), options.algorithm); }

  void synchronize() override {}
  void set_stream(void *stream) override {
    if (stream) fail(TRITRI_INVALID_ARGUMENT, "tritri_context_set_stream: cuda_stream: must be NULL on a CPU context, got ", stream);
  }

 private:
  static void check(int32_t algorithm) {
    if (algorithm == TRITRI_ALGORITHM_CUBLAS)
      fail_below(TRITRI_NOT_SUPPORTED, "options: algorithm TRITRI_ALGORITHM_CUBLAS (2) needs a CUDA context, got a CPU context");
  }
  BlockedSettings settings() const {
    BlockedSettings settings;
    settings.threads = threads_;
    return settings;
  }

  int threads_;
  Workspace workspace_;
};

}  // namespace

tritri_device_info device_info() {
  tritri_device_info info = TRITRI_DEVICE_INFO_INIT;
  info.kind = TRITRI_DEVICE_CPU;
  info.multiprocessors = usable_threads();
  std::snprintf(info.name, sizeof info.name, "CPU");
  std::snprintf(info.details, sizeof info.details, "host memory, %d threads, own %s kernels, no BLAS inside", usable_threads(), best_kernels().name);
  struct sysinfo memory;
  if (sysinfo(&memory) == 0) {
    info.memory_total = static_cast<int64_t>(memory.totalram) * memory.mem_unit;
    info.memory_free = static_cast<int64_t>(memory.freeram) * memory.mem_unit;
  }
  return info;
}

std::shared_ptr<Device> make_device(const tritri_context_options &options) { return std::make_shared<CpuDevice>(options); }

}  // namespace tritri::cpu
