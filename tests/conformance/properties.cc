// Identities that hold for any triangular matrices, over random shapes: they need no oracle, so that it cannot be wrong together with the library.
#include <cmath>
#include <sstream>

#include "conformance/spec.h"

namespace conformance {

using namespace support;

namespace {

constexpr int64_t rounds = 12;

// What a property starts from: two inputs of fitting random shapes, any fill, op, diag, order and padding, no data yet.
struct Shapes {
  int32_t dtype;
  int64_t m, n, k;
  OperandSpec a, b;

  Shapes(Random &random, int32_t type) : dtype(type), m(random.between(1, 48)), n(random.between(1, 48)), k(random.between(1, 48)) {
    for (OperandSpec *x : {&a, &b}) {
      x->fill = static_cast<int32_t>(random.between(0, 2));
      x->op = static_cast<int32_t>(random.between(0, 3));
      x->diag = static_cast<int32_t>(random.between(0, 1));
      x->order = static_cast<int32_t>(random.between(0, 1));
      x->pad = random.between(0, 3);
    }
  }
  static bool transposes(int32_t op) { return op == TRITRI_OP_TRANSPOSE || op == TRITRI_OP_CONJ_TRANSPOSE; }
  Operand make_a() const { return make(a, m, k); }
  Operand make_b() const { return make(b, k, n); }
  Operand make_c(int32_t fill = TRITRI_FILL_FULL) const { return Operand(support::describe(dtype, fill, m, n)); }

 private:
  Operand make(const OperandSpec &x, int64_t rows, int64_t cols) const {
    return transposes(x.op) ? Operand(conformance::describe(dtype, x, cols, rows, 1)) : Operand(conformance::describe(dtype, x, rows, cols, 1));
  }
};

Wide draw(Random &random, int32_t dtype) {
  const auto part = [&] { return static_cast<long double>(random.between(-3, 3)); };
  const long double re = part();
  return is_complex(dtype) ? Wide(re, part()) : Wide(re);
}

void fill(Random &random, const Operand &x) {
  x.fill([&](int64_t, int64_t, int64_t) { return draw(random, x.layout.desc().dtype); });
}

Operand multiply(Run &run, const Operand &a, int32_t op_a, const Operand &b, int32_t op_b, const Operand &c, Route route = Route::wrap) {
  Product p;
  p.options.op_a = op_a;
  p.options.op_b = op_b;
  p.a = a;
  p.b = b;
  p.c = c;
  run.device.multiply(p, route);
  return c;
}

// All sums here are small integers or exactly representable, so that both sides of an identity are equal and not only close.
void require_same(const Operand &left, const Operand &right, bool transpose, const char *identity) {
  const tritri_matrix_desc &d = left.layout.desc();
  for (int64_t i = 0; i < d.rows; ++i) {
    for (int64_t j = 0; j < d.cols; ++j) {
      if (!left.layout.exists(i, j)) continue;
      const Wide x = left.value(0, i, j), y = transpose ? right.value(0, j, i) : right.value(0, i, j);
      if (x == y) continue;
      std::ostringstream out;
      out << identity << " of a " << d.rows << " x " << d.cols << " product: element (" << i << ", " << j << ") is " << show(x) << " and " << show(y);
      throw Failed(out.str());
    }
  }
}

// (A B)^T = B^T A^T
void transpose_identity(Run &run, Random &random, const Shapes &s) {
  const Operand a = s.make_a(), b = s.make_b();
  fill(random, a);
  fill(random, b);
  const auto turned = [](int32_t op) {
    const int32_t other[] = {TRITRI_OP_TRANSPOSE, TRITRI_OP_NONE, TRITRI_OP_CONJ, TRITRI_OP_CONJ_TRANSPOSE};
    return other[op];
  };
  const Operand left = multiply(run, a, s.a.op, b, s.b.op, s.make_c());
  const Operand right = multiply(run, b, turned(s.b.op), a, turned(s.a.op), Operand(support::describe(s.dtype, TRITRI_FILL_FULL, s.n, s.m, TRITRI_ORDER_COLUMN)));
  require_same(left, right, true, "(A B)^T = B^T A^T");
}

// A (B1 + B2) = A B1 + A B2; the sum grows in C by beta 1.
void linearity(Run &run, Random &random, Shapes s) {
  s.b.diag = TRITRI_DIAG_NON_UNIT;
  s.k = s.k < 14 ? s.k : 14;  // sums that bfloat16 holds exactly
  const Operand a = s.make_a(), b1 = s.make_b(), b2 = s.make_b(), sum = s.make_b();
  fill(random, a);
  fill(random, b1);
  fill(random, b2);
  sum.fill([&](int64_t batch, int64_t i, int64_t j) { return b1.value(batch, i, j) + b2.value(batch, i, j); });
  const Operand left = multiply(run, a, s.a.op, sum, s.b.op, s.make_c());
  const Operand right = multiply(run, a, s.a.op, b1, s.b.op, s.make_c());
  Product second;
  second.options.op_a = s.a.op;
  second.options.op_b = s.b.op;
  second.options.beta_re = 1;
  second.a = a;
  second.b = b2;
  second.c = right;
  run.device.multiply(second, Route::host);
  require_same(left, right, false, "A (B1 + B2) = A B1 + A B2");
}

// tril and triu of the full product are the products cut to C's fill.
void cut_identity(Run &run, Random &random, const Shapes &s) {
  const Operand a = s.make_a(), b = s.make_b();
  fill(random, a);
  fill(random, b);
  const Operand full = multiply(run, a, s.a.op, b, s.b.op, s.make_c());
  require_same(multiply(run, a, s.a.op, b, s.b.op, s.make_c(TRITRI_FILL_LOWER)), full, false, "a cut product is a part of the whole");
  require_same(multiply(run, a, s.a.op, b, s.b.op, s.make_c(TRITRI_FILL_UPPER), Route::upload), full, false, "a cut product is a part of the whole");
}

// The same triangle packed and strided.
void packed_identity(Run &run, Random &random, Shapes s) {
  s.a.fill = random.coin() ? TRITRI_FILL_LOWER : TRITRI_FILL_UPPER;
  s.b.fill = random.coin() ? TRITRI_FILL_LOWER : TRITRI_FILL_UPPER;
  const Operand a = s.make_a(), b = s.make_b();
  fill(random, a);
  fill(random, b);
  const Operand strided = multiply(run, a, s.a.op, b, s.b.op, s.make_c());
  s.a.packed = s.b.packed = true;
  s.a.pad = s.b.pad = 0;
  s.b.order = 1 - s.b.order;
  const Operand packed_a = s.make_a(), packed_b = s.make_b();
  packed_a.fill([&](int64_t, int64_t i, int64_t j) { return a.value(0, i, j); });
  packed_b.fill([&](int64_t, int64_t i, int64_t j) { return b.value(0, i, j); });
  require_same(multiply(run, packed_a, s.a.op, packed_b, s.b.op, s.make_c()), strided, false, "packed and strided operands give the same");
}

// A triangle and the full matrix with zeros written out.
void zeros_identity(Run &run, Random &random, Shapes s) {
  const Operand a = s.make_a(), b = s.make_b();
  fill(random, a);
  fill(random, b);
  const Operand triangles = multiply(run, a, s.a.op, b, s.b.op, s.make_c());
  const auto written_out = [](const Operand &x) {
    tritri_matrix_desc desc = x.layout.desc();
    desc.fill = TRITRI_FILL_FULL;
    desc.diag = TRITRI_DIAG_NON_UNIT;
    const Operand full(desc);
    full.fill([&](int64_t, int64_t i, int64_t j) { return x.layout.stored(i, j) ? x.value(0, i, j) : Wide(x.layout.exists(i, j) ? 1 : 0); });
    return full;
  };
  require_same(multiply(run, written_out(a), s.a.op, written_out(b), s.b.op, s.make_c()), triangles, false, "a triangle is the full matrix with zeros");
}

// L I = L and I L = L, with a unit diagonal over NaN as the identity.
void identity(Run &run, Random &random, Shapes s) {
  s.k = s.m;
  s.n = s.m;
  s.a.op = TRITRI_OP_NONE;
  s.a.diag = TRITRI_DIAG_NON_UNIT;
  const Operand a = s.make_a();
  fill(random, a);
  tritri_matrix_desc desc = support::describe(s.dtype, TRITRI_FILL_LOWER, s.m, s.m);
  desc.diag = TRITRI_DIAG_UNIT;
  const Operand one(desc);
  one.fill([](int64_t, int64_t, int64_t) { return Wide(0); });
  require_same(multiply(run, a, TRITRI_OP_NONE, one, TRITRI_OP_NONE, s.make_c(s.a.fill)), a, false, "A I = A");
  require_same(multiply(run, one, TRITRI_OP_TRANSPOSE, a, TRITRI_OP_NONE, s.make_c(s.a.fill)), a, false, "I A = A");
}

}  // namespace

void add_properties(Table &table) {
  const struct {
    const char *name;
    void (*body)(Run &, Random &, Shapes);
  } properties[] = {{"transposes", [](Run &run, Random &random, Shapes s) { transpose_identity(run, random, s); }},
                    {"linearity", linearity},
                    {"cut", [](Run &run, Random &random, Shapes s) { cut_identity(run, random, s); }},
                    {"packed", packed_identity},
                    {"zeros", zeros_identity},
                    {"identity", identity}};
  for (const auto &property : properties) {
    for (const int32_t dtype : all_dtypes) {
      for (int64_t round = 0; round < rounds; ++round) {
        const std::string id = std::string("property/") + property.name + "/" + name_of(dtype) + "/" + std::to_string(round);
        table.push_back({id, round == 0, [id, dtype, body = property.body](Run &run) {
                           Random random(hash(id, run.seed));
                           body(run, random, Shapes(random, dtype));
                         }});
      }
    }
  }
}

}  // namespace conformance
