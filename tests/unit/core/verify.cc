#include "core/verify.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/half.h"
#include "core/k_range.h"
#include "support/catch.h"
#include "support/random.h"

using namespace tritri;

namespace {

// Row-major n x n, NaN outside the fill.
template <class T> std::vector<T> triangle(int64_t n, Fill fill, support::Random &random) {
  std::vector<T> x(static_cast<size_t>(n * n), T(std::numeric_limits<float>::quiet_NaN()));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      if (fill == Fill::full || (fill == Fill::lower ? i >= j : i <= j)) x[static_cast<size_t>(i * n + j)] = T(static_cast<float>(random.uniform()));
  return x;
}

template <class T> Problem problem(Dtype dtype, int64_t n, const std::vector<T> &a, const std::vector<T> &b, const std::vector<T> &c, Fill fill_a, Fill fill_b, Fill fill_c) {
  const auto layout = [&](Fill fill) { return Layout{dtype, fill, false, Order::row, Storage::strided, n, n, n, 1, 0}; };
  const tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
  return canonical(options, {layout(fill_a), layout(fill_b), layout(fill_c), a.data(), b.data(), const_cast<T *>(c.data())});
}

// C = A B for lower A and B, row by row so that it is fast enough at n = 2000.
template <class T> std::vector<T> lower_product(int64_t n, const std::vector<T> &a, const std::vector<T> &b) {
  std::vector<T> c(static_cast<size_t>(n * n), T(0.0f));
  std::vector<double> row(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    for (int64_t k = 0; k <= i; ++k) {
      const double factor = static_cast<double>(static_cast<float>(a[static_cast<size_t>(i * n + k)]));
      for (int64_t j = 0; j <= k; ++j) row[static_cast<size_t>(j)] += factor * static_cast<double>(static_cast<float>(b[static_cast<size_t>(k * n + j)]));
    }
    for (int64_t j = 0; j <= i; ++j) c[static_cast<size_t>(i * n + j)] = T(static_cast<float>(row[static_cast<size_t>(j)]));
  }
  return c;
}

}  // namespace

TEST_CASE("verify finds one element of relative size 1e-3 among those of n = 2000 with 8 probes") {
  const int64_t n = 2000;
  support::Random random(11);
  const auto a = triangle<float>(n, Fill::lower, random), b = triangle<float>(n, Fill::lower, random);
  auto c = lower_product(n, a, b);
  const Problem p = problem(Dtype::f32, n, a, b, c, Fill::lower, Fill::lower, Fill::full);
  const double right = verify(p, 8);
  CHECK(right < 1e-6);
  const int64_t places[][2] = {{0, 0}, {1999, 1999}, {1999, 0}, {1000, 500}, {1500, 1400}, {700, 699}};
  for (const auto &place : places) {
    float &element = c[static_cast<size_t>(place[0] * n + place[1])];
    const float kept = element;
    // Of the row's own size, should the element happen to be nearly zero.
    double row = 0;
    for (int64_t j = 0; j <= place[0]; ++j) row += std::pow(c[static_cast<size_t>(place[0] * n + j)], 2);
    const double size = std::fmax(std::fabs(kept), std::sqrt(row / static_cast<double>(place[0] + 1)));
    element += static_cast<float>(1e-3 * size);
    const double wrong = verify(p, 8);
    INFO("element (" << place[0] << ", " << place[1] << ") of " << kept << " off by " << 1e-3 * size << ": residual " << wrong << ", without " << right);
    CHECK(wrong > 10 * right);
    element = kept;
  }
  CHECK(verify(p, 8) == right);
}

TEST_CASE("verify sees what does not belong outside the structure") {
  const int64_t n = 40;
  support::Random random(12);
  const auto a = triangle<double>(n, Fill::lower, random), b = triangle<double>(n, Fill::lower, random);
  auto c = lower_product(n, a, b);
  const Problem p = problem(Dtype::f64, n, a, b, c, Fill::lower, Fill::lower, Fill::full);
  CHECK(verify(p, 4) < 1e-6);  // the products were rounded to float
  c[5 * n + 30] = 0.5;         // a structural zero
  CHECK(verify(p, 4) > 1e-3);
}

TEST_CASE("verify answers Inf for a NaN that the product does not have, and passes one that it has") {
  const int64_t n = 16;
  support::Random random(13);
  auto a = triangle<double>(n, Fill::lower, random), b = triangle<double>(n, Fill::lower, random);
  auto c = lower_product(n, a, b);
  const Problem p = problem(Dtype::f64, n, a, b, c, Fill::lower, Fill::lower, Fill::full);
  c[7 * n + 3] = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isinf(verify(p, 2)));
  a[7 * n + 5] = std::numeric_limits<double>::quiet_NaN();
  for (int64_t j = 0; j <= 5; ++j) c[static_cast<size_t>(7 * n + j)] = std::numeric_limits<double>::quiet_NaN();
  CHECK(verify(p, 2) < 1e-6);
  c[7 * n + 3] = 1;
  for (int64_t j = 0; j <= 5; ++j) c[static_cast<size_t>(7 * n + j)] = 1;
  CHECK(std::isinf(verify(p, 2)));  // the other way round
}

TEST_CASE("verify looks at C's own fill alone, in any order, op and batch") {
  const int64_t m = 9, n = 12, k = 10, batch = 3;
  support::Random random(14);
  for (const Fill fill_a : {Fill::full, Fill::lower, Fill::upper}) for (const Fill fill_b : {Fill::full, Fill::lower, Fill::upper}) for (const Fill fill_c : {Fill::full, Fill::lower, Fill::upper})
  for (const Order order : {Order::row, Order::column}) for (int32_t op = 0; op < 4; ++op) {
    using C = std::complex<double>;
    const C nan(std::numeric_limits<double>::quiet_NaN(), 0);
    const bool transpose = op == TRITRI_OP_TRANSPOSE || op == TRITRI_OP_CONJ_TRANSPOSE, conj = op == TRITRI_OP_CONJ || op == TRITRI_OP_CONJ_TRANSPOSE;
    const auto layout = [&](Fill fill, Order as, int64_t rows, int64_t cols) {
      return Layout{Dtype::c128, fill, false, as, Storage::strided, rows, cols, as == Order::row ? cols : rows, batch, rows * cols};
    };
    const Layout la = transpose ? layout(fill_a, Order::row, k, m) : layout(fill_a, Order::row, m, k), lb = layout(fill_b, order, k, n), lc = layout(fill_c, order, m, n);
    const auto exists = [](Fill fill, int64_t i, int64_t j) { return fill == Fill::full || (fill == Fill::lower ? i >= j : i <= j); };
    const auto at = [](const Layout &x, int64_t which, int64_t i, int64_t j) {
      return static_cast<size_t>(which * x.batch_stride + (x.order == Order::row ? i * x.ld + j : j * x.ld + i));
    };
    std::vector<C> a(static_cast<size_t>(batch * m * k), nan), b(static_cast<size_t>(batch * k * n), nan), c(static_cast<size_t>(batch * m * n), nan);
    for (int64_t which = 0; which < batch; ++which) {
      for (int64_t i = 0; i < la.rows; ++i) for (int64_t j = 0; j < la.cols; ++j) if (exists(fill_a, i, j)) a[at(la, which, i, j)] = {random.uniform(), random.uniform()};
      for (int64_t i = 0; i < k; ++i) for (int64_t j = 0; j < n; ++j) if (exists(fill_b, i, j)) b[at(lb, which, i, j)] = {random.uniform(), random.uniform()};
      for (int64_t i = 0; i < m; ++i) for (int64_t j = 0; j < n; ++j) {
        if (!exists(fill_c, i, j)) continue;
        C sum = 0;
        for (int64_t l = 0; l < k; ++l) {
          if (!(transpose ? exists(fill_a, l, i) : exists(fill_a, i, l)) || !exists(fill_b, l, j)) continue;
          const C x = transpose ? a[at(la, which, l, i)] : a[at(la, which, i, l)];
          sum += (conj ? std::conj(x) : x) * b[at(lb, which, l, j)];
        }
        c[at(lc, which, i, j)] = C(0, 2) * sum;
      }
    }
    tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
    options.op_a = op;
    options.alpha_re = 0;
    options.alpha_im = 2;
    const Problem p = canonical(options, {la, lb, lc, a.data(), b.data(), c.data()});
    REQUIRE(verify(p, 3) < 1e-13);
    C &last = c[at(lc, batch - 1, fill_c == Fill::upper ? 2 : m - 1, fill_c == Fill::upper ? n - 1 : 2)];
    last += 0.5;
    REQUIRE(verify(p, 3) > 1e-2);
  }
}

TEST_CASE("verify counts nothing for a product without elements and takes alpha 0 for zeros") {
  const std::vector<double> nan(16, std::numeric_limits<double>::quiet_NaN());
  std::vector<double> c(16, 0.0);
  Problem p = problem(Dtype::f64, 4, nan, nan, c, Fill::lower, Fill::lower, Fill::full);
  p.alpha = 0;
  CHECK(verify(p, 2) == 0);
  c[3] = 1e-3;
  CHECK(verify(p, 2) > 0.1);
  const Problem empty = problem(Dtype::f64, 0, nan, nan, c, Fill::lower, Fill::lower, Fill::full);
  CHECK(verify(empty, 2) == 0);
}

TEST_CASE("verify reads 16-bit types") {
  const int64_t n = 33;
  support::Random random(15);
  const auto a = triangle<float16>(n, Fill::lower, random), b = triangle<float16>(n, Fill::lower, random);
  auto c = lower_product(n, a, b);
  const Problem p = problem(Dtype::f16, n, a, b, c, Fill::lower, Fill::lower, Fill::full);
  CHECK(verify(p, 4) < 4e-3);
  c[20 * n + 10] = float16(static_cast<float>(c[20 * n + 10]) + 1.0f);
  CHECK(verify(p, 4) > 2e-2);
}

TEST_CASE("verify's answer does not depend on its threads, and chunks of rows miss nothing") {
  for (const Fill fill_c : {Fill::full, Fill::lower, Fill::upper}) {
    for (const auto &[m, n] : {std::pair<int64_t, int64_t>(800, 530), std::pair<int64_t, int64_t>(530, 800)}) {
      const int64_t k = 40;
      support::Random random(15);
      std::vector<double> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(k * n)), c(static_cast<size_t>(m * n), std::numeric_limits<double>::quiet_NaN());
      for (double &x : a) x = random.uniform();
      for (double &x : b) x = random.uniform();
      for (int64_t i = 0; i < m; ++i) {
        const Range held = row_held(fill_c, i, n);
        for (int64_t j = held.begin; j < held.end; ++j) {
          double sum = 0;
          for (int64_t l = 0; l < k; ++l) sum += a[static_cast<size_t>(i * k + l)] * b[static_cast<size_t>(l * n + j)];
          c[static_cast<size_t>(i * n + j)] = sum;
        }
      }
      const auto layout = [](Fill fill, int64_t rows, int64_t cols) { return Layout{Dtype::f64, fill, false, Order::row, Storage::strided, rows, cols, cols, 1, 0}; };
      const tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
      const Problem p = canonical(options, {layout(Fill::full, m, k), layout(Fill::full, k, n), layout(fill_c, m, n), a.data(), b.data(), c.data()});
      const double right = verify(p, 8);
      CHECK(right < 1e-13);
      CHECK(verify(p, 8, 3) == right);
      for (const int64_t i : {int64_t{0}, int64_t{300}, m - 1}) {
        const Range held = row_held(fill_c, i, n);
        if (held.empty()) continue;
        for (const int64_t j : {held.begin, held.end - 1}) {
          double &element = c[static_cast<size_t>(i * n + j)];
          const double kept = element;
          element += 1e-3 * std::sqrt(static_cast<double>(k));
          CHECK(verify(p, 8, 3) > 1e-6);
          element = kept;
        }
      }
    }
  }
}
