// The packed product against the reference loops, to the bit.
#include "cpu/blocked.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <new>
#include <thread>
#include <vector>

#include "core/error.h"
#include "cpu/reference.h"
#include "support/catch.h"
#include "unit/cpu/sample.h"

using namespace tritri;
using namespace tritri::test;

namespace {

std::vector<const cpu::KernelSet *> kernel_sets() {
  std::vector<const cpu::KernelSet *> sets;
  for (const cpu::KernelSet *set : {cpu::avx512_kernels(), cpu::avx2_kernels(), cpu::generic_kernels()}) {
    if (set) sets.push_back(set);
  }
  return sets;
}

// "" if both ways agree and the inputs are as they were.
std::string compare(const Wish &wish, uint64_t seed, const cpu::BlockedSettings &settings, int special = 0) {
  Sample want(wish, seed, special), got(wish, seed, special);
  const Sample before(wish, seed, special);
  cpu::reference(want.problem());
  cpu::Workspace workspace;
  cpu::blocked(got.problem(), settings, workspace);
  std::string wrong = difference(wish.dtype, got.c(), want.c());
  if (wish.in_place != 1 && got.a() != before.a()) wrong += " a was written";
  if (wish.in_place != 2 && got.b() != before.b()) wrong += " b was written";
  return wrong.empty() ? wrong : text(wish.text(), " kernels ", settings.kernels->name, " threads ", settings.threads, " small ", settings.small, " pack_bytes ", settings.pack_bytes, " seed ", seed, ": ", wrong);
}

Wish triangles(Dtype dtype, Fill a, Fill b, Fill c, int64_t m, int64_t n, int64_t k) {
  Wish w;
  w.dtype = dtype;
  w.m = m;
  w.n = n;
  w.k = k;
  w.a.fill = a;
  w.b.fill = b;
  w.c.fill = c;
  return w;
}

}  // namespace

TEST_CASE("blocked agrees with the reference on random problems", "[blocked]") {
  const auto sets = kernel_sets();
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    std::mt19937_64 random(seed);
    const Wish wish = random_wish(random, seed % 40 == 0 ? 300 : 90);
    cpu::BlockedSettings settings;
    settings.kernels = sets[random() % sets.size()];
    settings.threads = std::vector<int>{1, 2, 5}[random() % 3];
    settings.seconds_to_wake = 1e-10;
    if (random() % 2) settings.small = 0;
    if (random() % 2) settings.pack_bytes = int64_t{1} << (8 + random() % 8);  // several blocks, several chunks of k
    REQUIRE(compare(wish, seed, settings, random() % 4 ? 0 : 2) == "");
  }
}

TEST_CASE("blocked: every fill, op, unit diagonal and dtype", "[blocked]") {
  const auto sets = kernel_sets();
  int64_t size = 20;
  size_t turn = 0;
  for (int dtype = 0; dtype < 6; ++dtype)
    for (int fills = 0; fills < 27; ++fills)
      for (int ops = 0; ops < 16; ++ops)
        for (int units = 0; units < 4; ++units) {
          size = size % 53 + 1;
          Wish w = triangles(static_cast<Dtype>(dtype), static_cast<Fill>(fills % 3), static_cast<Fill>(fills / 3 % 3), static_cast<Fill>(fills / 9), size, size, size);
          w.op_a = ops % 4;
          w.op_b = ops / 4;
          w.a.unit = units & 1;
          w.b.unit = units & 2;
          cpu::BlockedSettings settings;
          settings.kernels = sets[turn++ % sets.size()];
          for (const int64_t small : {0, 256}) {
            settings.small = small;
            REQUIRE(compare(w, static_cast<uint64_t>(ops + 1), settings) == "");
          }
        }
}

TEST_CASE("V6: every n from 1 to 130 and around tile edges, one and many threads", "[blocked]") {
  std::vector<int64_t> sizes;
  for (int64_t n = 1; n <= 130; ++n) sizes.push_back(n);
  for (int64_t edge : {192, 256, 384}) {
    for (int64_t n = edge - 1; n <= edge + 1; ++n) sizes.push_back(n);
  }
  for (int64_t n : sizes) {
    for (Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128}) {
      if (n > 130 && is_complex(dtype)) continue;
      for (int threads : {1, 5}) {
        cpu::BlockedSettings settings;
        settings.threads = threads;
        settings.small = threads == 1 || n % 2 == 0 ? 512 : 0;
        settings.seconds_to_wake = 1e-10;
        REQUIRE(compare(triangles(dtype, Fill::lower, Fill::lower, Fill::full, n, n, n), static_cast<uint64_t>(n), settings) == "");
        REQUIRE(compare(triangles(dtype, Fill::upper, Fill::upper, Fill::upper, n, n, n), static_cast<uint64_t>(n), settings) == "");
      }
    }
  }
}

TEST_CASE("V18: batches large and small, one thread and several", "[blocked]") {
  for (const int64_t batch : {2, 3, 40, 1000}) {
    for (const int threads : {1, 3}) {
      for (const double seconds_to_wake : {1e-10, 1e-8, 1e-5, 1e-3}) {
        Wish wish = triangles(Dtype::f32, Fill::lower, Fill::upper, Fill::full, 17, 13, 15);
        wish.batch = batch;
        wish.broadcast_b = batch == 40;
        wish.padding = 3;
        cpu::BlockedSettings settings;
        settings.threads = threads;
        settings.seconds_to_wake = seconds_to_wake;
        for (const int64_t small : {0, 256}) {
          settings.small = small;
          REQUIRE(compare(wish, static_cast<uint64_t>(batch), settings) == "");
        }
      }
    }
  }
}

TEST_CASE("blocked: batches that no cache holds, with and without Inf", "[blocked]") {
  for (const cpu::KernelSet *set : kernel_sets()) {
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      std::mt19937_64 random(seed);
      Wish wish = random_wish(random, 100);
      wish.batch = 4 + static_cast<int64_t>(random() % 5);
      if (seed % 2) {  // results without gaps
        wish.in_place = 0;
        wish.alpha = 1;
        wish.beta = 0;
        wish.padding = 0;
        wish.c.fill = Fill::full;
        wish.c.storage = Storage::strided;
      }
      cpu::BlockedSettings settings;
      settings.kernels = set;
      settings.far_bytes = 0;
      REQUIRE(compare(wish, seed, settings, seed % 4 ? 0 : 2) == "");
    }
  }
}

TEST_CASE("blocked: long sums in several chunks of k, with and without Inf", "[blocked]") {
  for (const cpu::KernelSet *set : kernel_sets()) {
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      std::mt19937_64 random(seed);
      Wish wish = random_wish(random, 40);
      wish.in_place = 0;
      wish.batch = 1;
      wish.broadcast_a = wish.broadcast_b = false;
      wish.k = seed % 20 == 0 ? 8300 : 600 + static_cast<int64_t>(random() % 300);
      if (wish.dtype == Dtype::f16 || wish.dtype == Dtype::bf16) wish.alpha = 1.0 / 64;  // float16 ends at 65504
      cpu::BlockedSettings settings;
      settings.kernels = set;
      settings.threads = 2;
      settings.seconds_to_wake = 1e-10;
      if (seed % 2) settings.pack_bytes = 4096;
      REQUIRE(compare(wish, seed, settings, seed % 3 ? 0 : 2) == "");
    }
  }
}

TEST_CASE("blocked: few rows, few columns or a short k beside long dimensions", "[blocked]") {
  const auto sets = kernel_sets();
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    Wish wish = random_wish(random, 20);
    const int64_t lengthy = 257 + static_cast<int64_t>(random() % 500);
    if (!wish.in_place) (random() % 3 == 0 ? wish.m : random() % 2 ? wish.n : wish.k) = lengthy;
    else if (wish.in_place == 1 && wish.op_a % 3 == 0) wish.m = lengthy;  // C is A as it is: the rows are free
    else if (wish.in_place == 2 && wish.op_b % 3 == 0) wish.n = lengthy;
    if (wish.dtype == Dtype::f16 || wish.dtype == Dtype::bf16) wish.alpha = 1.0 / 64;  // float16 ends at 65504
    cpu::BlockedSettings settings;
    settings.kernels = sets[seed % sets.size()];
    settings.threads = seed % 2 ? 1 : 3;
    settings.seconds_to_wake = 1e-10;
    REQUIRE(compare(wish, seed, settings, seed % 3 ? 0 : 2) == "");
  }
}

TEST_CASE("blocked: Inf and NaN inside the fills reach only what they should", "[blocked]") {
  for (const cpu::KernelSet *set : kernel_sets()) {
    for (uint64_t seed = 1; seed <= 150; ++seed) {
      std::mt19937_64 random(seed);
      Wish wish = random_wish(random, 70);
      wish.alpha = 1;
      wish.batch = 1;
      cpu::BlockedSettings settings;
      settings.kernels = set;
      if (seed % 2) settings.pack_bytes = 4096;
      if (seed % 3) settings.small = 0;
      REQUIRE(compare(wish, seed, settings, 1 + static_cast<int>(seed % 5)) == "");
    }
  }
}

TEST_CASE("P6: the same bits whatever the number of threads, on values that round", "[blocked]") {
  const int64_t n = 500;
  std::mt19937_64 random(6);
  std::vector<float> a(n * n), b(n * n);
  for (float &x : a) x = static_cast<float>(random() % 20001) * 1e-4f - 1;
  for (float &x : b) x = static_cast<float>(random() % 20001) * 1e-4f - 1;
  Problem p;
  p.m = p.n = p.k = n;
  p.a.fill = p.b.fill = Fill::lower;
  for (View *v : {&p.a, &p.b, &p.c}) v->rows = v->cols = v->ld = n;
  p.a.data = a.data();
  p.b.data = b.data();
  for (int64_t pack_bytes : {int64_t{32} << 20, int64_t{200000}, int64_t{10000}, int64_t{20000}}) {
    std::vector<float> first;
    for (int threads : {1, 2, 5, 1}) {
      std::vector<float> c(n * n);
      p.c.data = c.data();
      cpu::BlockedSettings settings;
      if (pack_bytes != 20000) settings.small = 0;  // which stands for the short way
      settings.threads = threads;
      settings.seconds_to_wake = 1e-10;
      settings.pack_bytes = pack_bytes;
      cpu::Workspace workspace;
      cpu::blocked(p, settings, workspace);
      if (first.empty()) first = c;
      REQUIRE(c == first);
    }
  }
}

TEST_CASE("blocked: float64 and complex64 stay within the rounding of a plain sum", "[blocked]") {
  // Against the oracle's wider type: |error| <= 2 k eps sum |a| |b|, with all |a|, |b| <= sqrt 2.
  const int64_t n = 300;
  std::mt19937_64 random(5);
  const auto number = [&] { return static_cast<double>(random() % 20001) * 1e-4 - 1; };
  std::vector<double> a(n * n), b(n * n);
  for (std::vector<double> *x : {&a, &b}) std::generate(x->begin(), x->end(), number);
  for (const cpu::KernelSet *set : kernel_sets()) {
    Problem p;
    p.dtype = Dtype::f64;
    p.m = p.n = p.k = n;
    p.a.fill = p.b.fill = Fill::upper;
    for (View *v : {&p.a, &p.b, &p.c}) v->rows = v->cols = v->ld = n;
    p.a.data = a.data();
    p.b.data = b.data();
    std::vector<double> want(n * n), got(n * n);
    p.c.data = want.data();
    cpu::reference(p);
    p.c.data = got.data();
    cpu::BlockedSettings settings;
    settings.kernels = set;
    cpu::Workspace workspace;
    cpu::blocked(p, settings, workspace);
    double worst = 0;
    for (int64_t i = 0; i < n * n; ++i) worst = std::max(worst, std::fabs(got[static_cast<size_t>(i)] - want[static_cast<size_t>(i)]));
    REQUIRE(worst > 0);  // otherwise the values do not round and prove nothing
    REQUIRE(worst < 2 * static_cast<double>(n * n) * std::numeric_limits<double>::epsilon() / 50);
  }
}

TEST_CASE("V20: a leading dimension beyond 2^31 on a tiny matrix", "[blocked]") {
  // Address space is reserved, and only the pages that hold elements are touched.
  const int64_t ld = (int64_t{1} << 31) + 1, extent = 2 * ld + 3;
  void *const memory = mmap(nullptr, static_cast<size_t>(extent) * sizeof(float), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return support::skip("this machine does not reserve 16 GiB of address space");
  float *const wide = static_cast<float *>(memory);
  const float b[] = {1, 0, 0, 2, 3, 0, 4, 5, 6};
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j <= i; ++j) wide[i * ld + j] = static_cast<float>(1 + i + j);
  }
  Problem p;
  p.m = p.n = p.k = 3;
  p.a.fill = p.b.fill = p.c.fill = Fill::lower;
  for (View *v : {&p.a, &p.b, &p.c}) v->rows = v->cols = v->ld = 3;
  p.a.ld = p.c.ld = ld;
  p.a.data = p.c.data = wide;
  p.c_is_a = true;
  p.b.data = b;
  cpu::Workspace workspace;
  cpu::blocked(p, {}, workspace);
  const float want[3][3] = {{1, 0, 0}, {2 + 6, 9, 0}, {3 + 8 + 20, 12 + 25, 30}};
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 3; ++j) REQUIRE(wide[i * ld + j] == want[i][j]);
  }
  munmap(memory, static_cast<size_t>(extent) * sizeof(float));
}

TEST_CASE("L3: a product in the parent, a fork, a product in the child", "[blocked]") {
  for (const cpu::KernelSet *set : kernel_sets()) {
    for (int64_t n : {7, 8, 200, 500}) {
      cpu::BlockedSettings settings;
      settings.threads = 3;
      settings.seconds_to_wake = 1e-10;
      settings.kernels = set;
      const Wish wish = triangles(Dtype::f64, Fill::lower, Fill::lower, Fill::full, n, n, n);
      REQUIRE(compare(wish, 1, settings) == "");
      const pid_t child = fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        alarm(60);  // a hang must not outlive the test
        _exit(compare(wish, 2, settings).empty() ? 0 : 1);
      }
      int status = -1;
      REQUIRE(waitpid(child, &status, 0) == child);
      REQUIRE(status == 0);
    }
  }
}

TEST_CASE("L10: many threads, a context's worth of work each, on every kernel", "[blocked]") {
  const auto sets = kernel_sets();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      cpu::BlockedSettings settings;
      settings.threads = 2;
      settings.seconds_to_wake = 1e-10;
      for (uint64_t seed = 1; seed <= 100; ++seed) {
        std::mt19937_64 random(seed + 1000 * static_cast<uint64_t>(t));
        settings.kernels = sets[seed % sets.size()];
        settings.small = seed % 2 ? 0 : 256;
        if (!compare(random_wish(random, 60), seed, settings).empty()) ++wrong;
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  REQUIRE(wrong == 0);
}

TEST_CASE("blocked: when memory runs out C is as it was", "[blocked]") {
  // A billion threads ask for a workspace that no machine has.
  const Wish wish = triangles(Dtype::f64, Fill::lower, Fill::lower, Fill::full, 20, 20, 20);
  Sample sample(wish, 1);
  const std::vector<unsigned char> before = sample.c();
  cpu::BlockedSettings settings;
  settings.threads = 1 << 30;
  settings.seconds_to_wake = 1e-20;
  Problem p = sample.problem();
  p.batch = int64_t{1} << 40;
  cpu::Workspace workspace;
  REQUIRE_THROWS_AS(cpu::blocked(p, settings, workspace), std::bad_alloc);
  REQUIRE(sample.c() == before);
}

TEST_CASE("the plan names kernel, tile, flops and threads", "[blocked]") {
  Sample sample(triangles(Dtype::f64, Fill::lower, Fill::lower, Fill::full, 800, 800, 800), 1);
  cpu::BlockedSettings settings;
  settings.threads = 2;
  const Plan plan = cpu::blocked_plan(sample.problem(), settings);
  REQUIRE(plan.kernel_name == std::string(settings.kernels->name));
  REQUIRE(plan.tile_m > 0);
  REQUIRE(plan.tile_n > 0);
  REQUIRE(plan.tile_k % 64 == 0);
  REQUIRE(plan.flops == 800.0 * 801 * 802 / 3);
  REQUIRE(plan.reason.find("2 threads") != std::string::npos);
  Sample little(triangles(Dtype::f64, Fill::lower, Fill::lower, Fill::full, 40, 40, 40), 1);
  const Plan short_way = cpu::blocked_plan(little.problem(), settings);
  REQUIRE(short_way.tile_m == settings.kernels->small_f64.mr);
  REQUIRE(short_way.tile_k == 40);
}
