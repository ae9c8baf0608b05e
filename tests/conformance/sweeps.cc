// The generated part of the table. Each sweep varies a few things completely and draws the rest by the case's number, so that
// everything meets everything without a product of all of it.
#include <algorithm>
#include <set>

#include "conformance/spec.h"

namespace conformance {

using namespace support;

namespace {

constexpr int32_t fills[] = {TRITRI_FILL_FULL, TRITRI_FILL_LOWER, TRITRI_FILL_UPPER};
constexpr int32_t orders[] = {TRITRI_ORDER_ROW, TRITRI_ORDER_COLUMN};
constexpr int32_t diags[] = {TRITRI_DIAG_NON_UNIT, TRITRI_DIAG_UNIT};
constexpr int32_t ops[] = {TRITRI_OP_NONE, TRITRI_OP_TRANSPOSE, TRITRI_OP_CONJ_TRANSPOSE, TRITRI_OP_CONJ};
constexpr int32_t real_ops[] = {TRITRI_OP_NONE, TRITRI_OP_TRANSPOSE};
constexpr Route routes[] = {Route::wrap, Route::upload, Route::host};

// A type and a compute mode.
struct Kind {
  int32_t dtype, compute;
};
constexpr Kind kinds[] = {{TRITRI_FLOAT32, TRITRI_COMPUTE_DEFAULT}, {TRITRI_FLOAT32, TRITRI_COMPUTE_PEDANTIC}, {TRITRI_FLOAT32, TRITRI_COMPUTE_TF32},
                          {TRITRI_FLOAT64, TRITRI_COMPUTE_DEFAULT}, {TRITRI_COMPLEX64, TRITRI_COMPUTE_DEFAULT}, {TRITRI_COMPLEX128, TRITRI_COMPUTE_DEFAULT},
                          {TRITRI_FLOAT16, TRITRI_COMPUTE_DEFAULT}, {TRITRI_BFLOAT16, TRITRI_COMPUTE_DEFAULT}};

Spec start(const char *group, const Kind &kind) {
  Spec spec;
  spec.group = group;
  spec.dtype = kind.dtype;
  spec.compute = kind.compute;
  return spec;
}

// On real types CONJ is NONE and CONJ_TRANSPOSE is TRANSPOSE: drawn instead of enumerated.
int32_t synonym(int32_t op, bool other) { return !other ? op : op == TRITRI_OP_NONE ? TRITRI_OP_CONJ : TRITRI_OP_CONJ_TRANSPOSE; }

void draw_operand(Random &random, OperandSpec &x, bool input) {
  x.fill = random.pick(fills);
  x.order = random.pick(orders);
  if (!input) return;
  x.op = random.pick(ops);
  x.diag = random.pick(diags);
}

constexpr std::complex<double> real_scalars[] = {0.0, 1.0, -1.0, 0.5, 2.0};
constexpr std::complex<double> complex_scalars[] = {0.0, 1.0, {0, 1}, {0.5, -2}, {-1, 0}};

// V10: every fill of A, B and C, every op, diag and order, on one small rectangular product with exact data.
void add_combinations(Table &table, const Kind &kind) {
  Random random(hash("combinations") + static_cast<uint64_t>(kind.dtype) + 8u * static_cast<uint64_t>(kind.compute));
  const bool complex = is_complex(kind.dtype);
  const int shapes[][3] = {{5, 7, 6}, {7, 5, 6}, {6, 6, 6}, {4, 9, 5}, {9, 4, 7}, {5, 6, 9}, {8, 3, 2}, {2, 8, 3}};
  size_t number = 0;
  for (const int32_t fill_a : fills) for (const int32_t fill_b : fills) for (const int32_t fill_c : fills)
  for (const int32_t op_a : ops) for (const int32_t op_b : ops) {
    if (!complex && (op_a >= TRITRI_OP_CONJ_TRANSPOSE || op_b >= TRITRI_OP_CONJ_TRANSPOSE)) continue;
    for (const int32_t diag_a : diags) for (const int32_t diag_b : diags)
    for (const int32_t order_a : orders) for (const int32_t order_b : orders) for (const int32_t order_c : orders) {
      Spec spec = start("V10", kind);
      spec.data = Data::integers;
      spec.a.fill = fill_a;
      spec.b.fill = fill_b;
      spec.c.fill = fill_c;
      spec.a.op = complex ? op_a : synonym(op_a, random.bits() % 4 == 0);
      spec.b.op = complex ? op_b : synonym(op_b, random.bits() % 4 == 0);
      spec.a.diag = diag_a;
      spec.b.diag = diag_b;
      spec.a.order = order_a;
      spec.b.order = order_b;
      spec.c.order = order_c;
      const auto &shape = random.pick(shapes);
      spec.m = shape[0];
      spec.n = shape[1];
      spec.k = shape[2];
      spec.a.pad = random.between(0, 3);
      spec.b.pad = random.between(0, 3);
      spec.c.pad = random.between(0, 3);
      if (random.bits() % 4 == 0) spec.beta = complex ? std::complex<double>{-1, 0.5} : -1;
      spec.route = random.pick(routes);
      spec.shift = random.between(0, 3);
      add(table, spec, number++ % 41 == 0);
    }
  }
}

// Sizes around the edges of vectors, warps and tiles: every fill of A, B and C, with transposes on both sides.
void add_sizes(Table &table, const Kind &kind) {
  Random random(hash("sizes") + static_cast<uint64_t>(kind.dtype) + 8u * static_cast<uint64_t>(kind.compute));
  const int64_t small_sizes[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33}, sizes[] = {47, 48, 49, 63, 64, 65, 95, 96, 97}, large[] = {127, 128, 129, 130};
  for (const int32_t fill_a : fills) for (const int32_t fill_b : fills) for (const int32_t fill_c : fills)
  for (const int32_t op_a : real_ops) for (const int32_t op_b : real_ops) {
    for (int variant = 0; variant < 3; ++variant) {
      Spec spec = start("sizes", kind);
      spec.a.fill = fill_a;
      spec.b.fill = fill_b;
      spec.c.fill = fill_c;
      spec.a.op = synonym(op_a, random.coin());
      spec.b.op = synonym(op_b, random.coin());
      for (OperandSpec *x : {&spec.a, &spec.b, &spec.c}) {
        x->order = random.pick(orders);
        x->pad = random.bits() % 3 == 0 ? random.between(1, 9) : 0;
      }
      spec.a.diag = random.bits() % 4 == 0 ? TRITRI_DIAG_UNIT : TRITRI_DIAG_NON_UNIT;
      spec.b.diag = random.bits() % 4 == 0 ? TRITRI_DIAG_UNIT : TRITRI_DIAG_NON_UNIT;
      int64_t *const extents[] = {&spec.m, &spec.n, &spec.k};
      for (int64_t *extent : extents) *extent = variant == 0 ? random.pick(small_sizes) : variant == 1 ? random.pick(sizes) : random.pick(large);
      if (random.bits() % 3 != 0) spec.n = spec.k = spec.m;  // mostly square
      if (random.bits() % 4 == 0) {
        spec.alpha = -1;
        spec.beta = 0.5;
      }
      spec.route = random.pick(routes);
      spec.shift = random.bits() % 4 == 0 ? random.between(1, 3) : 0;
      add(table, spec, variant == 0 && random.bits() % 4 == 0);
    }
  }
  // Larger than the largest tile, one below, one above; and thin shapes.
  const int64_t tiles[] = {255, 256, 257}, shapes[][3] = {{300, 3, 200}, {3, 300, 200}, {200, 260, 2}, {1, 257, 129}, {257, 1, 129}, {129, 257, 1}};
  for (int variant = 0; variant < 24; ++variant) {
    Spec spec = start("sizes", kind);
    draw_operand(random, spec.a, true);
    draw_operand(random, spec.b, true);
    draw_operand(random, spec.c, false);
    if (variant < 12) {
      spec.m = random.pick(tiles);
      spec.n = variant < 6 ? spec.m : random.pick(tiles);
      spec.k = variant < 6 ? spec.m : random.pick(tiles);
      spec.a.fill = variant % 3 == 0 ? TRITRI_FILL_LOWER : spec.a.fill;
    } else {
      const auto &shape = shapes[variant % 6];
      spec.m = shape[0];
      spec.n = shape[1];
      spec.k = shape[2];
    }
    spec.route = random.pick(routes);
    add(table, spec, false);
  }
}

// V6: the main job at every size from 1 to 130 and one around each tile, with one thread and with more than there are cores.
void add_every_size(Table &table, const Kind &kind) {
  for (const int32_t threads : {1, 7}) {
    const auto entry = [&](int64_t n) {
      Spec spec = start("V6", kind);
      spec.m = spec.n = spec.k = n;
      spec.threads = threads;
      const bool upper = n % 5 == 0;
      spec.a.fill = spec.b.fill = upper ? TRITRI_FILL_UPPER : TRITRI_FILL_LOWER;
      spec.c.fill = n % 3 == 0 ? spec.a.fill : TRITRI_FILL_FULL;
      if (n % 7 == 0) spec.a.order = spec.b.order = spec.c.order = TRITRI_ORDER_COLUMN;
      add(table, spec, threads == 7 && n % 16 == 1);
    };
    for (int64_t n = 1; n <= 130; ++n) entry(n);
    for (const int64_t tile : {192, 256}) for (const int64_t n : {tile - 1, tile, tile + 1}) entry(n);
  }
}

// V7 and V8: sizes at which libraries lost their last rows, columns or the second of two different ops.
void add_reported_sizes(Table &table) {
  for (int64_t n = 252; n <= 260; ++n) {
    Spec spec = start("V7", {TRITRI_COMPLEX128, TRITRI_COMPUTE_DEFAULT});
    spec.m = spec.n = spec.k = n;
    spec.a.fill = spec.b.fill = n % 2 == 0 ? TRITRI_FILL_LOWER : TRITRI_FILL_UPPER;
    add(table, spec, false);
  }
  for (const Kind &kind : kinds) for (const int64_t n : {7, 11, 15, 63}) for (const int32_t op_a : ops) for (const int32_t op_b : ops) {
    if (op_a == op_b) continue;
    Spec spec = start("V8", kind);
    spec.m = spec.n = spec.k = n;
    spec.a.fill = TRITRI_FILL_LOWER;
    spec.b.fill = (op_a + op_b) % 2 == 0 ? TRITRI_FILL_LOWER : TRITRI_FILL_UPPER;
    spec.a.op = op_a;
    spec.b.op = op_b;
    add(table, spec, n == 15 && op_a == TRITRI_OP_TRANSPOSE);
  }
}

// V16, V17: every way of having nothing.
void add_empty(Table &table, const Kind &kind) {
  for (const int64_t m : {0, 1, 5}) for (const int64_t n : {0, 1, 5}) for (const int64_t k : {0, 1, 5}) {
    if (m != 0 && n != 0 && k != 0) continue;
    for (const int32_t fill_c : fills) for (const double beta : {0.0, -1.0}) for (const Route route : routes) {
      Spec spec = start("V16-V17", kind);
      spec.m = m;
      spec.n = n;
      spec.k = k;
      spec.a.fill = TRITRI_FILL_LOWER;
      spec.b.fill = TRITRI_FILL_UPPER;
      spec.c.fill = fill_c;
      spec.beta = beta;
      spec.data = Data::integers;
      spec.route = route;
      add(table, spec, route == Route::wrap && fill_c == TRITRI_FILL_LOWER);
    }
  }
}

// V13 to V15: all pairs of scalars, with NaN where 0 says that nothing is read.
void add_scalars(Table &table, const Kind &kind) {
  Random random(hash("scalars") + static_cast<uint64_t>(kind.dtype) + 8u * static_cast<uint64_t>(kind.compute));
  const bool complex = is_complex(kind.dtype);
  const auto &scalars = complex ? complex_scalars : real_scalars;
  for (const auto &alpha : scalars) for (const auto &beta : scalars) for (const int32_t fill_c : fills) for (const int64_t n : {6, 33, 70}) {
    Spec spec = start("V13-V15", kind);
    draw_operand(random, spec.a, true);
    draw_operand(random, spec.b, true);
    spec.c.fill = fill_c;
    spec.c.order = random.pick(orders);
    spec.m = spec.n = spec.k = n;
    if (random.coin()) spec.k = n + 3;
    spec.c.pad = random.between(0, 2);
    spec.alpha = alpha;
    spec.beta = beta;
    spec.route = random.pick(routes);
    add(table, spec, n == 33 && random.bits() % 4 == 0);
  }
}

// C is A, B, or both; every fill of each, since C may hold more of the memory than A does.
void add_in_place(Table &table, const Kind &kind) {
  Random random(hash("in place") + static_cast<uint64_t>(kind.dtype) + 8u * static_cast<uint64_t>(kind.compute));
  for (const Alias alias : {Alias::c_is_a, Alias::c_is_b, Alias::all})
  for (const int32_t fill_a : fills) for (const int32_t fill_b : fills) for (const int32_t fill_c : fills)
  for (const int64_t n : {5, 31, 65, 130}) {
    Spec spec = start("in-place", kind);
    spec.m = spec.n = spec.k = n;
    spec.alias = alias;
    spec.a.fill = fill_a;
    spec.b.fill = fill_b;
    spec.c.fill = fill_c;
    spec.a.op = random.pick(ops);
    spec.b.op = random.pick(ops);
    spec.a.diag = random.pick(diags);
    spec.b.diag = random.pick(diags);
    spec.a.order = spec.b.order = spec.c.order = random.pick(orders);
    spec.a.pad = spec.b.pad = spec.c.pad = random.between(0, 3);
    if (random.bits() % 3 == 0) spec.beta = -0.5;
    spec.route = random.coin() ? Route::wrap : Route::host;
    add(table, spec, n == 31 && random.bits() % 4 == 0);
  }
}

// Each operand packed or strided in every mix, square and trapezoid.
void add_packed(Table &table, const Kind &kind) {
  Random random(hash("packed") + static_cast<uint64_t>(kind.dtype) + 8u * static_cast<uint64_t>(kind.compute));
  const int64_t sizes[] = {1, 2, 3, 7, 33, 65, 100};
  for (int mix = 1; mix < 8; ++mix) for (const int32_t order_a : orders) for (const int32_t order_b : orders) for (const int32_t order_c : orders)
  for (const int64_t n : sizes) for (const bool square : {true, false}) {
    Spec spec = start("packed", kind);
    OperandSpec *const operands[] = {&spec.a, &spec.b, &spec.c};
    const int32_t chosen[] = {order_a, order_b, order_c};
    for (int i = 0; i < 3; ++i) {
      draw_operand(random, *operands[i], i < 2);
      operands[i]->order = chosen[i];
      operands[i]->packed = (mix >> i) & 1;
      if (operands[i]->packed) operands[i]->fill = random.coin() ? TRITRI_FILL_LOWER : TRITRI_FILL_UPPER;
      else operands[i]->pad = random.between(0, 2);
    }
    spec.m = spec.n = spec.k = n;
    if (!square) {
      spec.m = random.between(1, n + 5);
      spec.k = random.between(1, n + 5);
    }
    if (random.bits() % 4 == 0) spec.beta = 0.5;
    spec.route = random.pick(routes);
    add(table, spec, n == 7 && random.coin());
  }
  // In place, where memory and packing are the same.
  for (const Alias alias : {Alias::c_is_a, Alias::c_is_b, Alias::all}) for (const int32_t order : orders) for (const int32_t fill : {TRITRI_FILL_LOWER, TRITRI_FILL_UPPER}) {
    Spec spec = start("packed", kind);
    spec.m = spec.n = spec.k = 37;
    spec.alias = alias;
    for (OperandSpec *x : {&spec.a, &spec.b, &spec.c}) {
      x->fill = fill;
      x->order = order;
      x->packed = true;
    }
    spec.a.op = alias == Alias::c_is_b ? TRITRI_OP_TRANSPOSE : TRITRI_OP_NONE;
    spec.route = order == TRITRI_ORDER_ROW ? Route::wrap : Route::host;
    add(table, spec, order == TRITRI_ORDER_ROW);
  }
}

// V19 and everything else about batches: every way of striding each operand.
void add_batches(Table &table, const Kind &kind) {
  Random random(hash("batches") + static_cast<uint64_t>(kind.dtype) + 8u * static_cast<uint64_t>(kind.compute));
  const Batch inputs[] = {Batch::tight, Batch::gaps, Batch::stride_zero, Batch::count_one, Batch::backwards, Batch::interleaved};
  const Batch outputs[] = {Batch::tight, Batch::gaps, Batch::backwards, Batch::interleaved};
  for (const Batch batch_a : inputs) for (const Batch batch_b : inputs) for (const Batch batch_c : outputs) for (const int64_t n : {2, 9, 31, 33}) {
    Spec spec = start("batch", kind);
    draw_operand(random, spec.a, true);
    draw_operand(random, spec.b, true);
    draw_operand(random, spec.c, false);
    spec.a.batch = batch_a;
    spec.b.batch = batch_b;
    spec.c.batch = batch_c;
    for (OperandSpec *x : {&spec.a, &spec.b, &spec.c}) {
      if (x->fill != TRITRI_FILL_FULL && random.bits() % 4 == 0) x->packed = true;
      else x->pad = random.between(0, 2);
    }
    spec.m = spec.n = spec.k = n;
    if (random.bits() % 3 == 0) spec.k = n + random.between(1, 4);
    if (random.bits() % 4 == 0) spec.beta = -1;
    spec.batch = random.coin() ? 3 : random.between(2, 17);
    spec.route = random.pick(routes);
    add(table, spec, n == 9 && random.bits() % 4 == 0);
  }
  for (const int64_t n : {64, 100}) for (const int32_t fill : fills) {
    Spec spec = start("batch", kind);
    spec.m = spec.n = spec.k = n;
    spec.batch = 5;
    spec.a.fill = fill;
    spec.b.fill = TRITRI_FILL_LOWER;
    spec.a.batch = Batch::gaps;
    add(table, spec, false);
  }
  // In place, matrix by matrix.
  for (const Alias alias : {Alias::c_is_a, Alias::c_is_b, Alias::all}) for (const Batch batch : {Batch::tight, Batch::gaps, Batch::interleaved}) {
    Spec spec = start("batch", kind);
    spec.m = spec.n = spec.k = 19;
    spec.batch = 6;
    spec.alias = alias;
    spec.a.fill = TRITRI_FILL_LOWER;
    spec.b.fill = TRITRI_FILL_UPPER;
    spec.a.batch = spec.b.batch = spec.c.batch = batch;
    add(table, spec, batch == Batch::gaps);
  }
}

// V18: more matrices than a grid has rows.
void add_many(Table &table, const Kind &kind) {
  for (const bool packed : {false, true}) {
    Spec spec = start("V18", kind);
    spec.m = spec.n = spec.k = 2;
    spec.batch = 65537;
    spec.data = Data::integers;
    spec.a.fill = spec.b.fill = TRITRI_FILL_LOWER;
    spec.c.fill = packed ? TRITRI_FILL_LOWER : TRITRI_FILL_FULL;
    spec.a.packed = spec.b.packed = spec.c.packed = packed;
    add(table, spec, false);
  }
  Spec spec = start("V18", kind);
  spec.m = spec.n = spec.k = 3;
  spec.batch = 70000;
  spec.data = Data::integers;
  spec.a.fill = TRITRI_FILL_UPPER;
  spec.b.fill = TRITRI_FILL_LOWER;
  spec.b.op = TRITRI_OP_TRANSPOSE;
  spec.a.batch = Batch::stride_zero;
  spec.route = Route::host;
  add(table, spec, false);
}

}  // namespace

void add_sweeps(Table &table) {
  const size_t before = table.size();
  for (const Kind &kind : kinds) {
    if (kind.compute == TRITRI_COMPUTE_DEFAULT) {
      add_combinations(table, kind);
      add_empty(table, kind);
      add_packed(table, kind);
      add_batches(table, kind);
      add_many(table, kind);
    }
    add_sizes(table, kind);
    add_every_size(table, kind);
    add_scalars(table, kind);
    add_in_place(table, kind);
  }
  add_reported_sizes(table);
  // Draws may meet: the same id is the same case, and runs once.
  std::set<std::string> ids;
  table.erase(std::remove_if(table.begin() + static_cast<std::ptrdiff_t>(before), table.end(), [&](const Case &entry) { return !ids.insert(entry.id).second; }),
              table.end());
}

}  // namespace conformance
