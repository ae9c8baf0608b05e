#include "core/validate.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/error.h"
#include "support/catch.h"
#include "support/matrix.h"

using namespace tritri;

namespace {

// The message of the Error that `call` throws, which must be TRITRI_INVALID_ARGUMENT; "" if it throws none.
std::string refusal(const std::function<void()> &call) {
  try {
    call();
  } catch (const Error &error) {
    CHECK(error.status() == TRITRI_INVALID_ARGUMENT);
    return error.what();
  }
  return "";
}

using Change = std::function<void(tritri_matrix_desc &)>;

std::string desc_refusal(const Change &change) {
  tritri_matrix_desc desc = support::describe(TRITRI_FLOAT32, TRITRI_FILL_LOWER, 3, 4);
  change(desc);
  return refusal([&] { read_layout("f", "a_desc", &desc); });
}

Layout matrix(int64_t rows, int64_t cols, Fill fill = Fill::full, Dtype dtype = Dtype::f32) { return {dtype, fill, false, Order::row, Storage::strided, rows, cols, cols < 1 ? 1 : cols, 1, 0}; }

}  // namespace

TEST_CASE("every rule about a descriptor has its sentence") {
  const struct {
    Change change;
    std::string sentence;
  } rules[] = {
      {[](auto &d) { d.struct_size = 4; }, "struct_size must be the struct's size in bytes (use the _INIT macro), got 4"},
      {[](auto &d) { d.struct_size = 0; }, "struct_size must be the struct's size in bytes (use the _INIT macro), got 0"},
      {[](auto &d) { d.dtype = 1000; }, "dtype must be TRITRI_FLOAT32 to TRITRI_BFLOAT16 (0 to 5), got 1000"},
      {[](auto &d) { d.dtype = -1; }, "dtype must be TRITRI_FLOAT32 to TRITRI_BFLOAT16 (0 to 5), got -1"},
      {[](auto &d) { d.fill = -1; }, "fill must be TRITRI_FILL_FULL, LOWER or UPPER (0 to 2), got -1"},
      {[](auto &d) { d.fill = 3; }, "fill must be TRITRI_FILL_FULL, LOWER or UPPER (0 to 2), got 3"},
      {[](auto &d) { d.diag = 99; }, "diag must be TRITRI_DIAG_NON_UNIT or UNIT (0 or 1), got 99"},
      {[](auto &d) { d.order = 2; }, "order must be TRITRI_ORDER_ROW or COLUMN (0 or 1), got 2"},
      {[](auto &d) { d.storage = 2; }, "storage must be TRITRI_STORAGE_STRIDED or PACKED (0 or 1), got 2"},
      {[](auto &d) { d.rows = -1; }, "rows must be at least 0, got -1"},
      {[](auto &d) { d.cols = INT64_MIN; }, "cols must be at least 0, got -9223372036854775808"},
      {[](auto &d) { d.ld = -5; }, "ld must be at least 0 (0: tight), got -5"},
      {[](auto &d) { d.ld = 3; }, "ld must be 0 (tight) or at least the line's length 4, got 3"},
      {[](auto &d) { d.order = TRITRI_ORDER_COLUMN; d.ld = 2; }, "ld must be 0 (tight) or at least the line's length 3, got 2"},
      {[](auto &d) { d.batch_count = -1; }, "batch_count must be 0 to 2^31, got -1"},
      {[](auto &d) { d.batch_count = (int64_t{1} << 31) + 1; }, "batch_count must be 0 to 2^31, got 2147483649"},
      {[](auto &d) { d.storage = TRITRI_STORAGE_PACKED; d.fill = TRITRI_FILL_FULL; }, "storage PACKED needs fill LOWER or UPPER, got FULL"},
      {[](auto &d) { d.storage = TRITRI_STORAGE_PACKED; d.ld = 4; }, "ld must be 0 with storage PACKED, got 4"},
      {[](auto &d) { d.rows = d.cols = int64_t{1} << 32; },
       "the matrix must span less than 2^63 bytes, got 4294967296 x 4294967296 with ld 4294967296, batch_count 1 and batch_stride 0"},
      {[](auto &d) { d.batch_count = 3; d.batch_stride = INT64_MAX; },
       "the matrix must span less than 2^63 bytes, got 3 x 4 with ld 4, batch_count 3 and batch_stride 9223372036854775807"},
      {[](auto &d) { d.batch_count = 2; d.batch_stride = INT64_MIN; },
       "the matrix must span less than 2^63 bytes, got 3 x 4 with ld 4, batch_count 2 and batch_stride -9223372036854775808"},
      {[](auto &d) { d.ld = INT64_MAX; }, "the matrix must span less than 2^63 bytes, got 3 x 4 with ld 9223372036854775807, batch_count 1 and batch_stride 0"},
  };
  for (const auto &rule : rules) CHECK(desc_refusal(rule.change) == "f: a_desc: " + rule.sentence);
  CHECK(refusal([] { read_layout("f", "a_desc", nullptr); }) == "f: a_desc: must not be NULL, got NULL");
}

TEST_CASE("a descriptor is read with its defaults filled in") {
  tritri_matrix_desc desc = support::describe(TRITRI_COMPLEX64, TRITRI_FILL_UPPER, 3, 5, TRITRI_ORDER_COLUMN);
  desc.diag = TRITRI_DIAG_UNIT;
  desc.batch_stride = 12345;  // not read for one matrix
  Layout x = read_layout("f", "a", &desc);
  CHECK(x.dtype == Dtype::c64);
  CHECK(x.fill == Fill::upper);
  CHECK(x.unit);
  CHECK(x.order == Order::column);
  CHECK(x.ld == 3);
  CHECK(x.batch == 1);
  CHECK(x.batch_stride == 0);
  desc.rows = 0;
  desc.batch_count = 7;
  x = read_layout("f", "a", &desc);
  CHECK(x.ld == 1);
  CHECK(x.batch == 7);
  CHECK(x.batch_stride == 12345);
  // 2^31 + 1 in every size, and shapes that would overflow if they had elements.
  const int64_t big = (int64_t{1} << 31) + 1;
  desc.rows = big;
  desc.cols = 0;
  desc.ld = big + 1;
  desc.batch_count = int64_t{1} << 31;
  desc.batch_stride = big + 2;
  x = read_layout("f", "a", &desc);
  CHECK(x.rows == big);
  CHECK(x.ld == big + 1);
  CHECK(x.batch == int64_t{1} << 31);
  CHECK(x.batch_stride == big + 2);
  desc.rows = INT64_MAX;
  desc.ld = 0;
  CHECK(read_layout("f", "a", &desc).ld == INT64_MAX);
}

TEST_CASE("a shorter struct gets defaults for what it lacks, and a longer one is read as far as it is known") {
  tritri_matrix_desc desc = support::describe(TRITRI_FLOAT64, TRITRI_FILL_LOWER, 2, 2);
  desc.batch_count = 999;
  desc.ld = 1;  // wrong if it were read
  desc.struct_size = offsetof(tritri_matrix_desc, ld);
  const Layout x = read_layout("f", "a", &desc);
  CHECK(x.rows == 2);
  CHECK(x.ld == 2);
  CHECK(x.batch == 1);

  struct Longer {
    tritri_multiply_options known = TRITRI_MULTIPLY_OPTIONS_INIT;
    double from_the_future = 5;
  } longer;
  longer.known.struct_size = sizeof longer;
  longer.known.op_b = TRITRI_OP_CONJ;
  CHECK(read_options("f", &longer.known).op_b == TRITRI_OP_CONJ);

  tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
  options.op_a = TRITRI_OP_TRANSPOSE;
  options.alpha_re = 7;
  options.struct_size = offsetof(tritri_multiply_options, alpha_re);
  const tritri_multiply_options read = read_options("f", &options);
  CHECK(read.op_a == TRITRI_OP_TRANSPOSE);
  CHECK(read.alpha_re == 1);
}

TEST_CASE("options NULL are the defaults") {
  const tritri_multiply_options m = read_options("f", static_cast<const tritri_multiply_options *>(nullptr));
  CHECK(m.alpha_re == 1);
  CHECK(m.beta_re == 0);
  CHECK(m.op_a == TRITRI_OP_NONE);
  const tritri_context_options c = read_options("f", static_cast<const tritri_context_options *>(nullptr));
  CHECK(c.device == TRITRI_DEVICE_AUTO);
  CHECK(c.threads == 0);
}

TEST_CASE("every rule about options has its sentence") {
  const struct {
    std::function<void(tritri_multiply_options &)> change;
    std::string sentence;
  } multiply_rules[] = {
      {[](auto &o) { o.struct_size = 7; }, "struct_size must be the struct's size in bytes (use the _INIT macro), got 7"},
      {[](auto &o) { o.op_a = 4; }, "op_a must be TRITRI_OP_NONE, TRANSPOSE, CONJ_TRANSPOSE or CONJ (0 to 3), got 4"},
      {[](auto &o) { o.op_b = -1; }, "op_b must be TRITRI_OP_NONE, TRANSPOSE, CONJ_TRANSPOSE or CONJ (0 to 3), got -1"},
      {[](auto &o) { o.compute = 3; }, "compute must be TRITRI_COMPUTE_DEFAULT, PEDANTIC or TF32 (0 to 2), got 3"},
      {[](auto &o) { o.algorithm = -2; }, "algorithm must be TRITRI_ALGORITHM_AUTO, KERNEL or CUBLAS (0 to 2), got -2"},
  };
  for (const auto &rule : multiply_rules) {
    tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
    rule.change(options);
    CHECK(refusal([&] { read_options("f", &options); }) == "f: options: " + rule.sentence);
  }
  const struct {
    std::function<void(tritri_context_options &)> change;
    std::string sentence;
  } context_rules[] = {
      {[](auto &o) { o.struct_size = 1; }, "struct_size must be the struct's size in bytes (use the _INIT macro), got 1"},
      {[](auto &o) { o.device = 3; }, "device must be TRITRI_DEVICE_AUTO, CPU or CUDA (0 to 2), got 3"},
      {[](auto &o) { o.device_index = -1; }, "device_index must be at least 0, got -1"},
      {[](auto &o) { o.threads = -1; }, "threads must be 0 (all) to 1024, got -1"},
      {[](auto &o) { o.threads = 1025; }, "threads must be 0 (all) to 1024, got 1025"},
  };
  for (const auto &rule : context_rules) {
    tritri_context_options options = TRITRI_CONTEXT_OPTIONS_INIT;
    rule.change(options);
    CHECK(refusal([&] { read_options("f", &options); }) == "f: options: " + rule.sentence);
  }
}

TEST_CASE("every rule about a product has its sentence") {
  const auto rule = [](const Layout &a, const Layout &b, const Layout &c, const std::function<void(tritri_multiply_options &)> &change = [](auto &) {}) {
    tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
    change(options);
    return refusal([&] { check_multiply("f", options, a, b, c); });
  };
  const Layout a = matrix(2, 3), b = matrix(3, 4), c = matrix(2, 4);
  CHECK(rule(a, b, c).empty());
  CHECK(rule(a, matrix(3, 4, Fill::full, Dtype::f64), c) == "f: b: dtype must be a's float32, got float64");
  CHECK(rule(a, b, matrix(2, 4, Fill::full, Dtype::bf16)) == "f: c: dtype must be a's float32, got bfloat16");
  CHECK(rule(a, matrix(4, 4), c) == "f: b: op(B) must have as many rows as op(A) has columns, 3, got 4 x 4");
  CHECK(rule(a, b, matrix(4, 2)) == "f: c: must be 2 x 4 as op(A) op(B) is, got 4 x 2");
  CHECK(rule(a, b, c, [](auto &o) { o.op_a = TRITRI_OP_TRANSPOSE; }) == "f: b: op(B) must have as many rows as op(A) has columns, 2, got 3 x 4");
  CHECK(rule(matrix(3, 2), matrix(4, 3), c, [](auto &o) { o.op_a = TRITRI_OP_TRANSPOSE; o.op_b = TRITRI_OP_CONJ_TRANSPOSE; }).empty());
  CHECK(rule(a, b, c, [](auto &o) { o.alpha_im = 1; }) == "f: options: alpha_im must be 0 for float32, got 1");
  CHECK(rule(a, b, c, [](auto &o) { o.beta_im = -2; }) == "f: options: beta_im must be 0 for float32, got -2");

  Layout many = a;
  many.batch = 3;
  many.batch_stride = 6;
  CHECK(rule(many, b, c) == "f: a: batch_count must be 1 or c's 1, got 3");
  Layout result = c;
  result.batch = 2;
  result.batch_stride = 8;
  CHECK(rule(many, b, result) == "f: a: batch_count must be 1 or c's 2, got 3");
  Layout more = b;
  more.batch = 5;
  CHECK(rule(a, more, result) == "f: b: batch_count must be 1 or c's 2, got 5");
  result.batch_stride = 0;
  CHECK(rule(a, b, result) == "f: c: batch_stride must keep the result's matrices apart, at least 8 elements, got 0");
  result.batch_stride = -7;
  CHECK(rule(a, b, result) == "f: c: batch_stride must keep the result's matrices apart, at least 8 elements, got -7");
  result.batch_stride = -8;
  CHECK(rule(a, b, result).empty());
  Layout unit = c;
  unit.unit = true;
  CHECK(rule(a, b, unit) == "f: c: diag must be TRITRI_DIAG_NON_UNIT (0), since a result's diagonal is computed, got TRITRI_DIAG_UNIT (1)");

  for (const Dtype dtype : {Dtype::f64, Dtype::c64, Dtype::c128, Dtype::f16, Dtype::bf16}) {
    const Layout x = matrix(2, 2, Fill::lower, dtype);
    CHECK(rule(x, x, x, [](auto &o) { o.compute = TRITRI_COMPUTE_TF32; }) ==
          std::string("f: options: compute must be TRITRI_COMPUTE_DEFAULT (0) for ") + name(dtype) + ", since the modes are float32's, got 2");
  }
}

TEST_CASE("a result's matrices may lie between each other's lines and not on them") {
  Layout c = matrix(5, 3);
  c.batch = 4;
  c.ld = 12;
  c.batch_stride = 3;
  CHECK(refusal([&] { check_result("f", "c", c); }).empty());
  c.ld = 11;
  CHECK(refusal([&] { check_result("f", "c", c); }) == "f: c: batch_stride must keep the result's matrices apart, at least 47 elements, got 3");
  c.ld = 12;
  c.batch_stride = 2;
  CHECK_FALSE(refusal([&] { check_result("f", "c", c); }).empty());
  c.batch_stride = 51;
  CHECK(refusal([&] { check_result("f", "c", c); }).empty());
}

TEST_CASE("overlap: C is an input itself or lies apart from it") {
  std::vector<float> memory(200);
  float *const at = memory.data();
  const Layout x = matrix(4, 4), l = matrix(4, 4, Fill::lower), u = matrix(4, 4, Fill::upper);
  const auto check = [](const Layout &a, float *pa, const Layout &b, float *pb, const Layout &c, float *pc) { return check_overlap("f", {a, b, c, pa, pb, pc}); };
  const auto message = [&](const Layout &a, float *pa, const Layout &b, float *pb, const Layout &c, float *pc) { return refusal([&] { check(a, pa, b, pb, c, pc); }); };

  CHECK(message(x, at, x, at, x, at + 16).empty());  // inputs may share anything
  CHECK(check(x, at, x, at + 16, x, at).c_is_a);
  CHECK_FALSE(check(x, at, x, at + 16, x, at).c_is_b);
  CHECK(check(l, at, u, at, x, at).c_is_b);  // L and U in one buffer, and their product over it
  CHECK(message(x, at, x, at + 50, x, at + 1) ==
        "f: c: must be a itself (same memory and layout) or lie apart from it, got memory that starts 4 bytes from a and overlaps it");
  CHECK(message(x, at + 50, x, at + 2, x, at) ==
        "f: c: must be b itself (same memory and layout) or lie apart from it, got memory that starts -8 bytes from b and overlaps it");
  Layout column = x;
  column.order = Order::column;
  CHECK_FALSE(message(column, at, x, at + 50, x, at).empty());  // the same memory in another layout

  SECTION("columns of one wide matrix interleave") {
    Layout wide = x;
    wide.ld = 12;
    CHECK(message(wide, at, wide, at + 4, wide, at + 8).empty());
    CHECK_FALSE(message(wide, at, wide, at + 4, wide, at + 7).empty());
    CHECK_FALSE(message(wide, at, wide, at + 4, wide, at + 9).empty());  // its lines run into the next ones of A
    wide.ld = 9;
    CHECK_FALSE(message(wide, at, wide, at + 4, wide, at + 8).empty());
    CHECK(message(wide, at + 100, wide, at, wide, at + 4).empty());
  }
  SECTION("packed storage is the same only with the same fill") {
    Layout packed = l;
    packed.storage = Storage::packed;
    packed.ld = 0;
    Layout other = packed;
    other.fill = Fill::upper;
    CHECK(check(packed, at, x, at + 50, packed, at).c_is_a);
    CHECK_FALSE(message(other, at, x, at + 50, packed, at).empty());
    CHECK(message(packed, at, packed, at, packed, at + 10).empty());
    CHECK_FALSE(message(packed, at, packed, at, packed, at + 9).empty());
  }
  SECTION("batches") {
    Layout batch = x;
    batch.batch = 3;
    batch.batch_stride = 16;
    CHECK(check(batch, at, x, at + 100, batch, at).c_is_a);
    CHECK_FALSE(message(x, at, x, at + 100, batch, at).empty());       // A is only the first matrix of C
    CHECK_FALSE(message(x, at + 20, x, at + 100, batch, at).empty());  // inside the second
    CHECK(message(x, at + 48, x, at + 100, batch, at).empty());
    Layout backwards = batch;
    backwards.batch_stride = -16;
    CHECK_FALSE(message(x, at + 10, x, at + 100, backwards, at + 40).empty());
    CHECK(message(x, at + 56, x, at + 100, backwards, at + 40).empty());
  }
  SECTION("a matrix without elements overlaps nothing") {
    const Layout none = matrix(0, 4);
    CHECK(message(none, at, x, at + 50, x, at).empty());
  }
}

TEST_CASE("every rule about two layouts of one matrix has its sentence") {
  const Layout x = matrix(2, 3, Fill::lower);
  const auto rule = [&](const std::function<void(Layout &)> &change) {
    Layout host = x;
    change(host);
    return refusal([&] { check_same_matrix("f", "host_layout", x, host); });
  };
  CHECK(rule([](auto &h) { h.order = Order::column; h.ld = 9; h.unit = true; }).empty());
  CHECK(rule([](auto &h) { h.dtype = Dtype::f16; }) == "f: host_layout: dtype must be the matrix's float32, got float16");
  CHECK(rule([](auto &h) { h.rows = 3; }) == "f: host_layout: shape must be the matrix's 2 x 3, got 3 x 3");
  CHECK(rule([](auto &h) { h.fill = Fill::full; }) == "f: host_layout: fill must be the matrix's LOWER, got FULL");
  CHECK(rule([](auto &h) { h.batch = 2; }) == "f: host_layout: batch_count must be the matrix's 1, got 2");
}

TEST_CASE("data is NULL only without elements and aligned to its type") {
  const Layout x = matrix(2, 3);
  CHECK(refusal([&] { check_data("f", "a", x, nullptr); }) == "f: a: must not be NULL for a 2 x 3 matrix, got NULL");
  CHECK(refusal([&] { check_data("f", "a", matrix(0, 3), nullptr); }).empty());
  alignas(16) char bytes[64];
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128, Dtype::f16, Dtype::bf16}) {
    const size_t align = static_cast<size_t>(element_bytes(dtype) / (is_complex(dtype) ? 2 : 1));
    CHECK(refusal([&] { check_data("f", "a", matrix(1, 1, Fill::full, dtype), bytes + align); }).empty());
    const std::string message = refusal([&] { check_data("f", "a", matrix(1, 1, Fill::full, dtype), bytes + align - 1); });
    CHECK(message.find("f: a: must be aligned to " + std::to_string(align) + " bytes for " + name(dtype)) == 0);
  }
}

TEST_CASE("write_struct writes no more than the caller's struct_size and keeps it") {
  tritri_device_info known = TRITRI_DEVICE_INFO_INIT;
  known.kind = TRITRI_DEVICE_CUDA;
  known.index = 3;
  tritri_device_info out;
  std::memset(&out, 0x55, sizeof out);
  out.struct_size = offsetof(tritri_device_info, index);
  write_struct("f", "info", known, &out);
  CHECK(out.struct_size == offsetof(tritri_device_info, index));
  CHECK(out.kind == TRITRI_DEVICE_CUDA);
  CHECK(out.index == 0x55555555);
  struct Longer {
    tritri_device_info known;
    char beyond[8];
  } longer;
  std::memset(&longer, 0x55, sizeof longer);
  longer.known.struct_size = sizeof longer;
  write_struct("f", "info", known, &longer.known);
  CHECK(longer.known.struct_size == sizeof longer);
  CHECK(longer.known.index == 3);
  CHECK(longer.beyond[0] == 0x55);
  out.struct_size = 2;
  CHECK(refusal([&] { write_struct("f", "info", known, &out); }) == "f: info: struct_size must be the struct's size in bytes (use the _INIT macro), got 2");
  CHECK(refusal([&] { write_struct("f", "info", known, static_cast<tritri_device_info *>(nullptr)); }) == "f: info: must not be NULL, got NULL");
}
