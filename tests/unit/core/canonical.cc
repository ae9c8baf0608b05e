#include "core/canonical.h"

#include <cfloat>

#include "support/catch.h"
#include "unit/core/layouts.h"

using namespace tritri;

namespace {

Layout layout(Fill fill, Order order, int64_t rows, int64_t cols, Storage storage = Storage::strided, Dtype dtype = Dtype::c128) {
  const int64_t length = order == Order::row ? cols : rows;
  return {dtype, fill, false, order, storage, rows, cols, storage == Storage::packed ? 0 : length + 2, 1, 0};
}

support::Layout naive(const Layout &x) { return support::Layout(describe(x)); }

bool transposes(int32_t op) { return op == TRITRI_OP_TRANSPOSE || op == TRITRI_OP_CONJ_TRANSPOSE; }

// A view must show op(x), or its transpose, element by element.
void require_view(const View &view, const Layout &x, int32_t op, bool transposed) {
  const support::Layout stored = naive(x);
  const bool swap = transposes(op) != transposed;
  REQUIRE(view.rows == (swap ? x.cols : x.rows));
  REQUIRE(view.cols == (swap ? x.rows : x.cols));
  for (int64_t i = 0; i < view.rows; ++i) {
    for (int64_t j = 0; j < view.cols; ++j) {
      const int64_t r = swap ? j : i, c = swap ? i : j;
      const bool here = view.fill == Fill::full || (view.fill == Fill::lower ? i >= j : i <= j);
      REQUIRE(here == stored.exists(r, c));
      if (here) REQUIRE(view.offset(i, j) == stored.offset(0, r, c));
    }
  }
  REQUIRE(view.conj == (op == TRITRI_OP_CONJ || op == TRITRI_OP_CONJ_TRANSPOSE));
}

double brute_flops(const Problem &p) {
  int64_t pairs = 0;
  const auto exists = [](Fill fill, int64_t i, int64_t j) { return fill == Fill::full || (fill == Fill::lower ? i >= j : i <= j); };
  for (int64_t i = 0; i < p.m; ++i) for (int64_t j = 0; j < p.n; ++j) for (int64_t k = 0; k < p.k; ++k)
    pairs += exists(p.c.fill, i, j) && exists(p.a.fill, i, k) && exists(p.b.fill, k, j);
  return static_cast<double>(pairs) * (is_complex(p.dtype) ? 8 : 2) * static_cast<double>(p.batch);
}

}  // namespace

TEST_CASE("canonical shows the same elements whatever the orders, ops and storages") {
  double memory[3];
  for (const Fill fill_a : unit::all_fills) for (const Fill fill_b : unit::all_fills) for (const Fill fill_c : unit::all_fills)
  for (int32_t op_a = 0; op_a < 4; ++op_a) for (int32_t op_b = 0; op_b < 4; ++op_b)
  for (int orders = 0; orders < 8; ++orders) for (const bool packed : {false, true}) {
    const auto order = [&](int which) { return orders >> which & 1 ? Order::column : Order::row; };
    const auto storage = [&](Fill fill) { return packed && fill != Fill::full ? Storage::packed : Storage::strided; };
    const int64_t m = 3, n = 5, k = 4;
    const Operands x{transposes(op_a) ? layout(fill_a, order(0), k, m, storage(fill_a)) : layout(fill_a, order(0), m, k, storage(fill_a)),
                     transposes(op_b) ? layout(fill_b, order(1), n, k, storage(fill_b)) : layout(fill_b, order(1), k, n, storage(fill_b)),
                     layout(fill_c, order(2), m, n, storage(fill_c)), memory, memory + 1, memory + 2};
    tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
    options.op_a = op_a;
    options.op_b = op_b;
    const Problem p = canonical(options, x);
    const bool turned = order(2) == Order::column;
    REQUIRE(p.c.row_lines);
    REQUIRE(p.m == (turned ? n : m));
    REQUIRE(p.n == (turned ? m : n));
    REQUIRE(p.k == k);
    REQUIRE(p.c.data == memory + 2);
    REQUIRE(p.a.data == (turned ? memory + 1 : memory));
    REQUIRE(p.b.data == (turned ? memory : memory + 1));
    require_view(p.c, x.c, TRITRI_OP_NONE, turned);
    require_view(turned ? p.b : p.a, x.a, op_a, turned);
    require_view(turned ? p.a : p.b, x.b, op_b, turned);
    REQUIRE_FALSE(p.c_is_a);
    REQUIRE_FALSE(p.c_is_b);
  }
}

TEST_CASE("canonical keeps track of C in place through the transposition") {
  double a[16], b[16];
  tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
  for (const Order order : {Order::row, Order::column}) {
    const Layout x = layout(Fill::lower, order, 4, 4);
    const Problem first = canonical(options, {x, x, x, a, b, a}), second = canonical(options, {x, x, x, a, b, b}), all = canonical(options, {x, x, x, a, a, a});
    const bool turned = order == Order::column;
    CHECK(first.c_is_a == !turned);
    CHECK(first.c_is_b == turned);
    CHECK(second.c_is_b == !turned);
    CHECK(second.c_is_a == turned);
    CHECK(all.c_is_a);
    CHECK(all.c_is_b);
  }
}

TEST_CASE("canonical rounds alpha and beta to the product's type, drops conj on real types and broadcasts batches of one") {
  double memory[3];
  tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
  options.op_a = options.op_b = TRITRI_OP_CONJ_TRANSPOSE;
  options.alpha_re = 0.1;
  options.beta_re = 1e-50;
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16, Dtype::c64, Dtype::c128}) {
    Operands x{layout(Fill::lower, Order::row, 2, 2, Storage::strided, dtype), layout(Fill::lower, Order::row, 2, 2, Storage::strided, dtype),
               layout(Fill::full, Order::row, 2, 2, Storage::strided, dtype), memory, memory + 1, memory + 2};
    x.c.batch = x.b.batch = 3;
    x.c.batch_stride = 50;
    x.b.batch_stride = -7;
    const Problem p = canonical(options, x);
    const bool wide = dtype == Dtype::f64 || dtype == Dtype::c128;
    CHECK(p.alpha.real() == (wide ? 0.1 : static_cast<double>(0.1f)));
    CHECK(p.beta.real() == (wide ? 1e-50 : 0.0));
    CHECK(p.a.conj == is_complex(dtype));
    CHECK(p.batch == 3);
    CHECK(p.a.batch_stride == 0);
    CHECK(p.b.batch_stride == -7);
    CHECK(p.c.batch_stride == 50);
  }
}

TEST_CASE("reads_inputs says whether A and B matter") {
  Problem p;
  p.k = 1;
  CHECK(p.reads_inputs());
  p.alpha = 0;
  CHECK_FALSE(p.reads_inputs());
  p.alpha = {0, 1};
  CHECK(p.reads_inputs());
  p.k = 0;
  CHECK_FALSE(p.reads_inputs());
}

TEST_CASE("useful_flops counts the multiply-adds of existing pairs") {
  const int64_t sizes[] = {0, 1, 2, 5, 9};
  for (const Fill a : unit::all_fills) for (const Fill b : unit::all_fills) for (const Fill c : unit::all_fills)
  for (const int64_t m : sizes) for (const int64_t n : sizes) for (const int64_t k : sizes) for (const Dtype dtype : {Dtype::f32, Dtype::c64}) {
    Problem p;
    p.dtype = dtype;
    p.m = m;
    p.n = n;
    p.k = k;
    p.batch = 3;
    p.a.fill = a;
    p.b.fill = b;
    p.c.fill = c;
    INFO("fills " << name(a) << " " << name(b) << " " << name(c) << ", " << m << " x " << n << " x " << k);
    REQUIRE(useful_flops(p) == brute_flops(p));
  }
}

TEST_CASE("the main job costs n (n + 1) (n + 2) / 3 flops") {
  Problem p;
  p.m = p.n = p.k = 1000;
  p.a.fill = p.b.fill = Fill::lower;
  CHECK(useful_flops(p) == 1000.0 * 1001 * 1002 / 3);
}
