#include "core/validate.h"

#include <cmath>
#include <cstring>

#include "core/error.h"

namespace tritri {
namespace {

constexpr int64_t most_matrices = int64_t{1} << 31;

template <class... Parts>
[[noreturn]] void refuse(const char *function, const char *argument, const Parts &...rule) {
  fail(TRITRI_INVALID_ARGUMENT, function, ": ", argument, ": ", rule...);
}

template <class Struct>
Struct read_struct(const char *function, const char *argument, Struct defaults, const Struct *given) {
  if (!given) return defaults;
  const size_t size = given->struct_size;
  if (size < sizeof(size_t)) refuse(function, argument, "struct_size must be the struct's size in bytes (use the _INIT macro), got ", size);
  if (size >= sizeof(Struct)) return *given;
  std::memcpy(&defaults, given, size);
  return defaults;
}

void check_enum(const char *function, const char *argument, const char *field, int32_t value, int32_t last, const char *values) {
  if (value < 0 || value > last) refuse(function, argument, field, " must be ", values, ", got ", value);
}

std::string shape(int64_t rows, int64_t cols) { return text(rows, " x ", cols); }

bool is_transposed(int32_t op) { return op == TRITRI_OP_TRANSPOSE || op == TRITRI_OP_CONJ_TRANSPOSE; }

// Lines of both are ld apart, so that lines of one fall between those of the other: the columns of one wide matrix.
bool interleave(const Layout &x, const char *x_data, const Layout &y, const char *y_data) {
  const Lines a = x.lines(), b = y.lines();
  if (a.packed || b.packed || x.order != y.order || x.dtype != y.dtype) return false;
  const int64_t period = a.count > 1 ? a.ld : b.ld;
  if ((a.count > 1 && a.ld != period) || (b.count > 1 && b.ld != period)) return false;
  if ((x.batch > 1 && x.batch_stride % period != 0) || (y.batch > 1 && y.batch_stride % period != 0)) return false;
  const int64_t bytes = element_bytes(x.dtype), pitch = period * bytes;
  int64_t shift = static_cast<int64_t>(y_data - x_data) % pitch;
  if (shift < 0) shift += pitch;
  return shift >= a.length * bytes && shift + b.length * bytes <= pitch;
}

struct Span { const char *begin, *end; };

Span span(const Layout &x, const void *data) {
  const char *first = static_cast<const char *>(data);
  const int64_t one = x.lines().extent() * element_bytes(x.dtype);
  if (one == 0) return {first, first};
  const int64_t reach = x.batch > 1 ? (x.batch - 1) * x.batch_stride * element_bytes(x.dtype) : 0;
  return {first + (reach < 0 ? reach : 0), first + (reach > 0 ? reach : 0) + one};
}

bool same_place(const Layout &x, const void *x_data, const Layout &y, const void *y_data) {
  return x_data == y_data && x.rows == y.rows && x.cols == y.cols && x.order == y.order && x.storage == y.storage && x.ld == y.ld &&
         (x.storage == Storage::strided || x.fill == y.fill) && x.batch == y.batch && (x.batch == 1 || x.batch_stride == y.batch_stride);
}

bool check_pair(const char *function, const char *input, const Layout &x, const void *x_data, const Layout &c, const void *c_data) {
  const Span a = span(x, x_data), b = span(c, c_data);
  if (a.begin >= b.end || b.begin >= a.end || a.begin == a.end || b.begin == b.end) return false;
  if (same_place(x, x_data, c, c_data)) return true;
  if (interleave(x, static_cast<const char *>(x_data), c, static_cast<const char *>(c_data))) return false;
  refuse(function, "c", "must be ", input, " itself (same memory and layout) or lie apart from it, got memory that starts ", b.begin - a.begin,
         " bytes from ", input, " and overlaps it");
}

}  // namespace

tritri_context_options read_options(const char *function, const tritri_context_options *options) {
  const tritri_context_options defaults = TRITRI_CONTEXT_OPTIONS_INIT;
  const tritri_context_options o = read_struct(function, "options", defaults, options);
  check_enum(function, "options", "device", o.device, TRITRI_DEVICE_CUDA, "TRITRI_DEVICE_AUTO, CPU or CUDA (0 to 2)");
  if (o.device_index < 0) refuse(function, "options", "device_index must be at least 0, got ", o.device_index);
  if (o.threads < 0 || o.threads > 1024) refuse(function, "options", "threads must be 0 (all) to 1024, got ", o.threads);
  return o;
}

tritri_multiply_options read_options(const char *function, const tritri_multiply_options *options) {
  const tritri_multiply_options defaults = TRITRI_MULTIPLY_OPTIONS_INIT;
  const tritri_multiply_options o = read_struct(function, "options", defaults, options);
  const char *const ops = "TRITRI_OP_NONE, TRANSPOSE, CONJ_TRANSPOSE or CONJ (0 to 3)";
  check_enum(function, "options", "op_a", o.op_a, TRITRI_OP_CONJ, ops);
  check_enum(function, "options", "op_b", o.op_b, TRITRI_OP_CONJ, ops);
  check_enum(function, "options", "compute", o.compute, TRITRI_COMPUTE_TF32, "TRITRI_COMPUTE_DEFAULT, PEDANTIC or TF32 (0 to 2)");
  check_enum(function, "options", "algorithm", o.algorithm, TRITRI_ALGORITHM_CUBLAS, "TRITRI_ALGORITHM_AUTO, KERNEL or CUBLAS (0 to 2)");
  return o;
}

Layout read_layout(const char *function, const char *argument, const tritri_matrix_desc *desc) {
  if (!desc) refuse(function, argument, "must not be NULL, got NULL");
  const tritri_matrix_desc defaults = TRITRI_MATRIX_DESC_INIT;
  const tritri_matrix_desc d = read_struct(function, argument, defaults, desc);
  check_enum(function, argument, "dtype", d.dtype, TRITRI_BFLOAT16, "TRITRI_FLOAT32 to TRITRI_BFLOAT16 (0 to 5)");
  check_enum(function, argument, "fill", d.fill, TRITRI_FILL_UPPER, "TRITRI_FILL_FULL, LOWER or UPPER (0 to 2)");
  check_enum(function, argument, "diag", d.diag, TRITRI_DIAG_UNIT, "TRITRI_DIAG_NON_UNIT or UNIT (0 or 1)");
  check_enum(function, argument, "order", d.order, TRITRI_ORDER_COLUMN, "TRITRI_ORDER_ROW or COLUMN (0 or 1)");
  check_enum(function, argument, "storage", d.storage, TRITRI_STORAGE_PACKED, "TRITRI_STORAGE_STRIDED or PACKED (0 or 1)");
  if (d.rows < 0) refuse(function, argument, "rows must be at least 0, got ", d.rows);
  if (d.cols < 0) refuse(function, argument, "cols must be at least 0, got ", d.cols);
  if (d.ld < 0) refuse(function, argument, "ld must be at least 0 (0: tight), got ", d.ld);
  if (d.batch_count < 0 || d.batch_count > most_matrices) refuse(function, argument, "batch_count must be 0 to 2^31, got ", d.batch_count);

  Layout x{static_cast<Dtype>(d.dtype), static_cast<Fill>(d.fill), d.diag == TRITRI_DIAG_UNIT, static_cast<Order>(d.order), static_cast<Storage>(d.storage),
           d.rows, d.cols, d.ld, d.batch_count < 1 ? 1 : d.batch_count, 0};
  const int64_t length = x.order == Order::row ? x.cols : x.rows, count = x.order == Order::row ? x.rows : x.cols;
  if (x.storage == Storage::packed) {
    if (x.fill == Fill::full) refuse(function, argument, "storage PACKED needs fill LOWER or UPPER, got FULL");
    if (d.ld != 0) refuse(function, argument, "ld must be 0 with storage PACKED, got ", d.ld);
  } else {
    if (d.ld != 0 && d.ld < length) refuse(function, argument, "ld must be 0 (tight) or at least the line's length ", length, ", got ", d.ld);
    if (x.ld == 0) x.ld = length < 1 ? 1 : length;
  }
  x.batch_stride = x.batch > 1 ? d.batch_stride : 0;

  using wide = __int128;
  const wide one = x.storage == Storage::packed ? wide(x.rows) * x.cols : wide(count > 0 ? count - 1 : 0) * x.ld + length;
  const wide stride = x.batch_stride < 0 ? -wide(x.batch_stride) : wide(x.batch_stride);
  const wide bytes = (wide(x.batch - 1) * stride + one) * element_bytes(x.dtype);
  if (x.rows > 0 && x.cols > 0 && bytes > wide(INT64_MAX))
    refuse(function, argument, "the matrix must span less than 2^63 bytes, got ", shape(d.rows, d.cols), " with ld ", x.ld, ", batch_count ", x.batch,
           " and batch_stride ", x.batch_stride);
  return x;
}

template <class Struct>
void write_struct(const char *function, const char *argument, Struct known, Struct *out) {
  if (!out) refuse(function, argument, "must not be NULL, got NULL");
  const size_t size = out->struct_size;
  if (size < sizeof(size_t)) refuse(function, argument, "struct_size must be the struct's size in bytes (use the _INIT macro), got ", size);
  known.struct_size = size;
  std::memcpy(out, &known, size < sizeof(Struct) ? size : sizeof(Struct));
}
template void write_struct(const char *, const char *, tritri_matrix_desc, tritri_matrix_desc *);
template void write_struct(const char *, const char *, tritri_device_info, tritri_device_info *);

void check_multiply(const char *function, const tritri_multiply_options &o, const Layout &a, const Layout &b, const Layout &c) {
  if (b.dtype != a.dtype) refuse(function, "b", "dtype must be a's ", name(a.dtype), ", got ", name(b.dtype));
  if (c.dtype != a.dtype) refuse(function, "c", "dtype must be a's ", name(a.dtype), ", got ", name(c.dtype));
  const bool ta = is_transposed(o.op_a), tb = is_transposed(o.op_b);
  const int64_t m = ta ? a.cols : a.rows, k = ta ? a.rows : a.cols, kb = tb ? b.cols : b.rows, n = tb ? b.rows : b.cols;
  if (kb != k) refuse(function, "b", "op(B) must have as many rows as op(A) has columns, ", k, ", got ", shape(kb, n));
  if (c.rows != m || c.cols != n) refuse(function, "c", "must be ", shape(m, n), " as op(A) op(B) is, got ", shape(c.rows, c.cols));
  if (a.batch != 1 && a.batch != c.batch) refuse(function, "a", "batch_count must be 1 or c's ", c.batch, ", got ", a.batch);
  if (b.batch != 1 && b.batch != c.batch) refuse(function, "b", "batch_count must be 1 or c's ", c.batch, ", got ", b.batch);
  check_result(function, "c", c);
  if (!is_complex(a.dtype)) {
    if (o.alpha_im != 0) refuse(function, "options", "alpha_im must be 0 for ", name(a.dtype), ", got ", o.alpha_im);
    if (o.beta_im != 0) refuse(function, "options", "beta_im must be 0 for ", name(a.dtype), ", got ", o.beta_im);
  }
  if (a.dtype != Dtype::f32 && o.compute != TRITRI_COMPUTE_DEFAULT)
    refuse(function, "options", "compute must be TRITRI_COMPUTE_DEFAULT (0) for ", name(a.dtype), ", since the modes are float32's, got ", o.compute);
}

void check_result(const char *function, const char *argument, const Layout &c) {
  if (c.unit) refuse(function, argument, "diag must be TRITRI_DIAG_NON_UNIT (0), since a result's diagonal is computed, got TRITRI_DIAG_UNIT (1)");
  check_apart(function, argument, c);
}

void check_apart(const char *function, const char *argument, const Layout &c) {
  const Lines lines = c.lines();
  const int64_t extent = lines.extent();
  if (c.batch == 1 || extent == 0) return;
  const int64_t stride = c.batch_stride < 0 ? -c.batch_stride : c.batch_stride;
  const bool apart = stride >= extent;
  const bool between_lines = !lines.packed && stride >= lines.length && (c.batch - 1) <= (lines.ld - lines.length) / (stride > 0 ? stride : 1);
  if (!apart && !between_lines)
    refuse(function, argument, "batch_stride must keep the result's matrices apart, at least ", extent, " elements, got ", c.batch_stride);
}

Aliasing check_overlap(const char *function, const Operands &x) {
  const bool c_is_a = check_pair(function, "a", x.a, x.a_data, x.c, x.c_data);
  const bool c_is_b = check_pair(function, "b", x.b, x.b_data, x.c, x.c_data);
  return {c_is_a, c_is_b};
}

void check_same_matrix(const char *function, const char *argument, const Layout &matrix, const Layout &host) {
  if (host.dtype != matrix.dtype) refuse(function, argument, "dtype must be the matrix's ", name(matrix.dtype), ", got ", name(host.dtype));
  if (host.rows != matrix.rows || host.cols != matrix.cols)
    refuse(function, argument, "shape must be the matrix's ", shape(matrix.rows, matrix.cols), ", got ", shape(host.rows, host.cols));
  if (host.fill != matrix.fill) refuse(function, argument, "fill must be the matrix's ", name(matrix.fill), ", got ", name(host.fill));
  if (host.batch != matrix.batch) refuse(function, argument, "batch_count must be the matrix's ", matrix.batch, ", got ", host.batch);
}

void check_data(const char *function, const char *argument, const Layout &x, const void *data) {
  if (!data && x.lines().extent() > 0) refuse(function, argument, "must not be NULL for a ", shape(x.rows, x.cols), " matrix, got NULL");
  const int64_t align = element_bytes(x.dtype) / (is_complex(x.dtype) ? 2 : 1);
  if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(align) != 0)
    refuse(function, argument, "must be aligned to ", align, " bytes for ", name(x.dtype), ", got ", data);
}

}  // namespace tritri
