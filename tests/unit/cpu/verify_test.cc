// tritri_verify's promise on host memory: a small multiple of epsilon for a right product, far more for one wrong element.
#include "core/verify.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/k_range.h"
#include "cpu/blocked.h"
#include "cpu/reference.h"
#include "support/catch.h"
#include "unit/cpu/sample.h"

using namespace tritri;
using namespace tritri::test;

namespace {

// A product of n x n random matrices in row order, NaN outside the fills.
template <class T>
struct Square {
  Problem p;
  std::vector<T> a, b, c;

  Square(int64_t n, Fill fill, Fill c_fill) : a(memory(n)), b(memory(n)), c(memory(n)) {
    std::mt19937_64 random(static_cast<uint64_t>(n));
    for (std::vector<T> *x : {&a, &b}) {
      for (int64_t i = 0; i < n; ++i) {
        const Range held = row_held(fill, i, n);
        for (int64_t j = held.begin; j < held.end; ++j) (*x)[static_cast<size_t>(i * n + j)] = static_cast<T>(static_cast<double>(random() % 20001) * 1e-4 - 1);
      }
    }
    p.dtype = sizeof(T) == 4 ? Dtype::f32 : Dtype::f64;
    p.m = p.n = p.k = n;
    for (View *v : {&p.a, &p.b, &p.c}) v->rows = v->cols = v->ld = n;
    p.a.fill = p.b.fill = fill;
    p.c.fill = c_fill;
    p.a.data = a.data();
    p.b.data = b.data();
    p.c.data = c.data();
    cpu::BlockedSettings settings;
    settings.threads = 2;
    cpu::Workspace workspace;
    cpu::blocked(p, settings, workspace);
  }

  static std::vector<T> memory(int64_t n) { return std::vector<T>(static_cast<size_t>(n * n), std::numeric_limits<T>::quiet_NaN()); }
};

template <class T>
void catches_one_wrong_element() {
  const int64_t n = 2000;
  for (const Fill fill : {Fill::full, Fill::lower, Fill::upper}) {
    for (const Fill c_fill : {Fill::full, Fill::lower, Fill::upper}) {
      if (fill != Fill::full && c_fill != Fill::full && c_fill != fill) continue;  // C would be a diagonal
      Square<T> x(n, fill, c_fill);
      const double clean = verify(x.p, 8);
      REQUIRE(clean < 64 * std::numeric_limits<T>::epsilon());
      std::mt19937_64 random(7);
      for (int trial = 0; trial < 5;) {
        const int64_t i = static_cast<int64_t>(random() % n);
        const Range held = row_held(c_fill, i, n);
        double squares = 0;
        for (int64_t j = held.begin; j < held.end; ++j) squares += std::pow(static_cast<double>(x.c[static_cast<size_t>(i * n + j)]), 2);
        T &element = x.c[static_cast<size_t>(i * n + held.begin + static_cast<int64_t>(random() % static_cast<uint64_t>(held.size())))];
        // An element of its row's usual size: one that is far smaller drowns in the rounding of the others.
        if (std::fabs(static_cast<double>(element)) < std::sqrt(squares / static_cast<double>(held.size()))) continue;
        const T right = element;
        element = static_cast<T>(right * 1.001);
        REQUIRE(verify(x.p, 8) > 4 * clean);
        REQUIRE(verify(x.p, 8) > 100 * std::numeric_limits<T>::epsilon());
        element = right;
        ++trial;
      }
      REQUIRE(verify(x.p, 8) == clean);
    }
  }
}

}  // namespace

TEST_CASE("verify catches one wrong element of relative size 1e-3 at n = 2000 with 8 probes, float32", "[verify]") { catches_one_wrong_element<float>(); }
TEST_CASE("verify catches one wrong element of relative size 1e-3 at n = 2000 with 8 probes, float64", "[verify]") { catches_one_wrong_element<double>(); }

TEST_CASE("verify answers 0 for exact products of every kind and Inf where C alone is not finite", "[verify]") {
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    std::mt19937_64 random(seed);
    Wish wish = random_wish(random, 40);
    wish.beta = 0;
    wish.in_place = 0;
    if (wish.dtype == Dtype::f16 || wish.dtype == Dtype::bf16 || wish.compute == TRITRI_COMPUTE_TF32) continue;  // their results round
    Sample sample(wish, seed);
    const Problem p = sample.problem();
    cpu::reference(p);
    INFO(wish.text());
    REQUIRE(verify(p, 3) == 0);
    if (p.m == 0 || p.n == 0 || p.c.fill == Fill::upper || is_complex(p.dtype)) continue;
    // Element (0, 0) of the last matrix.
    const int64_t at = (p.batch - 1) * p.c.batch_stride + p.c.offset(0, 0);
    if (p.dtype == Dtype::f32) static_cast<float *>(p.c_data())[at] = std::numeric_limits<float>::quiet_NaN();
    else static_cast<double *>(p.c_data())[at] = std::numeric_limits<double>::infinity();
    REQUIRE(std::isinf(verify(p, 3)));
  }
}

TEST_CASE("verify: an Inf that meets structural zeros alone is no difference", "[verify]") {
  // op(B) is 2 x 1 and upper: its row 1 holds nothing, so A(0, 1) = Inf is never multiplied.
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const double a[] = {2, inf}, b[] = {3, nan};
  double c[] = {6};
  Problem p;
  p.dtype = Dtype::f64;
  p.m = p.n = 1;
  p.k = 2;
  p.a.rows = 1;
  p.a.cols = p.a.ld = 2;
  p.b.fill = Fill::upper;
  p.b.rows = 2;
  p.b.cols = p.b.ld = 1;
  p.c.rows = p.c.cols = p.c.ld = 1;
  p.a.data = a;
  p.b.data = b;
  p.c.data = c;
  REQUIRE(verify(p, 8) == 0);
}
