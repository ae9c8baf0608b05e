// The field's case list by its own numbers, with the values that it gives. A dot of the list is `_` here: outside the fill, NaN.
#include <cfloat>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>

#include "conformance/spec.h"

namespace conformance {

using namespace support;

namespace {

using Rows = std::vector<std::vector<Wide>>;
const Wide _(std::numeric_limits<long double>::quiet_NaN());
const long double inf = std::numeric_limits<long double>::infinity();
const Wide i_(0, 1);

constexpr int32_t orders[] = {TRITRI_ORDER_ROW, TRITRI_ORDER_COLUMN};
constexpr Route routes[] = {Route::wrap, Route::upload, Route::host};
const char *name_of_route(Route route) { return route == Route::wrap ? "wrap" : route == Route::upload ? "upload" : "host"; }
const char *name_of_order(int32_t order) { return order == TRITRI_ORDER_ROW ? "row" : "column"; }

OperandSpec lower(int32_t op = TRITRI_OP_NONE, int32_t diag = TRITRI_DIAG_NON_UNIT) {
  OperandSpec x;
  x.fill = TRITRI_FILL_LOWER;
  x.op = op;
  x.diag = diag;
  return x;
}
OperandSpec upper(int32_t op = TRITRI_OP_NONE, int32_t diag = TRITRI_DIAG_NON_UNIT) {
  OperandSpec x = lower(op, diag);
  x.fill = TRITRI_FILL_UPPER;
  return x;
}
OperandSpec full(int32_t op = TRITRI_OP_NONE) {
  OperandSpec x;
  x.op = op;
  return x;
}

const Rows U = {{1, 2}, {_, 3}}, L = {{4, _}, {5, 6}}, UL = {{14, 12}, {15, 18}};

Operand operand(int32_t dtype, OperandSpec spec, const Rows &rows) {
  Operand x(describe(dtype, spec, static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows.at(0).size()), 1));
  x.each(false, [&](int64_t, int64_t i, int64_t j) {
    const Wide value = rows[static_cast<size_t>(i)][static_cast<size_t>(j)];
    if (std::isnan(value.real())) x.buffer->poison(x.index(0, i, j));
    else x.set(0, i, j, value);
  });
  return x;
}

void require_rows(const Operand &c, const Rows &want) {
  c.each(false, [&](int64_t, int64_t i, int64_t j) {
    const Wide got = c.value(0, i, j), right = want[static_cast<size_t>(i)][static_cast<size_t>(j)];
    if (got == right) return;
    std::ostringstream out;
    out << "element (" << i << ", " << j << "): expected " << show(right) << ", got " << show(got);
    throw Failed(out.str());
  });
}

void require(bool condition, const std::string &fault) {
  if (!condition) throw Failed(fault);
}

// Integers in, integers out: the same in every dtype, order, storage and by every route.
struct Literal {
  const char *name;
  OperandSpec a;
  Rows a_rows;
  OperandSpec b;
  Rows b_rows;
  OperandSpec c;
  Rows c_rows;  // NaN where nothing may be read
  std::complex<double> alpha, beta;
  Rows want;
};

void add_literal(Table &table, const Literal &literal, bool complex_only = false) {
  for (const int32_t dtype : all_dtypes) {
    if (complex_only && !is_complex(dtype)) continue;
    for (const int32_t order_ab : orders) for (const int32_t order_c : orders) for (const Route route : routes) for (const bool packed : {false, true}) {
      Literal x = literal;
      bool any_packed = false;
      for (OperandSpec *spec : {&x.a, &x.b, &x.c}) {
        spec->order = spec == &x.c ? order_c : order_ab;
        spec->packed = packed && spec->fill != TRITRI_FILL_FULL;
        spec->pad = packed ? 0 : 1;
        any_packed = any_packed || spec->packed;
      }
      if (packed && !any_packed) continue;
      const std::string id = std::string(x.name) + "/" + name_of(dtype) + "/" + name_of_order(order_ab) + "-" + name_of_order(order_c) + (packed ? "/packed/" : "/") + name_of_route(route);
      table.push_back({id, order_ab == order_c, [=](Run &run) {
                         Product p;
                         p.options.op_a = x.a.op;
                         p.options.op_b = x.b.op;
                         p.options.alpha_re = x.alpha.real();
                         p.options.alpha_im = x.alpha.imag();
                         p.options.beta_re = x.beta.real();
                         p.options.beta_im = x.beta.imag();
                         p.a = operand(dtype, x.a, x.a_rows);
                         p.b = operand(dtype, x.b, x.b_rows);
                         p.c = operand(dtype, x.c, x.c_rows);
                         run_product(run, p, route, Accuracy::exact);
                         require_rows(p.c, x.want);
                       }});
    }
  }
}

void add_literals(Table &table) {
  const Rows nothing = {{_, _}, {_, _}}, ones(3, std::vector<Wide>(3, 1)), none3(3, std::vector<Wide>(3, _));
  const Literal literals[] = {
      {"fixture U L", upper(), U, lower(), L, full(), nothing, 1, 0, UL},
      {"fixture U U", upper(), U, upper(), U, full(), nothing, 1, 0, {{1, 8}, {0, 9}}},
      {"fixture U U^T", upper(), U, upper(TRITRI_OP_TRANSPOSE), U, full(), nothing, 1, 0, {{5, 6}, {6, 9}}},
      {"V3 unit upper B over stored 9s", upper(), {{2, 3}, {_, 4}}, upper(TRITRI_OP_NONE, TRITRI_DIAG_UNIT), {{9, 5}, {_, 9}}, full(), nothing, 1, 0, {{2, 13}, {0, 4}}},
      {"V3 unit upper B over a NaN diagonal", upper(), {{2, 3}, {_, 4}}, upper(TRITRI_OP_NONE, TRITRI_DIAG_UNIT), {{_, 5}, {_, _}}, full(), nothing, 1, 0, {{2, 13}, {0, 4}}},
      {"V5 upper ones times full ones", upper(), ones, full(), ones, full(), none3, 1, 0, {{3, 3, 3}, {2, 2, 2}, {1, 1, 1}}},
      {"V9 full 3 x 2 times upper", full(), {{1, 4}, {2, 5}, {3, 6}}, upper(), {{1, 1}, {_, 1}}, full(), {{_, _}, {_, _}, {_, _}}, 1, 0, {{1, 5}, {2, 7}, {3, 9}}},
      {"V13 beta 0 does not read C", upper(), U, lower(), L, full(), nothing, 1, 0, UL},
      {"V13 beta 0 does not read a lower C", upper(), U, lower(), L, lower(), nothing, 1, 0, UL},
      {"V14 alpha 0 does not read A and B", lower(), nothing, upper(), nothing, full(), {{1, 2}, {3, 4}}, 0, 2, {{2, 4}, {6, 8}}},
      {"V14 alpha 0 and beta 0 read nothing", lower(), nothing, upper(), nothing, full(), nothing, 0, 0, {{0, 0}, {0, 0}}},
      {"V15 alpha 2 and beta .5", upper(), U, lower(), L, full(), {{2, 4}, {6, 8}}, 2, 0.5, {{29, 26}, {33, 40}}},
      {"V15 alpha 2 and beta .5 on an upper C", upper(), U, lower(), L, upper(), {{2, 4}, {_, 8}}, 2, 0.5, {{29, 26}, {_, 40}}},
  };
  for (const Literal &literal : literals) add_literal(table, literal);
  const Literal complex_literals[] = {
      {"V12 A B^H", full(), {{Wide(1, 2)}}, full(TRITRI_OP_CONJ_TRANSPOSE), {{Wide(1, 1)}}, full(), {{_}}, 1, 0, {{Wide(3, 1)}}},
      {"V12 conjugate without transpose", full(), {{1}}, full(TRITRI_OP_CONJ), {{i_}}, full(), {{_}}, 1, 0, {{-i_}}},
      {"V12 conjugate of a lower A", lower(TRITRI_OP_CONJ), {{i_, _}, {Wide(1, 1), 2}}, full(), {{1, 0}, {0, 1}}, full(), nothing, 1, 0, {{-i_, 0}, {Wide(1, -1), 2}}},
  };
  for (const Literal &literal : complex_literals) add_literal(table, literal, true);
}

// Calls body(run, dtype, route) for every dtype and route.
template <class Body> void for_each_dtype(Table &table, const std::string &name, Body body, std::initializer_list<Route> by = {Route::wrap, Route::upload, Route::host}, bool small = true) {
  for (const int32_t dtype : all_dtypes) {
    for (const Route route : by)
      table.push_back({name + "/" + name_of(dtype) + "/" + name_of_route(route), small, [=](Run &run) { body(run, dtype, route); }});
  }
}

Product product(const Operand &a, int32_t op_a, const Operand &b, int32_t op_b, const Operand &c) {
  Product p;
  p.options.op_a = op_a;
  p.options.op_b = op_b;
  p.a = a;
  p.b = b;
  p.c = c;
  return p;
}

void stale_workspace(Run &run, int32_t dtype, Route route) {
  const Operand nan(describe(dtype, lower(), 300, 300, 1));  // never filled
  for (const int32_t op : {TRITRI_OP_NONE, TRITRI_OP_TRANSPOSE}) run.device.multiply(product(nan, op, nan, TRITRI_OP_NONE, Operand(describe(dtype, full(), 300, 300, 1))), route);
  const Operand a = operand(dtype, lower(), {{2, _}, {1, 3}}), c(describe(dtype, full(), 2, 2, 1));
  run_product(run, product(a, TRITRI_OP_TRANSPOSE, a, TRITRI_OP_NONE, c), route, Accuracy::exact);
  require_rows(c, {{5, 3}, {3, 9}});
}

void shared_factors(Run &run, int32_t dtype, Route route) {
  const Operand stored = operand(dtype, full(), {{4, 3}, {0.5, 2}});
  const Operand a(describe(dtype, lower(TRITRI_OP_NONE, TRITRI_DIAG_UNIT), 2, 2, 1), stored), b(describe(dtype, upper(), 2, 2, 1), stored), c(describe(dtype, full(), 2, 2, 1));
  run_product(run, product(a, TRITRI_OP_NONE, b, TRITRI_OP_NONE, c), route, Accuracy::exact);
  require_rows(c, {{4, 3}, {2, 3.5}});
}

void all_one_buffer(Run &run, int32_t dtype, Route route) {
  for (const int32_t fill : {TRITRI_FILL_FULL, TRITRI_FILL_UPPER}) {
    const Operand c = operand(dtype, full(), {{1, 3}, {fill == TRITRI_FILL_FULL ? Wide(0) : _, 4}});
    OperandSpec x;
    x.fill = fill;
    const Operand input(describe(dtype, x, 2, 2, 1), c);
    Product p = product(input, TRITRI_OP_NONE, input, TRITRI_OP_TRANSPOSE, c);
    p.options.alpha_re = 0.5;
    run_product(run, p, route, Accuracy::exact);
    require_rows(c, {{5, 6}, {6, 8}});
  }
}

void survivors_777(Run &run, int32_t dtype, Route route) {
  const Operand c(describe(dtype, upper(), 3, 3, 1));
  for (int64_t i = 0; i < 3; ++i) for (int64_t j = 0; j < i; ++j) c.set(0, i, j, 777);
  const Wide survivor = rounded(dtype, 777);
  const Operand a = operand(dtype, upper(), {{1, 2, 3}, {_, 4, 5}, {_, _, 6}});
  run_product(run, product(a, TRITRI_OP_NONE, a, TRITRI_OP_NONE, c), route, Accuracy::exact);
  require_rows(c, {{1, 10, 31}, {_, 16, 50}, {_, _, 36}});
  for (int64_t i = 0; i < 3; ++i) for (int64_t j = 0; j < i; ++j) require(c.value(0, i, j) == survivor, "777 below the diagonal must survive, got " + show(c.value(0, i, j)));
}

void padding_survives(Run &run, int32_t dtype, Route route) {
  for (const int32_t order : orders) {
    OperandSpec spec = full();
    spec.pad = 5;
    spec.order = order;
    const Operand c(describe(dtype, spec, 4, 4, 1));
    for (int64_t line = 0; line < 4; ++line) for (int64_t at = 4; at < (line < 3 ? 9 : 4); ++at) c.buffer->set(c.origin + line * 9 + at, 5);
    const Operand a(describe(dtype, lower(), 4, 4, 1)), b(describe(dtype, upper(), 4, 4, 1));
    a.fill([](int64_t, int64_t, int64_t) { return Wide(1); });
    b.fill([](int64_t, int64_t, int64_t) { return Wide(2); });
    run_product(run, product(a, TRITRI_OP_NONE, b, TRITRI_OP_NONE, c), route, Accuracy::exact);
    for (int64_t line = 0; line < 3; ++line) for (int64_t at = 4; at < 9; ++at)
      require(c.buffer->value(c.origin + line * 9 + at) == Wide(5), "the sentinel in the padding of line " + std::to_string(line) + " must survive");
  }
}

void inner_dimension_zero(Run &run, int32_t dtype, Route route) {
  for (const double beta : {1.0, 0.5, 0.0}) {
    const Operand c(describe(dtype, full(), 3, 4, 1)), a(describe(dtype, lower(), 3, 0, 1)), b(describe(dtype, upper(), 0, 4, 1));
    if (beta != 0) c.each(false, [&](int64_t, int64_t i, int64_t j) { c.set(0, i, j, static_cast<long double>(2 * i - 3 * j)); });
    Product p = product(a, TRITRI_OP_NONE, b, TRITRI_OP_NONE, c);
    p.options.beta_re = beta;
    run_product(run, p, route, Accuracy::exact);
    c.each(false, [&](int64_t, int64_t i, int64_t j) {
      require(c.value(0, i, j) == Wide(static_cast<long double>(beta) * static_cast<long double>(2 * i - 3 * j)), "C must be exactly beta C");
    });
  }
}

void nothing_with_null(Run &run) {
  tritri_context *context = run.device.context();
  for (const int64_t ld : {0, 1}) {
    for (const int32_t fill : {TRITRI_FILL_FULL, TRITRI_FILL_LOWER, TRITRI_FILL_UPPER}) {
      tritri_matrix_desc desc = support::describe(TRITRI_FLOAT64, fill, 0, 0);
      desc.ld = ld;
      tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
      options.algorithm = run.device.algorithm();
      call(tritri_multiply_host(context, &options, &desc, nullptr, &desc, nullptr, &desc, nullptr));
      const Matrix a = upload(context, desc, nullptr), b = wrap(context, desc, nullptr), c = create(context, desc);
      call(tritri_multiply(context, &options, a, b, c));
      call(tritri_download(context, c, &desc, nullptr));
    }
  }
}

void stride_zero_on_c(Run &run) {
  tritri_matrix_desc a = support::describe(TRITRI_FLOAT32, TRITRI_FILL_LOWER, 31, 31), c = support::describe(TRITRI_FLOAT32, TRITRI_FILL_FULL, 31, 31);
  a.batch_count = c.batch_count = 3;
  a.batch_stride = 31 * 31;
  const Operand input(a), output(c);
  const Buffer before = *output.buffer;
  const tritri_status status = tritri_multiply_host(run.device.context(), nullptr, &a, input.data(), &a, input.data(), &c, output.data());
  require(status == TRITRI_INVALID_ARGUMENT, std::string("batch stride 0 on C must be TRITRI_INVALID_ARGUMENT, got ") + tritri_status_name(status));
  require(std::string(tritri_last_error()).find("batch_stride") != std::string::npos, std::string("the message must name batch_stride, got ") + tritri_last_error());
  require(*output.buffer == before, "C must be untouched");
}

// One line of the matrix, 2^31 elements on the next.
void huge_ld(Run &run) {
  tritri_context *context = run.device.context();
  const int64_t ld = (int64_t{1} << 31) + 1;
  tritri_matrix_desc wide = support::describe(TRITRI_FLOAT32, TRITRI_FILL_LOWER, 2, 2), tight = wide;
  wide.ld = ld;
  const float l[] = {4, NAN, 5, 6}, sentinel[] = {-1, -1, -1, -1};
  float result[] = {-7, -7, -7, -7};
  const Matrix a = create(context, wide), c = create(context, wide), b = upload(context, tight, l);
  call(tritri_upload_into(context, a, &tight, l));
  call(tritri_upload_into(context, c, &tight, sentinel));
  tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
  options.algorithm = run.device.algorithm();
  call(tritri_multiply(context, &options, a, b, c));
  call(tritri_download(context, c, &tight, result));
  require(result[0] == 16 && result[2] == 50 && result[3] == 36, "L L must be [[16, .], [50, 36]]");
  require(result[1] == -7, "the element outside the fill must keep its value");
}

void wrong_enums(Run &run) {
  const struct {
    const char *field;
    int32_t tritri_matrix_desc::*member;
    int32_t value;
  } wrongs[] = {{"diag", &tritri_matrix_desc::diag, 99}, {"fill", &tritri_matrix_desc::fill, -1}, {"dtype", &tritri_matrix_desc::dtype, 1000},
                {"order", &tritri_matrix_desc::order, 2}, {"storage", &tritri_matrix_desc::storage, -5}};
  for (const auto &wrong : wrongs) {
    for (int position = 0; position < 3; ++position) {
      tritri_matrix_desc descs[3] = {support::describe(TRITRI_FLOAT32, TRITRI_FILL_UPPER, 2, 2), support::describe(TRITRI_FLOAT32, TRITRI_FILL_LOWER, 2, 2),
                                     support::describe(TRITRI_FLOAT32, TRITRI_FILL_FULL, 2, 2)};
      const Operand a = operand(TRITRI_FLOAT32, upper(), U), b = operand(TRITRI_FLOAT32, lower(), L), c(descs[2]);
      const Buffer before = *c.buffer;
      descs[position].*wrong.member = wrong.value;
      const tritri_status status = tritri_multiply_host(run.device.context(), nullptr, &descs[0], a.data(), &descs[1], b.data(), &descs[2], c.data());
      const std::string message = tritri_last_error();
      require(status == TRITRI_INVALID_ARGUMENT, std::string(wrong.field) + " out of range must be TRITRI_INVALID_ARGUMENT, got " + tritri_status_name(status));
      require(message.find(wrong.field) != std::string::npos && message.find(std::to_string(wrong.value)) != std::string::npos, "the message must name field and value, got " + message);
      require(*c.buffer == before, "C must be unchanged");
    }
  }
}

// ------------------------------------------------------------------------------------------------ precision

// Frobenius error over the Frobenius norm of the exact product.
double relative_error(const Operand &c, const std::vector<Expected> &want) {
  long double error = 0, norm = 0;
  size_t at = 0;
  for (int64_t i = 0; i < c.layout.desc().rows; ++i) {
    for (int64_t j = 0; j < c.layout.desc().cols; ++j, ++at) {
      error += std::norm(c.value(0, i, j) - want[at].value);
      norm += std::norm(want[at].value);
    }
  }
  return static_cast<double>(std::sqrt(error / norm));
}

// The error of the plainest IEEE float32 routine: one FMA after the other.
double fma_error(const Operand &a, const Operand &b, const std::vector<Expected> &want) {
  const int64_t n = a.layout.desc().rows;
  const Operand c(support::describe(TRITRI_FLOAT32, TRITRI_FILL_FULL, n, n));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (int64_t k = j; k <= i; ++k) sum = std::fma(static_cast<float>(a.value(0, i, k).real()), static_cast<float>(b.value(0, k, j).real()), sum);
      c.set(0, i, j, sum);
    }
  }
  return relative_error(c, want);
}

void default_is_float32(Run &run, bool positive) {
  const int64_t n = run.small ? 128 : 512;
  Random random(hash(positive ? "P1 positive" : "P1", run.seed));
  const Operand a(describe(TRITRI_FLOAT32, lower(), n, n, 1)), b(describe(TRITRI_FLOAT32, lower(), n, n, 1));
  const auto value = [&](int64_t, int64_t, int64_t) { return Wide(positive ? std::fabs(random.uniform()) : random.uniform()); };
  a.fill(value);
  b.fill(value);
  double fma = 0;
  for (const int32_t compute : {TRITRI_COMPUTE_DEFAULT, TRITRI_COMPUTE_PEDANTIC}) {
    Product p = product(a, TRITRI_OP_NONE, b, TRITRI_OP_NONE, Operand(describe(TRITRI_FLOAT32, full(), n, n, 1)));
    p.options.compute = compute;
    const std::vector<Expected> want = expected(p);
    run_product(run, p, Route::wrap, Accuracy::rounding);
    const double error = relative_error(p.c, want);
    require(error < 1e-6, "the relative Frobenius error must be below 1e-6, got " + std::to_string(error * 1e6) + "e-6");
    if (fma == 0) fma = fma_error(a, b, want);
    std::ostringstream out;
    out << "the error must be no larger than that of FMA accumulation, " << fma << ", got " << error;
    require(compute != TRITRI_COMPUTE_DEFAULT || error <= fma, out.str());
  }
}

void diagonal_comes_back(Run &run, int32_t compute, int64_t n) {
  const long double value = 1 + 0x1p-12L;
  const Operand a(describe(TRITRI_FLOAT32, lower(), n, n, 1)), b(describe(TRITRI_FLOAT32, lower(), n, n, 1)), c(describe(TRITRI_FLOAT32, full(), n, n, 1));
  a.fill([&](int64_t, int64_t i, int64_t j) { return Wide(i == j ? value : 0); });
  b.fill([&](int64_t, int64_t i, int64_t j) { return Wide(i == j ? 1 : 0); });
  Product p = product(a, TRITRI_OP_NONE, b, TRITRI_OP_NONE, c);
  p.options.compute = compute;
  run.device.multiply(p, Route::wrap);
  // TF32 has 10 explicit bits: the nearest to 1 + 2^-12 is 1.
  const Wide want = compute == TRITRI_COMPUTE_TF32 ? Wide(1) : Wide(value);
  c.each(false, [&](int64_t, int64_t i, int64_t j) {
    require(c.value(0, i, j) == (i == j ? want : Wide(0)), "element (" + std::to_string(i) + ", " + std::to_string(j) + "): expected " + show(i == j ? want : Wide(0)) + ", got " + show(c.value(0, i, j)));
  });
}

void infinity_stays_in_its_row(Run &run, int32_t dtype, Route route) {
  const Operand a = operand(dtype, upper(), {{Wide(inf), 1}, {_, 1}}), b = operand(dtype, upper(), {{2, 3}, {_, 4}}), c(describe(dtype, full(), 2, 2, 1));
  run_product(run, product(a, TRITRI_OP_NONE, b, TRITRI_OP_NONE, c), route, Accuracy::exact);
  const Wide c00 = c.value(0, 0, 0), c01 = c.value(0, 0, 1), c10 = c.value(0, 1, 0), c11 = c.value(0, 1, 1);
  if (!is_complex(dtype)) require(c00 == Wide(inf) && c01 == Wide(inf), "row 0 must be Inf, got " + show(c00) + ", " + show(c01));
  require(c10 == Wide(0) && !std::signbit(c10.real()) && c11 == Wide(4), "row 1 must be 0, 4, got " + show(c10) + ", " + show(c11));
}

// Inf and NaN at random places inside the fills: they reach the elements whose sums contain them, and no other.
void specials(Run &run, int32_t dtype, int32_t compute, int64_t n, const std::string &id) {
  Random random(hash(id, run.seed));
  for (const int32_t fill_a : {TRITRI_FILL_LOWER, TRITRI_FILL_UPPER, TRITRI_FILL_FULL}) {
    for (const int32_t fill_b : {TRITRI_FILL_LOWER, TRITRI_FILL_UPPER, TRITRI_FILL_FULL}) {
      OperandSpec a_spec, b_spec;
      a_spec.fill = fill_a;
      b_spec.fill = fill_b;
      a_spec.op = random.coin() ? TRITRI_OP_NONE : TRITRI_OP_TRANSPOSE;
      b_spec.op = random.coin() ? TRITRI_OP_NONE : TRITRI_OP_TRANSPOSE;
      a_spec.diag = b_spec.diag = random.coin() ? TRITRI_DIAG_NON_UNIT : TRITRI_DIAG_UNIT;
      const Operand a(describe(dtype, a_spec, n, n, 1)), b(describe(dtype, b_spec, n, n, 1)), c(describe(dtype, full(), n, n, 1));
      const auto value = [&](int64_t, int64_t, int64_t) { return Wide(random.uniform()); };
      a.fill(value);
      b.fill(value);
      for (const Operand *x : {&a, &b}) {
        const long double bad[] = {inf, -inf, std::numeric_limits<long double>::quiet_NaN()};
        for (int count = 0; count < 2; ++count) {
          const int64_t i = random.between(0, n - 1), j = random.between(0, n - 1);
          if (x->layout.stored(i, j)) x->set(0, i, j, random.pick(bad));
        }
      }
      Product p = product(a, a_spec.op, b, b_spec.op, c);
      p.options.compute = compute;
      run_product(run, p, Route::wrap, Accuracy::rounding);
    }
  }
}

void extremes(Run &run, int32_t compute, int64_t n) {
  const auto one = [&](long double x, long double y, long double want) {
    const Operand a(describe(TRITRI_FLOAT32, lower(), n, n, 1)), b(describe(TRITRI_FLOAT32, upper(), n, n, 1)), c(describe(TRITRI_FLOAT32, full(), n, n, 1));
    a.fill([&](int64_t, int64_t i, int64_t j) { return Wide(i == j ? x : 0); });
    b.fill([&](int64_t, int64_t i, int64_t j) { return Wide(i == j ? y : 0); });
    Product p = product(a, TRITRI_OP_NONE, b, TRITRI_OP_NONE, c);
    p.options.compute = compute;
    run.device.multiply(p, Route::wrap);
    for (int64_t i = 0; i < n; ++i) require(c.value(0, i, i) == Wide(want), show(Wide(x)) + " times " + show(Wide(y)) + " must be " + show(Wide(want)) + ", got " + show(c.value(0, i, i)));
  };
  one(0x1p-140L, 0x1p20L, 0x1p-120L);
  one(0x1p20L, 0x1p-149L, 0x1p-129L);
  one(FLT_MAX, 1, FLT_MAX);
  one(1, -static_cast<long double>(FLT_MAX), -static_cast<long double>(FLT_MAX));
}

// More ones than float16 can count: 2048 + 1 is 2048 there.
void ones_in_half(Run &run, int32_t dtype, int64_t m) {
  const int64_t n = 4096;
  const Operand a(describe(dtype, upper(), m, n, 1)), b(describe(dtype, upper(), n, n, 1)), c(describe(dtype, full(), m, n, 1));
  const auto one = [](int64_t, int64_t, int64_t) { return Wide(1); };
  a.fill(one);
  b.fill(one);
  run.device.multiply(product(a, TRITRI_OP_NONE, b, TRITRI_OP_NONE, c), Route::host);
  c.each(false, [&](int64_t, int64_t i, int64_t j) {
    const Wide want = rounded(dtype, static_cast<long double>(j >= i ? j - i + 1 : 0)), got = c.value(0, i, j);
    require(got == want, "element (" + std::to_string(i) + ", " + std::to_string(j) + "): expected " + show(want) + ", got " + show(got));
  });
}

void same_bits(Run &run, int32_t dtype, int32_t compute, int64_t n) {
  Spec spec;
  spec.group = "P6";
  spec.dtype = dtype;
  spec.compute = compute;
  spec.m = spec.n = spec.k = n;
  spec.a = lower();
  spec.b = lower();
  const Product p = spec.make(run.seed);
  tritri_context *context = run.device.context();
  const Buffer before = *p.c.buffer;
  DeviceBuffer a(context, *p.a.buffer), b(context, *p.b.buffer), c(context, *p.c.buffer);
  const Matrix a_matrix = a.wrap(p.a), b_matrix = b.wrap(p.b), c_matrix = c.wrap(p.c);
  const tritri_multiply_options options = run.device.options_of(p);
  call(tritri_multiply(context, &options, a_matrix, b_matrix, c_matrix));
  c.fetch();
  const Buffer first = *p.c.buffer;
  require(!(first == before), "C must have been written");
  for (int repeat = 1; repeat < 100; ++repeat) {
    call(tritri_multiply(context, &options, a_matrix, b_matrix, c_matrix));
    c.fetch();
    require(*p.c.buffer == first, "call " + std::to_string(repeat + 1) + " of 100 must give the same bits");
  }
}

// ------------------------------------------------------------------------------------------------ transfers, workspace, checking

// upload_into and download move the elements of the fill and touch no other byte, whatever the two layouts are.
void transfers(Run &run, int32_t dtype, const OperandSpec &device_spec, const OperandSpec &host_spec, int64_t batch) {
  tritri_context *context = run.device.context();
  Random random(hash("transfers", run.seed));
  const int64_t rows = 37, cols = 45;
  const Operand device(describe(dtype, device_spec, rows, cols, batch)), host(describe(dtype, host_spec, rows, cols, batch)), back(describe(dtype, host_spec, rows, cols, batch), 1);
  host.each(false, [&](int64_t at, int64_t i, int64_t j) { host.set(at, i, j, random.uniform()); });
  const Buffer before = *device.buffer, host_before = *host.buffer, back_before = *back.buffer;
  {
    const DeviceBuffer memory(context, *device.buffer);
    const Matrix matrix = memory.wrap(device);
    call(tritri_upload_into(context, matrix, &host.layout.desc(), host.data()));
    memory.fetch();
    call(tritri_download(context, matrix, &back.layout.desc(), back.data()));
  }
  require(*host.buffer == host_before, "the source must keep its bytes");
  const auto compare = [&](const char *what, const Operand &to, const Buffer &to_before) {
    std::vector<char> owned(static_cast<size_t>(to.buffer->elements()));
    to.each(false, [&](int64_t at, int64_t i, int64_t j) {
      owned[static_cast<size_t>(to.index(at, i, j))] = 1;
      require(std::memcmp(to.buffer->at(to.index(at, i, j)), host.buffer->at(host.index(at, i, j)), static_cast<size_t>(bytes_of(dtype))) == 0,
              std::string(what) + " must copy element (" + std::to_string(i) + ", " + std::to_string(j) + ") of matrix " + std::to_string(at));
    });
    for (int64_t index = 0; index < to.buffer->elements(); ++index)
      require(owned[static_cast<size_t>(index)] || to.buffer->same_bytes(to_before, index), std::string(what) + " must not touch element " + std::to_string(index - to.origin) + " outside the fill");
  };
  compare("tritri_upload_into", device, before);
  compare("tritri_download", back, back_before);
}

void add_transfers(Table &table) {
  for (const int32_t dtype : {TRITRI_FLOAT32, TRITRI_FLOAT64, TRITRI_COMPLEX128, TRITRI_FLOAT16}) {
    for (const int32_t fill : {TRITRI_FILL_FULL, TRITRI_FILL_LOWER, TRITRI_FILL_UPPER}) {
      for (const int32_t to : orders) for (const int32_t from : orders) for (int packed = 0; packed < 4; ++packed) for (const int64_t batch : {1, 3}) {
        if (packed > 0 && fill == TRITRI_FILL_FULL) continue;
        OperandSpec device, host;
        device.fill = host.fill = fill;
        device.order = to;
        host.order = from;
        device.packed = packed & 1;
        host.packed = packed & 2;
        device.pad = device.packed ? 0 : 3;
        host.pad = host.packed ? 0 : 2;
        device.batch = Batch::gaps;
        const std::string id = std::string("transfer/") + name_of(dtype) + "/" + "FLU"[fill] + "/" + name_of_order(from) + (host.packed ? "-packed" : "") + "-to-" +
                               name_of_order(to) + (device.packed ? "-packed" : "") + "/batch" + std::to_string(batch);
        table.push_back({id, batch == 3 && to != from, [=](Run &run) { transfers(run, dtype, device, host, batch); }});
      }
    }
  }
}

void workspace_too_small(Run &run, int32_t dtype, Route) {
  tritri_context_options options = TRITRI_CONTEXT_OPTIONS_INIT;
  options.device = run.device.kind();
  options.workspace_bytes = 1;
  Context context;
  call(tritri_context_create(&options, context.out()));
  Spec spec;
  spec.group = "L9";
  spec.dtype = dtype;
  spec.m = spec.n = spec.k = 130;
  spec.a = lower(TRITRI_OP_TRANSPOSE);
  spec.b = lower();
  spec.a.packed = spec.b.packed = true;
  spec.alias = Alias::none;
  const Product p = spec.make(run.seed);
  const std::vector<Expected> want = expected(p);
  const Buffer before = *p.c.buffer;
  {
    DeviceBuffer a(context, *p.a.buffer), b(context, *p.b.buffer), c(context, *p.c.buffer);
    const Matrix a_matrix = a.wrap(p.a), b_matrix = b.wrap(p.b), c_matrix = c.wrap(p.c);
    const tritri_multiply_options wish = run.device.options_of(p);
    const tritri_status status = tritri_multiply(context, &wish, a_matrix, b_matrix, c_matrix);
    c.fetch();
    if (status == TRITRI_OUT_OF_MEMORY) {
      require(*p.c.buffer == before, "C must be unchanged");
      require(std::string(tritri_last_error()).find("workspace") != std::string::npos, std::string("the message must name the workspace, got ") + tritri_last_error());
      return;
    }
    call(status);
  }
  const Verdict verdict = check(p, before, want, Accuracy::rounding);
  require(verdict.fault.empty(), verdict.fault);
}

// The residual of a right product is of the order of rounding, and one element wrong by 1e-3 of itself lifts it far above.
void verify_catches(Run &run, int32_t dtype, Route) {
  tritri_context *context = run.device.context();
  Spec spec;
  spec.group = "verify";
  spec.dtype = dtype;
  spec.m = spec.n = spec.k = 150;
  spec.a = lower();
  spec.b = upper();
  const Product p = spec.make(run.seed);
  const tritri_multiply_options options = run.device.options_of(p);
  run.device.multiply(p, Route::wrap);
  const double rounding = static_cast<double>(store_roundoff(dtype));
  for (const bool wrong : {false, true}) {
    if (wrong) p.c.set(0, 149, 149, p.c.value(0, 149, 149) + Wide(10));
    const Matrix a = upload(context, p.a.layout.desc(), p.a.data()), b = upload(context, p.b.layout.desc(), p.b.data()), c = upload(context, p.c.layout.desc(), p.c.data());
    double residual = -1;
    call(tritri_verify(context, &options, a, b, c, 8, &residual));
    std::ostringstream out;
    out << "the residual of a " << (wrong ? "wrong" : "right") << " product is " << residual;
    require(wrong ? residual > 32 * rounding : residual >= 0 && residual < 32 * rounding, out.str());
  }
}

}  // namespace

void add_named(Table &table) {
  add_literals(table);
  for_each_dtype(table, "V1 no stale workspace is read", stale_workspace);
  for_each_dtype(table, "V2 L and U in one buffer", shared_factors);
  for_each_dtype(table, "V4 X X^T with A, B and C in one buffer", all_one_buffer, {Route::wrap, Route::host});
  for_each_dtype(table, "V11 777 below an upper C survives", survivors_777);
  for_each_dtype(table, "V16 inner dimension 0 gives exactly beta C", inner_dimension_zero);
  table.push_back({"V17 nothing at NULL with ld 0 or 1", true, nothing_with_null});
  table.push_back({"V19 batch stride 0 on C is refused", true, stride_zero_on_c});
  table.push_back({"V20 ld of 2^31 + 1", false, huge_ld});
  table.push_back({"V21 enumerators out of range", true, wrong_enums});
  for_each_dtype(table, "V22 padding of C survives", padding_survives);

  table.push_back({"P1 DEFAULT has float32 accuracy", true, [](Run &run) { default_is_float32(run, false); }});
  table.push_back({"P1 DEFAULT has float32 accuracy on positive data", true, [](Run &run) { default_is_float32(run, true); }});
  for (const int32_t compute : {TRITRI_COMPUTE_DEFAULT, TRITRI_COMPUTE_PEDANTIC, TRITRI_COMPUTE_TF32}) {
    const std::string mode = mode_name(TRITRI_FLOAT32, compute);
    for (const int64_t n : {1, 5, 70, 200})
      table.push_back({"P2 1 + 2^-12 times the identity/" + mode + "/" + std::to_string(n), n < 200, [=](Run &run) { diagonal_comes_back(run, compute, n); }});
    if (compute == TRITRI_COMPUTE_TF32) continue;
    for (const int64_t n : {1, 40, 150})
      table.push_back({"P4 subnormals and FLT_MAX/" + mode + "/" + std::to_string(n), n < 150, [=](Run &run) { extremes(run, compute, n); }});
  }
  for_each_dtype(table, "P3 Inf stays in its row", infinity_stays_in_its_row);
  for (const int32_t dtype : all_dtypes) {
    for (const int32_t compute : {TRITRI_COMPUTE_DEFAULT, TRITRI_COMPUTE_PEDANTIC, TRITRI_COMPUTE_TF32}) {
      if (dtype != TRITRI_FLOAT32 && compute != TRITRI_COMPUTE_DEFAULT) continue;
      for (const int64_t n : {4, 35, 130}) {
        for (int round = 0; round < 3; ++round) {
          const std::string id = "P3 Inf and NaN reach their sums alone/" + mode_name(dtype, compute) + "/" + std::to_string(n) + "/" + std::to_string(round);
          table.push_back({id, n == 35 && round == 0, [=](Run &run) { specials(run, dtype, compute, n, id); }});
        }
      }
      for (const int64_t n : {65, 300})
        table.push_back({"P6 100 calls give the same bits/" + mode_name(dtype, compute) + "/" + std::to_string(n), false, [=](Run &run) { same_bits(run, dtype, compute, n); }});
    }
  }
  for (const int32_t dtype : {TRITRI_FLOAT16, TRITRI_BFLOAT16}) {
    table.push_back({std::string("P5 4096 ones/") + name_of(dtype) + "/one row", false, [=](Run &run) { ones_in_half(run, dtype, 1); }});
    table.push_back({std::string("P5 4096 ones/") + name_of(dtype) + "/square", false, [=](Run &run) { ones_in_half(run, dtype, 4096); }});
  }
  add_transfers(table);
  for_each_dtype(table, "L9 workspace too small", workspace_too_small, {Route::wrap});
  for_each_dtype(table, "verify tells right from wrong", verify_catches, {Route::wrap});
}

}  // namespace conformance
