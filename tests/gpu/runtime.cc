// The CUDA device as an application meets it: streams, capture, devices, failures, transfers, the end of the process. Only public functions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>

#include "gpu/harness.h"

using namespace gpu;
using support::call;
using support::CallFailed;
using support::Context;
using support::create;
using support::Matrix;
using support::upload;
using support::wrap;

namespace {

constexpr int32_t lower = TRITRI_FILL_LOWER, upper = TRITRI_FILL_UPPER, full = TRITRI_FILL_FULL;

tritri_multiply_options with(int32_t algorithm) {
  tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
  options.algorithm = algorithm;
  return options;
}

bool has_cublas() {
  tritri_device_info info = TRITRI_DEVICE_INFO_INIT;
  call(tritri_device_info_get(TRITRI_DEVICE_CUDA, 0, &info));
  return info.blas_version != 0;
}

size_t free_memory() {
  size_t free = 0, total = 0;
  cuda(cudaMemGetInfo(&free, &total));
  return free;
}

template <class Body>
CallFailed expect_failure(tritri_status status, const std::string &words, Body &&body) {
  try {
    body();
  } catch (const CallFailed &failure) {
    expect(failure.status == status, std::string("another status was expected than ") + failure.what());
    expect(std::string(failure.what()).find(words) != std::string::npos, "the message must contain \"" + words + "\": " + failure.what());
    return failure;
  }
  throw std::runtime_error("the call must fail with " + std::string(tritri_status_name(status)) + ", but it succeeded");
}

// L5: the first multiply of the process, inside capture, then replays with other data.
void capture_first(int32_t algorithm) {
  constexpr int64_t n = 300;
  Stream stream;
  const Context context = make_context(stream.get());
  const std::vector<float> a1 = integers(n, lower, 1), a2 = integers(n, lower, 2), b = integers(n, lower, 3);
  const Matrix a = upload(context, describe(n, n, lower), a1.data()), b_matrix = upload(context, describe(n, n, lower), b.data());
  const Matrix c = create(context, describe(n, n, full));
  const tritri_multiply_options options = with(algorithm);
  const size_t before = free_memory();
  cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal));
  call(tritri_multiply(context, &options, a, b_matrix, c));
  cudaGraph_t graph;
  cuda(cudaStreamEndCapture(stream.get(), &graph));
  expect(free_memory() == before, "multiply allocated device memory");
  cudaGraphExec_t executable;
  cuda(cudaGraphInstantiate(&executable, graph, 0));
  cuda(cudaGraphLaunch(executable, stream.get()));
  expect_equal(download(context, c, n * n), product(n, a1, lower, b, lower), "first replay");
  const tritri_matrix_desc layout = describe(n, n, lower);
  call(tritri_upload_into(context, a, &layout, a2.data()));
  cuda(cudaGraphLaunch(executable, stream.get()));
  expect_equal(download(context, c, n * n), product(n, a2, lower, b, lower), "replay with other data");
  cuda(cudaGraphExecDestroy(executable));
  cuda(cudaGraphDestroy(graph));
}

void capture_alone(const char *name) {
  expect(run_alone(name) == 0, "the process that captured its first multiply failed");
}

void capture_after_set_stream() {
  constexpr int64_t n = 200;
  const Context context = make_context();
  const std::vector<float> a_host = integers(n, lower, 1), b_host = integers(n, upper, 2);
  const Matrix a = upload(context, describe(n, n, lower), a_host.data()), b = upload(context, describe(n, n, upper), b_host.data());
  const Matrix c = create(context, describe(n, n, full));
  call(tritri_multiply(context, nullptr, a, b, c));  // leaves work behind on the context's own stream
  Stream stream;
  cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
  call(tritri_context_set_stream(context, stream.get()));
  call(tritri_multiply(context, nullptr, a, b, c));
  expect_failure(TRITRI_INVALID_ARGUMENT, "capture", [&] { call(tritri_context_synchronize(context)); });
  call(tritri_context_set_stream(context, nullptr));
  cudaGraph_t graph;
  cuda(cudaStreamEndCapture(stream.get(), &graph));
  size_t nodes = 0;
  cuda(cudaGraphGetNodes(graph, nullptr, &nodes));
  expect(nodes >= 1, "nothing was captured");
  cuda(cudaGraphDestroy(graph));
  call(tritri_context_synchronize(context));
  expect_equal(download(context, c, n * n), product(n, a_host, lower, b_host, upper), "the product before the capture");
}

// L4: with a device current and with none.
void current_device() {
  std::string problem;
  std::thread([&] {  // a fresh thread has no current CUDA context
    try {
      using Get = int (*)(void **);
      Get get = nullptr;
      cudaDriverEntryPointQueryResult found;
      cuda(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", reinterpret_cast<void **>(&get), 12000, cudaEnableDefault, &found));
      const auto current = [&] {
        void *context = nullptr;
        get(&context);
        return context;
      };
      const auto life = [&] {
        int32_t count = 0;
        call(tritri_device_count(TRITRI_DEVICE_CUDA, &count));
        tritri_device_info info = TRITRI_DEVICE_INFO_INIT;
        call(tritri_device_info_get(TRITRI_DEVICE_CUDA, count - 1, &info));
        const Context context = make_context();
        const std::vector<float> host = integers(8, lower, 1);
        const Matrix a = upload(context, describe(8, 8, lower), host.data()), c = create(context, describe(8, 8, full));
        call(tritri_multiply(context, nullptr, a, a, c));
        expect_equal(download(context, c, 64), product(8, host, lower, host, lower), "product");
        tritri_matrix *none = nullptr;
        const tritri_matrix_desc huge = describe(int64_t{1} << 24, int64_t{1} << 24, full);
        expect(tritri_matrix_create(context, &huge, &none) == TRITRI_OUT_OF_MEMORY, "2^50 bytes must be out of memory");
      };
      expect(current() == nullptr, "the test's own thread must start without a context");
      life();
      expect(current() == nullptr, "a thread without a CUDA context has one now");
      cuda(cudaSetDevice(0));
      void *const mine = current();
      life();
      expect(current() == mine, "the thread's CUDA context is another one now");
    } catch (const std::exception &error) {
      problem = error.what();
    }
  }).join();
  expect(problem.empty(), problem);
}

// L8
void unrelated_failure() {
  const Context context = make_context();
  const std::vector<float> host = integers(40, lower, 1);
  const Matrix a = upload(context, describe(40, 40, lower), host.data()), c = create(context, describe(40, 40, full));
  void *nothing = nullptr;
  expect(cudaMalloc(&nothing, SIZE_MAX / 2) != cudaSuccess, "the unrelated call must fail");
  call(tritri_multiply(context, nullptr, a, a, c));
  expect(cudaSetDevice(12345) != cudaSuccess, "the unrelated call must fail");
  expect_equal(download(context, c, 1600), product(40, host, lower, host, lower), "product");
  (void)cudaGetLastError();
}

// A kernel that fails (its input lies outside every address space) is reported by the next call that waits, and that call says whose work it was.
void async_failure() {
  const Context context = make_context();
  const Matrix a = wrap(context, describe(64, 64, lower), reinterpret_cast<void *>(uintptr_t{0xffff} << 40)), c = create(context, describe(64, 64, full));
  call(tritri_multiply(context, nullptr, a, a, c));
  expect_failure(TRITRI_DEVICE_ERROR, "tritri_multiply", [&] { call(tritri_context_synchronize(context)); });
}

void in_place() {
  constexpr int64_t n = 150;
  const Context context = make_context();
  for (const int32_t algorithm : {TRITRI_ALGORITHM_KERNEL, TRITRI_ALGORITHM_CUBLAS}) {
    if (algorithm == TRITRI_ALGORITHM_CUBLAS && !has_cublas()) continue;
    const tritri_multiply_options options = with(algorithm);
    const std::vector<float> host = integers(n, lower, 5);
    const Matrix x = upload(context, describe(n, n, lower), host.data());
    call(tritri_multiply(context, &options, x, x, x));
    std::vector<float> want = product(n, host, lower, host, lower), got(static_cast<size_t>(n * n), -77.0f);
    const tritri_matrix_desc layout = describe(n, n, lower);
    call(tritri_download(context, x, &layout, got.data()));
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = i + 1; j < n; ++j) want[static_cast<size_t>(i * n + j)] = -77.0f;  // the host's other triangle stays
    expect_equal(got, want, "L L into L");
  }
}

// L9
void workspace_too_small() {
  constexpr int64_t n = 100;
  const Context context = make_context(nullptr, 1024);
  const std::vector<float> host = integers(n, lower, 5);
  const Matrix x = upload(context, describe(n, n, lower), host.data());
  size_t needed = 0;
  call(tritri_workspace_size(context, nullptr, x, x, x, &needed));
  expect(needed > 1024, "in place needs room for a copy");
  expect_failure(TRITRI_OUT_OF_MEMORY, std::to_string(needed), [&] { call(tritri_multiply(context, nullptr, x, x, x)); });
  std::vector<float> got(host);
  const tritri_matrix_desc layout = describe(n, n, lower);
  call(tritri_download(context, x, &layout, got.data()));
  expect_equal(got, host, "C after the error");
  const Context roomy = make_context(nullptr, needed);
  const Matrix y = upload(roomy, describe(n, n, lower), host.data());
  call(tritri_multiply(roomy, nullptr, y, y, y));
  call(tritri_context_synchronize(roomy));
}

// V18
void batch_65537() {
  constexpr int64_t count = 65537;
  const Context context = make_context();
  tritri_matrix_desc desc = describe(2, 2, lower);
  desc.batch_count = count;
  desc.batch_stride = 4;
  std::vector<float> host(count * 4);
  for (int64_t i = 0; i < count; ++i) {
    host[static_cast<size_t>(4 * i)] = static_cast<float>(i % 7);
    host[static_cast<size_t>(4 * i + 1)] = std::numeric_limits<float>::quiet_NaN();
    host[static_cast<size_t>(4 * i + 2)] = 2;
    host[static_cast<size_t>(4 * i + 3)] = static_cast<float>(i % 5);
  }
  for (const int32_t algorithm : {TRITRI_ALGORITHM_AUTO, TRITRI_ALGORITHM_KERNEL, TRITRI_ALGORITHM_CUBLAS}) {
    if (algorithm == TRITRI_ALGORITHM_CUBLAS && !has_cublas()) continue;
    const tritri_multiply_options options = with(algorithm);
    const Matrix a = upload(context, desc, host.data());
    tritri_matrix_desc result = desc;
    result.fill = full;
    const Matrix c = create(context, result);
    call(tritri_multiply(context, &options, a, a, c));
    const std::vector<float> got = download(context, c, count * 4);
    for (int64_t i = 0; i < count; ++i) {
      const float x = static_cast<float>(i % 7), y = static_cast<float>(i % 5), want[] = {x * x, 0, 2 * x + 2 * y, y * y};
      for (int e = 0; e < 4; ++e) expect(got[static_cast<size_t>(4 * i + e)] == want[e], "matrix " + std::to_string(i) + " is wrong");
    }
  }
}

// V20, second half: a 2 x 2 matrix whose rows lie 2^31 + 1 elements apart.
void ld_beyond_32_bits() {
  constexpr int64_t ld = (int64_t{1} << 31) + 1, bytes = (ld + 2) * 4;
  const Context context = make_context();
  if (free_memory() < static_cast<size_t>(2 * bytes) + (size_t{1} << 30)) throw Skip("needs 18 GB of device memory");
  Memory a_memory(static_cast<size_t>(bytes)), c_memory(static_cast<size_t>(bytes));
  cuda(cudaMemset(a_memory.get(), 0xff, static_cast<size_t>(bytes)));  // NaN
  cuda(cudaMemset(c_memory.get(), 0xff, static_cast<size_t>(bytes)));
  const auto at = [](const Memory &m, int64_t i, int64_t j) { return static_cast<float *>(m.get()) + i * ld + j; };
  const float values[] = {4, 5, 6};
  cuda(cudaMemcpy(at(a_memory, 0, 0), &values[0], 4, cudaMemcpyHostToDevice));
  cuda(cudaMemcpy(at(a_memory, 1, 0), &values[1], 8, cudaMemcpyHostToDevice));
  tritri_matrix_desc desc = describe(2, 2, lower);
  desc.ld = ld;
  for (const int32_t algorithm : {TRITRI_ALGORITHM_AUTO, TRITRI_ALGORITHM_KERNEL, TRITRI_ALGORITHM_CUBLAS}) {
    if (algorithm == TRITRI_ALGORITHM_CUBLAS && !has_cublas()) continue;
    const tritri_multiply_options options = with(algorithm);
    const Matrix a = wrap(context, desc, a_memory.get());
    tritri_matrix_desc result = desc;
    result.fill = full;
    const Matrix c = wrap(context, result, c_memory.get());
    call(tritri_multiply(context, &options, a, a, c));
    expect_equal(download(context, c, 4), {16, 0, 50, 36}, "product");
    float beside = 0;
    cuda(cudaMemcpy(&beside, at(c_memory, 0, 2), 4, cudaMemcpyDeviceToHost));
    expect(std::isnan(beside), "the padding of C was written");
  }
}

// Products that depend on each other, each on another stream, ordered by tritri_context_set_stream alone.
void streams() {
  constexpr int64_t n = 128;
  const Context context = make_context();
  std::vector<float> identity(n * n, std::numeric_limits<float>::quiet_NaN()), host = integers(n, lower, 9);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) identity[static_cast<size_t>(i * n + j)] = i == j ? 1.0f : 0.0f;
  const Matrix one = upload(context, describe(n, n, lower), identity.data());
  Matrix x = upload(context, describe(n, n, lower), host.data()), y = create(context, describe(n, n, lower));
  Stream streams[3];
  for (int round = 0; round < 60; ++round) {
    call(tritri_context_set_stream(context, round % 4 == 3 ? nullptr : streams[round % 4].get()));
    call(tritri_multiply(context, nullptr, x, one, y));
    std::swap(x, y);
  }
  const tritri_matrix_desc layout = describe(n, n, lower);
  std::vector<float> got = host;
  call(tritri_download(context, x, &layout, got.data()));
  expect_equal(got, host, "60 products by the identity");
  call(tritri_context_set_stream(context, nullptr));
}

// Every layout to every layout, from ordinary and from pinned memory, with marks wherever nothing may be written.
void transfers() {
  const Context context = make_context();
  struct Shape { int64_t rows, cols, batch; };
  for (const Shape shape : {Shape{1300, 900, 1}, Shape{900, 1300, 1}, Shape{5, 3, 70000}, Shape{1, 700000, 1}, Shape{2, 2, 3}}) {
    for (const int32_t fill : {full, lower, upper}) {
      for (const int32_t host_order : {TRITRI_ORDER_ROW, TRITRI_ORDER_COLUMN}) {
        for (const int32_t device_order : {TRITRI_ORDER_ROW, TRITRI_ORDER_COLUMN}) {
          const int64_t host_ld = (host_order == TRITRI_ORDER_ROW ? shape.cols : shape.rows) + 3;
          const int64_t host_lines = host_order == TRITRI_ORDER_ROW ? shape.rows : shape.cols, stride = host_ld * host_lines + 1;
          const size_t bytes = static_cast<size_t>(stride * shape.batch) * sizeof(float);
          tritri_matrix_desc host_desc = describe(shape.rows, shape.cols, fill), device_desc = host_desc;
          host_desc.order = host_order;
          host_desc.ld = host_ld;
          host_desc.batch_count = device_desc.batch_count = shape.batch;
          host_desc.batch_stride = stride;
          device_desc.order = device_order;
          device_desc.batch_stride = shape.rows * shape.cols;
          void *pinned = nullptr;
          call(tritri_host_allocate(context, bytes, &pinned));
          const std::shared_ptr<void> pin(pinned, [&](void *p) { call(tritri_host_free(context, p)); });
          std::vector<float> ordinary(bytes / sizeof(float)), source(bytes / sizeof(float));
          for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<float>(i % 8191);
          const Matrix matrix = create(context, device_desc);
          for (float *host : {ordinary.data(), static_cast<float *>(pinned)}) {
            std::copy(source.begin(), source.end(), host);
            void *memory = nullptr;
            call(tritri_matrix_data(matrix, &memory));
            cuda(cudaMemset(memory, 0xff, static_cast<size_t>(shape.rows * shape.cols * shape.batch) * sizeof(float)));
            cuda(cudaDeviceSynchronize());  // the memset does not wait, and the context's stream does not wait for it
            call(tritri_upload_into(context, matrix, &host_desc, host));
            std::vector<float> raw(static_cast<size_t>(shape.rows * shape.cols * shape.batch));
            cuda(cudaMemcpy(raw.data(), memory, raw.size() * sizeof(float), cudaMemcpyDeviceToHost));
            std::fill(host, host + source.size(), -1.0f);
            call(tritri_download(context, matrix, &host_desc, host));
            std::vector<char> held(source.size(), 0);
            for (int64_t b = 0; b < shape.batch; ++b) {
              for (int64_t i = 0; i < shape.rows; ++i) {
                for (int64_t j = 0; j < shape.cols; ++j) {
                  const bool exists = fill == full || (fill == lower ? i >= j : i <= j);
                  const size_t at = static_cast<size_t>(b * stride + (host_order == TRITRI_ORDER_ROW ? i * host_ld + j : i + j * host_ld));
                  const float on_device =
                      raw[static_cast<size_t>(b * shape.rows * shape.cols + (device_order == TRITRI_ORDER_ROW ? i * shape.cols + j : i + j * shape.rows))];
                  held[at] = exists;
                  if (exists ? on_device != source[at] : !std::isnan(on_device)) throw std::runtime_error("upload: a wrong element on the device");
                }
              }
            }
            for (size_t at = 0; at < source.size(); ++at)
              if (host[at] != (held[at] ? source[at] : -1.0f)) throw std::runtime_error("download: a wrong element on the host");
          }
        }
      }
    }
  }
}

// A product of host arrays that is large enough for its zeros to be written by the host: sampled elements against sums over what exists, every
// structural zero, whatever the fills, the orders, the memory, one matrix as both inputs, and an input's own array as the output.
void host_to_host() {
  constexpr int64_t n = 2200;
  constexpr size_t count = static_cast<size_t>(n * n);
  const Context context = make_context(), tight = make_context(nullptr, size_t{32} << 20);  // the second has no room for the operands
  const std::vector<float> lower_a = integers(n, lower, 1), lower_b = integers(n, lower, 2), upper_a = integers(n, upper, 3), upper_b = integers(n, upper, 4);
  void *pinned = nullptr;
  call(tritri_host_allocate(context, 3 * count * sizeof(float), &pinned));
  const std::shared_ptr<void> pin(pinned, [&](void *p) { call(tritri_host_free(context, p)); });
  std::vector<float> ordinary(3 * count);
  const auto exists = [](int32_t fill, int64_t i, int64_t j) { return fill == full || (fill == lower ? i >= j : i <= j); };
  struct Case { const std::vector<float> *a, *b; int32_t a_fill, b_fill; };
  for (const Case &product : {Case{&lower_a, &lower_b, lower, lower}, Case{&upper_a, &upper_b, upper, upper}, Case{&lower_a, &upper_b, lower, upper},
                              Case{&lower_a, &lower_a, lower, lower}}) {
    for (const int32_t order : {TRITRI_ORDER_ROW, TRITRI_ORDER_COLUMN}) {
      for (float *memory : {ordinary.data(), static_cast<float *>(pinned)}) {
        for (const bool in_place : {false, true}) {
          for (tritri_context *on : {static_cast<tritri_context *>(context), static_cast<tritri_context *>(tight)}) {
            float *const a = memory, *const b = product.a == product.b ? a : memory + count, *const c = in_place ? a : memory + 2 * count;
            if (in_place && (order != TRITRI_ORDER_ROW || a == b)) continue;  // an input's array is an output only as it lies
            std::copy(product.a->begin(), product.a->end(), a);
            if (b != a) std::copy(product.b->begin(), product.b->end(), b);
            if (!in_place) std::fill(c, c + count, std::numeric_limits<float>::quiet_NaN());
            tritri_matrix_desc c_desc = describe(n, n, full);
            c_desc.order = order;
            const tritri_matrix_desc a_desc = describe(n, n, product.a_fill), b_desc = describe(n, n, product.b_fill);
            call(tritri_multiply_host(on, nullptr, &a_desc, a, &b_desc, b, &c_desc, c));
            const bool zeros = product.a_fill == product.b_fill;
            for (int64_t i = 0; i < n; ++i) {
              for (int64_t j = 0; j < n; ++j) {
                const float got = c[order == TRITRI_ORDER_ROW ? i * n + j : i + j * n];
                if (zeros && !exists(product.a_fill, i, j)) {
                  expect(got == 0 && !std::signbit(got), "a structural zero is not there");
                } else if ((i * 131 + j) % 9973 == 0) {
                  double sum = 0;
                  for (int64_t k = 0; k < n; ++k)
                    if (exists(product.a_fill, i, k) && exists(product.b_fill, k, j))
                      sum += static_cast<double>((*product.a)[static_cast<size_t>(i * n + k)]) * static_cast<double>((*product.b)[static_cast<size_t>(k * n + j)]);
                  expect(got == static_cast<float>(sum), "a wrong element");
                }
              }
            }
          }
        }
      }
    }
  }
  // Refused for want of workspace: nothing is written.
  const Context none = make_context(nullptr, 256);
  std::copy(lower_a.begin(), lower_a.end(), ordinary.begin());
  float *const c = ordinary.data() + 2 * count;
  std::fill(c, c + count, 777.0f);
  const tritri_matrix_desc in = describe(n, n, lower), out = describe(n, n, full);
  expect_failure(TRITRI_OUT_OF_MEMORY, "tritri_multiply_host: context: its workspace must hold", [&] {
    const tritri_multiply_options options = with(TRITRI_ALGORITHM_CUBLAS);
    call(tritri_multiply_host(none, &options, &in, ordinary.data(), &in, ordinary.data(), &out, c));
  });
  expect(std::all_of(c, c + count, [](float x) { return x == 777.0f; }), "a refused product wrote into C");
}

// Out of pinned memory blocks of rows overlap with the bus, else one product follows the other way: each gives the same bits every time, and both are
// close to the product on the device.
template <class T>
void host_to_host_bits(int32_t dtype) {
  constexpr int64_t n = 2345;
  constexpr size_t count = static_cast<size_t>(n * n);
  const Context context = make_context();
  void *pinned = nullptr;
  call(tritri_host_allocate(context, 3 * count * sizeof(T), &pinned));
  const std::shared_ptr<void> pin(pinned, [&](void *p) { call(tritri_host_free(context, p)); });
  std::vector<T> ordinary(3 * count);
  for (const int32_t fill : {lower, upper}) {
    uint32_t state = 7;
    for (size_t at = 0; at < 2 * count; ++at) {
      const int64_t i = static_cast<int64_t>(at % count) / n, j = static_cast<int64_t>(at % count) % n;
      state = state * 1664525u + 1013904223u;
      const bool held = fill == lower ? i >= j : i <= j;
      ordinary[at] = held ? static_cast<T>(static_cast<int32_t>(state)) / T(2147483648.0) : std::numeric_limits<T>::quiet_NaN();
    }
    T *const fixed = static_cast<T *>(pinned), *const free = ordinary.data();
    std::copy(free, free + 2 * count, fixed);
    const tritri_matrix_desc in = describe(n, n, fill, dtype), out = describe(n, n, full, dtype);
    const auto multiply = [&](const T *a, const T *b, T *c) {
      std::fill(c, c + count, std::numeric_limits<T>::quiet_NaN());
      call(tritri_multiply_host(context, nullptr, &in, a, &in, b, &out, c));
      return std::vector<T>(c, c + count);
    };
    const std::vector<T> first = multiply(fixed, fixed + count, fixed + 2 * count), other = multiply(free, free + count, free + 2 * count);
    expect(first == multiply(fixed, fixed + count, fixed + 2 * count), "the same product twice out of pinned memory");
    expect(other == multiply(free, free + count, free + 2 * count), "the same product twice out of ordinary memory");
    expect(other == multiply(fixed, free + count, fixed + 2 * count), "one input in ordinary memory");
    expect(other == multiply(fixed, fixed + count, free + 2 * count), "the result in ordinary memory");

    const Matrix a = upload(context, in, free), b = upload(context, in, free + count), c = create(context, out);
    call(tritri_multiply(context, nullptr, a, b, c));
    std::vector<T> whole(count);
    call(tritri_download(context, c, &out, whole.data()));
    const double limit = 64 * std::sqrt(static_cast<double>(n)) * static_cast<double>(std::numeric_limits<T>::epsilon());
    for (const std::vector<T> *result : {&first, &other}) {
      for (size_t at = 0; at < count; ++at)
        if (!(std::abs(static_cast<double>((*result)[at]) - static_cast<double>(whole[at])) < limit)) throw std::runtime_error("an element is not the product's");
      double residual = 0;
      call(tritri_upload_into(context, c, &out, result->data()));
      call(tritri_verify(context, nullptr, a, b, c, 8, &residual));
      expect(residual < 64 * static_cast<double>(std::numeric_limits<T>::epsilon()), "the residual is too large");
    }
  }
}

void pinned_memory() {
  const Context context = make_context(), other = make_context();
  void *memory = nullptr;
  call(tritri_host_allocate(context, 1 << 20, &memory));
  std::memset(memory, 1, 1 << 20);
  call(tritri_host_free(other, memory));
  expect_failure(TRITRI_INVALID_ARGUMENT, "pointer", [&] { call(tritri_host_free(context, memory)); });
  std::vector<char> mine(1024);
  expect_failure(TRITRI_INVALID_ARGUMENT, "pointer", [&] { call(tritri_host_free(context, mine.data() + 512)); });
  call(tritri_host_allocate(context, 0, &memory));
  call(tritri_host_free(context, memory));
  call(tritri_host_free(context, nullptr));
}

void destroy_in_any_order() {
  const std::vector<float> host = integers(64, lower, 4);
  for (int order = 0; order < 2; ++order) {
    Context context = make_context();
    Matrix a = upload(context, describe(64, 64, lower), host.data()), c = create(context, describe(64, 64, full));
    call(tritri_multiply(context, nullptr, a, a, c));
    if (order == 0) context = Context();
    a = Matrix();
    c = Matrix();
  }
}

// L7
void exit_without_destroy() {
  tritri_context *context = nullptr;
  tritri_context_options options = TRITRI_CONTEXT_OPTIONS_INIT;
  options.device = TRITRI_DEVICE_CUDA;
  call(tritri_context_create(&options, &context));
  const std::vector<float> host = integers(64, lower, 4);
  Matrix a = upload(context, describe(64, 64, lower), host.data()), c = create(context, describe(64, 64, full));
  call(tritri_multiply(context, nullptr, a, a, c));
  *a.out() = nullptr;
  *c.out() = nullptr;
}

tritri_context *late_context = nullptr;
tritri_matrix *late_matrix = nullptr;

void destroy_at_exit() {
  std::atexit([] {
    tritri_context_destroy(late_context);
    tritri_matrix_destroy(late_matrix);
  });
  tritri_context_options options = TRITRI_CONTEXT_OPTIONS_INIT;
  options.device = TRITRI_DEVICE_CUDA;
  call(tritri_context_create(&options, &late_context));
  const tritri_matrix_desc desc = describe(100, 100, full);
  call(tritri_matrix_create(late_context, &desc, &late_matrix));
}

// L10
void threads() {
  std::vector<std::thread> workers;
  std::vector<std::string> problems(8);
  for (unsigned t = 0; t < 8; ++t) {
    workers.emplace_back([t, &problems] {
      try {
        const int64_t n = 20 + 13 * t;
        const Context context = make_context(nullptr, 64 << 20);
        const std::vector<float> host = integers(n, lower, t), want = product(n, host, lower, host, lower);
        const Matrix a = upload(context, describe(n, n, lower), host.data()), c = create(context, describe(n, n, full));
        for (int round = 0; round < 125; ++round) {
          for (int i = 0; i < 8; ++i) call(tritri_multiply(context, nullptr, a, a, c));
          if (round % 25 == 0) expect_equal(download(context, c, n * n), want, "thread " + std::to_string(t));
        }
        expect_equal(download(context, c, n * n), want, "thread " + std::to_string(t));
      } catch (const std::exception &error) {
        problems[t] = error.what();
      }
    });
  }
  for (std::thread &worker : workers) worker.join();
  for (const std::string &problem : problems) expect(problem.empty(), problem);
}

// L1: no cuBLAS to be found.
void without_cublas() {
  tritri_device_info info = TRITRI_DEVICE_INFO_INIT;
  call(tritri_device_info_get(TRITRI_DEVICE_CUDA, 0, &info));
  expect(info.blas_version == 0 && std::strstr(info.details, "tried /nowhere/libcublas.so.13"), std::string("details must say what was tried: ") + info.details);
  const Context context = make_context();
  const std::vector<float> host = integers(70, lower, 4);
  const Matrix a = upload(context, describe(70, 70, lower), host.data()), c = create(context, describe(70, 70, full));
  const tritri_multiply_options options = with(TRITRI_ALGORITHM_CUBLAS);
  expect_failure(TRITRI_NOT_SUPPORTED, "cuBLAS", [&] { call(tritri_multiply(context, &options, a, a, c)); });
  call(tritri_multiply(context, nullptr, a, a, c));
  expect_equal(download(context, c, 4900), product(70, host, lower, host, lower), "product");
}

// Kernels and cuBLAS that no context has loaded ahead load when they are wanted.
void without_warm_up() {
  const Context context = make_context();
  const std::vector<float> host = integers(300, lower, 4);
  const Matrix a = upload(context, describe(300, 300, lower), host.data()), c = create(context, describe(300, 300, full));
  for (const int32_t algorithm : {TRITRI_ALGORITHM_AUTO, TRITRI_ALGORITHM_KERNEL, TRITRI_ALGORITHM_CUBLAS}) {
    if (algorithm == TRITRI_ALGORITHM_CUBLAS && !has_cublas()) continue;
    const tritri_multiply_options options = with(algorithm);
    call(tritri_multiply(context, &options, a, a, c));
    expect_equal(download(context, c, 90000), product(300, host, lower, host, lower), "product by algorithm " + std::to_string(algorithm));
  }
}

// sin(0), sin(1), ... as elements of a type.
std::vector<unsigned char> waves(int64_t elements, int32_t dtype) {
  const bool is_complex = dtype == TRITRI_COMPLEX64 || dtype == TRITRI_COMPLEX128;
  const size_t numbers = static_cast<size_t>(elements) * (is_complex ? 2 : 1);
  const auto fill_with = [&](auto convert) {
    using T = decltype(convert(0.0f));
    std::vector<unsigned char> bytes(numbers * sizeof(T));
    for (size_t i = 0; i < numbers; ++i) {
      const T x = convert(std::sin(static_cast<float>(i)));
      std::memcpy(&bytes[i * sizeof(T)], &x, sizeof(T));
    }
    return bytes;
  };
  switch (dtype) {
    case TRITRI_FLOAT64: case TRITRI_COMPLEX128: return fill_with([](float x) { return static_cast<double>(x); });
    case TRITRI_FLOAT16: return fill_with([](float x) { return __float2half_rn(x); });
    case TRITRI_BFLOAT16: return fill_with([](float x) { return __float2bfloat16_rn(x); });
    default: return fill_with([](float x) { return x; });
  }
}

// Another stream that keeps the card busy with products and copies for as long as it lives.
class Busy {
 public:
  Busy() : thread_([this] {
    try {
      constexpr int64_t n = 1500;
      constexpr size_t copied = size_t{64} << 20;
      Stream stream;
      const Context context = make_context(stream.get());
      const std::vector<float> host = integers(n, lower, 5);
      const Matrix a = upload(context, describe(n, n, lower), host.data()), c = create(context, describe(n, n, full));
      const Memory from(copied), to(copied);
      while (!stop_) {
        for (int i = 0; i < 4; ++i) call(tritri_multiply(context, nullptr, a, a, c));
        cuda(cudaMemcpyAsync(to.get(), from.get(), copied, cudaMemcpyDeviceToDevice, stream.get()));
        call(tritri_context_synchronize(context));
        ++rounds_;
      }
    } catch (const std::exception &error) {
      problem_ = error.what();
      rounds_ = -1;
    }
  }) {
    while (rounds_ == 0) std::this_thread::yield();  // from now on it is busy, or has failed
  }
  ~Busy() {
    stop_ = true;
    thread_.join();
  }
  // How much it has done.
  int rounds() const {
    const int rounds = rounds_;
    expect(rounds >= 0, "the other stream: " + problem_);
    return rounds;
  }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int> rounds_{0};
  std::string problem_;
  std::thread thread_;  // last: it uses the others
};

// P6: 100 products give the same bits, in every mode and by every algorithm, also after other products have been through the workspace.
void same_bits(const Busy *busy) {
  struct Mode { int32_t dtype, compute; };
  const Context context = make_context();
  for (const Mode mode : {Mode{TRITRI_FLOAT32, TRITRI_COMPUTE_DEFAULT}, Mode{TRITRI_FLOAT32, TRITRI_COMPUTE_PEDANTIC}, Mode{TRITRI_FLOAT32, TRITRI_COMPUTE_TF32},
                          Mode{TRITRI_FLOAT64, 0}, Mode{TRITRI_COMPLEX64, 0}, Mode{TRITRI_COMPLEX128, 0}, Mode{TRITRI_FLOAT16, 0}, Mode{TRITRI_BFLOAT16, 0}}) {
    for (const int64_t n : {777, 1024}) {
      const std::vector<unsigned char> host = waves(n * n, mode.dtype);
      const Matrix a = upload(context, describe(n, n, lower, mode.dtype), host.data());
      const Matrix c = create(context, describe(n, n, full, mode.dtype)), other = create(context, describe(n, n, full, mode.dtype));
      const auto result = [&] {
        std::vector<unsigned char> bytes(host.size());
        call(tritri_download(context, c, nullptr, bytes.data()));
        return bytes;
      };
      for (const int32_t algorithm : {TRITRI_ALGORITHM_KERNEL, TRITRI_ALGORITHM_CUBLAS}) {
        if (algorithm == TRITRI_ALGORITHM_CUBLAS && !has_cublas()) continue;
        tritri_multiply_options options = with(algorithm);
        options.compute = mode.compute;
        call(tritri_multiply(context, &options, a, a, c));
        const std::vector<unsigned char> first = result();
        const int before = busy ? busy->rounds() : 0;
        for (int round = 0; round < 100; ++round) {
          if (round % 10 == 0) call(tritri_multiply(context, &options, c, a, other));
          call(tritri_multiply(context, &options, a, a, c));
          const std::string where = "dtype " + std::to_string(mode.dtype) + ", compute " + std::to_string(mode.compute) + ", n = " + std::to_string(n) + ", algorithm " +
                                    std::to_string(algorithm) + ", round " + std::to_string(round);
          expect(result() == first, "bits differ: " + where);
        }
        expect(!busy || busy->rounds() > before, "the other stream did nothing meanwhile");
      }
    }
  }
}

// L6: memory stays flat.
void many_short_lives() {
  const Context context = make_context();
  const std::vector<float> host = integers(32, lower, 4);
  const auto life = [&] {
    const Matrix a = upload(context, describe(32, 32, lower), host.data()), c = create(context, describe(32, 32, full));
    call(tritri_multiply(context, nullptr, a, a, c));
  };
  for (int i = 0; i < 100; ++i) life();
  const size_t before = free_memory();
  for (int i = 0; i < 2000; ++i) life();
  expect(free_memory() == before, "matrices leak device memory");
  const auto with_context = [] { make_context(nullptr, 16 << 20); };
  for (int i = 0; i < 2; ++i) with_context();
  const size_t contexts_before = free_memory();
  for (int i = 0; i < 8; ++i) std::thread(with_context).join();
  expect(free_memory() + (size_t{4} << 20) > contexts_before, "contexts leak device memory");
}

}  // namespace

int main(int argc, char **argv) {
  const auto exits_cleanly = [](const char *name, const char *environment = "") {
    return [=] { expect(run_alone(name, environment) == 0, std::string("the process ") + name + " must end with exit code 0"); };
  };
  return run(argc, argv,
             {
                 {"L5_capture_first_multiply_auto", [] { capture_alone("alone_capture_auto"); }},
                 {"L5_capture_first_multiply_kernel", [] { capture_alone("alone_capture_kernel"); }},
                 {"L5_capture_first_multiply_cublas", [] {
                    if (!has_cublas()) throw Skip("no cuBLAS here");
                    capture_alone("alone_capture_cublas");
                  }},
                 {"capture_after_set_stream", capture_after_set_stream},
                 {"L4_current_device_unchanged", current_device},
                 {"L8_unrelated_failure_before_ours", unrelated_failure},
                 {"async_failure_is_named", exits_cleanly("alone_async_failure")},
                 {"in_place", in_place},
                 {"L9_workspace_too_small", workspace_too_small},
                 {"V18_batch_65537", batch_65537},
                 {"V20_ld_beyond_32_bits", ld_beyond_32_bits},
                 {"streams_in_order", streams},
                 {"transfers", transfers},
                 {"host_to_host", host_to_host},
                 {"host_to_host_bits_float32", [] { host_to_host_bits<float>(TRITRI_FLOAT32); }},
                 {"host_to_host_bits_float64", [] { host_to_host_bits<double>(TRITRI_FLOAT64); }},
                 {"pinned_memory", pinned_memory},
                 {"destroy_in_any_order", destroy_in_any_order},
                 {"L7_exit_without_destroy", exits_cleanly("alone_exit_without_destroy")},
                 {"L7_destroy_at_exit", exits_cleanly("alone_destroy_at_exit")},
                 {"L10_threads_with_a_context_each", threads},
                 {"L1_without_cublas", exits_cleanly("alone_without_cublas", "TRITRI_CUBLAS=/nowhere")},
                 {"without_warm_up", exits_cleanly("alone_without_warm_up", "TRITRI_WARM_UP=0")},
                 {"P6_same_bits", [] { same_bits(nullptr); }},
                 {"P6_same_bits_while_another_stream_is_busy", [] {
                    const Busy busy;
                    same_bits(&busy);
                  }},
                 {"L6_many_short_lives", many_short_lives},
             },
             {
                 {"alone_capture_auto", [] { capture_first(TRITRI_ALGORITHM_AUTO); }},
                 {"alone_capture_kernel", [] { capture_first(TRITRI_ALGORITHM_KERNEL); }},
                 {"alone_capture_cublas", [] { capture_first(TRITRI_ALGORITHM_CUBLAS); }},
                 {"alone_async_failure", async_failure},
                 {"alone_exit_without_destroy", exit_without_destroy},
                 {"alone_destroy_at_exit", destroy_at_exit},
                 {"alone_without_cublas", without_cublas},
                 {"alone_without_warm_up", without_warm_up},
             });
}
