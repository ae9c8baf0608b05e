// The kernels for batches of small matrices alone, without the library around them.
//
//   batched_check check [cases]   random products of every dtype, mode, fill, op, order, diag, storage, size, ld, stride and alignment; exit code 1 on a failure
//   batched_check time [dtype]    lower x lower, C full, n x batch up to 268 MB per operand, a JSON line for every contender: each way of the kernel, those
//                                 of the library's other kernels and cuBLAS's strided batched GEMM; float32 with its error and FMA's. Milliseconds are medians
//                                 of 7 graphs of several products, each product with its own matrices, none of them in the L2 cache when a graph starts
//
// The reference shares nothing with the library: it reads matrices as the descriptors state them and sums in double on the host. What must not be
// read holds NaN, what must not be written a known NaN.
#include <cublas_v2.h>
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "cuda/kernels/batched_kernel.cuh"
#include "cuda/kernels/table.h"

namespace tritri::cuda {
extern const Kernel batched_kernel;
}

namespace {

using namespace tritri;
using namespace tritri::cuda;

#define CHECK(call)                                                                                  \
  do {                                                                                               \
    const cudaError_t error_ = (call);                                                               \
    if (error_ != cudaSuccess) {                                                                     \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));         \
      std::exit(1);                                                                                  \
    }                                                                                                \
  } while (false)

template <class T> struct Number;
template <> struct Number<float> {
  static constexpr Dtype dtype = Dtype::f32;
  static constexpr double sum_roundoff = 0x1p-24, store_roundoff = 0x1p-24, least = 0x1p-149;
  static float make(double x) { return static_cast<float>(x); }
  static double read(float x) { return x; }
};
template <> struct Number<double> {
  static constexpr Dtype dtype = Dtype::f64;
  static constexpr double sum_roundoff = 0x1p-53, store_roundoff = 0x1p-53, least = 0;
  static double make(double x) { return x; }
  static double read(double x) { return x; }
};
template <> struct Number<__half> {
  static constexpr Dtype dtype = Dtype::f16;
  static constexpr double sum_roundoff = 0x1p-24, store_roundoff = 0x1p-11, least = 0x1p-24;
  static __half make(double x) { return __float2half_rn(static_cast<float>(x)); }
  static double read(__half x) { return __half2float(x); }
};
template <> struct Number<__nv_bfloat16> {
  static constexpr Dtype dtype = Dtype::bf16;
  static constexpr double sum_roundoff = 0x1p-24, store_roundoff = 0x1p-8, least = 0x1p-133;
  static __nv_bfloat16 make(double x) { return __float2bfloat16_rn(static_cast<float>(x)); }
  static double read(__nv_bfloat16 x) { return __bfloat162float(x); }
};

struct Named { std::string name; const BatchedVariant *variant; };

// What serves a type and mode, whichever of them the kernel would choose.
std::vector<Named> variants_of(Dtype dtype, int32_t compute) {
  std::vector<Named> all;
  const auto add = [&](const char *name, const BatchedVariants &variants) {
    for (int i = 0; i < variants.count; ++i) {
      const BatchedVariant &v = variants.first[i];
      static constexpr const char *ways[] = {"single", "tiles", "ring", "block", "split"};
      all.push_back({std::string(name) + " " + ways[static_cast<int>(v.way)] + " " + std::to_string(v.tile), &v});
    }
  };
  if (dtype == Dtype::f64) add("double", batched_f64);
  else if (dtype == Dtype::f16) add("mma", batched_f16);
  else if (dtype == Dtype::bf16) add("mma", batched_bf16);
  else if (compute == TRITRI_COMPUTE_TF32) add("tf32", batched_tf32);
  else if (compute == TRITRI_COMPUTE_PEDANTIC) add("ffma", batched_ffma);
  else {
    add("double", batched_f32_double);
    add("3xtf32", batched_tf32x3);
  }
  return all;
}

void run(const BatchedVariant &variant, const Problem &p, const GpuTraits &traits, cudaStream_t stream = nullptr) {
  variant.launch(BatchedArguments(p, variant.order(p)), traits.multiprocessors, stream);
}

// A stored matrix and the op on it, as a caller would say it.
struct Stored {
  int rows, cols;  // as stored
  int fill, unit, column_order, op, packed;
  int64_t ld, stride;
  bool transposes() const { return op == TRITRI_OP_TRANSPOSE || op == TRITRI_OP_CONJ_TRANSPOSE; }
  bool lower_lines() const { return fill == (column_order ? TRITRI_FILL_UPPER : TRITRI_FILL_LOWER); }
  int lines() const { return column_order ? cols : rows; }
  int length() const { return column_order ? rows : cols; }
  bool exists(int r, int c) const { return fill == TRITRI_FILL_FULL || (fill == TRITRI_FILL_LOWER ? r >= c : r <= c); }
  bool held(int r, int c) const { return exists(r, c) && !(unit && r == c); }
  // Elements before line `line` when only the triangle is stored.
  int64_t packed_before(int line) const {
    int64_t sum = 0;
    for (int l = 0; l < line; ++l) sum += lower_lines() ? std::min(l + 1, length()) : std::max(length() - l, 0);
    return sum;
  }
  int64_t place(int r, int c) const {
    const int line = column_order ? c : r, position = column_order ? r : c;
    return packed ? packed_before(line) + position - (lower_lines() ? 0 : line) : line * ld + position;
  }
  int64_t extent() const { return packed ? packed_before(lines()) : (lines() - 1) * ld + length(); }
};

struct Job { int m, n, k, batch; double alpha, beta; };

Layout layout(Dtype dtype, const Stored &x, int batch) {
  return {dtype, static_cast<Fill>(x.fill), x.unit != 0, x.column_order ? Order::column : Order::row, x.packed ? Storage::packed : Storage::strided,
          x.rows, x.cols, x.ld, batch, x.stride};
}

// A batch on the host and on the device: NaN, and random numbers inside the fill; `special` sprinkles Inf, NaN, huge and tiny ones there as well.
template <class T>
struct Data {
  std::vector<T> host;
  T *device = nullptr;
  int64_t first = 0;  // where matrix 0 begins

  Data(const Stored &x, int batch, int64_t lead, bool fill, bool special, std::mt19937 &random) {
    const int64_t stride = std::llabs(x.stride);
    host.resize(static_cast<size_t>(lead + x.extent() + (batch - 1) * stride));
    first = lead + (x.stride < 0 ? (batch - 1) * stride : 0);
    std::memset(static_cast<void *>(host.data()), 0xff, host.size() * sizeof(T));
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int q = 0; fill && q < (x.stride == 0 ? 1 : batch); ++q)
      for (int r = 0; r < x.rows; ++r)
        for (int c = 0; c < x.cols; ++c) {
          if (!x.held(r, c)) continue;
          double value = uniform(random);
          if (special && random() % 300 == 0) value = std::vector<double>{INFINITY, -INFINITY, NAN, 3e38, 1e-39, 1e-42}[random() % 6];
          host[static_cast<size_t>(first + q * x.stride + x.place(r, c))] = Number<T>::make(value);
        }
    CHECK(cudaMalloc(&device, host.size() * sizeof(T)));
    upload();
  }
  void upload() { CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice)); }
  std::vector<T> download() const {
    std::vector<T> now(host.size());
    CHECK(cudaMemcpy(now.data(), device, now.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return now;
  }
  ~Data() { cudaFree(device); }
};

struct Tally { int cases = 0, failures = 0; };

double rounded_tf32(double x) {
  float f = static_cast<float>(x);
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  if ((bits & 0x7f800000u) == 0x7f800000u) return x;
  bits = (bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu;
  std::memcpy(&f, &bits, 4);
  return f;
}

template <class T>
std::string judge(const Job &job, const Stored &a_as, const Data<T> &a, const Stored &b_as, const Data<T> &b, const Stored &c_as, const Data<T> &c, const std::vector<T> &got,
                  bool tf32) {
  using N = Number<T>;
  std::vector<char> owned(got.size(), 0);
  char text[200];
  for (int q = 0; q < job.batch; ++q)
    for (int i = 0; i < job.m; ++i)
      for (int j = 0; j < job.n; ++j) {
        if (!c_as.held(i, j)) continue;
        const auto at = static_cast<size_t>(c.first + q * c_as.stride + c_as.place(i, j));
        owned[at] = 1;
        double sum = 0, magnitude = 0;
        int terms = 0;
        for (int k = 0; k < job.k; ++k) {
          const int ar = a_as.transposes() ? k : i, ac = a_as.transposes() ? i : k, br = b_as.transposes() ? j : k, bc = b_as.transposes() ? k : j;
          if (!a_as.exists(ar, ac) && !(a_as.unit && ar == ac)) continue;
          if (!b_as.exists(br, bc) && !(b_as.unit && br == bc)) continue;
          double x = a_as.unit && ar == ac ? 1 : N::read(a.host[static_cast<size_t>(a.first + q * a_as.stride + a_as.place(ar, ac))]);
          double y = b_as.unit && br == bc ? 1 : N::read(b.host[static_cast<size_t>(b.first + q * b_as.stride + b_as.place(br, bc))]);
          if (tf32) {
            x = rounded_tf32(x);
            y = rounded_tf32(y);
          }
          ++terms;
          sum += x * y;
          magnitude += std::fabs(x * y);
        }
        const double old = job.beta != 0 ? N::read(c.host[at]) : 0, exact = (terms ? job.alpha * sum : 0) + (job.beta != 0 ? job.beta * old : 0);
        const double want = N::read(N::make(exact)), have = N::read(got[at]);
        const double bound = N::sum_roundoff * ((terms + 10) * std::fabs(job.alpha) * magnitude + 4 * std::fabs(job.beta * old)) * (N::dtype == Dtype::f64 ? 2 : 1) +
                             N::store_roundoff * std::fabs(exact) + N::least + 0x1p-148 * terms;
        // Where partial sums in float32 may leave its range, Inf is as right as the sum.
        const bool near_overflow = N::dtype != Dtype::f64 && magnitude > 1.5e38;
        bool right = std::isnan(want) ? std::isnan(have) : std::isinf(want) ? have == want : std::fabs(have - exact) <= bound;
        if (terms == 0 && job.beta == 0) right = have == 0 && !std::signbit(have);
        if (right || (near_overflow && !(std::fabs(have) < 1.5e38))) continue;
        std::snprintf(text, sizeof text, "(%d, %d) of batch %d: got %.9g, want %.9g, bound %.3g", i, j, q, have, want, bound);
        return text;
      }
  for (size_t at = 0; at < got.size(); ++at)
    if (!owned[at] && std::memcmp(&got[at], &c.host[at], sizeof(T)) != 0) {
      std::snprintf(text, sizeof text, "element %zu of C's memory was touched", at);
      return text;
    }
  return "";
}

template <class T>
void check_one(const GpuTraits &traits, std::mt19937 &random, Tally &tally, int largest, int32_t compute) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Job job{1 + pick(largest), 1 + pick(largest), 1 + pick(largest), 1 + pick(6), 1, 0};
  if (pick(2)) job.n = job.k = job.m;
  if (pick(3) == 0)
    for (int *size : {&job.m, &job.n, &job.k}) *size = std::min((*size + 7) / 8 * 8, 128);
  if (pick(3) == 0) job.alpha = pick(2) ? -1 : 0.75;
  if (pick(3) == 0) job.beta = pick(2) ? 1 : -0.5;
  const bool tidy = pick(2);  // everything on 16-byte boundaries
  const auto stored = [&](int rows, int cols, bool input) {
    Stored x{};
    x.op = input ? pick(4) : 0;
    x.rows = x.transposes() ? cols : rows;
    x.cols = x.transposes() ? rows : cols;
    x.fill = pick(3);
    x.unit = input && pick(3) == 0;
    x.column_order = pick(2);
    x.packed = !tidy && x.fill != TRITRI_FILL_FULL && pick(5) == 0;
    if (!x.packed) {
      x.ld = x.length() + (pick(2) ? pick(9) : 0);
      if (tidy || pick(2)) x.ld = (x.ld + 7) / 8 * 8;
    }
    x.stride = input && pick(4) == 0 ? 0 : x.packed ? x.extent() : x.lines() * x.ld;
    if (x.stride != 0 && pick(2)) x.stride += pick(5);
    if (x.stride != 0 && (tidy || pick(2))) x.stride = (x.stride + 7) / 8 * 8;
    if (input && pick(6) == 0) x.stride = -x.stride;
    return x;
  };
  const Stored a_as = stored(job.m, job.k, true), b_as = stored(job.k, job.n, true), c_as = stored(job.m, job.n, false);
  const auto lead = [&] { return tidy || pick(2) ? 0 : pick(4); };
  const bool special = pick(4) == 0;
  const Data<T> a(a_as, job.batch, lead(), true, special, random), b(b_as, job.batch, lead(), true, special, random);
  Data<T> c(c_as, job.batch, lead(), job.beta != 0, false, random);

  tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
  options.op_a = a_as.op;
  options.op_b = b_as.op;
  options.alpha_re = job.alpha;
  options.beta_re = job.beta;
  options.compute = compute;
  const Dtype dtype = Number<T>::dtype;
  const Problem problem = canonical(options, {layout(dtype, a_as, job.batch), layout(dtype, b_as, job.batch), layout(dtype, c_as, job.batch), a.device + a.first,
                                              b.device + b.first, c.device + c.first});
  if (!batched_kernel.can(problem, traits)) {
    std::printf("refused: m %d n %d k %d\n", job.m, job.n, job.k);
    ++tally.failures;
  }
  for (const Named &named : variants_of(dtype, compute)) {
    if (!named.variant->can(problem)) continue;
    c.upload();
    run(*named.variant, problem, traits);
    CHECK(cudaDeviceSynchronize());
    const std::string fault = judge(job, a_as, a, b_as, b, c_as, c, c.download(), compute == TRITRI_COMPUTE_TF32);
    ++tally.cases;
    if (fault.empty()) continue;
    if (++tally.failures > 12) continue;
    std::printf("FAIL %s %s: m %d n %d k %d batch %d alpha %g beta %g special %d: %s\n", name(dtype), named.name.c_str(), job.m, job.n, job.k, job.batch, job.alpha, job.beta, special,
                fault.c_str());
    for (const Stored *x : {&a_as, &b_as, &c_as})
      std::printf("     %d x %d fill %d unit %d column order %d op %d packed %d ld %lld stride %lld\n", x->rows, x->cols, x->fill, x->unit, x->column_order, x->op, x->packed,
                  static_cast<long long>(x->ld), static_cast<long long>(x->stride));
  }
}

int check(const GpuTraits &traits, int cases) {
  std::mt19937 random(20240607);
  Tally tally;
  for (int i = 0; i < cases; ++i) {
    const int largest = i % 4 == 0 ? 8 : i % 4 == 1 ? 16 : i % 4 == 2 ? 40 : 128;
    for (const int32_t compute : {TRITRI_COMPUTE_DEFAULT, TRITRI_COMPUTE_PEDANTIC, TRITRI_COMPUTE_TF32}) check_one<float>(traits, random, tally, largest, compute);
    check_one<double>(traits, random, tally, largest, TRITRI_COMPUTE_DEFAULT);
    check_one<__half>(traits, random, tally, largest, TRITRI_COMPUTE_DEFAULT);
    check_one<__nv_bfloat16>(traits, random, tally, largest, TRITRI_COMPUTE_DEFAULT);
  }
  std::printf("%d passed, %d failed\n", tally.cases - tally.failures, tally.failures);
  return tally.failures == 0 && tally.cases > 0 ? 0 : 1;
}

// cuBLAS looked up at run time; without it the peer's column stays empty and says so.
struct CublasPeer {
  cublasHandle_t handle = nullptr;
  void *library = nullptr;
  template <class F> F *find(const char *symbol) const { return reinterpret_cast<F *>(dlsym(library, symbol)); }
  CublasPeer() {
    for (const char *file : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"})
      if (!library) library = dlopen(file, RTLD_NOW);
    if (!library) {
      std::printf("peers skipped: libcublas not found\n");
      return;
    }
    if (find<decltype(cublasCreate_v2)>("cublasCreate_v2")(&handle) != CUBLAS_STATUS_SUCCESS) std::exit(1);
  }
};

// Times products by replaying graphs of them, so that the host's share is left out.
class Replay {
 public:
  Replay() {
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&begin_));
    CHECK(cudaEventCreate(&end_));
    CHECK(cudaMalloc(&cold_, cold_bytes));
  }
  ~Replay() { cudaFree(cold_); }

  // Milliseconds of call(0), call(1)... one by one; `most`: how many there are.
  template <class F>
  double ms(F &&call, int64_t most) {
    call(0);
    CHECK(cudaStreamSynchronize(stream));
    const double once = median(graph_of(call, 1), 3);
    const auto count = static_cast<int>(std::clamp<int64_t>(static_cast<int64_t>(1 / once), 1, std::min<int64_t>(most, 100)));
    return median(graph_of(call, count), 7) / count;
  }

  cudaStream_t stream;

 private:
  static constexpr size_t cold_bytes = size_t{128} << 20;

  template <class F>
  cudaGraphExec_t graph_of(F &&call, int count) {
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < count; ++i) call(i);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphUpload(ready, stream));
    return ready;
  }
  double median(cudaGraphExec_t graph, int times) {
    std::vector<float> all(static_cast<size_t>(times));
    for (float &ms : all) {
      CHECK(cudaMemsetAsync(cold_, 0, cold_bytes, stream));
      CHECK(cudaEventRecord(begin_, stream));
      CHECK(cudaGraphLaunch(graph, stream));
      CHECK(cudaEventRecord(end_, stream));
      CHECK(cudaEventSynchronize(end_));
      CHECK(cudaEventElapsedTime(&ms, begin_, end_));
    }
    CHECK(cudaGraphExecDestroy(graph));
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
  }

  cudaEvent_t begin_, end_;
  void *cold_;
};

// Random numbers in the lower triangles, NaN above them.
template <class T>
__global__ void fill_lower(T *data, int n, int64_t elements, unsigned seed) {
  for (int64_t at = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; at < elements; at += static_cast<int64_t>(gridDim.x) * blockDim.x) {
    unsigned x = static_cast<unsigned>(at) * 2654435761u + seed;
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    const bool above = at / n % n < at % n;
    const double value = static_cast<double>(static_cast<int>(x ^ x >> 16)) / 2147483648.0;
    data[at] = static_cast<T>(above ? static_cast<double>(NAN) : value);
  }
}

// Relative error in the Frobenius norm of some matrices of the batch; FMA accumulation's beside it.
void print_error(int n, const float *a, const float *b, const float *c, int64_t batch) {
  const size_t one = static_cast<size_t>(n) * n, count = static_cast<size_t>(std::min<int64_t>(batch, 1 + 50000 / static_cast<int64_t>(one)));
  std::vector<float> x(one * count), y(one * count), z(one * count);
  CHECK(cudaMemcpy(x.data(), a, x.size() * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(y.data(), b, y.size() * 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(z.data(), c, z.size() * 4, cudaMemcpyDeviceToHost));
  double norm = 0, error = 0, fma_error = 0;
  for (size_t q = 0; q < count; ++q)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) {
        double want = 0;
        float fma = 0;
        for (int k = j; k <= i; ++k) {
          const float left = x[q * one + static_cast<size_t>(i * n + k)], right = y[q * one + static_cast<size_t>(k * n + j)];
          want += static_cast<double>(left) * right;
          fma = std::fma(left, right, fma);
        }
        norm += want * want;
        error += std::pow(z[q * one + static_cast<size_t>(i * n + j)] - want, 2);
        fma_error += std::pow(fma - want, 2);
      }
  std::printf(", \"error\": %.3g, \"fma_error\": %.3g", std::sqrt(error / norm), std::sqrt(fma_error / norm));
}

template <class T>
void time_type(const GpuTraits &traits, const CublasPeer &cublas) {
  constexpr Dtype dtype = Number<T>::dtype;
  constexpr int64_t bytes = int64_t{1} << 28;
  constexpr size_t workspace_bytes = size_t{64} << 20;
  Replay replay;
  T *a, *b, *c;
  void *workspace;
  for (T **x : {&a, &b, &c}) CHECK(cudaMalloc(x, bytes));
  CHECK(cudaMalloc(&workspace, workspace_bytes));
  if (cublas.handle) cublas.find<decltype(cublasSetStream_v2)>("cublasSetStream_v2")(cublas.handle, replay.stream);
  for (const int n : {8, 16, 32, 64, 128}) {
    const int64_t one = static_cast<int64_t>(n) * n, most = bytes / static_cast<int64_t>(sizeof(T)) / one;
    fill_lower<<<2048, 256>>>(a, n, most * one, 1);
    fill_lower<<<2048, 256>>>(b, n, most * one, 77);
    CHECK(cudaDeviceSynchronize());
    std::vector<int64_t> batches = {1, 4, 16, 64, 256, 1024, 4096, 16384, most};
    batches.erase(std::remove_if(batches.begin(), batches.end() - 1, [&](int64_t x) { return x >= most; }), batches.end() - 1);
    for (const int64_t batch : batches) {
      const Stored lower{n, n, TRITRI_FILL_LOWER, 0, 0, 0, 0, n, one}, full{n, n, TRITRI_FILL_FULL, 0, 0, 0, 0, n, one};
      const int64_t sets = most / batch;
      for (const int32_t compute : {TRITRI_COMPUTE_DEFAULT, TRITRI_COMPUTE_PEDANTIC, TRITRI_COMPUTE_TF32}) {
        if (compute != TRITRI_COMPUTE_DEFAULT && dtype != Dtype::f32) continue;
        tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
        options.compute = compute;
        const auto problem = [&](int i) {
          const int64_t at = i % sets * batch * one;
          const int count = static_cast<int>(batch);
          return canonical(options, {layout(dtype, lower, count), layout(dtype, lower, count), layout(dtype, full, count), a + at, b + at, c + at});
        };
        const Problem first = problem(0);
        const Plan plan = batched_kernel.plan(first, traits, workspace_bytes);
        const auto line = [&](const std::string &contender, double ms, double modelled_ms, bool chosen) {
          std::printf("{\"timing\": \"batched\", \"n\": %d, \"batch\": %lld, \"dtype\": \"%s\", \"compute\": \"%s\", \"contender\": \"%s\", \"ms\": %.5f, \"floor_ms\": %.5f", n,
                      static_cast<long long>(batch), name(dtype), compute == TRITRI_COMPUTE_DEFAULT ? "default" : compute == TRITRI_COMPUTE_TF32 ? "tf32" : "pedantic",
                      contender.c_str(), ms, batched_bytes(first) / 4.2e9);
          if (modelled_ms > 0) std::printf(", \"modelled_ms\": %.5f, \"chosen\": %s", modelled_ms, chosen ? "true" : "false");
        };
        for (const Named &named : variants_of(dtype, compute)) {
          const BatchedVariant &variant = *named.variant;
          if (!variant.can(first)) continue;
          CHECK(cudaMemset(c, 0xff, static_cast<size_t>(batch * one) * sizeof(T)));
          CHECK(cudaDeviceSynchronize());
          const double ms = replay.ms([&](int i) { run(variant, problem(i), traits, replay.stream); }, sets), modelled = batched_seconds(variant, first, traits);
          line(named.name, ms, 1e3 * modelled, modelled == plan.seconds);
          if constexpr (std::is_same_v<T, float>)
            if (batch == most && compute != TRITRI_COMPUTE_TF32) print_error(n, a, b, c, batch);
          std::printf("}\n");
        }
        for (const Kernel *kernel : kernels()) {
          if (kernel == &batched_kernel || !kernel->can(first, traits)) continue;
          const Plan other = kernel->plan(first, traits, workspace_bytes);
          if (other.workspace > workspace_bytes || other.seconds > 2 * plan.seconds + 20e-6) continue;
          line(kernel->name, replay.ms([&](int i) { kernel->launch(problem(i), other, workspace, traits, replay.stream); }, sets), 1e3 * other.seconds, false);
          std::printf("}\n");
        }
        if (cublas.handle && compute != TRITRI_COMPUTE_TF32) {
          const float alpha = 1, beta = 0;
          const double alpha64 = 1, beta64 = 0;
          const bool is_double = dtype == Dtype::f64;
          const auto type = is_double ? CUDA_R_64F : dtype == Dtype::f32 ? CUDA_R_32F : dtype == Dtype::f16 ? CUDA_R_16F : CUDA_R_16BF;
          auto *gemm = cublas.find<cublasStatus_t(cublasHandle_t, int, int, int, int, int, const void *, const void *, cudaDataType, int, long long, const void *, cudaDataType, int,
                                                  long long, const void *, void *, cudaDataType, int, long long, int, cublasComputeType_t, int)>("cublasGemmStridedBatchedEx");
          const double ms = replay.ms([&](int i) {
            const int64_t at = i % sets * batch * one;
            if (gemm(cublas.handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, is_double ? static_cast<const void *>(&alpha64) : &alpha, b + at, type, n, one, a + at, type, n, one,
                     is_double ? static_cast<const void *>(&beta64) : &beta, c + at, type, n, one, static_cast<int>(batch), is_double ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                     CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_SUCCESS)
              std::printf("cublas refused\n");
          }, sets);
          line("cublas", ms, 0, false);
          std::printf("}\n");
        }
        std::fflush(stdout);
      }
    }
  }
  for (T *x : {a, b, c}) CHECK(cudaFree(x));
  CHECK(cudaFree(workspace));
}

}  // namespace

int main(int argc, char **argv) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    std::printf("batched_check: skipped: no GPU\n");
    return 77;
  }
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  GpuTraits traits;
  traits.compute_major = properties.major;
  traits.compute_minor = properties.minor;
  traits.multiprocessors = properties.multiProcessorCount;
  traits.shared_bytes = properties.sharedMemPerBlockOptin;
  for (const Kernel *kernel : kernels()) kernel->load(traits);
  const std::string mode = argc > 1 ? argv[1] : "check", only = argc > 2 ? argv[2] : "";
  if (mode == "check") return check(traits, argc > 2 ? std::atoi(argv[2]) : 100);
  if (mode == "time") {
    const CublasPeer cublas;
    if (only.empty() || only == "float32") time_type<float>(traits, cublas);
    if (only.empty() || only == "float64") time_type<double>(traits, cublas);
    if (only.empty() || only == "bfloat16") time_type<__nv_bfloat16>(traits, cublas);
    return 0;
  }
  std::printf("usage: batched_check check [cases] | time [dtype]\n");
  return 2;
}
