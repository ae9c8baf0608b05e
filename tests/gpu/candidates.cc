// Times every candidate of the CUDA device's choice: products x types x sizes x batches, as JSON lines, replayed from a CUDA graph so that the host's share is left
// out, each time with operands elsewhere in memory. Beside each candidate stands what the cost model expects. tests/gpu/host/choices.cc replays the committed table. Arguments: [--seconds N] (stop
// before; default 600) [--largest N] (default 8192) [--part I/N] (every Nth problem from the Ith on, so that several short runs make one table).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cuda/cublas/handle.h"
#include "cuda/heuristics.h"
#include "cuda/kernels/panels.h"
#include "cuda/kernels/table.h"
#include "cuda/runtime/check.h"
#include "cuda/runtime/traits.h"
#include "gpu/harness.h"

using namespace tritri;
using namespace tritri::cuda;

namespace {

constexpr size_t workspace_bytes = default_workspace;
constexpr int64_t most_elements_bytes = int64_t{1} << 30;  // of one operand

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Type { Dtype dtype; int32_t compute; const char *compute_name; };
constexpr Type types[] = {{Dtype::f32, TRITRI_COMPUTE_DEFAULT, "default"}, {Dtype::f32, TRITRI_COMPUTE_PEDANTIC, "pedantic"}, {Dtype::f32, TRITRI_COMPUTE_TF32, "tf32"},
                          {Dtype::f64, TRITRI_COMPUTE_DEFAULT, "default"}, {Dtype::c64, TRITRI_COMPUTE_DEFAULT, "default"}, {Dtype::c128, TRITRI_COMPUTE_DEFAULT, "default"},
                          {Dtype::f16, TRITRI_COMPUTE_DEFAULT, "default"}, {Dtype::bf16, TRITRI_COMPUTE_DEFAULT, "default"}};

struct Product { const char *name; Fill a, b, c; bool a_rows = true; };
constexpr Product lower_lower{"lower*lower", Fill::lower, Fill::lower, Fill::full}, cut_full{"full*full->lower", Fill::full, Fill::full, Fill::lower};
constexpr Product products[] = {lower_lower,
                                {"lower*full", Fill::lower, Fill::full, Fill::full},
                                {"lower*upper->lower", Fill::lower, Fill::upper, Fill::lower},
                                {"full*full", Fill::full, Fill::full, Fill::full},
                                cut_full};
constexpr Product turned{"lowerT*lower->lower", Fill::upper, Fill::lower, Fill::lower, false};

struct Case { const Type *type; Product product; int64_t n, batch; };

// Complex products beyond 4096 take minutes.
bool fits(const Case &x) {
  return x.n * x.n * x.batch * element_bytes(x.type->dtype) <= most_elements_bytes && (x.n <= 4096 || !is_complex(x.type->dtype));
}

// What matters most comes first: single products and large batches, then small batches and a transposed input, then what takes long.
std::vector<Case> cases(int64_t largest) {
  std::vector<Case> all;
  const auto add = [&](const Type &type, const Product &product, int64_t n, int64_t batch) {
    const Case x{&type, product, n, batch};
    if (n <= largest && fits(x)) all.push_back(x);
  };
  for (const Type &type : types)
    for (const Product &product : products) {
      for (const int64_t n : {64, 128, 256, 512, 1024, 1536, 2048, 4096}) add(type, product, n, 1);
      for (int64_t n = 64; n <= 1024; n *= 2) add(type, product, n, std::max<int64_t>(4, (int64_t{1} << 24) / (n * n)));
    }
  for (const Type &type : types) {
    for (int64_t n = 512; n <= 4096; n *= 2) add(type, turned, n, 1);
    for (const Product &product : {lower_lower, cut_full})
      for (int64_t n = 8; n <= 512; n *= 2) add(type, product, n, 16);
  }
  for (const Type &type : types)
    for (int64_t n = 8192; n <= largest; n *= 2)
      for (const Product &product : {lower_lower, cut_full}) add(type, product, n, 1);
  return all;
}

// Random values in [-0.5, 0.5), one block of them over and over.
void fill(void *to, size_t bytes, Dtype dtype) {
  constexpr size_t block = size_t{1} << 20;
  std::vector<unsigned char> host(block);
  uint64_t state = 12345;
  const auto next = [&] { return static_cast<double>((state = state * 6364136223846793005ull + 1442695040888963407ull) >> 40) * 0x1p-24 - 0.5; };
  for (size_t at = 0; at < block;) {
    if (dtype == Dtype::f64 || dtype == Dtype::c128) {
      const double value = next();
      std::memcpy(&host[at], &value, 8);
      at += 8;
    } else if (dtype == Dtype::f32 || dtype == Dtype::c64) {
      const float value = static_cast<float>(next());
      std::memcpy(&host[at], &value, 4);
      at += 4;
    } else {
      const float value = static_cast<float>(next());
      uint32_t bits;
      std::memcpy(&bits, &value, 4);
      const uint32_t exponent = bits >> 23 & 0xff;
      const uint16_t half = static_cast<uint16_t>((bits >> 16 & 0x8000) | (exponent < 113 ? 0 : (exponent - 112) << 10 | (bits >> 13 & 0x3ff)));
      const uint16_t word = dtype == Dtype::bf16 ? static_cast<uint16_t>(bits >> 16) : half;
      std::memcpy(&host[at], &word, 2);
      at += 2;
    }
  }
  TRITRI_CUDA_CHECK(cudaMemcpy(to, host.data(), std::min(block, bytes), cudaMemcpyHostToDevice));
  for (size_t done = block; done < bytes; done *= 2)
    TRITRI_CUDA_CHECK(cudaMemcpy(static_cast<char *>(to) + done, to, std::min(done, bytes - done), cudaMemcpyDeviceToDevice));
}

class Bench {
 public:
  Bench() : traits_(read_traits(0)), workspace_(workspace_bytes), a_(most_elements_bytes), b_(most_elements_bytes), c_(most_elements_bytes) {
    load_panels();
    for (const Kernel *kernel : kernels()) kernel->load(traits_);
    TRITRI_CUDA_CHECK(cudaEventCreate(&from_));
    TRITRI_CUDA_CHECK(cudaEventCreate(&to_));
  }

  void measure(const Case &x) {
    if (x.type != type_) type(*x.type);
    Problem p;
    p.dtype = x.type->dtype;
    p.compute = x.type->compute;
    p.m = p.n = p.k = x.n;
    p.batch = x.batch;
    for (View *v : {&p.a, &p.b, &p.c}) {
      v->rows = v->cols = v->ld = x.n;
      v->batch_stride = x.batch > 1 ? x.n * x.n : 0;
    }
    p.a.fill = x.product.a;
    p.a.row_lines = x.product.a_rows;
    p.b.fill = x.product.b;
    p.c.fill = x.product.c;
    p.a.data = a_.get();
    p.b.data = b_.get();
    p.c.data = c_.get();
    const std::vector<Choice> choices = every_choice(p, traits_, workspace_bytes);
    const Choice chosen = choose(p, TRITRI_ALGORITHM_AUTO, traits_, workspace_bytes);
    double best = 1;  // second
    for (const Choice &choice : choices) {
      if (choice.workspace() > workspace_bytes) continue;
      const double seconds = time(p, choice, best);
      best = std::min(best, seconds);
      std::printf("{\"timing\": \"candidate\", \"product\": \"%s\", \"n\": %lld, \"batch\": %lld, \"dtype\": \"%s\", \"compute\": \"%s\", \"kernel\": \"%s\", \"ms\": %.5f, "
                  "\"modelled_ms\": %.5f, \"chosen\": %s}\n",
                  x.product.name, static_cast<long long>(x.n), static_cast<long long>(x.batch), name(p.dtype), x.type->compute_name, choice.plan.kernel_name, 1e3 * seconds,
                  1e3 * choice.plan.seconds, choice.plan.kernel_name == chosen.plan.kernel_name ? "true" : "false");
    }
    std::fflush(stdout);
  }

 private:
  void type(const Type &t) {
    type_ = &t;
    fill(a_.get(), most_elements_bytes, t.dtype);
    TRITRI_CUDA_CHECK(cudaMemcpy(b_.get(), a_.get(), most_elements_bytes, cudaMemcpyDeviceToDevice));
  }

  // The product with operands of its own, as far as memory reaches.
  Problem elsewhere(Problem p, int turn) const {
    constexpr int64_t align = int64_t{1} << 20;
    const int64_t bytes = (p.m * p.n * p.batch * element_bytes(p.dtype) + align - 1) / align * align, at = turn % (most_elements_bytes / bytes) * bytes;
    p.a.data = static_cast<const char *>(p.a.data) + at;
    p.b.data = static_cast<const char *>(p.b.data) + at;
    p.c.data = static_cast<char *>(p.c_data()) + at;
    return p;
  }

  void run(const Problem &p, const Choice &choice) {
    if (choice.plan.algorithm == TRITRI_ALGORITHM_CUBLAS) run_cublas(blas_, p, choice.cublas, workspace_.get(), stream_.get());
    else kernels()[static_cast<size_t>(choice.plan.kernel)]->launch(p, choice.plan, workspace_.get(), traits_, stream_.get());
  }

  double elapsed(cudaGraphExec_t graph) {
    TRITRI_CUDA_CHECK(cudaEventRecord(from_, stream_.get()));
    TRITRI_CUDA_CHECK(cudaGraphLaunch(graph, stream_.get()));
    TRITRI_CUDA_CHECK(cudaEventRecord(to_, stream_.get()));
    TRITRI_CUDA_CHECK(cudaEventSynchronize(to_));
    float ms = 0;
    TRITRI_CUDA_CHECK(cudaEventElapsedTime(&ms, from_, to_));
    return 1e-3 * ms;
  }

  // Seconds of one product: the median of a few graphs of several. One that is far behind `best` is looked at once.
  double time(const Problem &p, const Choice &choice, double best) {
    run(p, choice);
    const auto graph_of = [&](int count) {
      cudaGraph_t graph;
      cudaGraphExec_t ready;
      TRITRI_CUDA_CHECK(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeThreadLocal));
      for (int x = 0; x < count; ++x) run(elsewhere(p, x), choice);
      TRITRI_CUDA_CHECK(cudaStreamEndCapture(stream_.get(), &graph));
      TRITRI_CUDA_CHECK(cudaGraphInstantiate(&ready, graph, 0));
      TRITRI_CUDA_CHECK(cudaGraphDestroy(graph));
      TRITRI_CUDA_CHECK(cudaGraphUpload(ready, stream_.get()));
      return ready;
    };
    cudaGraphExec_t graph = graph_of(1);
    elapsed(graph);
    const double once = elapsed(graph);
    TRITRI_CUDA_CHECK(cudaGraphExecDestroy(graph));
    if (once > 3 * best + 20e-6) return once;
    const int count = std::clamp(static_cast<int>(5e-4 / once), 1, 20);
    graph = graph_of(count);
    elapsed(graph);
    std::vector<double> times;
    for (int x = 0; x < 5; ++x) times.push_back(elapsed(graph) / count);
    TRITRI_CUDA_CHECK(cudaGraphExecDestroy(graph));
    std::sort(times.begin(), times.end());
    return times[2];
  }

  GpuTraits traits_;
  gpu::Stream stream_;
  gpu::Memory workspace_, a_, b_, c_;
  Cublas blas_;
  cudaEvent_t from_ = nullptr, to_ = nullptr;
  const Type *type_ = nullptr;
};

}  // namespace

int main(int argc, char **argv) {
  double seconds = 600;
  int64_t largest = 8192;
  size_t part = 0, parts = 1;
  for (int x = 1; x + 1 < argc; x += 2) {
    if (std::string(argv[x]) == "--seconds") seconds = std::atof(argv[x + 1]);
    if (std::string(argv[x]) == "--largest") largest = std::atoll(argv[x + 1]);
    if (std::string(argv[x]) == "--part") std::sscanf(argv[x + 1], "%zu/%zu", &part, &parts);
  }
  try {
    const double start = now();
    Bench bench;
    cudaDeviceProp device;
    TRITRI_CUDA_CHECK(cudaGetDeviceProperties(&device, 0));
    std::printf("{\"timing\": \"machine\", \"device\": \"%s\", \"library\": \"%s\", \"cublas\": %d}\n", device.name, tritri_version_string(), cublas_library().version);
    const std::vector<Case> all = cases(largest);
    for (size_t x = part; x < all.size() && now() - start < seconds; x += parts) bench.measure(all[x]);
    std::fprintf(stderr, "%.2f s\n", now() - start);
  } catch (const std::exception &error) {
    std::printf("FAIL candidates: %s\n", error.what());
    return 1;
  }
  return 0;
}
