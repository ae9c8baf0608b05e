#include "cuda/runtime/cuda_device.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "core/error.h"
#include "cuda/cublas/handle.h"
#include "cuda/cublas/library.h"
#include "cuda/cublas/route.h"
#include "cuda/heuristics.h"
#include "cuda/kernels/copy.h"
#include "cuda/kernels/panels.h"
#include "cuda/kernels/table.h"
#include "cuda/runtime/device_guard.h"
#include "cuda/runtime/foresight.h"
#include "cuda/runtime/host_zeros.h"
#include "cuda/runtime/resource.h"
#include "cuda/runtime/traits.h"
#include "cuda/runtime/transfer.h"
#include "cuda/runtime/warm_up.h"
#include "cuda/schedule/row_blocks.h"

namespace tritri::cuda {
namespace {

constexpr size_t operand_align = 256;
constexpr int cublas_helpers = 4;  // threads that warm cuBLAS up: more wait for each other
constexpr int64_t zeros_worth_a_thread = int64_t{16} << 20;
constexpr int64_t pages_worth = int64_t{4} << 20;  // bytes of C from which NumPy asks for large pages
constexpr int64_t line_worth_parting = 256;
constexpr int64_t blocks_worth = int64_t{16} << 20;  // bytes of C from which a product of host arrays runs in blocks of rows
constexpr int64_t line_bytes = 16;  // what the copy engines and vector loads want lines to be aligned to

size_t round_up(size_t bytes) { return (bytes + operand_align - 1) / operand_align * operand_align; }

// Rows that go to and fro at a time: enough to fill the card, few enough that the first and the last block, which overlap nothing, are short.
constexpr int64_t block_height = 512;
static_assert(block_height % Transfer::strip == 0, "blocks are moved in whole strips");

// In front of every block of tritri_host_allocate: host_release knows its own by it, from whichever context they came.
struct HostMark {
  static constexpr size_t bytes = 256;
  static constexpr uint64_t magic = 0x7472697472692d31;
  uint64_t word;
  void *block;
};

bool is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  TRITRI_CUDA_CHECK(cudaStreamIsCapturing(stream, &status));
  return status != cudaStreamCaptureStatusNone;
}

void append(std::vector<Region> *to, std::vector<Region> &&more) { to->insert(to->end(), more.begin(), more.end()); }

// Blocks of rows follow each other up the bus, through the multiprocessors and down the bus. `b`: NULL where A is both.
std::vector<Step> block_steps(std::vector<RowBlock> blocks, const Job &a, const Job *b, const Job &c, const std::function<void(const Problem &)> &run_part) {
  std::vector<Step> steps;
  for (RowBlock &block : blocks) {
    Step ahead{Transfer::beside_corners(a, block.rows), {}, {}};
    if (block.ahead) ahead.launch = [run_part, part = *block.ahead] { run_part(part); };
    steps.push_back(std::move(ahead));
    Step rest{{}, [run_part, parts = std::move(block.products)] { for (const Problem &part : parts) run_part(part); }, Transfer::beside_corners(c, block.rows)};
    if (b) rest.up = Transfer::beside_corners(*b, block.rows);
    steps.push_back(std::move(rest));
  }
  append(&steps.front().up, Transfer::corners(a));
  if (b) append(&steps.front().up, Transfer::corners(*b));
  append(&steps.back().down, Transfer::corners(c));
  return steps;
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(const tritri_context_options &options);
  ~CudaDevice() override;

  tritri_device kind() const override { return TRITRI_DEVICE_CUDA; }
  tritri_device_info info() const override { return device_info(index_); }
  int host_threads() const override { return host_threads_; }

  void *allocate(size_t bytes) override {
    const DeviceGuard guard(index_);
    forget_earlier_errors();
    DeviceMemory memory = allocate_cleared(bytes);
    void *const pointer = memory.get();
    memory.abandon();
    return pointer;
  }

  void release(void *memory) noexcept override {
    if (!memory || !usable()) return;
    try {
      const DeviceGuard guard(index_);
      const DeviceMemory owner(memory);
    } catch (...) {
      // The device is gone, and its memory with it.
    }
  }

  void uploaded(const Layout &layout) noexcept override {
    foresight_.uploaded(layout);
    foresee();
  }
  void created(const Layout &layout) noexcept override {
    foresight_.created(layout);
    foresee();
  }

  void *host_allocate(size_t bytes) override {
    const DeviceGuard guard(index_);
    forget_earlier_errors();
    if (bytes > SIZE_MAX - HostMark::bytes) fail(TRITRI_OUT_OF_MEMORY, "tritri_host_allocate: bytes: the host must have room for it, got ", bytes);
    PinnedMemory memory = allocate_pinned(bytes + HostMark::bytes);
    char *const block = static_cast<char *>(memory.get()), *const pointer = block + HostMark::bytes;
    const HostMark mark{HostMark::magic, pointer};
    std::memcpy(block, &mark, sizeof mark);
    memory.abandon();
    return pointer;
  }

  bool host_release(void *memory) override {
    const DeviceGuard guard(index_);
    forget_earlier_errors();
    char *const block = static_cast<char *>(memory) - HostMark::bytes;
    cudaPointerAttributes attributes;
    const cudaError_t known = cudaPointerGetAttributes(&attributes, block);
    drop(known);
    if (known != cudaSuccess || attributes.type != cudaMemoryTypeHost) return false;
    HostMark mark;
    std::memcpy(&mark, block, sizeof mark);
    if (mark.word != HostMark::magic || mark.block != memory) return false;
    std::memset(block, 0, sizeof mark);
    TRITRI_CUDA_CHECK(cudaFreeHost(block));
    return true;
  }

  void upload(const Layout &to, void *device_memory, const Layout &from, const void *host) override {
    synchronous("tritri_upload", [&] { transfer_->run({Step{Transfer::whole(Job(true, to, device_memory, from, host)), {}, {}}}, stream_); });
  }
  void download(const Layout &from, const void *device_memory, const Layout &to, void *host) override {
    synchronous("tritri_download", [&] { transfer_->run({Step{{}, {}, Transfer::whole(Job(false, from, device_memory, to, host))}}, stream_); });
  }
  int64_t line_alignment(Dtype dtype) const override { return std::max<int64_t>(1, line_bytes / element_bytes(dtype)); }

  Plan plan(const Problem &problem, int32_t algorithm) override {
    const Choice &choice = choices_.recall(problem, algorithm, traits_, workspace_bytes_);
    Plan plan = choice.plan;
    plan.workspace = choice.workspace();
    plan.flops = useful_flops(problem);
    return plan;
  }
  void multiply(const Problem &problem, int32_t algorithm) override;
  void multiply_host(const tritri_multiply_options &options, const Operands &operands) override;

  void synchronize() override {
    synchronous("tritri_context_synchronize", [&] { TRITRI_CUDA_CHECK(cudaStreamSynchronize(stream_)); });
  }
  void set_stream(void *stream) override;

 private:
  // A fork inherits none of CUDA, and after the driver has shut down nothing can be released.
  bool usable() const noexcept {
    int device = 0;
    if (getpid() != process_) return false;
    const cudaError_t error = cudaGetDevice(&device);
    drop(error);
    return error == cudaSuccess;
  }

  // Kernels may fetch what lies beside a diagonal in one vector or box with what they use: nobody else's old data is what they meet there.
  DeviceMemory allocate_cleared(size_t bytes) {
    DeviceMemory memory = allocate_device(bytes);
    if (bytes != 0) {
      TRITRI_CUDA_CHECK(cudaMemsetAsync(memory.get(), 0, bytes, own_stream_.get()));
      TRITRI_CUDA_CHECK(cudaStreamSynchronize(own_stream_.get()));
    }
    return memory;
  }

  void require_workspace(size_t bytes) const {
    if (bytes > workspace_bytes_)
      fail_below(TRITRI_OUT_OF_MEMORY, "context: its workspace must hold ", bytes, " bytes for this product (tritri_workspace_size tells), got ", workspace_bytes_);
  }
  void foresee() noexcept;
  void enqueue(const Problem &problem, int32_t algorithm);
  void run(const Problem &problem, const Choice &choice, void *workspace);
  void load();

  // A call that waits, and so is the first to hear of failures in what was enqueued before it.
  template <class Body>
  void synchronous(const char *function, Body &&body) {
    const DeviceGuard guard(index_);
    forget_earlier_errors();
    if (is_capturing(stream_)) fail(TRITRI_INVALID_ARGUMENT, function, ": context: its stream must not be in graph capture, since this call waits for it, got one that is");
    const bool pending = pending_;
    pending_ = false;
    try {
      body();
    } catch (const Error &error) {
      if (!pending || error.status() != TRITRI_DEVICE_ERROR) throw;
      throw Error(error.status(), text(function, ": context: work that tritri_multiply enqueued before must succeed, got ", error.what()));
    }
  }

  int index_, host_threads_;
  pid_t process_ = getpid();
  GpuTraits traits_;
  Stream own_stream_;
  cudaStream_t stream_ = nullptr;  // own_stream_ or the caller's
  Event order_;
  size_t workspace_bytes_ = 0;
  DeviceMemory workspace_;
  std::unique_ptr<Transfer> transfer_;
  std::unique_ptr<Cublas> blas_;
  Choices choices_;
  Foresight foresight_;
  bool pending_ = false;  // something was enqueued since the last synchronisation
};

CudaDevice::CudaDevice(const tritri_context_options &options)
    : index_(options.device_index), host_threads_(options.threads > 0 ? options.threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))) {
  // cuBLAS's library takes as long to find and open as the driver to make its own context.
  std::future<void> library = std::async(std::launch::async | std::launch::deferred, [] { cublas_library(); });
  const DeviceGuard guard(index_);
  library.get();
  forget_earlier_errors();
  traits_ = read_traits(index_);
  if (!traits_.at_least(8, 0))
    fail(TRITRI_NOT_SUPPORTED, "tritri_context_create: options: device_index must name a device of compute capability 8.0 or newer, got ", traits_.compute_major, ".",
         traits_.compute_minor);
  own_stream_ = make_stream();
  stream_ = own_stream_.get();
  order_ = make_event();
  size_t free = 0, total = 0;
  TRITRI_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  workspace_bytes_ = options.workspace_bytes != 0 ? options.workspace_bytes : std::min(default_workspace, total / 32);
  workspace_ = allocate_device(workspace_bytes_);
  // Kernels wait there for flags that no earlier content can be mistaken for; but it must be content.
  TRITRI_CUDA_CHECK(cudaMemsetAsync(workspace_.get(), 0, workspace_bytes_, stream_));
  const bool warm_up = wants_warm_up();
  std::optional<CublasWarmUp> cublas_warm_up;
  if (warm_up && traits_.cublas_version != 0) cublas_warm_up.emplace(index_, traits_, std::min(host_threads_ - 1, cublas_helpers));
  transfer_ = std::make_unique<Transfer>(index_, host_threads_);
  load();
  if (warm_up) launch_every_kernel(traits_, workspace_.get(), workspace_bytes_, stream_);
  if (traits_.cublas_version != 0) blas_ = std::make_unique<Cublas>();
  if (cublas_warm_up) cublas_warm_up->finish(*blas_, workspace_.get(), workspace_bytes_, stream_);
  TRITRI_CUDA_CHECK(cudaStreamSynchronize(stream_));
  pending_ = false;
  if (options.stream) stream_ = static_cast<cudaStream_t>(options.stream);
}

CudaDevice::~CudaDevice() {
  if (usable()) {
    try {
      const DeviceGuard guard(index_);
      transfer_.reset();
      blas_.reset();
      workspace_ = DeviceMemory();
      order_ = Event();
      own_stream_ = Stream();
      return;
    } catch (...) {
      // As below.
    }
  }
  if (blas_) blas_->abandon();
  if (transfer_) transfer_->abandon();
  workspace_.abandon();
  order_.abandon();
  own_stream_.abandon();
}

void CudaDevice::load() {
  static std::mutex mutex;  // kernels raise per-function limits, which are the process's
  const std::lock_guard<std::mutex> lock(mutex);
  load_copy();
  load_panels();
  for (const Kernel *kernel : kernels()) kernel->load(traits_);
}

// Cold code takes ten times as long as warm: deciding how a small product runs takes longer than running it.
void CudaDevice::foresee() noexcept {
  try {
    const DeviceGuard guard(index_);
    for (const Problem &problem : foresight_.products()) {
      const Choice &choice = choices_.recall(problem, TRITRI_ALGORITHM_AUTO, traits_, workspace_bytes_);
      if (choice.plan.algorithm != TRITRI_ALGORITHM_KERNEL) continue;
      const Kernel &kernel = *kernels()[static_cast<size_t>(choice.plan.kernel)];
      if (kernel.prepare) kernel.prepare(staged(problem, choice.unpacking, workspace_.get()).problem, choice.plan, traits_, own_stream_.get());
    }
    TRITRI_CUDA_CHECK(cudaStreamSynchronize(own_stream_.get()));
  } catch (...) {
    // Whoever multiplies will hear of it.
  }
}

void CudaDevice::enqueue(const Problem &problem, int32_t algorithm) {
  if (problem.m == 0 || problem.n == 0) return;
  if (only_scales(problem)) {
    if (problem.beta == std::complex<double>(1, 0)) return;
    Problem scale = problem;
    scale.k = 0;  // every sum is empty, and the inputs are not read
    kernels()[0]->launch(scale, kernels()[0]->plan(scale, traits_, workspace_bytes_), nullptr, traits_, stream_);
    return;
  }
  const Choice &choice = choices_.recall(problem, algorithm, traits_, workspace_bytes_);
  require_workspace(choice.workspace());
  const Staged moved = staged(problem, choice.unpacking, workspace_.get());
  const auto move = [&](const View &from, const View &to) {
    const CopySide source{static_cast<char *>(const_cast<void *>(from.data)), from.lines(), from.batch_stride};
    const CopySide target{static_cast<char *>(const_cast<void *>(to.data)), to.lines(), to.batch_stride};
    const Lines walk = from.lines();
    copy_fill(problem.dtype, target, source, walk, {{0, from.batch_stride == 0 ? 1 : problem.batch}, {0, walk.count}, {0, walk.length}}, stream_);
  };
  if (moved.copy_a) move(problem.a, moved.problem.a);
  if (moved.copy_b) move(problem.b, moved.problem.b);
  if (moved.copy_c && problem.beta != std::complex<double>(0, 0)) move(problem.c, moved.problem.c);
  run(moved.problem, choice, static_cast<char *>(workspace_.get()) + moved.bytes);
  if (moved.copy_c) move(moved.problem.c, problem.c);
}

void CudaDevice::run(const Problem &problem, const Choice &choice, void *workspace) {
  if (choice.plan.algorithm == TRITRI_ALGORITHM_CUBLAS) run_cublas(*blas_, problem, choice.cublas, workspace, stream_);
  else kernels()[static_cast<size_t>(choice.plan.kernel)]->launch(problem, choice.plan, workspace, traits_, stream_);
}

void CudaDevice::multiply(const Problem &problem, int32_t algorithm) {
  if (algorithm == TRITRI_ALGORITHM_CUBLAS && !blas_) choose(problem, algorithm, traits_, workspace_bytes_);  // says why not
  const DeviceGuard guard(index_);
  forget_earlier_errors();
  pending_ = true;
  enqueue(problem, algorithm);
}

void CudaDevice::multiply_host(const tritri_multiply_options &options, const Operands &host) {
  const DeviceGuard guard(index_);
  forget_earlier_errors();
  Operands device = host;
  const bool one_input = host.a_data == host.b_data && host.a == host.b;
  size_t total = 0;
  const auto take = [&](Layout &layout) {
    layout = tight(layout, line_alignment(layout.dtype));
    const size_t at = total;
    total += round_up(static_cast<size_t>(layout.bytes()));
    return at;
  };
  const size_t a_at = take(device.a), b_at = one_input ? a_at : take(device.b), c_at = take(device.c);
  if (one_input) device.b = device.a;
  const auto problem_at = [&](void *memory) {
    char *const base = static_cast<char *>(memory);
    device.a_data = base + a_at;
    device.b_data = base + b_at;
    device.c_data = base + c_at;
    return canonical(options, device);
  };
  // The operands stand at the workspace's end where there is room beside what the product itself needs; else in memory of their own.
  const size_t room = workspace_bytes_ / operand_align * operand_align;
  char *const end = static_cast<char *>(workspace_.get()) + room;
  DeviceMemory own;
  Problem problem = problem_at(total <= room ? end - total : nullptr);
  const size_t needed = choices_.recall(problem, options.algorithm, traits_, workspace_bytes_).workspace();
  require_workspace(needed);  // refused before anything is moved
  if (total > room || needed > room - total) {
    own = allocate_cleared(total);
    problem = problem_at(own.get());
  }
  const Job a(true, device.a, device.a_data, host.a, host.a_data), b(true, device.b, device.b_data, host.b, host.b_data);
  Job c(false, device.c, device.c_data, host.c, host.c_data);
  // Structural zeros of a full C need not cross the bus: the host writes them meanwhile, where no input is in the way. In pinned memory they must be worth a thread; in ordinary
  // memory, to which it copies the rest as well, lines must be worth taking apart.
  const bool adds = problem.beta != std::complex<double>(0, 0), in_place = host.c_data == host.a_data || host.c_data == host.b_data;
  if (!adds && !in_place && host.c.fill == Fill::full &&
      (c.pinned ? host.c.bytes() >= zeros_worth_a_thread : host.c.lines().length * c.element() >= line_worth_parting)) {
    const Fill reached = product_fill(problem);
    c.device.fill = c.host.fill = host.c.order == Order::row ? reached : flipped(reached);
  }
  const HostZeros zeros = c.host.fill == host.c.fill ? HostZeros() : HostZeros(host.c, c.host.fill, host.c_data);
  // New arrays have no pages yet. Where all of C is written, they can be had before results arrive.
  const HostPages pages = host.c.fill == Fill::full && !c.pinned && host.c.batch_stride >= 0 && host.c.bytes() >= pages_worth ? HostPages(host.c_data, host.c.bytes()) : HostPages();
  // Large triangles out of pinned memory are multiplied in blocks of rows, while others come and go. Pieces of ordinary memory go to and fro faster by the copy kernel, for which
  // a product leaves no room, than in strips beside the diagonal: 2.7 ms for n = 4096 float32 instead of 3.3 (H200).
  const bool only_triangle = !in_place && c.host.fill != Fill::full;  // blocks leave what lies beside it in C alone
  std::vector<Step> steps;
  if (c.host.bytes() >= blocks_worth && only_triangle && options.algorithm != TRITRI_ALGORITHM_CUBLAS && has_row_blocks(problem) && a.pinned && b.pinned && c.pinned) {
    const bool by_rows = host.c.order == Order::row;  // else the problem's A is op(B)
    steps = block_steps(row_blocks(problem, block_height), by_rows ? a : b, one_input ? nullptr : by_rows ? &b : &a, c, [&](const Problem &part) {
      run(part, choose(part, options.algorithm, traits_, own.get() ? workspace_bytes_ : room - total), workspace_.get());
    });
  } else {
    Step all{{}, [&] { enqueue(problem, options.algorithm); }, Transfer::whole(c)};
    if (problem.reads_inputs()) {
      append(&all.up, Transfer::whole(a));
      if (!one_input) append(&all.up, Transfer::whole(b));
    }
    if (adds) append(&all.up, Transfer::whole(Job(true, device.c, device.c_data, host.c, host.c_data)));
    steps.push_back(std::move(all));
  }
  synchronous("tritri_multiply_host", [&] { transfer_->run(steps, stream_, zeros, pages); });
}

void CudaDevice::set_stream(void *stream) {
  const cudaStream_t next = stream ? static_cast<cudaStream_t>(stream) : own_stream_.get();
  if (next == stream_) return;
  const DeviceGuard guard(index_);
  forget_earlier_errors();
  // Work that is being captured has not run and orders nothing; a stream in capture cannot wait for what was enqueued outside, so we do.
  if (pending_ && !is_capturing(stream_)) {
    if (is_capturing(next)) {
      cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
      TRITRI_CUDA_CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
      const cudaError_t error = cudaStreamSynchronize(stream_);
      TRITRI_CUDA_CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
      TRITRI_CUDA_CHECK(error);
    } else {
      TRITRI_CUDA_CHECK(cudaEventRecord(order_.get(), stream_));
      TRITRI_CUDA_CHECK(cudaStreamWaitEvent(next, order_.get(), 0));
    }
  }
  stream_ = next;
}

// As much of `text` as fits, with the terminating 0.
template <size_t size>
void write_text(char (&target)[size], const std::string &text) {
  target[text.copy(target, size - 1)] = 0;
}

cudaError_t count_devices(int *count) {
  *count = 0;
  const cudaError_t error = cudaGetDeviceCount(count);
  if (error != cudaSuccess) {
    (void)cudaGetLastError();
    *count = 0;
  }
  return error;
}

}  // namespace

int32_t device_count() {
  int count = 0;
  count_devices(&count);
  return count;
}

std::string why_no_device() {
  int count = 0, driver = 0;
  const cudaError_t error = count_devices(&count);
  drop(cudaDriverGetVersion(&driver));
  const std::string driver_text = driver == 0 ? std::string("no driver is installed") : text("the driver supports CUDA ", driver / 1000, ".", driver % 1000 / 10);
  return text("CUDA answered ", cudaGetErrorName(error), " (", cudaGetErrorString(error), "); ", driver_text);
}

tritri_device_info device_info(int32_t index) {
  const DeviceGuard guard(index);
  forget_earlier_errors();
  tritri_device_info info = TRITRI_DEVICE_INFO_INIT;
  info.kind = TRITRI_DEVICE_CUDA;
  info.index = index;
  cudaDeviceProp properties;
  TRITRI_CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
  write_text(info.name, properties.name);
  write_text(info.details, "own kernels, " + cublas_library().report);
  size_t free = 0, total = 0;
  TRITRI_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  info.memory_total = static_cast<int64_t>(total);
  info.memory_free = static_cast<int64_t>(free);
  info.compute_major = properties.major;
  info.compute_minor = properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  TRITRI_CUDA_CHECK(cudaDriverGetVersion(&info.driver_version));
  TRITRI_CUDA_CHECK(cudaRuntimeGetVersion(&info.runtime_version));
  info.blas_version = cublas_library().version;
  return info;
}

std::shared_ptr<Device> make_device(const tritri_context_options &options) { return std::make_shared<CudaDevice>(options); }

}  // namespace tritri::cuda
