// The sm_80 skeleton and the compact one alone, without the library around them: every shape over a table of products, and their speed beside cuBLAS.
//
//   sm80_check check [cases]      random products of every dtype, fill, op, order, diag, size, ld and alignment; exit code 1 on a failure
//   sm80_check time [dtype] [n]   lower x lower, ms, medians of 20 over rotated inputs, beside cublas<t>gemm and cublas<t>trmm
//   sm80_check shapes             other products at n = 4096, and batches of small ones
//   sm80_check small [dtype]      small products, from graphs
//   sm80_check packed [dtype] [n] lower x lower where operands are packed, one by one and together, from graphs
//
// The reference below shares nothing with the library: it reads matrices as the descriptors state them, one element of C per thread, in twice
// the precision. What must not be read holds NaN, what must not be written a known NaN.
#include <cublas_v2.h>
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "cuda/kernels/compact_kernel.cuh"
#include "cuda/kernels/kernel.h"
#include "cuda/kernels/sm80_kernel.cuh"

namespace tritri::cuda {
extern const Kernel sm80_kernel, compact_kernel;
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

// A stored matrix and the op on it, as a caller would say it.
struct Stored {
  int rows, cols;  // as stored
  int fill, unit, column_order, op;
  int64_t ld, stride;  // ld 0: packed
  bool transposes() const { return op == TRITRI_OP_TRANSPOSE || op == TRITRI_OP_CONJ_TRANSPOSE; }
};

__host__ __device__ inline bool is_held(const Stored &x, int r, int c) {
  if (x.unit && r == c) return false;
  return x.fill == TRITRI_FILL_FULL || (x.fill == TRITRI_FILL_LOWER ? r >= c : r <= c);
}
__host__ __device__ inline Lines lines_of(const Stored &x) {
  const auto fill = static_cast<Fill>(x.fill);
  return {x.column_order ? flipped(fill) : fill, x.ld == 0, x.column_order ? x.cols : x.rows, x.column_order ? x.rows : x.cols, x.ld};
}
__host__ __device__ inline int64_t place(const Stored &x, int r, int c) { return x.column_order ? lines_of(x).offset(c, r) : lines_of(x).offset(r, c); }

// A sum in twice the working precision of double (Ogita, Rump, Oishi: Dot2), and the sum of the magnitudes for the error bound.
struct Sum {
  double high = 0, low = 0, magnitude = 0, plain = 0;
  __device__ void add(double x, double y) {
    const double product = x * y, error = fma(x, y, -product), sum = high + product, part = sum - high;
    low += (high - (sum - part)) + (product - part) + error;
    high = sum;
    plain += product;
    magnitude += fabs(product);
  }
  __device__ double value() const { return isfinite(plain) ? high + low : plain; }
};

struct Pair { double re, im; };
__device__ Pair read(float x) { return {x, 0}; }
__device__ Pair read(double x) { return {x, 0}; }
template <class R> __device__ Pair read(Complex<R> x) { return {x.re, x.im}; }

struct Job { int m, n, k, batch; double alpha_re, alpha_im, beta_re, beta_im; };
struct Verdict { unsigned long long wrong, touched; int i, j, batch; double got, want; };

// got(i, j) against the reference; `before` is what C held. unit_roundoff is the type's.
template <class T>
__global__ void judge(Job job, Stored a_as, const T *a, Stored b_as, const T *b, Stored c_as, const T *before, const T *got, int64_t allocated,
                      double unit_roundoff, unsigned char *written, Verdict *verdict) {
  const int64_t total = static_cast<int64_t>(job.m) * job.n * job.batch;
  for (int64_t index = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; index < total; index += static_cast<int64_t>(gridDim.x) * blockDim.x) {
    const int batch = static_cast<int>(index / (static_cast<int64_t>(job.m) * job.n)), i = static_cast<int>(index / job.n % job.m), j = static_cast<int>(index % job.n);
    if (!is_held(c_as, i, j)) continue;
    const int64_t at = place(c_as, i, j) + batch * c_as.stride;
    written[at] = 1;
    Sum re, im;
    bool any = false;
    for (int k = 0; k < job.k; ++k) {
      const bool ta = a_as.op == TRITRI_OP_TRANSPOSE || a_as.op == TRITRI_OP_CONJ_TRANSPOSE, tb = b_as.op == TRITRI_OP_TRANSPOSE || b_as.op == TRITRI_OP_CONJ_TRANSPOSE;
      const int ar = ta ? k : i, ac = ta ? i : k, br = tb ? j : k, bc = tb ? k : j;
      const bool a_one = a_as.unit && ar == ac, b_one = b_as.unit && br == bc;
      if ((!a_one && !is_held(a_as, ar, ac)) || (!b_one && !is_held(b_as, br, bc))) continue;
      any = true;
      Pair x = a_one ? Pair{1, 0} : read(a[place(a_as, ar, ac) + batch * a_as.stride]);
      Pair y = b_one ? Pair{1, 0} : read(b[place(b_as, br, bc) + batch * b_as.stride]);
      if (a_as.op == TRITRI_OP_CONJ_TRANSPOSE || a_as.op == TRITRI_OP_CONJ) x.im = -x.im;
      if (b_as.op == TRITRI_OP_CONJ_TRANSPOSE || b_as.op == TRITRI_OP_CONJ) y.im = -y.im;
      re.add(x.re, y.re);
      if (sizeof(T) > sizeof(typename RealOf<T>::type)) {
        re.add(-x.im, y.im);
        im.add(x.re, y.im);
        im.add(x.im, y.re);
      }
    }
    const Pair old = job.beta_re != 0 || job.beta_im != 0 ? read(before[at]) : Pair{0, 0};
    Pair want{0, 0};
    double bound_re = 0, bound_im = 0;
    if (any) {
      want.re = job.alpha_re * re.value() - (job.alpha_im != 0 ? job.alpha_im * im.value() : 0);
      want.im = job.alpha_re * im.value() + (job.alpha_im != 0 ? job.alpha_im * re.value() : 0);
      const double growth = 2 * job.k + 8, re_size = growth * re.magnitude, im_size = growth * im.magnitude;
      bound_re = fabs(job.alpha_re) * re_size + (job.alpha_im != 0 ? fabs(job.alpha_im) * im_size : 0);
      bound_im = fabs(job.alpha_re) * im_size + (job.alpha_im != 0 ? fabs(job.alpha_im) * re_size : 0);
    }
    if (job.beta_re != 0 || job.beta_im != 0) {
      want.re += job.beta_re * old.re - job.beta_im * old.im;
      want.im += job.beta_re * old.im + job.beta_im * old.re;
      const double size = 8 * (fabs(job.beta_re) + fabs(job.beta_im)) * (fabs(old.re) + fabs(old.im));
      bound_re += size;
      bound_im += size;
    }
    const Pair have = read(got[at]);
    const auto agrees = [&](double x, double y, double bound) {
      if (!any && job.beta_re == 0 && job.beta_im == 0) return x == 0 && !signbit(x);
      return isnan(y) ? isnan(x) : isinf(y) ? x == y : fabs(x - y) <= bound * unit_roundoff;
    };
    const bool re_agrees = agrees(have.re, want.re, bound_re), right = re_agrees && agrees(have.im, want.im, bound_im);
    if (!right && atomicAdd(&verdict->wrong, 1ull) == 0) {
      verdict->i = i;
      verdict->j = j;
      verdict->batch = batch;
      verdict->got = re_agrees ? have.im : have.re;
      verdict->want = re_agrees ? want.im : want.re;
    }
  }
}

template <class T>
__global__ void untouched(const T *before, const T *got, int64_t allocated, const unsigned char *written, Verdict *verdict) {
  for (int64_t at = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; at < allocated; at += static_cast<int64_t>(gridDim.x) * blockDim.x) {
    if (written[at]) continue;
    const auto *x = reinterpret_cast<const unsigned *>(before + at), *y = reinterpret_cast<const unsigned *>(got + at);
    for (size_t w = 0; w < sizeof(T) / 4; ++w)
      if (x[w] != y[w]) atomicAdd(&verdict->touched, 1ull);
  }
}

template <class T> constexpr Dtype dtype_of = Dtype::f32;
template <> constexpr Dtype dtype_of<double> = Dtype::f64;
template <> constexpr Dtype dtype_of<Complex<float>> = Dtype::c64;
template <> constexpr Dtype dtype_of<Complex<double>> = Dtype::c128;

const Sm80Variants &variants_of(Dtype dtype) { return dtype == Dtype::f32 ? sm80_f32 : dtype == Dtype::f64 ? sm80_f64 : dtype == Dtype::c64 ? sm80_c64 : sm80_c128; }

const CompactVariants &compact_of(Dtype dtype) { return dtype == Dtype::f32 ? compact_f32 : dtype == Dtype::f64 ? compact_f64 : dtype == Dtype::c64 ? compact_c64 : compact_c128; }

// One instantiation of a skeleton, as it is launched.
struct Way {
  std::string name;
  const Kernel *kernel;
  bool cuts;
  std::function<void(const Problem &, cudaStream_t)> enqueue;
};

// Grows, and holds a NaN where nothing was written yet.
void *workspace_of(size_t bytes) {
  static void *memory = nullptr;
  static size_t held = 0;
  if (bytes > held) {
    CHECK(cudaFree(memory));
    CHECK(cudaMalloc(&memory, bytes));
    CHECK(cudaMemset(memory, 0xff, bytes));
    CHECK(cudaDeviceSynchronize());
    held = bytes;
  }
  return memory;
}
void launch_cut(const Problem &p, const Sm80Variant &v, int pieces, cudaStream_t stream) { sm80_launch(p, v, pieces, workspace_of(sm80_workspace(p, v, pieces)), stream); }
std::vector<Way> ways_of(Dtype dtype, const GpuTraits &traits) {
  std::vector<Way> ways;
  const auto add = [&](const char *skeleton, int m, int n, int pieces, auto enqueue) {
    const bool sm80 = skeleton == std::string("sm80");
    ways.push_back({std::string(skeleton) + " " + std::to_string(m) + "x" + std::to_string(n) + (pieces > 1 ? "/" + std::to_string(pieces) : ""), sm80 ? &sm80_kernel : &compact_kernel, sm80 && pieces > 1, enqueue});
  };
  const Sm80Variants &sm80 = variants_of(dtype);
  for (const Sm80Variant *v = sm80.first; v != sm80.first + sm80.count; ++v)
    for (int pieces = 1; pieces <= (v->piece_bytes > 0 ? 3 : 1); ++pieces)
      add("sm80", v->tile_m, v->tile_n, pieces, [=](const Problem &p, cudaStream_t stream) { launch_cut(p, *v, pieces, stream); });
  const auto add_compact = [&](const char *skeleton, const CompactVariants &compact) {
    for (const CompactVariant *v = compact.first; v != compact.first + compact.count; ++v)
      for (int pieces = 1; pieces <= (traits.at_least(9, 0) ? 4 : 1); pieces *= 2)
        add(skeleton, v->tile_m, v->tile_n, pieces, [=](const Problem &p, cudaStream_t stream) { compact_launch(p, *v, pieces, traits, stream); });
  };
  add_compact("compact", compact_of(dtype));
  if (dtype == Dtype::f32) add_compact("compact-ffma", compact_ffma);
  return ways;
}

Layout layout(Dtype dtype, const Stored &x, int batch) {
  return {dtype, static_cast<Fill>(x.fill), x.unit != 0, x.column_order ? Order::column : Order::row, x.ld == 0 ? Storage::packed : Storage::strided, x.rows, x.cols, x.ld, batch, x.stride};
}

int64_t extent(const Stored &x, int batch) { return (batch - 1) * x.stride + (x.ld == 0 ? lines_of(x).extent() : lines_of(x).count * x.ld); }

// Host data: NaN, and random numbers inside the fill; `special` sprinkles Inf and NaN there as well.
template <class T>
std::vector<T> make(const Stored &x, int batch, bool special, std::mt19937 &random, int64_t lead) {
  std::vector<T> data(static_cast<size_t>(extent(x, batch) + lead));
  std::memset(static_cast<void *>(data.data()), 0xff, data.size() * sizeof(T));
  std::uniform_real_distribution<double> uniform(-1, 1);
  using R = typename RealOf<T>::type;
  const int matrices = x.stride == 0 ? 1 : batch;
  for (int q = 0; q < matrices; ++q)
    for (int r = 0; r < x.rows; ++r)
      for (int c = 0; c < x.cols; ++c) {
        if (!is_held(x, r, c)) continue;
        R part[2] = {static_cast<R>(uniform(random)), static_cast<R>(uniform(random))};
        if (special && random() % 400 == 0) part[random() % 2] = random() % 2 ? static_cast<R>(INFINITY) : static_cast<R>(NAN);
        std::memcpy(static_cast<void *>(&data[static_cast<size_t>(lead + place(x, r, c) + q * x.stride)]), part, sizeof(T));
      }
  return data;
}

// From one graph, whose second run finds what the first one left.
void replay_twice(const std::function<void(cudaStream_t)> &enqueue) {
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  CHECK(cudaStreamCreate(&stream));
  enqueue(stream);  // workspace is allocated
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  enqueue(stream);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(ready, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
}

struct Tally { int cases = 0, failures = 0; };

template <class T>
void check_one(const GpuTraits &traits, std::mt19937 &random, Tally &tally, int largest) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const bool complex = is_complex(dtype_of<T>);
  Job job{1 + pick(largest), 1 + pick(largest), 1 + pick(largest), pick(4) ? 1 : 1 + pick(3), 1, 0, 0, 0};
  if (pick(2)) job.n = job.k = job.m;
  if (pick(3) == 0) job.alpha_re = pick(2) ? -1 : 0.75;
  if (pick(3) == 0) job.beta_re = pick(2) ? 1 : -0.5;
  if (complex && pick(3) == 0) job.alpha_im = 0.5;
  if (complex && job.beta_re != 0 && pick(2)) job.beta_im = 0.25;
  const auto stored = [&](int rows, int cols, bool input) {
    Stored x{};
    x.op = input ? pick(4) : 0;
    x.rows = x.transposes() ? cols : rows;
    x.cols = x.transposes() ? rows : cols;
    x.fill = pick(3);
    x.unit = input && pick(3) == 0;
    x.column_order = pick(2);
    x.ld = (x.column_order ? x.rows : x.cols) + (pick(2) ? pick(9) : 0);
    if (pick(2)) x.ld = (x.ld + 3) / 4 * 4;
    x.stride = input && pick(4) == 0 ? 0 : (x.column_order ? x.cols : x.rows) * x.ld + (pick(2) ? 0 : pick(5));
    if (x.fill != TRITRI_FILL_FULL && pick(3) == 0) {
      x.ld = 0;
      if (input && lines_of(x).profile == Fill::lower && lines_of(x).count > lines_of(x).length) std::swap(x.rows, x.cols), x.op ^= TRITRI_OP_TRANSPOSE;
      x.stride = input && pick(4) == 0 ? 0 : lines_of(x).extent() + pick(5);
    }
    return x;
  };
  const Stored a_as = stored(job.m, job.k, true), b_as = stored(job.k, job.n, true), c_as = stored(job.m, job.n, false);
  // Pointers off the 16-byte grid, and complex numbers off their own.
  const auto lead = [&] { return pick(2) ? 0 : pick(4); };
  const int64_t a_lead = lead(), b_lead = lead(), c_lead = lead();
  const int64_t half = complex && pick(4) == 0 ? static_cast<int64_t>(sizeof(T)) / 2 : 0;
  const bool special = pick(3) == 0;
  const auto a = make<T>(a_as, job.batch, special, random, a_lead), b = make<T>(b_as, job.batch, special, random, b_lead);
  auto c = make<T>(c_as, job.batch, false, random, c_lead);
  if (job.beta_re == 0 && job.beta_im == 0) std::memset(static_cast<void *>(c.data()), 0xff, c.size() * sizeof(T));

  const auto bytes = [](const std::vector<T> &x) { return x.size() * sizeof(T); };
  char *a_memory, *b_memory, *before_memory, *got_memory;
  unsigned char *written;
  Verdict *verdict;
  CHECK(cudaMalloc(&a_memory, bytes(a) + 16));
  CHECK(cudaMalloc(&b_memory, bytes(b) + 16));
  CHECK(cudaMalloc(&before_memory, bytes(c) + 16));
  CHECK(cudaMalloc(&got_memory, bytes(c) + 16));
  CHECK(cudaMalloc(&written, c.size()));
  CHECK(cudaMalloc(&verdict, sizeof(Verdict)));
  CHECK(cudaMemcpy(a_memory + half, a.data(), bytes(a), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(b_memory + half, b.data(), bytes(b), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(before_memory + half, c.data(), bytes(c), cudaMemcpyHostToDevice));
  const T *a_data = reinterpret_cast<T *>(a_memory + half) + a_lead, *b_data = reinterpret_cast<T *>(b_memory + half) + b_lead;
  T *before = reinterpret_cast<T *>(before_memory + half), *got = reinterpret_cast<T *>(got_memory + half);

  tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
  options.op_a = a_as.op;
  options.op_b = b_as.op;
  options.alpha_re = job.alpha_re;
  options.alpha_im = job.alpha_im;
  options.beta_re = job.beta_re;
  options.beta_im = job.beta_im;
  const Dtype dtype = dtype_of<T>;
  if (dtype == Dtype::f32) options.compute = TRITRI_COMPUTE_PEDANTIC;
  const Problem problem = canonical(options, {layout(dtype, a_as, job.batch), layout(dtype, b_as, job.batch), layout(dtype, c_as, job.batch), a_data, b_data, got + c_lead});
  if (!sm80_kernel.can(problem, traits)) {
    std::printf("refused: m %d n %d k %d\n", job.m, job.n, job.k);
    ++tally.failures;
  }
  for (const Way &way : ways_of(dtype, traits)) {
    if (!way.kernel->can(problem, traits)) continue;
    CHECK(cudaMemcpy(got, before, bytes(c), cudaMemcpyDeviceToDevice));
    CHECK(cudaMemset(written, 0, c.size()));
    CHECK(cudaMemset(verdict, 0, sizeof(Verdict)));
    if (way.cuts && job.beta_re == 0 && job.beta_im == 0) replay_twice([&](cudaStream_t stream) { way.enqueue(problem, stream); });
    else way.enqueue(problem, nullptr);
    judge<T><<<256, 256>>>(job, a_as, a_data, b_as, b_data, c_as, before + c_lead, got + c_lead, static_cast<int64_t>(c.size()),
                           sizeof(typename RealOf<T>::type) == 4 ? 0x1p-24 : 0x1p-53, written + c_lead, verdict);
    untouched<T><<<64, 256>>>(before, got, static_cast<int64_t>(c.size()), written, verdict);
    Verdict host;
    CHECK(cudaMemcpy(&host, verdict, sizeof(host), cudaMemcpyDeviceToHost));
    ++tally.cases;
    if (host.wrong == 0 && host.touched == 0) continue;
    if (++tally.failures > 12) continue;
    std::printf("FAIL %s %s: m %d n %d k %d batch %d alpha %g%+gi beta %g%+gi special %d: %llu wrong, %llu touched; first (%d, %d) of batch %d: got %.9g, want %.9g\n",
                name(dtype), way.name.c_str(), job.m, job.n, job.k, job.batch, job.alpha_re, job.alpha_im, job.beta_re,
                job.beta_im, special, host.wrong, host.touched, host.i, host.j, host.batch, host.got, host.want);
    for (const Stored *x : {&a_as, &b_as, &c_as})
      std::printf("     %d x %d fill %d unit %d column order %d op %d ld %lld stride %lld\n", x->rows, x->cols, x->fill, x->unit, x->column_order, x->op,
                  static_cast<long long>(x->ld), static_cast<long long>(x->stride));
  }
  for (void *memory : {static_cast<void *>(a_memory), static_cast<void *>(b_memory), static_cast<void *>(before_memory), static_cast<void *>(got_memory),
                       static_cast<void *>(written), static_cast<void *>(verdict)})
    CHECK(cudaFree(memory));
}

int check(const GpuTraits &traits, int cases) {
  std::mt19937 random(20240607);
  Tally tally;
  for (int i = 0; i < cases; ++i) {
    const int largest = i % 4 == 0 ? 20 : i % 4 == 1 ? 70 : i % 4 == 2 ? 150 : 330;
    check_one<float>(traits, random, tally, largest);
    check_one<double>(traits, random, tally, largest);
    check_one<Complex<float>>(traits, random, tally, largest);
    check_one<Complex<double>>(traits, random, tally, largest);
  }
  std::printf("%d passed, %d failed\n", tally.cases - tally.failures, tally.failures);
  return tally.failures == 0 && tally.cases > 0 ? 0 : 1;
}

// cuBLAS looked up at run time; without it the peers' columns stay empty and say so.
struct Cublas {
  cublasHandle_t handle = nullptr;
  void *library = nullptr;
  template <class F> F *find(const char *symbol) const { return reinterpret_cast<F *>(dlsym(library, symbol)); }
  Cublas() {
    for (const char *file : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"})
      if (!library) library = dlopen(file, RTLD_NOW);
    if (!library) {
      std::printf("peers skipped: libcublas not found\n");
      return;
    }
    if (find<decltype(cublasCreate_v2)>("cublasCreate_v2")(&handle) != CUBLAS_STATUS_SUCCESS) std::exit(1);
  }
};

template <class T, class F>
double median_ms(F &&call, int repeats) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (int i = 0; i < repeats + 3; ++i) {
    CHECK(cudaEventRecord(begin));
    call(i);
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (i >= 3) times.push_back(ms);
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// Random numbers in the lower triangle of an n x n matrix; above it NaN, zero where a peer must read it, or random numbers as well.
enum class Above { nan, zero, random };
template <class T>
__global__ void fill_random(T *data, int64_t n, unsigned seed, Above above) {
  for (int64_t at = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; at < n * n; at += static_cast<int64_t>(gridDim.x) * blockDim.x) {
    using R = typename RealOf<T>::type;
    R part[2];
    for (int h = 0; h < 2; ++h) {
      unsigned x = static_cast<unsigned>(at) * 2654435761u + seed + static_cast<unsigned>(h) * 40503u;
      x = (x ^ x >> 16) * 0x85ebca6bu;
      x = (x ^ x >> 13) * 0xc2b2ae35u;
      part[h] = at / n >= at % n || above == Above::random ? static_cast<R>(static_cast<int>(x ^ x >> 16)) / static_cast<R>(2147483648.0) : above == Above::zero ? R(0) : static_cast<R>(NAN);
    }
    memcpy(data + at, part, sizeof(T));
  }
}

template <class T, class Gemm, class Trmm>
void time_one(const GpuTraits &traits, const Cublas &cublas, int64_t n, const char *gemm_name, const char *trmm_name) {
  const size_t bytes = static_cast<size_t>(n * n) * sizeof(T);
  const int sets = static_cast<int>(std::clamp<size_t>((192u << 20) / bytes, 1, 16));
  std::vector<T *> a(sets), b(sets), c(sets);
  for (int s = 0; s < sets; ++s) {
    CHECK(cudaMalloc(&a[s], bytes));
    CHECK(cudaMalloc(&b[s], bytes));
    CHECK(cudaMalloc(&c[s], bytes));
  }
  const auto refill = [&](Above above) {
    for (int s = 0; s < sets; ++s) {
      fill_random<<<1024, 256>>>(a[s], n, 7u + s, above);
      fill_random<<<1024, 256>>>(b[s], n, 1007u + s, above);
    }
    CHECK(cudaDeviceSynchronize());
  };
  refill(Above::nan);
  const double flops = (is_complex(dtype_of<T>) ? 4.0 : 1.0) * static_cast<double>(n) * n * n / 3;
  const double estimate = 6 * flops / 50e12 * 1e3;  // ms of the slowest here
  const int repeats = estimate > 100 ? 5 : 20;
  const Dtype dtype = dtype_of<T>;
  const Stored lower{static_cast<int>(n), static_cast<int>(n), TRITRI_FILL_LOWER, 0, 0, 0, n, n * n}, full{static_cast<int>(n), static_cast<int>(n), TRITRI_FILL_FULL, 0, 0, 0, n, n * n};
  tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
  if (dtype == Dtype::f32) options.compute = TRITRI_COMPUTE_PEDANTIC;
  const auto problem = [&](int s) { return canonical(options, {layout(dtype, lower, 1), layout(dtype, lower, 1), layout(dtype, full, 1), a[s], b[s], c[s]}); };
  const Plan chosen = sm80_kernel.plan(problem(0), traits, cuda::default_workspace);
  std::printf("%-10s n %6lld ", name(dtype), static_cast<long long>(n));
  const Sm80Variants &variants = variants_of(dtype);
  for (int v = 0; v < variants.count; ++v)
    for (const int pieces : {1, 2, 3, 4, 6, 8}) {
      if (pieces > 1 && (variants.first[v].piece_bytes == 0 || n > 4096)) continue;
      const double ms = median_ms<T>([&](int i) { launch_cut(problem(i % sets), variants.first[v], pieces, nullptr); }, repeats);
      std::printf("| %3dx%-3d/%d%s %9.4f ms %5.1f TF/s ", variants.first[v].tile_m, variants.first[v].tile_n, pieces,
                  variants.first[v].tile_m == chosen.tile_m && variants.first[v].tile_n == chosen.tile_n && pieces == chosen.pieces ? "*" : " ", ms, flops / ms * 1e-9);
    }
  std::printf("| model %8.4f ", chosen.seconds * 1e3);
  if (cublas.handle) {
    refill(Above::zero);
    T one_value{}, zero_value{};
    const typename RealOf<T>::type unity = 1;
    memcpy(&one_value, &unity, sizeof(unity));
    auto *gemm = cublas.find<Gemm>(gemm_name);
    auto *trmm = cublas.find<Trmm>(trmm_name);
    const int size = static_cast<int>(n);
    // Row-major C = A B is column-major C^T = B^T A^T.
    const double gemm_ms = median_ms<T>([&](int i) {
      const int s = i % sets;
      const auto *x = reinterpret_cast<const std::remove_pointer_t<decltype(&one_value)> *>(a[s]);
      if (reinterpret_cast<cublasStatus_t (*)(cublasHandle_t, int, int, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int)>(gemm)(
              cublas.handle, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &one_value, b[s], size, x, size, &zero_value, c[s], size) != CUBLAS_STATUS_SUCCESS)
        std::exit(1);
    }, repeats);
    const double trmm_ms = median_ms<T>([&](int i) {
      const int s = i % sets;
      if (reinterpret_cast<cublasStatus_t (*)(cublasHandle_t, int, int, int, int, int, int, const void *, const void *, int, const void *, int, void *, int)>(trmm)(
              cublas.handle, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, size, size, &one_value, a[s], size, b[s], size, c[s], size) != CUBLAS_STATUS_SUCCESS)
        std::exit(1);
    }, repeats);
    std::printf("| gemm %9.4f (%5.1f TF/s) trmm %9.4f", gemm_ms, 6 * flops / gemm_ms * 1e-9, trmm_ms);
  }
  std::printf("\n");
  std::fflush(stdout);
  for (int s = 0; s < sets; ++s)
    for (T *x : {a[s], b[s], c[s]}) CHECK(cudaFree(x));
}

// One product of the contract's table by every shape of the skeleton.
template <class T>
void time_shape(const GpuTraits &traits, const char *what, const Stored &a_as, const Stored &b_as, const Stored &c_as, int batch) {
  T *a, *b, *c;
  const auto allocate = [&](const Stored &x, T **data, unsigned seed) {
    const int64_t elements = extent(x, batch);
    CHECK(cudaMalloc(data, static_cast<size_t>(elements) * sizeof(T)));
    const int64_t side = static_cast<int64_t>(std::sqrt(static_cast<double>(elements)));
    fill_random<<<1024, 256>>>(*data, side, seed, Above::random);
  };
  allocate(a_as, &a, 3);
  allocate(b_as, &b, 4);
  allocate(c_as, &c, 5);
  CHECK(cudaDeviceSynchronize());
  const Dtype dtype = dtype_of<T>;
  tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
  options.op_a = a_as.op;
  options.op_b = b_as.op;
  if (dtype == Dtype::f32) options.compute = TRITRI_COMPUTE_PEDANTIC;
  const Problem problem = canonical(options, {layout(dtype, a_as, batch), layout(dtype, b_as, batch), layout(dtype, c_as, batch), a, b, c});
  const Plan chosen = sm80_kernel.plan(problem, traits, cuda::default_workspace);
  std::printf("%-10s %-34s ", name(dtype), what);
  const Sm80Variants &variants = variants_of(dtype);
  for (int v = 0; v < variants.count; ++v) {
    const double ms = median_ms<T>([&](int) { sm80_launch(problem, variants.first[v], 1, nullptr, nullptr); }, 20);
    std::printf("| %3dx%-3d%s %8.4f ", variants.first[v].tile_m, variants.first[v].tile_n,
                variants.first[v].tile_m == chosen.tile_m && variants.first[v].tile_n == chosen.tile_n ? "*" : " ", ms);
  }
  std::printf("| model %8.4f\n", chosen.seconds * 1e3);
  std::fflush(stdout);
  for (T *x : {a, b, c}) CHECK(cudaFree(x));
}

template <class T>
void time_shapes_of(const GpuTraits &traits) {
  const auto square = [](int n, int fill, int op, int64_t ld) { return Stored{n, n, fill, 0, 0, op, ld, n * ld}; };
  constexpr int n = 4096, none = TRITRI_OP_NONE, transpose = TRITRI_OP_TRANSPOSE, lower = TRITRI_FILL_LOWER, upper = TRITRI_FILL_UPPER, full = TRITRI_FILL_FULL;
  time_shape<T>(traits, "L^T L, C lower", square(n, lower, transpose, n), square(n, lower, none, n), square(n, lower, none, n), 1);
  time_shape<T>(traits, "L L^T, C lower", square(n, lower, none, n), square(n, lower, transpose, n), square(n, lower, none, n), 1);
  time_shape<T>(traits, "L U", square(n, lower, none, n), square(n, upper, none, n), square(n, full, none, n), 1);
  time_shape<T>(traits, "L F (TRMM)", square(n, lower, none, n), square(n, full, none, n), square(n, full, none, n), 1);
  time_shape<T>(traits, "F F, C lower (GEMMTR)", square(n, full, none, n), square(n, full, none, n), square(n, lower, none, n), 1);
  time_shape<T>(traits, "L L, ld 4097", square(n, lower, none, n + 1), square(n, lower, none, n + 1), square(n, full, none, n + 1), 1);
  for (const int small : {16, 32, 64, 128}) {
    const int batch = static_cast<int>((256u << 20) / sizeof(T) / static_cast<unsigned>(small * small));
    const std::string what = "L L, " + std::to_string(batch) + " of " + std::to_string(small);
    time_shape<T>(traits, what.c_str(), square(small, lower, none, small), square(small, lower, none, small), square(small, full, none, small), batch);
  }
}

int time_shapes(const GpuTraits &traits) {
  time_shapes_of<float>(traits);
  time_shapes_of<double>(traits);
  time_shapes_of<Complex<float>>(traits);
  time_shapes_of<Complex<double>>(traits);
  return 0;
}

// Small products, every way, from graphs of many launches over inputs that are larger than the L2 cache together; microseconds.
double replayed_us(cudaStream_t stream, int count, const std::function<void(int)> &call) {
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  call(0);
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < count; ++i) call(i);
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (int i = 0; i < 7; ++i) {
    CHECK(cudaEventRecord(begin, stream));
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(ms);
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(graph));
  std::sort(times.begin(), times.end());
  return 1e3 * times[times.size() / 2] / count;
}

template <class T>
void time_small_of(const GpuTraits &traits, const Cublas &cublas, cudaStream_t stream, const char *gemm_name) {
  constexpr size_t memory_bytes = size_t{160} << 20;
  T *a, *b, *c;
  for (T **x : {&a, &b, &c}) CHECK(cudaMalloc(x, memory_bytes));
  const int64_t side = 1 << (sizeof(T) == 4 ? 12 : 11);
  for (T *x : {a, b}) fill_random<<<1024, 256>>>(x, side, x == a ? 7u : 1007u, Above::random);
  CHECK(cudaDeviceSynchronize());
  struct Product { const char *name; int a, b, c, op_a; };
  constexpr int lower = TRITRI_FILL_LOWER, upper = TRITRI_FILL_UPPER, full = TRITRI_FILL_FULL;
  const Product products[] = {{"L L", lower, lower, full, 0}, {"L F", lower, full, full, 0}, {"LT L=L", lower, lower, lower, TRITRI_OP_TRANSPOSE}, {"L U=L", lower, upper, lower, 0}, {"F F=L", full, full, lower, 0}};
  for (const Product &product : products)
    for (const int n : {16, 32, 64, 128, 256, 512, 1024}) {
      if (&product != products && n < 256) continue;
      const size_t elements = static_cast<size_t>(n) * n, filled = static_cast<size_t>(side * side);
      const int sets = static_cast<int>(std::min<size_t>(64, filled / elements));
      const auto place = [&](int i) { return filled / sets * static_cast<size_t>(i % sets); };
      const auto stored = [&](int fill, int op) { return Stored{n, n, fill, 0, 0, op, n, 0}; };
      tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
      options.op_a = product.op_a;
      const auto problem = [&](int i) {
        const auto as = [&](int fill, int op) { return layout(dtype_of<T>, stored(fill, op), 1); };
        return canonical(options, {as(product.a, product.op_a), as(product.b, 0), as(product.c, 0), a + place(i), b + place(i), c + place(i)});
      };
      std::printf("%s %s n %d:", name(dtype_of<T>), product.name, n);
      for (const Way &way : ways_of(dtype_of<T>, traits)) {
        const double us = replayed_us(stream, 64, [&](int i) { way.enqueue(problem(i), stream); });
        std::printf(" %s %.2f", way.name.c_str(), us);
      }
      if (cublas.handle) {
        T one_value{}, zero_value{};
        const typename RealOf<T>::type unity = 1;
        memcpy(&one_value, &unity, sizeof(unity));
        const auto gemm = reinterpret_cast<cublasStatus_t (*)(cublasHandle_t, int, int, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int)>(
            cublas.find<void>(gemm_name));
        const double us = replayed_us(stream, 64, [&](int i) {
          if (gemm(cublas.handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one_value, b + place(i), n, a + place(i), n, &zero_value, c + place(i), n) != CUBLAS_STATUS_SUCCESS) std::exit(1);
        });
        std::printf(" gemm %.2f", us);
      }
      std::printf("\n");
      std::fflush(stdout);
    }
  for (T *x : {a, b, c}) CHECK(cudaFree(x));
}

int time_small(const GpuTraits &traits, const std::string &only) {
  const Cublas cublas;
  cudaStream_t stream;
  void *workspace;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaMalloc(&workspace, size_t{32} << 20));
  if (cublas.handle) {
    cublas.find<decltype(cublasSetStream_v2)>("cublasSetStream_v2")(cublas.handle, stream);
    cublas.find<decltype(cublasSetWorkspace_v2)>("cublasSetWorkspace_v2")(cublas.handle, workspace, size_t{32} << 20);
  }
  const auto wanted = [&](Dtype dtype) { return only.empty() || only == name(dtype); };
  if (wanted(Dtype::f32)) time_small_of<float>(traits, cublas, stream, "cublasSgemm_v2");
  if (wanted(Dtype::f64)) time_small_of<double>(traits, cublas, stream, "cublasDgemm_v2");
  if (wanted(Dtype::c64)) time_small_of<Complex<float>>(traits, cublas, stream, "cublasCgemm_v2");
  if (wanted(Dtype::c128)) time_small_of<Complex<double>>(traits, cublas, stream, "cublasZgemm_v2");
  return 0;
}

// What it costs that operands are packed, by every shape, ms: all strided with C full and lower, then A, B, C and all of them packed.
template <class T>
void time_packed_of(const GpuTraits &traits, cudaStream_t stream, int n) {
  const size_t elements = static_cast<size_t>(n) * static_cast<size_t>(n);
  const int sets = static_cast<int>(std::clamp<size_t>((192u << 20) / (elements * sizeof(T)), 1, 8));
  std::vector<T *> a(sets), b(sets), c(sets);
  for (int s = 0; s < sets; ++s)
    for (T **x : {&a[s], &b[s], &c[s]}) {
      CHECK(cudaMalloc(x, elements * sizeof(T)));
      fill_random<<<1024, 256>>>(*x, n, 7u + 1000u * static_cast<unsigned>(s) + (x == &b[s]), Above::random);
    }
  CHECK(cudaDeviceSynchronize());
  const Dtype dtype = dtype_of<T>;
  constexpr int lower = TRITRI_FILL_LOWER, full = TRITRI_FILL_FULL;
  struct Storage { const char *name; bool a, b, c; int c_fill; };
  const Storage storages[] = {{"whole", false, false, false, full}, {"C lower", false, false, false, lower}, {"A", true, false, false, full},
                              {"B", false, true, false, full}, {"C", false, false, true, lower}, {"all", true, true, true, lower}};
  const auto stored = [n](int fill, bool packed) { return Stored{n, n, fill, 0, 0, 0, packed ? 0 : n, 0}; };
  tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
  if (dtype == Dtype::f32) options.compute = TRITRI_COMPUTE_PEDANTIC;
  for (const Way &way : ways_of(dtype, traits)) {
    double whole = 0;
    for (const Storage &x : storages) {
      const auto problem = [&](int i) {
        const int s = i % sets;
        return canonical(options, {layout(dtype, stored(lower, x.a), 1), layout(dtype, stored(lower, x.b), 1), layout(dtype, stored(x.c_fill, x.c), 1), a[s], b[s], c[s]});
      };
      if (!way.kernel->can(problem(0), traits)) break;
      const double ms = 1e-3 * replayed_us(stream, 2 * sets, [&](int i) { way.enqueue(problem(i), stream); });
      if (&x == storages) {
        whole = ms;
        std::printf("%-10s n %d %-16s", name(dtype), n, way.name.c_str());
      }
      std::printf(" | %s %.4f %.3f", x.name, ms, ms / whole);
    }
    if (whole > 0) std::printf("\n");
    std::fflush(stdout);
  }
  for (int s = 0; s < sets; ++s)
    for (T *x : {a[s], b[s], c[s]}) CHECK(cudaFree(x));
}

int time_packed(const GpuTraits &traits, const std::string &only, int only_n) {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (const int n : only_n != 0 ? std::vector<int>{only_n} : std::vector<int>{2048, 4096}) {
    const auto wanted = [&](Dtype dtype) { return only.empty() || only == name(dtype); };
    if (wanted(Dtype::f32)) time_packed_of<float>(traits, stream, n);
    if (wanted(Dtype::f64)) time_packed_of<double>(traits, stream, n);
    if (wanted(Dtype::c64)) time_packed_of<Complex<float>>(traits, stream, n);
    if (wanted(Dtype::c128)) time_packed_of<Complex<double>>(traits, stream, n);
  }
  CHECK(cudaStreamDestroy(stream));
  return 0;
}

int time_all(const GpuTraits &traits, const std::string &only, int64_t only_n) {
  const Cublas cublas;
  for (const int64_t n : {256, 512, 1024, 2048, 4096, 8192, 16384}) {
    if (only_n != 0 && n != only_n) continue;
    const auto wanted = [&](Dtype dtype) { return only.empty() || only == name(dtype); };
    if (wanted(Dtype::f32)) time_one<float, decltype(cublasSgemm_v2), decltype(cublasStrmm_v2)>(traits, cublas, n, "cublasSgemm_v2", "cublasStrmm_v2");
    if (wanted(Dtype::f64)) time_one<double, decltype(cublasDgemm_v2), decltype(cublasDtrmm_v2)>(traits, cublas, n, "cublasDgemm_v2", "cublasDtrmm_v2");
    if (n > 8192) continue;
    if (wanted(Dtype::c64)) time_one<Complex<float>, decltype(cublasCgemm_v2), decltype(cublasCtrmm_v2)>(traits, cublas, n, "cublasCgemm_v2", "cublasCtrmm_v2");
    if (wanted(Dtype::c128)) time_one<Complex<double>, decltype(cublasZgemm_v2), decltype(cublasZtrmm_v2)>(traits, cublas, n, "cublasZgemm_v2", "cublasZtrmm_v2");
  }
  return 0;
}

}  // namespace

int main(int argc, char **argv) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    std::printf("sm80_check: skipped: no GPU\n");
    return 77;
  }
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  GpuTraits traits;
  traits.compute_major = properties.major;
  traits.compute_minor = properties.minor;
  traits.multiprocessors = properties.multiProcessorCount;
  traits.shared_bytes = properties.sharedMemPerBlockOptin;
  sm80_kernel.load(traits);
  compact_kernel.load(traits);
  const std::string mode = argc > 1 ? argv[1] : "check";
  if (mode == "check") return check(traits, argc > 2 ? std::atoi(argv[2]) : 100);
  if (mode == "time") return time_all(traits, argc > 2 ? argv[2] : "", argc > 3 ? std::atoll(argv[3]) : 0);
  if (mode == "shapes") return time_shapes(traits);
  if (mode == "small") return time_small(traits, argc > 2 ? argv[2] : "");
  if (mode == "packed") return time_packed(traits, argc > 2 ? argv[2] : "", argc > 3 ? std::atoi(argv[3]) : 0);
  std::printf("usage: sm80_check check [cases] | time [dtype] [n] | shapes | small [dtype] | packed [dtype] [n]\n");
  return 2;
}
