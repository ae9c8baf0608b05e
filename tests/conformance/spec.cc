#include "conformance/spec.h"

#include <sstream>

namespace conformance {

using namespace support;

namespace {

char letter(const char *letters, int32_t value) { return letters[value]; }

bool transposes(int32_t op) { return op == TRITRI_OP_TRANSPOSE || op == TRITRI_OP_CONJ_TRANSPOSE; }

std::string show_operand(const OperandSpec &x, bool input, int64_t batch) {
  static const char *const batches[] = {"", "gaps", "stride0", "count1", "backwards", "interleaved"};
  std::ostringstream out;
  out << letter("FLU", x.fill);
  if (input) out << letter("NTCR", x.op) << letter("nu", x.diag);
  out << letter("rc", x.order);
  if (x.packed) out << "-packed";
  if (x.pad > 0) out << "+" << x.pad;
  if (batch > 1 && x.batch != Batch::tight) out << "-" << batches[static_cast<int>(x.batch)];
  return out.str();
}

std::string show_scalar(std::complex<double> x) {
  std::ostringstream out;
  out << x.real();
  if (x.imag() != 0) out << (x.imag() < 0 ? "" : "+") << x.imag() << "i";
  return out.str();
}

// Elements inside the fill when `desc` is packed: counted by the layout itself.
int64_t span_of(tritri_matrix_desc desc) {
  desc.batch_count = 1;
  const Layout one(desc);
  return one.highest() - one.lowest() + 1;
}

// Small integers keep every partial sum exact; magnitudes near 1 keep float16 far from its limits.
Wide draw(Random &random, int32_t dtype, Data data) {
  const auto part = [&]() -> long double { return data == Data::integers ? static_cast<long double>(random.between(-3, 3)) : random.uniform(); };
  const long double re = part();
  return is_complex(dtype) ? Wide(re, part()) : Wide(re);
}

}  // namespace

void Run::note(const std::string &kind, const Verdict &verdict) {
  worst_elementwise[kind] = std::max(worst_elementwise[kind], verdict.elementwise);
  worst_normwise[kind] = std::max(worst_normwise[kind], verdict.normwise);
}

std::string mode_name(int32_t dtype, int32_t compute) {
  static const char *const modes[] = {"", "-pedantic", "-tf32"};
  return std::string(name_of(dtype)) + modes[compute];
}

tritri_matrix_desc describe(int32_t dtype, const OperandSpec &x, int64_t rows, int64_t cols, int64_t batch) {
  tritri_matrix_desc desc = support::describe(dtype, x.fill, rows, cols, x.order);
  desc.diag = x.diag;
  const int64_t length = x.order == TRITRI_ORDER_ROW ? cols : rows;
  if (x.packed) desc.storage = TRITRI_STORAGE_PACKED;
  else if (x.pad > 0) desc.ld = length + x.pad;
  if (batch <= 1 || x.batch == Batch::count_one) return desc;
  desc.batch_count = batch;
  if (x.batch == Batch::interleaved && !x.packed) {
    desc.ld = std::max<int64_t>(length, 1) * batch + x.pad;
    desc.batch_stride = std::max<int64_t>(length, 1);
    return desc;
  }
  const int64_t one = std::max<int64_t>(span_of(desc), 1);
  desc.batch_stride = x.batch == Batch::stride_zero ? 0 : x.batch == Batch::gaps ? one + 7 : x.batch == Batch::backwards ? -one - 3 : one;
  return desc;
}

std::string Spec::id() const {
  static const char *const aliases[] = {"", "/C=A", "/C=B", "/C=A=B"};
  static const char *const routes[] = {"wrap", "upload", "host"};
  std::ostringstream out;
  out << group << "/" << mode_name(dtype, compute) << "/" << m << "x" << n << "x" << k;
  if (batch != 1) out << "/batch" << batch;
  out << "/A:" << show_operand(a, true, batch) << "/B:" << show_operand(b, true, batch) << "/C:" << show_operand(c, false, batch);
  if (alpha != 1.0 || beta != 0.0) out << "/" << show_scalar(alpha) << "," << show_scalar(beta);
  out << aliases[static_cast<int>(alias)] << "/" << (data == Data::integers ? "int" : "rand") << "/" << routes[static_cast<int>(route)];
  if (threads > 0) out << "/threads" << threads;
  if (shift > 0) out << "/shift" << shift;
  return out.str();
}

Product Spec::make(uint64_t seed) const {
  Product p;
  p.options.op_a = a.op;
  p.options.op_b = b.op;
  p.options.alpha_re = alpha.real();
  p.options.alpha_im = alpha.imag();
  p.options.beta_re = beta.real();
  p.options.beta_im = beta.imag();
  p.options.compute = compute;
  const tritri_matrix_desc c_desc = describe(dtype, c, m, n, batch);
  const tritri_matrix_desc a_desc = transposes(a.op) ? describe(dtype, a, k, m, batch) : describe(dtype, a, m, k, batch);
  const tritri_matrix_desc b_desc = transposes(b.op) ? describe(dtype, b, n, k, batch) : describe(dtype, b, k, n, batch);
  p.c = Operand(c_desc, shift);
  p.a = alias == Alias::c_is_a || alias == Alias::all ? Operand(a_desc, p.c) : Operand(a_desc, shift);
  p.b = alias == Alias::c_is_b || alias == Alias::all ? Operand(b_desc, p.c) : Operand(b_desc, shift);

  Random random(hash(id(), seed));
  const auto value = [&](int64_t, int64_t, int64_t) { return draw(random, dtype, data); };
  if (beta != 0.0) p.c.each(false, [&](int64_t batch_index, int64_t i, int64_t j) { p.c.set(batch_index, i, j, draw(random, dtype, data)); });
  if (alpha != 0.0) {  // otherwise A and B stay NaN
    p.a.fill(value);
    p.b.fill(value);
  }
  return p;
}

void Spec::run(Run &run) const {
  const bool repeat = hash(id()) % 8 == 0;
  run_product(run, make(run.seed), route, data == Data::integers ? Accuracy::exact : Accuracy::rounding, threads, repeat);
}

void run_product(Run &run, const Product &p, Route route, Accuracy accuracy, int32_t threads, bool repeat) {
  const std::vector<Expected> want = expected(p);
  const Buffer a_before = *p.a.buffer, b_before = *p.b.buffer, c_before = *p.c.buffer;
  run.device.multiply(p, route, threads);
  const Verdict verdict = check(p, c_before, want, accuracy);
  if (!verdict.fault.empty()) throw Failed(verdict.fault);
  if (p.a.buffer != p.c.buffer) {
    const std::string fault = check_untouched("A", *p.a.buffer, a_before);
    if (!fault.empty()) throw Failed(fault);
  }
  if (p.b.buffer != p.c.buffer) {
    const std::string fault = check_untouched("B", *p.b.buffer, b_before);
    if (!fault.empty()) throw Failed(fault);
  }
  run.note(mode_name(p.c.layout.desc().dtype, p.options.compute), verdict);
  if (!repeat) return;
  const Buffer first = *p.c.buffer;
  *p.c.buffer = c_before;
  run.device.multiply(p, route, threads);
  const std::string fault = check_untouched("a second run's result", *p.c.buffer, first);
  if (!fault.empty()) throw Failed(fault);
}

void add(Table &table, const Spec &spec, bool small) {
  table.push_back({spec.id(), small, [spec](Run &run) { spec.run(run); }});
}

}  // namespace conformance
