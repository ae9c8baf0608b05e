// The Hopper kernels, cluster, and mma, which older cards have too, alone on the card: right for fills, transposes, edges, special values and graph replays against a float64 reference
// written here, and timed beside cuBLAS GEMM (looked up at run time). Inputs hold NaN wherever nothing may be read, C holds a sentinel.
//   hopper_check [check] [bench]      no argument: both. Exit code 1 if anything is wrong.
// Environment: ONLY=default,tf32,bfloat,half,small,mma,cluster picks kernels, SHAPE=128x64x2 a shape of cluster (tile and pieces), SIZES=1024,4096 sizes to time,
// STEP=20 takes every 20th case (for compute-sanitizer), VERBOSE=1 prints the cases that pass too, CUTS=1 times results cut to a lower triangle, PACKED=none,ab,abc
// lower*lower=lower with those of its operands packed, without cuBLAS, and checks packed cases alone; WHOLE=1 lower*lower=full.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "core/k_range.h"
#include "cuda/kernels/kernel.h"

namespace tritri::cuda {
extern const Kernel hopper_float32_kernel, hopper_tf32_kernel, hopper_tf32_small_kernel, hopper_float16_kernel, hopper_bfloat16_kernel,
    hopper_float16_small_kernel, hopper_bfloat16_small_kernel;
extern const Kernel cluster_kernel, mma_kernel;
}

namespace {

using namespace tritri;
using tritri::cuda::Kernel;

#define CHECK(call)                                                                                       \
  do {                                                                                                    \
    const cudaError_t error = (call);                                                                     \
    if (error != cudaSuccess) {                                                                           \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));               \
      std::exit(1);                                                                                       \
    }                                                                                                     \
  } while (false)

int failures = 0, passes = 0;

// --- elements
template <class E> struct Name;
template <> struct Name<float> { static constexpr Dtype dtype = Dtype::f32; };
template <> struct Name<__half> { static constexpr Dtype dtype = Dtype::f16; };
template <> struct Name<__nv_bfloat16> { static constexpr Dtype dtype = Dtype::bf16; };

__device__ uint32_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return static_cast<uint32_t>(x ^ (x >> 31));
}

// Random elements in [-1, 1) inside the fill, but no unit diagonal; one in `special` is Inf, one NaN, one tiny, one huge.
template <class E>
__global__ void fill_in(View v, E *data, int64_t batch, uint64_t seed, int special) {
  const int64_t total = v.rows * v.cols * batch;
  for (int64_t x = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; x < total; x += int64_t{gridDim.x} * blockDim.x) {
    const int64_t b = x / (v.rows * v.cols), i = x / v.cols % v.rows, j = x % v.cols;
    const bool lower = v.fill == Fill::lower, upper = v.fill == Fill::upper;
    if ((lower && j > i) || (upper && j < i) || (v.unit && i == j)) continue;
    const uint32_t r = mixed(x + seed * 0x9e3779b97f4a7c15u);
    float value = static_cast<float>(static_cast<int>(r)) * 0x1p-31f;
    if (special) {
      const uint32_t pick = mixed(r + 77) % special;
      if (pick == 0) value = INFINITY;
      if (pick == 1) value = NAN;
      if (pick == 2) value *= 0x1p-130f;
      if (pick == 3) value = copysignf(FLT_MAX, value);
    }
    data[b * v.batch_stride + v.offset(i, j)] = E(value);
  }
}

struct Outcome {
  double error2, reference2;
  unsigned long long wrong_class, not_zero, touched;
};

// Nearest TF32, ties to even.
__device__ float rounded(float x) {
  const uint32_t word = __float_as_uint(x);
  return isfinite(x) ? __uint_as_float((word + 0xfff + (word >> 13 & 1)) & ~0x1fffu) : x;
}

// Sums over every k that exists, in float64, then compares; bytes outside C's fill must be what they were.
template <class E>
__global__ void compare(Problem p, double alpha, double beta, const E *before, int64_t c_extent, Outcome *out) {
  const E *a = static_cast<const E *>(p.a.data), *b = static_cast<const E *>(p.b.data), *c = static_cast<const E *>(p.c.data);
  const int64_t length = p.c.packed ? p.n : p.c.ld, lines = p.c.packed ? p.m : (c_extent + length - 1) / length, total = lines * length * p.batch;
  const auto read = [&](E x) { return static_cast<double>(p.compute == TRITRI_COMPUTE_TF32 ? rounded(static_cast<float>(x)) : static_cast<float>(x)); };
  double error2 = 0, reference2 = 0;
  unsigned long long wrong_class = 0, not_zero = 0, touched = 0;
  for (int64_t x = blockIdx.x * int64_t{blockDim.x} + threadIdx.x; x < total; x += int64_t{gridDim.x} * blockDim.x) {
    const int64_t batch = x / (lines * length), i = x / length % lines, j = x % length, at = batch * p.c.batch_stride + p.c.offset(i, j);
    const bool held = j < p.n && (p.c.fill == Fill::full || (p.c.fill == Fill::lower ? j <= i : j >= i));
    if (p.c.packed ? !held : p.c.offset(i, j) >= c_extent) continue;
    if (!held) {
      if (std::is_same_v<E, float> ? __float_as_uint(*reinterpret_cast<const float *>(c + at)) != __float_as_uint(*reinterpret_cast<const float *>(before + at))
                                   : *reinterpret_cast<const uint16_t *>(c + at) != *reinterpret_cast<const uint16_t *>(before + at))
        ++touched;
      continue;
    }
    double sum = 0;
    float chain = 0;  // as float32 FMA accumulation goes; where sums pass Inf on the way, its answer is right too
    bool any = false;
    for (int64_t k = 0; k < p.k; ++k) {
      if ((p.a.fill == Fill::lower && k > i) || (p.a.fill == Fill::upper && k < i)) continue;
      if ((p.b.fill == Fill::lower && j > k) || (p.b.fill == Fill::upper && j < k)) continue;
      any = true;
      const double x_a = p.a.unit && i == k ? 1.0 : read(a[batch * p.a.batch_stride + p.a.offset(i, k)]);
      const double x_b = p.b.unit && k == j ? 1.0 : read(b[batch * p.b.batch_stride + p.b.offset(k, j)]);
      sum += x_a * x_b;
      chain = fmaf(static_cast<float>(x_a), static_cast<float>(x_b), chain);
    }
    double expected = any ? alpha * sum : 0.0;
    if (beta != 0) expected += beta * static_cast<double>(static_cast<float>(before[at]));
    const float got = static_cast<float>(c[at]), nearest = static_cast<float>(static_cast<E>(static_cast<float>(expected)));
    if (!any && beta == 0) {
      if (__float_as_uint(got) != 0) ++not_zero;
    } else if (!isfinite(nearest) || !isfinite(chain)) {
      const bool as_chain = isnan(chain) ? isnan(got) : got == static_cast<float>(alpha) * chain;
      if (!as_chain && (isnan(nearest) ? !isnan(got) : got != nearest)) ++wrong_class;
    } else if (!isfinite(got)) {
      ++wrong_class;
    } else if (fabs(expected) < 1e30) {
      error2 += (got - expected) * (got - expected);
      reference2 += expected * expected;
    }
  }
  atomicAdd(&out->error2, error2);
  atomicAdd(&out->reference2, reference2);
  atomicAdd(&out->wrong_class, wrong_class);
  atomicAdd(&out->not_zero, not_zero);
  atomicAdd(&out->touched, touched);
}

cuda::GpuTraits traits;

double tolerance(Dtype dtype, int32_t compute) {
  if (dtype == Dtype::f16) return 4e-4;
  if (dtype == Dtype::bf16) return 3e-3;
  return compute == TRITRI_COMPUTE_TF32 ? 5e-5 : 3e-7;  // TF32: against the rounded inputs, so of the sums alone, which tensor cores truncate
}

struct Case {
  int64_t m = 300, n = 300, k = 300, batch = 1;
  Fill a = Fill::lower, b = Fill::lower, c = Fill::full;
  bool unit_a = false, unit_b = false, rows_a = true, rows_b = true, packed = false, broadcast = false;
  int64_t pad = 4;      // elements between a line and the next; odd: not 16-byte aligned
  int64_t c_pad = 8;
  int64_t off_a = 0, off_b = 0;  // elements by which inputs begin off a multiple of 16 bytes
  double alpha = 1, beta = 0;
  int special = 0;
  bool graph = false;
  size_t room = cuda::default_workspace;  // bytes of workspace that the plan should do with
};

std::string describe(const Case &c) {
  const char *fills[] = {"full", "lower", "upper"};
  char text[256];
  std::snprintf(text, sizeof text, "%lldx%lldx%lld batch %lld%s %s%s%s * %s%s%s -> %s pad %lld/%lld off %lld/%lld%s alpha %g beta %g%s%s", static_cast<long long>(c.m),
                static_cast<long long>(c.n), static_cast<long long>(c.k), static_cast<long long>(c.batch), c.broadcast ? " (A broadcast)" : "",
                fills[static_cast<int>(c.a)], c.unit_a ? " unit" : "", c.rows_a ? "" : " T", fills[static_cast<int>(c.b)], c.unit_b ? " unit" : "", c.rows_b ? "" : " T",
                fills[static_cast<int>(c.c)], static_cast<long long>(c.pad), static_cast<long long>(c.c_pad), static_cast<long long>(c.off_a), static_cast<long long>(c.off_b), c.packed ? " packed" : "", c.alpha, c.beta,
                c.special ? " special values" : "", c.graph ? " graph" : "");
  return text;
}

template <class E>
struct Buffer {
  E *data = nullptr;
  int64_t elements;
  explicit Buffer(int64_t count) : elements(count) {
    CHECK(cudaMalloc(&data, std::max<int64_t>(count, 1) * sizeof(E)));
    CHECK(cudaMemset(data, 0xff, count * sizeof(E)));
  }
  Buffer(const Buffer &) = delete;
  ~Buffer() { cudaFree(data); }
};

View view(int64_t rows, int64_t cols, Fill fill, bool unit, bool row_lines, int64_t pad, bool packed) {
  View v;
  v.fill = fill;
  v.unit = unit;
  v.row_lines = row_lines;
  v.packed = packed;
  v.rows = rows;
  v.cols = cols;
  const int64_t length = row_lines ? cols : rows;
  v.ld = packed ? 0 : pad % 2 ? length + pad : (length + pad + 7) / 8 * 8;
  return v;
}

// The kernel's own plan, or the one that SHAPE names.
Plan planned(const Kernel &kernel, const Problem &p, size_t room = cuda::default_workspace) {
  Plan plan = kernel.plan(p, traits, room);
  const char *const shape = std::getenv("SHAPE");
  long long tile_m, tile_n, pieces;
  if (&kernel == &cuda::cluster_kernel && shape && std::sscanf(shape, "%lldx%lldx%lld", &tile_m, &tile_n, &pieces) == 3) {
    plan.tile_m = tile_m;
    plan.tile_n = tile_n;
    plan.pieces = pieces;
  }
  return plan;
}

template <class E>
void run_case(const Case &c, const Kernel &kernel, int32_t compute) {
  const Dtype dtype = Name<E>::dtype;
  Problem p;
  p.dtype = dtype;
  p.compute = compute;
  p.m = c.m, p.n = c.n, p.k = c.k, p.batch = c.batch;
  p.alpha = static_cast<float>(c.alpha);
  p.beta = static_cast<float>(c.beta);
  p.a = view(c.m, c.k, c.a, c.unit_a, c.rows_a, c.pad, c.packed && c.a != Fill::full);
  p.b = view(c.k, c.n, c.b, c.unit_b, c.rows_b, c.pad, c.packed && c.b != Fill::full);
  p.c = view(c.m, c.n, c.c, false, true, c.c_pad, c.packed && c.c != Fill::full);
  const auto stride = [&](View &v, bool broadcast) {
    const int64_t extent = v.lines().extent();
    v.batch_stride = c.batch > 1 && !broadcast ? (c.pad % 2 ? extent + 3 : (extent + 7) / 8 * 8) : 0;
    return v.batch_stride ? v.batch_stride * c.batch : extent;
  };
  Buffer<E> a(c.off_a + stride(p.a, c.broadcast)), b(c.off_b + stride(p.b, false)), out(stride(p.c, false)), before(out.elements);
  p.a.data = a.data + c.off_a;
  p.b.data = b.data + c.off_b;
  p.c.data = out.data;
  fill_in<<<1024, 256>>>(p.a, a.data + c.off_a, c.broadcast ? 1 : c.batch, 1, c.special);
  fill_in<<<1024, 256>>>(p.b, b.data + c.off_b, c.batch, 2, c.special);
  if (c.beta != 0) fill_in<<<1024, 256>>>(p.c, before.data, c.batch, 3, 0);

  const std::string name = std::string(kernel.name) + ": " + describe(c);
  if (!kernel.can(p, traits)) {
    std::printf("FAIL %s: refused\n", name.c_str());
    ++failures;
    return;
  }
  const Plan plan = planned(kernel, p, c.room);
  Buffer<char> workspace(static_cast<int64_t>(plan.workspace));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaGraphExec_t graph = nullptr;
  CHECK(cudaDeviceSynchronize());
  if (c.graph) {
    cudaGraph_t captured;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    kernel.launch(p, plan, workspace.data, traits, stream);
    CHECK(cudaStreamEndCapture(stream, &captured));
    CHECK(cudaGraphInstantiate(&graph, captured, 0));
    CHECK(cudaGraphDestroy(captured));
  }
  std::vector<char> first(out.elements * sizeof(E)), again(first.size());
  bool same = true;
  for (int round = 0; round < (c.graph ? 4 : 2); ++round) {
    if (!c.graph) CHECK(cudaMemsetAsync(workspace.data, 0xff, plan.workspace, stream));
    CHECK(cudaMemcpyAsync(out.data, before.data, first.size(), cudaMemcpyDeviceToDevice, stream));
    if (c.graph) CHECK(cudaGraphLaunch(graph, stream));
    else kernel.launch(p, plan, workspace.data, traits, stream);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(round ? again.data() : first.data(), out.data, first.size(), cudaMemcpyDeviceToHost));
    if (round) same = same && std::memcmp(first.data(), again.data(), first.size()) == 0;
  }
  Buffer<Outcome> result(1);
  CHECK(cudaMemset(result.data, 0, sizeof(Outcome)));
  compare<E><<<2048, 256>>>(p, p.alpha.real(), p.beta.real(), before.data, p.c.lines().extent(), result.data);
  Outcome o;
  CHECK(cudaMemcpy(&o, result.data, sizeof o, cudaMemcpyDeviceToHost));
  const double error = o.reference2 > 0 ? std::sqrt(o.error2 / o.reference2) : std::sqrt(o.error2);
  const bool right = same && !o.wrong_class && !o.not_zero && !o.touched && error <= tolerance(dtype, compute);
  (right ? passes : failures)++;
  if (!right || std::getenv("VERBOSE"))
    std::printf("%s %s pieces %lld: error %.2e, wrong Inf/NaN %llu, not +0 %llu, touched outside %llu%s\n", right ? "ok" : "FAIL", name.c_str(),
                static_cast<long long>(plan.pieces), error, o.wrong_class, o.not_zero, o.touched, same ? "" : ", runs differ");
  std::fflush(stdout);
  if (graph) CHECK(cudaGraphExecDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
}

std::vector<Case> cases() {
  std::vector<Case> list;
  const Fill fills[] = {Fill::lower, Fill::upper, Fill::full};
  for (const Fill a : fills)
    for (const Fill b : fills)
      for (const Fill c : fills)
        for (int form = 0; form < 4; ++form) {
          Case x;
          x.a = a, x.b = b, x.c = c;
          x.rows_a = form & 1, x.rows_b = form & 2;
          x.unit_a = form == 1 || form == 0;
          x.unit_b = form == 2 || form == 0;
          list.push_back(x);
          x.m = 520, x.n = 389, x.k = 650;
          x.unit_a = x.unit_b = false;
          x.alpha = -2;
          list.push_back(x);
          if (form == 3) {
            x.beta = 0.5;
            list.push_back(x);
          }
          x.beta = 0;
          x.m = 333, x.n = 700, x.k = 130;
          x.pad = 3, x.c_pad = 1;
          list.push_back(x);
        }
  for (const int64_t n : {1, 2, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513}) {
    Case x;
    x.m = x.n = x.k = n;
    x.c_pad = n % 2 ? 3 : 8;
    list.push_back(x);
    x.a = x.b = Fill::upper;
    list.push_back(x);
    x.b = Fill::full;
    x.rows_b = false;
    list.push_back(x);
  }
  for (const int64_t n : {1024, 1536, 2048, 2304}) {
    Case x;
    x.m = x.n = x.k = n;
    x.pad = 0, x.c_pad = 0;
    list.push_back(x);
    x.a = x.b = Fill::upper;
    list.push_back(x);
    x.a = Fill::lower;
    list.push_back(x);
    x.a = Fill::upper, x.b = Fill::lower;
    x.c = Fill::lower;
    x.beta = 1;
    list.push_back(x);
    x.a = x.b = x.c = Fill::full;
    x.beta = 0;
    list.push_back(x);
    x.a = x.b = Fill::lower;
    x.graph = true;
    list.push_back(x);
    x.rows_a = false;
    list.push_back(x);
  }
  for (const Fill c : {Fill::lower, Fill::upper})  // whole tiles, and some that the cut crosses
    for (int form = 0; form < 4; ++form)
      for (const double beta : {0.0, 0.5}) {
        Case x;
        x.m = 768, x.n = 1024, x.k = 896;
        x.rows_a = form & 1, x.rows_b = form & 2;
        x.c = c;
        x.beta = beta;
        list.push_back(x);
        x.a = Fill::upper;
        list.push_back(x);
        x.m = 1024, x.n = 768;
        x.batch = form == 3 ? 2 : 1;
        list.push_back(x);
        x.a = x.b = Fill::full;
        list.push_back(x);
        x.m = x.n = 600;
        x.c = Fill::full;
        list.push_back(x);
      }
  for (const bool broadcast : {false, true})
    for (const int64_t pad : {4, 3}) {
      Case x;
      x.m = 200, x.n = 130, x.k = 150;
      x.batch = 5;
      x.broadcast = broadcast;
      x.pad = pad;
      list.push_back(x);
      x.packed = true;
      list.push_back(x);
    }
  for (const Fill a : fills)
    for (const Fill b : fills) {
      Case x;
      x.a = a, x.b = b;
      x.packed = true;
      x.rows_a = a == Fill::lower;
      list.push_back(x);
      x.packed = false;
      x.special = 3000;
      list.push_back(x);
      x.m = x.n = x.k = 700;
      x.special = 60000;
      x.rows_b = false;
      list.push_back(x);
      x.c_pad = 1;
      list.push_back(x);
    }
  for (const Fill b : fills)
    for (const int64_t off : {1, 2, 3})
      for (const int64_t k : {389, 333, 31}) {
        Case x;  // lines that begin anywhere; the first and the last vector of a matrix are not all its own
        x.b = b;
        x.packed = b != Fill::full;
        x.unit_b = off == 2 && b != Fill::full;
        x.off_b = off;
        x.m = 270, x.n = 389, x.k = k;
        list.push_back(x);
        x.off_a = off;
        x.batch = 3;
        x.special = k == 333 ? 3000 : 0;
        list.push_back(x);
        x.packed = false;
        list.push_back(x);
        x.off_a = 0;  // one input lies as it must, the other does not
        list.push_back(x);
        x.a = Fill::upper;
        list.push_back(x);
        x.pad = off;  // 2: rows begin on every second word
        list.push_back(x);
      }
  for (const Fill a : {Fill::lower, Fill::upper})
    for (const Fill b : {Fill::lower, Fill::upper})
      for (int form = 0; form < 4; ++form) {
        Case x;  // packed lines, of which those of the second and third matrix begin anywhere
        x.a = a, x.b = b;
        x.rows_a = form & 1, x.rows_b = form & 2;
        x.unit_a = form == 1 || form == 0, x.unit_b = form == 2 || form == 0;
        x.packed = true;
        x.batch = 3;
        x.m = 520, x.n = 389, x.k = 651;
        list.push_back(x);
        x.m = 389, x.n = 520;
        x.c = Fill::lower;
        list.push_back(x);
        x.m = 333, x.n = 701, x.k = 130;
        list.push_back(x);
        x.c = Fill::upper;
        x.beta = 0.5;
        list.push_back(x);
        x.c = Fill::full;
        x.beta = 0;
        list.push_back(x);
        x.batch = 1;
        x.m = x.n = x.k = 1101;
        x.graph = true;
        list.push_back(x);
        x.c = Fill::lower;
        list.push_back(x);
        for (const int64_t batch : {1, 2}) {
          Case y = x;
          y.m = 389, y.n = 520, y.k = 640;
          y.batch = batch;
          y.pad = 4;
          y.c = form == 2 ? Fill::upper : Fill::lower;
          y.beta = form == 1 ? 0.5 : 0;
          list.push_back(y);
          y.m = y.n = y.k = 1152;
          y.c = form == 3 ? Fill::lower : Fill::full;
          list.push_back(y);
        }
      }
  for (const Fill a : fills)
    for (const Fill b : fills) {
      Case x;  // lines aligned to 4 bytes and no more
      x.m = 97, x.n = 131, x.k = 99;
      x.a = a, x.b = b;
      x.pad = 1, x.c_pad = 1;
      list.push_back(x);
    }
  Case large;  // a list of work that does not fit kernel parameters
  large.m = large.n = 4500, large.k = 1100;
  large.a = large.b = Fill::full;
  list.push_back(large);
  for (const Fill a : fills)  // copies that do not fit workspace in one piece: strips of A's rows, of B's columns, of both
    for (const Fill b : fills)
      for (int form = 0; form < 4; ++form) {
        Case strips;
        strips.m = 700, strips.n = 900, strips.k = 1000;
        strips.a = a, strips.b = b;
        strips.rows_a = form & 1, strips.rows_b = form & 2;
        strips.unit_a = form == 0, strips.unit_b = form == 3;
        strips.packed = true;
        strips.room = size_t{6} << 20;
        strips.graph = form == 1;
        list.push_back(strips);
        strips.k = 300;  // strips that hold nothing of an input
        strips.room = size_t{2} << 20;
        list.push_back(strips);
        strips.k = 1000;
        strips.room = size_t{6} << 20;
        strips.c = form == 2 ? Fill::upper : Fill::lower;
        strips.beta = 0.5;
        strips.m = 830;
        list.push_back(strips);
        strips.packed = false;
        strips.pad = 3;
        strips.batch = 2;
        strips.room = size_t{4} << 20;
        list.push_back(strips);
        strips.c = Fill::full;
        strips.beta = 0;
        strips.c_pad = form == 2 ? 3 : 8;
        strips.batch = 1;
        strips.special = form == 3 ? 60000 : 0;
        list.push_back(strips);
      }
  return list;
}

// Lower triangles that hold nothing but zeros, A(i, k) = x and B(k, j) = y: C(i, j) must be `expected` to the bit, all else +0.
void run_single(int64_t n, int64_t i, int64_t k, int64_t j, float x, float y, float expected) {
  std::vector<float> a(n * n, NAN), b(n * n, NAN), c(n * n);
  for (int64_t row = 0; row < n; ++row)
    for (int64_t col = 0; col <= row; ++col) a[row * n + col] = b[row * n + col] = 0;
  a[i * n + k] = x;
  b[k * n + j] = y;
  Buffer<float> da(n * n), db(n * n), dc(n * n);
  CHECK(cudaMemcpy(da.data, a.data(), n * n * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db.data, b.data(), n * n * 4, cudaMemcpyHostToDevice));
  Problem p;
  p.m = p.n = p.k = n;
  p.a = view(n, n, Fill::lower, false, true, 0, false);
  p.b = p.a;
  p.c = view(n, n, Fill::full, false, true, 0, false);
  p.a.data = da.data, p.b.data = db.data, p.c.data = dc.data;
  const Kernel &kernel = cuda::hopper_float32_kernel;
  const Plan plan = kernel.plan(p, traits, cuda::default_workspace);
  Buffer<char> workspace(static_cast<int64_t>(plan.workspace));
  kernel.launch(p, plan, workspace.data, traits, nullptr);
  CHECK(cudaMemcpy(c.data(), dc.data, n * n * 4, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int64_t row = 0; row < n; ++row)
    for (int64_t col = 0; col < n; ++col) {
      const float right = row == i && col == j ? expected : 0.0f;
      wrong += std::memcmp(&c[row * n + col], &right, sizeof right) != 0;
    }
  (wrong ? failures : passes)++;
  if (wrong)
    std::printf("FAIL A(%lld, %lld) = %a, B(%lld, %lld) = %a: %d wrong, C there = %a, expected %a\n", static_cast<long long>(i), static_cast<long long>(k), x,
                static_cast<long long>(k), static_cast<long long>(j), y, wrong, c[i * n + j], expected);
}

// --- time
using GemmEx = int (*)(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int, int, const void *, void *, int, int, int, int);
struct Cublas {
  void *handle = nullptr;
  GemmEx gemm = nullptr;
  Cublas() {
    if (std::getenv("PACKED")) return;
    for (const char *name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}) {
      void *library = dlopen(name, RTLD_NOW);
      if (!library) continue;
      const auto create = reinterpret_cast<int (*)(void **)>(dlsym(library, "cublasCreate_v2"));
      gemm = reinterpret_cast<GemmEx>(dlsym(library, "cublasGemmEx"));
      if (create && gemm && create(&handle) == 0) return;
    }
    gemm = nullptr;
    std::printf("cuBLAS: not found, no peer times\n");
  }
};

template <class F>
double median_ms(F &&f, int rounds) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<float> times;
  for (int round = 0; round < rounds + 3; ++round) {
    CHECK(cudaEventRecord(begin));
    f(round);
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (round >= 3) times.push_back(ms);
  }
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

struct Product {
  Fill a = Fill::lower, b = Fill::lower, c = Fill::full;
  bool rows_a = true, rows_b = true;
  double beta = 0;
  std::string packed = "";  // which operands
};
// The products whose results are cut, beside the main one.
const Product kCuts[] = {{},
                             {Fill::lower, Fill::lower, Fill::lower},
                             {Fill::upper, Fill::lower, Fill::lower},
                             {Fill::upper, Fill::lower, Fill::lower, false, true},
                             {Fill::lower, Fill::upper, Fill::lower},
                             {Fill::lower, Fill::upper, Fill::lower, true, false},
                             {Fill::lower, Fill::upper, Fill::upper, false, false},
                             {Fill::full, Fill::full, Fill::lower},
                             {Fill::full, Fill::full, Fill::lower, true, true, 1},
                             {Fill::full, Fill::full, Fill::lower, false, true},
                             {Fill::full, Fill::full, Fill::lower, true, false},
                             {Fill::full, Fill::full, Fill::full}};

template <class E>
void bench(const Kernel &kernel, int32_t compute, const Cublas &cublas, int64_t n, const Product &x) {
  const Dtype dtype = Name<E>::dtype;
  const int64_t bytes = n * n * sizeof(E);
  const auto packs = [&](char which) { return x.packed.find(which) != std::string::npos; };
  const int sets = static_cast<int>(std::max<int64_t>(2, std::min<int64_t>(24, (int64_t{256} << 20) / (3 * bytes))));
  std::vector<Problem> problems(sets);
  std::vector<Buffer<E> *> buffers;
  for (int s = 0; s < sets; ++s) {
    Problem &p = problems[s];
    p.dtype = dtype;
    p.compute = compute;
    p.m = p.n = p.k = n;
    p.a = view(n, n, x.a, false, x.rows_a, 0, packs('a'));
    p.b = view(n, n, x.b, false, x.rows_b, 0, packs('b'));
    p.c = view(n, n, x.c, false, true, 0, packs('c'));
    p.beta = x.beta;
    for (View *v : {&p.a, &p.b, &p.c}) {
      buffers.push_back(new Buffer<E>(n * n));
      v->data = buffers.back()->data;
    }
    fill_in<<<1024, 256>>>(p.a, buffers[3 * s]->data, 1, 2 * s + 1, 0);
    fill_in<<<1024, 256>>>(p.b, buffers[3 * s + 1]->data, 1, 2 * s + 2, 0);
    fill_in<<<1024, 256>>>(p.c, buffers[3 * s + 2]->data, 1, 2 * s + 3, 0);
  }
  const Plan plan = planned(kernel, problems[0]);
  Buffer<char> workspace(static_cast<int64_t>(plan.workspace));
  CHECK(cudaDeviceSynchronize());
  const double ours = median_ms([&](int round) { kernel.launch(problems[round % sets], plan, workspace.data, traits, nullptr); }, 20);
  // Back to back, as a stream of products runs: what the host spends on a launch hides.
  const double row = median_ms([&](int round) { for (int x = 0; x < 10; ++x) kernel.launch(problems[(round + x) % sets], plan, workspace.data, traits, nullptr); }, 7) / 10;
  CHECK(cudaDeviceSynchronize());
  std::vector<double> host;
  for (int x = 0; x < 9; ++x) {
    const auto begin = std::chrono::steady_clock::now();
    kernel.launch(problems[x % sets], plan, workspace.data, traits, nullptr);
    host.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
    CHECK(cudaDeviceSynchronize());
  }
  std::sort(host.begin(), host.end());
  double gemm = 0;
  if (cublas.gemm) {
    const float one = 1, zero = 0;
    const int type = dtype == Dtype::f32 ? 0 : dtype == Dtype::f16 ? 2 : 14, mode = dtype == Dtype::f32 && compute == TRITRI_COMPUTE_TF32 ? 77 : 68;
    gemm = median_ms([&](int round) {
      const Problem &p = problems[round % sets];
      const int d = static_cast<int>(n);
      if (cublas.gemm(cublas.handle, 0, 0, d, d, d, &one, p.b.data, type, d, p.a.data, type, d, &zero, p.c_data(), type, d, mode, -1) != 0) std::printf("GEMM failed\n");
    }, n > 8192 && mode == 68 ? 5 : 20);
  }
  const double flops = useful_flops(problems[0]);
  const char *fills[] = {"full", "lower", "upper"};
  std::printf("%-16s %s%s*%s%s=%s %s beta %g n %6lld: %8.4f ms (in a row %8.4f, model %8.4f, host %5.1f us) %7.1f TFLOP/s", kernel.name, fills[static_cast<int>(x.a)], x.rows_a ? "" : " T",
              fills[static_cast<int>(x.b)], x.rows_b ? "" : " T", fills[static_cast<int>(x.c)], x.packed.c_str(), x.beta, static_cast<long long>(n), ours, row, plan.seconds * 1e3, host[4], flops / ours * 1e-9);
  if (gemm > 0) std::printf("   GEMM %8.4f ms %7.1f TFLOP/s; rate ratio %.2f", gemm, 2.0 * n * n * n / gemm * 1e-9, flops / ours / (2.0 * n * n * n / gemm));
  std::printf("\n");
  std::fflush(stdout);
  for (Buffer<E> *buffer : buffers) delete buffer;
}

}  // namespace

int main(int argc, char **argv) {
  bool check = argc == 1, time = argc == 1;
  for (int x = 1; x < argc; ++x) {
    check = check || !std::strcmp(argv[x], "check");
    time = time || !std::strcmp(argv[x], "bench");
  }
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  traits.compute_major = properties.major;
  traits.compute_minor = properties.minor;
  traits.multiprocessors = properties.multiProcessorCount;
  traits.shared_bytes = properties.sharedMemPerBlockOptin;
  for (const Kernel *kernel : {&cuda::hopper_float32_kernel, &cuda::hopper_tf32_kernel, &cuda::hopper_tf32_small_kernel, &cuda::hopper_float16_kernel,
                               &cuda::hopper_bfloat16_kernel, &cuda::hopper_float16_small_kernel, &cuda::hopper_bfloat16_small_kernel,
                               &cuda::mma_kernel, &cuda::cluster_kernel})
    kernel->load(traits);
  std::printf("%s, %d multiprocessors\n", properties.name, properties.multiProcessorCount);
  if (properties.major != 9) {
    std::printf("SKIPPED: these kernels need compute capability 9.0\n");
    return 0;
  }
  const char *only = std::getenv("ONLY");
  const auto wanted = [&](const char *name) { return !only || std::strstr(only, name); };
  if (check) {
    const std::vector<Case> all = cases();
    const size_t step = std::getenv("STEP") ? static_cast<size_t>(std::atoi(std::getenv("STEP"))) : 1;
    for (size_t x = 0; x < all.size(); x += step) {
      const Case &c = all[x];
      if (std::getenv("PACKED") && !c.packed) continue;
      if (wanted("default")) run_case<float>(c, cuda::hopper_float32_kernel, TRITRI_COMPUTE_DEFAULT);
      const bool small = (c.m + 127) / 128 * ((c.n + 127) / 128) * c.batch <= 2 * traits.multiprocessors;
      if (wanted("tf32")) run_case<float>(c, cuda::hopper_tf32_kernel, TRITRI_COMPUTE_TF32);
      if (wanted("tf32") && small) run_case<float>(c, cuda::hopper_tf32_small_kernel, TRITRI_COMPUTE_TF32);
      if (wanted("mma") && !c.packed) {
        run_case<__nv_bfloat16>(c, cuda::mma_kernel, TRITRI_COMPUTE_DEFAULT);
        run_case<__half>(c, cuda::mma_kernel, TRITRI_COMPUTE_DEFAULT);
        if (c.special == 0) run_case<float>(c, cuda::mma_kernel, TRITRI_COMPUTE_TF32);  // the largest numbers round to Inf
      }
      const bool c_starts = has_line_starts(view(c.m, c.n, c.c, false, true, c.c_pad, c.packed && c.c != Fill::full).lines());
      if (wanted("cluster") && c_starts) {
        run_case<__nv_bfloat16>(c, cuda::cluster_kernel, TRITRI_COMPUTE_DEFAULT);
        run_case<__half>(c, cuda::cluster_kernel, TRITRI_COMPUTE_DEFAULT);
        run_case<float>(c, cuda::cluster_kernel, TRITRI_COMPUTE_TF32);
      }
      if (c.special != 0) continue;
      if (wanted("bfloat")) run_case<__nv_bfloat16>(c, cuda::hopper_bfloat16_kernel, TRITRI_COMPUTE_DEFAULT);
      if (wanted("half")) run_case<__half>(c, cuda::hopper_float16_kernel, TRITRI_COMPUTE_DEFAULT);
      if (wanted("small") && small) run_case<__nv_bfloat16>(c, cuda::hopper_bfloat16_small_kernel, TRITRI_COMPUTE_DEFAULT);
      if (wanted("small") && small) run_case<__half>(c, cuda::hopper_float16_small_kernel, TRITRI_COMPUTE_DEFAULT);
    }
    struct { float x, y, expected; } const singles[] = {{1 + 0x1p-12f, 1, 1 + 0x1p-12f}, {0x1p-140f, 0x1p20f, 0x1p-120f}, {0x1p20f, 0x1p-140f, 0x1p-120f},
                                                        {0x1p-149f, 1, 0x1p-149f}, {1, 0x1.23456p-130f, 0x1.23456p-130f}, {0x1p10f, 0x1.8p-148f, 0x1.8p-138f},
                                                        {1, 0x1.002p110f, 0x1.002p110f}, {0x1p-70f, 0x1p-70f, 0x1p-140f}, {FLT_MAX, 1, FLT_MAX},
                                                        {FLT_MAX, -2, -INFINITY}, {0x1p127f, 0x1p-20f, 0x1p107f}, {0x1.234566p-104f, 1, 0x1.234566p-104f}};
    if (wanted("default"))
      for (const auto &single : singles)
        for (const auto &at : {std::array<int64_t, 3>{40, 40, 40}, {127, 90, 3}, {301, 2, 1}, {450, 131, 77}, {511, 510, 509}, {500, 499, 2}})
          run_single(512, at[0], at[1], at[2], single.x, single.y, single.expected);
    std::printf("%d passed, %d failed\n", passes, failures);
  }
  if (time) {
    const Cublas cublas;
    const char *sizes = std::getenv("SIZES");
    const auto each_kernel = [&](int64_t n, const Product &x) {
      if (wanted("default")) bench<float>(cuda::hopper_float32_kernel, TRITRI_COMPUTE_DEFAULT, cublas, n, x);
      if (wanted("tf32")) bench<float>(cuda::hopper_tf32_kernel, TRITRI_COMPUTE_TF32, cublas, n, x);
      if (wanted("tf32") && n <= 2048) bench<float>(cuda::hopper_tf32_small_kernel, TRITRI_COMPUTE_TF32, cublas, n, x);
      if (wanted("bfloat")) bench<__nv_bfloat16>(cuda::hopper_bfloat16_kernel, TRITRI_COMPUTE_DEFAULT, cublas, n, x);
      if (wanted("small") && n <= 2048) bench<__nv_bfloat16>(cuda::hopper_bfloat16_small_kernel, TRITRI_COMPUTE_DEFAULT, cublas, n, x);
      if (wanted("cluster") && n <= 2048) bench<__nv_bfloat16>(cuda::cluster_kernel, TRITRI_COMPUTE_DEFAULT, cublas, n, x);
      if (wanted("cluster") && n <= 2048) bench<float>(cuda::cluster_kernel, TRITRI_COMPUTE_TF32, cublas, n, x);
      if (wanted("half") && n == 4096) bench<__half>(cuda::hopper_float16_kernel, TRITRI_COMPUTE_DEFAULT, cublas, n, x);
    };
    for (const int64_t n : {512, 1024, 1536, 2048, 4096, 8192, 16384}) {
      if (sizes ? !std::strstr(sizes, std::to_string(n).c_str()) : n == 512 || n == 1536) continue;
      if (const char *packed = std::getenv("PACKED")) {
        std::istringstream list(packed);
        for (Product x = kCuts[std::getenv("WHOLE") ? 0 : 1]; std::getline(list, x.packed, ',');) each_kernel(n, x);
      } else if (!std::getenv("CUTS")) each_kernel(n, {});
      else for (const Product &x : kCuts) each_kernel(n, x);
    }
    if (!sizes)
      for (const Product &x : {Product{Fill::upper, Fill::upper}, Product{Fill::lower, Fill::lower, Fill::full, false, true}, Product{Fill::lower, Fill::lower, Fill::full, true, false}})
        each_kernel(4096, x);
  }
  return failures ? 1 : 0;
}
