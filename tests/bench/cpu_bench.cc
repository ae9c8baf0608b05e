// The CPU device against OpenBLAS GEMM and TRMM in one process: C = A B, both lower triangular, the other triangles NaN for us (the peers get zeros there, since
// GEMM reads them). Ours and the peers take turns, each going once through the same sets of inputs after one call to warm up, so that caches and a busy machine are the same for all;
// ratios are medians over the turns. OpenBLAS's threads spin for 2^28 ticks after each of its calls (100 ms at 2.6 GHz), on cores that ours needs, so from n = 256 ours waits until
// the process uses no more CPU time; --rush 1 leaves the wait out. TRMM works in place: the copy of B that it overwrites is made outside its time. `best` times are the shortest turns, for
// machines that others use too. `packed_seconds` is ours with A and B packed. A batch, as in 32x10000, is one call of ours and a loop of GEMM calls over one set.
// Prints JSON.
//   cpu_bench [--threads 2] [--blas libopenblas.so.0] [--seconds 1] [--rush 0] [--dtype float32|float64] n|nxbatch...
#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tritri/tritri.h"

namespace {

enum { row_major = 101, no_trans = 111, left = 141, lower = 122, non_unit = 131 };  // CBLAS's own numbers

struct Blas {
  void (*sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
  void (*dgemm)(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
  void (*strmm)(int, int, int, int, int, int, int, float, const float *, int, float *, int);
  void (*dtrmm)(int, int, int, int, int, int, int, double, const double *, int, double *, int);
  std::string description;

  void gemm(int n, const float *a, const float *b, float *c) const { sgemm(row_major, no_trans, no_trans, n, n, n, 1, a, n, b, n, 0, c, n); }
  void gemm(int n, const double *a, const double *b, double *c) const { dgemm(row_major, no_trans, no_trans, n, n, n, 1, a, n, b, n, 0, c, n); }
  void trmm(int n, const float *a, float *b) const { strmm(row_major, left, lower, no_trans, non_unit, n, n, 1, a, n, b, n); }
  void trmm(int n, const double *a, double *b) const { dtrmm(row_major, left, lower, no_trans, non_unit, n, n, 1, a, n, b, n); }
};

Blas load_blas(const std::string &path, int threads) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  Blas blas;
  const auto find = [&](const char *name, auto &function) {
    void *address = dlsym(library, name);
    if (!address) throw std::runtime_error(std::string("no ") + name + " in " + path);
    std::memcpy(&function, &address, sizeof address);
  };
  find("cblas_sgemm", blas.sgemm);
  find("cblas_dgemm", blas.dgemm);
  find("cblas_strmm", blas.strmm);
  find("cblas_dtrmm", blas.dtrmm);
  void (*set_threads)(int);
  char *(*config)();
  char *(*core)();
  find("openblas_set_num_threads", set_threads);
  find("openblas_get_config", config);
  find("openblas_get_corename", core);
  set_threads(threads);
  blas.description = std::string(config()) + ", " + core();
  return blas;
}

void check(tritri_status status) {
  if (status != TRITRI_OK) throw std::runtime_error(tritri_last_error());
}

double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Until no thread of the process runs, or for a second.
void wait_for_idle_threads() {
  for (int i = 0; i < 50; ++i) {
    const double before = processor_seconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (processor_seconds() - before < 5e-4) return;
  }
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double best(const std::vector<double> &values) { return *std::min_element(values.begin(), values.end()); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Settings {
  int threads = 2;
  double seconds = 1;
  bool rush = false;
  std::string blas = "libopenblas.so.0", dtype;
  std::vector<std::pair<int, int>> sizes;  // n and batch
};

// A random lower triangular matrix with zeros, and the same one with NaN for those.
template <class T>
void fill(std::mt19937_64 &random, size_t n, T *zero, T *nan) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (size_t i = 0; i < n * n; ++i) {
    const bool held = i / n >= i % n;
    zero[i] = held ? static_cast<T>(uniform(random)) : T(0);
    nan[i] = held ? zero[i] : std::numeric_limits<T>::quiet_NaN();
  }
}

tritri_matrix_desc describe(int n, bool wide, tritri_fill fill) {
  tritri_matrix_desc desc = TRITRI_MATRIX_DESC_INIT;
  desc.dtype = wide ? TRITRI_FLOAT64 : TRITRI_FLOAT32;
  desc.rows = desc.cols = n;
  desc.fill = fill;
  return desc;
}

// One set of inputs; several are rotated so that none stays in a core's own caches.
template <class T>
struct Set {
  std::vector<T> a, b, a_zero, b_zero, work, c, a_packed, b_packed;
};

template <class T>
void bench(const Blas &blas, const Settings &settings, tritri_context *context, int n, bool &first) {
  const size_t elements = static_cast<size_t>(n) * static_cast<size_t>(n);
  const int count = static_cast<int>(std::clamp<size_t>((size_t{4} << 20) / (elements * sizeof(T)), 2, 64));
  std::mt19937_64 random(static_cast<uint64_t>(n));
  std::vector<Set<T>> sets(static_cast<size_t>(count));
  for (Set<T> &set : sets) {
    for (std::vector<T> *x : {&set.a, &set.b, &set.a_zero, &set.b_zero, &set.work, &set.c}) x->resize(elements);
    fill(random, static_cast<size_t>(n), set.a_zero.data(), set.a.data());
    fill(random, static_cast<size_t>(n), set.b_zero.data(), set.b.data());
    for (size_t i = 0; i < elements; ++i) {
      if (i / static_cast<size_t>(n) < i % static_cast<size_t>(n)) continue;
      set.a_packed.push_back(set.a[i]);
      set.b_packed.push_back(set.b[i]);
    }
  }
  const tritri_matrix_desc in = describe(n, sizeof(T) == 8, TRITRI_FILL_LOWER), out = describe(n, sizeof(T) == 8, TRITRI_FILL_FULL);
  tritri_matrix_desc packed = in;
  packed.storage = TRITRI_STORAGE_PACKED;

  std::vector<double> ours, ours_packed, gemm, trmm, gemm_ratio, trmm_ratio, packed_ratio;
  const auto timed = [&](auto &&product) {  // seconds for one product
    product(sets.back());
    const double start = seconds();
    for (Set<T> &set : sets) product(set);
    return (seconds() - start) / count;
  };
  const double end = seconds() + settings.seconds;
  for (int turn = -1; turn < 7 || seconds() < end; ++turn) {
    const double g = timed([&](Set<T> &set) { blas.gemm(n, set.a_zero.data(), set.b_zero.data(), set.c.data()); });
    if (n >= 256 && !settings.rush) wait_for_idle_threads();
    const double o = timed([&](Set<T> &set) { check(tritri_multiply_host(context, nullptr, &in, set.a.data(), &in, set.b.data(), &out, set.c.data())); });
    const double q = timed([&](Set<T> &set) { check(tritri_multiply_host(context, nullptr, &packed, set.a_packed.data(), &packed, set.b_packed.data(), &out, set.c.data())); });
    for (Set<T> &set : sets) set.work = set.b_zero;
    const double t = timed([&](Set<T> &set) { blas.trmm(n, set.a_zero.data(), set.work.data()); });
    if (turn < 0) continue;  // warm-up
    ours.push_back(o);
    ours_packed.push_back(q);
    packed_ratio.push_back(q / o);
    gemm.push_back(g);
    trmm.push_back(t);
    gemm_ratio.push_back(g / o);
    trmm_ratio.push_back(t / o);
  }

  // The error on sampled rows, against sums in long double: 2-norm of the difference over that of the row.
  const Set<T> &set = sets[0];
  std::vector<T> mine(elements), theirs(elements);
  check(tritri_multiply_host(context, nullptr, &in, set.a.data(), &in, set.b.data(), &out, mine.data()));
  blas.gemm(n, set.a_zero.data(), set.b_zero.data(), theirs.data());
  long double norm = 0, mine_error = 0, their_error = 0;
  for (size_t row = 0; row < static_cast<size_t>(n); row += std::max<size_t>(static_cast<size_t>(n) / 16, 1)) {
    std::vector<long double> sum(static_cast<size_t>(n));
    for (size_t k = 0; k <= row; ++k) {
      for (size_t j = 0; j <= k; ++j) sum[j] += static_cast<long double>(set.a[row * static_cast<size_t>(n) + k]) * set.b[k * static_cast<size_t>(n) + j];
    }
    for (size_t j = 0; j < static_cast<size_t>(n); ++j) {
      const long double x = mine[row * static_cast<size_t>(n) + j] - sum[j], y = theirs[row * static_cast<size_t>(n) + j] - sum[j];
      norm += sum[j] * sum[j];
      mine_error += x * x;
      their_error += y * y;
    }
  }
  const double middle = median(ours);
  std::printf("%s\n  {\"dtype\": \"%s\", \"n\": %d, \"turns\": %zu, \"seconds\": %.3e, \"spread\": %.3f, \"gflops\": %.1f, \"gemm_seconds\": %.3e, \"trmm_seconds\": %.3e, "
              "\"packed_seconds\": %.3e, \"gemm_ratio\": %.2f, \"trmm_ratio\": %.2f, \"packed_ratio\": %.2f, \"best\": %.3e, \"gemm_best\": %.3e, \"trmm_best\": %.3e, "
              "\"packed_best\": %.3e, \"error\": %.2e, \"gemm_error\": %.2e}",
              first ? "" : ",", sizeof(T) == 4 ? "float32" : "float64", n, ours.size(), middle, (*std::max_element(ours.begin(), ours.end()) - best(ours)) / middle,
              static_cast<double>(n) * n * n / 3 / middle * 1e-9, median(gemm), median(trmm), median(ours_packed), median(gemm_ratio), median(trmm_ratio), median(packed_ratio), best(ours),
              best(gemm), best(trmm), best(ours_packed), static_cast<double>(std::sqrt(mine_error / norm)), static_cast<double>(std::sqrt(their_error / norm)));
  std::fflush(stdout);
  first = false;
}

template <class T>
void bench_batch(const Blas &blas, const Settings &settings, tritri_context *context, int n, int batch, bool &first) {
  const size_t elements = static_cast<size_t>(n) * static_cast<size_t>(n), all = elements * static_cast<size_t>(batch);
  std::mt19937_64 random(static_cast<uint64_t>(n));
  std::vector<T> a(all), b(all), a_zero(all), b_zero(all), mine(all), theirs(all);
  for (size_t at = 0; at < all; at += elements) {
    fill(random, static_cast<size_t>(n), &a_zero[at], &a[at]);
    fill(random, static_cast<size_t>(n), &b_zero[at], &b[at]);
  }
  tritri_matrix_desc in = describe(n, sizeof(T) == 8, TRITRI_FILL_LOWER), out = describe(n, sizeof(T) == 8, TRITRI_FILL_FULL);
  in.batch_count = out.batch_count = batch;
  in.batch_stride = out.batch_stride = static_cast<int64_t>(elements);
  std::vector<double> ours, gemm, ratio;
  const auto timed = [&](auto &&products) {
    const double start = seconds();
    products();
    return seconds() - start;
  };
  const double end = seconds() + settings.seconds;
  for (int turn = -1; turn < 7 || seconds() < end; ++turn) {
    const double g = timed([&] {
      for (size_t at = 0; at < all; at += elements) blas.gemm(n, &a_zero[at], &b_zero[at], &theirs[at]);
    });
    if (n >= 64 && !settings.rush) wait_for_idle_threads();
    const double o = timed([&] { check(tritri_multiply_host(context, nullptr, &in, a.data(), &in, b.data(), &out, mine.data())); });
    if (turn < 0) continue;  // warm-up
    ours.push_back(o);
    gemm.push_back(g);
    ratio.push_back(g / o);
  }
  double difference = 0;
  for (size_t i = 0; i < all; ++i) difference = std::max(difference, std::fabs(static_cast<double>(mine[i]) - static_cast<double>(theirs[i])));
  std::printf("%s\n  {\"dtype\": \"%s\", \"n\": %d, \"batch\": %d, \"turns\": %zu, \"seconds\": %.3e, \"gemm_seconds\": %.3e, \"gemm_ratio\": %.2f, \"best\": %.3e, "
              "\"gemm_best\": %.3e, \"largest_difference\": %.1e}",
              first ? "" : ",", sizeof(T) == 4 ? "float32" : "float64", n, batch, ours.size(), median(ours), median(gemm), median(ratio), best(ours), best(gemm), difference);
  std::fflush(stdout);
  first = false;
}

}  // namespace

int main(int argc, char **argv) {
  Settings settings;
  try {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      const auto value = [&]() -> std::string {
        if (++i == argc) throw std::runtime_error(word + " needs a value");
        return argv[i];
      };
      if (word == "--threads") settings.threads = std::stoi(value());
      else if (word == "--blas") settings.blas = value();
      else if (word == "--seconds") settings.seconds = std::stod(value());
      else if (word == "--rush") settings.rush = std::stoi(value()) != 0;
      else if (word == "--dtype") settings.dtype = value();
      else {
        const size_t times = word.find('x');
        settings.sizes.push_back({std::stoi(word), times == std::string::npos ? 1 : std::stoi(word.substr(times + 1))});
      }
    }
    if (settings.sizes.empty()) {
      for (const int n : {1, 8, 16, 32, 64, 100, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096}) settings.sizes.push_back({n, 1});
      for (const auto &batch : {std::pair(8, 10000), std::pair(16, 10000), std::pair(32, 10000), std::pair(64, 2000), std::pair(128, 500), std::pair(256, 100), std::pair(1024, 8)})
        settings.sizes.push_back(batch);
    }
    const Blas blas = load_blas(settings.blas, settings.threads);
    tritri_context_options options = TRITRI_CONTEXT_OPTIONS_INIT;
    options.device = TRITRI_DEVICE_CPU;
    options.threads = settings.threads;
    tritri_context *context = nullptr;
    check(tritri_context_create(&options, &context));
    tritri_device_info info = TRITRI_DEVICE_INFO_INIT;
    check(tritri_context_device_info(context, &info));
    std::printf("{\"library\": \"%s\", \"device\": \"%s\", \"peer\": \"%s\", \"threads\": %d, \"job\": \"lower x lower, C full\", \"results\": [", tritri_version_string(), info.details,
                blas.description.c_str(), settings.threads);
    bool first = true;
    for (const auto &[n, batch] : settings.sizes) {
      if (settings.dtype != "float64") batch > 1 ? bench_batch<float>(blas, settings, context, n, batch, first) : bench<float>(blas, settings, context, n, first);
      if (settings.dtype != "float32") batch > 1 ? bench_batch<double>(blas, settings, context, n, batch, first) : bench<double>(blas, settings, context, n, first);
    }
    std::printf("\n]}\n");
    tritri_context_destroy(context);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "cpu_bench: %s\n", error.what());
    return 2;
  }
  return 0;
}
