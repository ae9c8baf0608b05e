// The packed product against the reference loops, to the bit.
#include "cpu/blocked.h"

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
  for (const cpu::KernelSet *set : {cpu::avx512_kernels(), cpu::avx2_kernels(), cpu::openblas_kernels()}) {
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
  return wrong.empty() ? wrong : text(wish.text(), " kernels ", settings.kernels->name, " threads ", settings.threads, " pack_bytes ", settings.pack_bytes, " seed ", seed, ": ", wrong);
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
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    std::mt19937_64 random(seed);
    const Wish wish = random_wish(random, seed % 40 == 0 ? 300 : 90);
    cpu::BlockedSettings settings;
    settings.kernels = sets[random() % sets.size()];
    settings.threads = std::vector<int>{1, 2, 5}[random() % 3];
    if (random() % 2) settings.pack_bytes = int64_t{1} << (8 + random() % 8);  // several blocks, several chunks of k
    REQUIRE(compare(wish, seed, settings, random() % 4 ? 0 : 2) == "");
  }
}

TEST_CASE("blocked: every fill, op, unit diagonal and dtype", "[blocked]") {
  int64_t size = 20;
  for (const cpu::KernelSet *set : kernel_sets())
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
            settings.kernels = set;
            REQUIRE(compare(w, static_cast<uint64_t>(ops + 1), settings) == "");
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
        REQUIRE(compare(triangles(dtype, Fill::lower, Fill::lower, Fill::full, n, n, n), static_cast<uint64_t>(n), settings) == "");
        REQUIRE(compare(triangles(dtype, Fill::upper, Fill::upper, Fill::upper, n, n, n), static_cast<uint64_t>(n), settings) == "");
      }
    }
  }
}

TEST_CASE("blocked: Inf and NaN inside the fills reach only what they should", "[blocked]") {
  for (const cpu::KernelSet *set : kernel_sets()) {
    for (uint64_t seed = 1; seed <= 300; ++seed) {
      std::mt19937_64 random(seed);
      Wish wish = random_wish(random, 70);
      wish.alpha = 1;
      wish.batch = 1;
      cpu::BlockedSettings settings;
      settings.kernels = set;
      if (seed % 2) settings.pack_bytes = 4096;
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
  for (int64_t pack_bytes : {int64_t{32} << 20, int64_t{200000}, int64_t{20000}}) {
    std::vector<float> first;
    for (int threads : {1, 2, 5, 1}) {
      std::vector<float> c(n * n);
      p.c.data = c.data();
      cpu::BlockedSettings settings;
      settings.threads = threads;
      settings.pack_bytes = pack_bytes;
      cpu::Workspace workspace;
      cpu::blocked(p, settings, workspace);
      if (first.empty()) first = c;
      REQUIRE(c == first);
    }
  }
}
