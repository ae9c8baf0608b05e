// Wrong arguments: one sentence that names function, argument, rule and value, and nothing touched.
#include <cmath>
#include <cstddef>
#include <cstring>

#include "api/fixture.h"

using namespace api_tests;
using support::call;

namespace {

tritri_context *const no_context = nullptr;
const tritri_matrix *const no_matrix = nullptr;

struct ByteSnapshot {
  const void *data;
  std::vector<unsigned char> bytes;
  ByteSnapshot(const void *from, size_t size) : data(from), bytes(static_cast<const unsigned char *>(from), static_cast<const unsigned char *>(from) + size) {}
  bool holds() const { return std::memcmp(data, bytes.data(), bytes.size()) == 0; }
};

}  // namespace

TEST_CASE("NULL for every pointer that must not be one") {
  Fixture f;
  tritri_context *context = f.context, *context_out = reinterpret_cast<tritri_context *>(0x5a5a);
  tritri_matrix *matrix_out = reinterpret_cast<tritri_matrix *>(0x5a5a);
  void *pointer_out = reinterpret_cast<void *>(0x5a5a);
  size_t bytes = 77;
  int32_t count = 77;
  double residual = 77;
  char text[16] = "kept";
  tritri_device_info info = TRITRI_DEVICE_INFO_INIT;
  tritri_matrix_desc desc = TRITRI_MATRIX_DESC_INIT;
  const tritri_matrix *a = f.a, *b = f.b;
  tritri_matrix *c = f.result;

  const struct {
    const char *function, *argument;
    std::function<tritri_status()> run;
  } calls[] = {
      {"tritri_context_create", "out", [&] { return tritri_context_create(nullptr, nullptr); }},
      {"tritri_context_synchronize", "context", [&] { return tritri_context_synchronize(no_context); }},
      {"tritri_context_set_stream", "context", [&] { return tritri_context_set_stream(no_context, nullptr); }},
      {"tritri_context_device_info", "context", [&] { return tritri_context_device_info(no_context, &info); }},
      {"tritri_context_device_info", "info", [&] { return tritri_context_device_info(context, nullptr); }},
      {"tritri_upload", "context", [&] { return tritri_upload(no_context, &f.full, f.c, &matrix_out); }},
      {"tritri_upload", "host_layout", [&] { return tritri_upload(context, nullptr, f.c, &matrix_out); }},
      {"tritri_upload", "host", [&] { return tritri_upload(context, &f.full, nullptr, &matrix_out); }},
      {"tritri_upload", "out", [&] { return tritri_upload(context, &f.full, f.c, nullptr); }},
      {"tritri_matrix_create", "context", [&] { return tritri_matrix_create(no_context, &f.full, &matrix_out); }},
      {"tritri_matrix_create", "desc", [&] { return tritri_matrix_create(context, nullptr, &matrix_out); }},
      {"tritri_matrix_create", "out", [&] { return tritri_matrix_create(context, &f.full, nullptr); }},
      {"tritri_matrix_wrap", "context", [&] { return tritri_matrix_wrap(no_context, &f.full, f.c, &matrix_out); }},
      {"tritri_matrix_wrap", "desc", [&] { return tritri_matrix_wrap(context, nullptr, f.c, &matrix_out); }},
      {"tritri_matrix_wrap", "device_memory", [&] { return tritri_matrix_wrap(context, &f.full, nullptr, &matrix_out); }},
      {"tritri_matrix_wrap", "out", [&] { return tritri_matrix_wrap(context, &f.full, f.c, nullptr); }},
      {"tritri_upload_into", "context", [&] { return tritri_upload_into(no_context, c, &f.full, f.c); }},
      {"tritri_upload_into", "matrix", [&] { return tritri_upload_into(context, nullptr, &f.full, f.c); }},
      {"tritri_upload_into", "host_layout", [&] { return tritri_upload_into(context, c, nullptr, f.c); }},
      {"tritri_upload_into", "host", [&] { return tritri_upload_into(context, c, &f.full, nullptr); }},
      {"tritri_matrix_desc_get", "matrix", [&] { return tritri_matrix_desc_get(no_matrix, &desc); }},
      {"tritri_matrix_desc_get", "out", [&] { return tritri_matrix_desc_get(a, nullptr); }},
      {"tritri_matrix_data", "matrix", [&] { return tritri_matrix_data(no_matrix, &pointer_out); }},
      {"tritri_matrix_data", "device_memory", [&] { return tritri_matrix_data(a, nullptr); }},
      {"tritri_multiply", "context", [&] { return tritri_multiply(no_context, nullptr, a, b, c); }},
      {"tritri_multiply", "a", [&] { return tritri_multiply(context, nullptr, nullptr, b, c); }},
      {"tritri_multiply", "b", [&] { return tritri_multiply(context, nullptr, a, nullptr, c); }},
      {"tritri_multiply", "c", [&] { return tritri_multiply(context, nullptr, a, b, nullptr); }},
      {"tritri_download", "context", [&] { return tritri_download(no_context, a, nullptr, f.c); }},
      {"tritri_download", "matrix", [&] { return tritri_download(context, no_matrix, nullptr, f.c); }},
      {"tritri_download", "host", [&] { return tritri_download(context, a, nullptr, nullptr); }},
      {"tritri_multiply_host", "context", [&] { return tritri_multiply_host(no_context, nullptr, &f.upper, f.u, &f.lower, f.l, &f.full, f.c); }},
      {"tritri_multiply_host", "a_desc", [&] { return tritri_multiply_host(context, nullptr, nullptr, f.u, &f.lower, f.l, &f.full, f.c); }},
      {"tritri_multiply_host", "a", [&] { return tritri_multiply_host(context, nullptr, &f.upper, nullptr, &f.lower, f.l, &f.full, f.c); }},
      {"tritri_multiply_host", "b_desc", [&] { return tritri_multiply_host(context, nullptr, &f.upper, f.u, nullptr, f.l, &f.full, f.c); }},
      {"tritri_multiply_host", "b", [&] { return tritri_multiply_host(context, nullptr, &f.upper, f.u, &f.lower, nullptr, &f.full, f.c); }},
      {"tritri_multiply_host", "c_desc", [&] { return tritri_multiply_host(context, nullptr, &f.upper, f.u, &f.lower, f.l, nullptr, f.c); }},
      {"tritri_multiply_host", "c", [&] { return tritri_multiply_host(context, nullptr, &f.upper, f.u, &f.lower, f.l, &f.full, nullptr); }},
      {"tritri_workspace_size", "context", [&] { return tritri_workspace_size(no_context, nullptr, a, b, c, &bytes); }},
      {"tritri_workspace_size", "a", [&] { return tritri_workspace_size(context, nullptr, nullptr, b, c, &bytes); }},
      {"tritri_workspace_size", "b", [&] { return tritri_workspace_size(context, nullptr, a, nullptr, c, &bytes); }},
      {"tritri_workspace_size", "c", [&] { return tritri_workspace_size(context, nullptr, a, b, nullptr, &bytes); }},
      {"tritri_workspace_size", "bytes", [&] { return tritri_workspace_size(context, nullptr, a, b, c, nullptr); }},
      {"tritri_plan_describe", "context", [&] { return tritri_plan_describe(no_context, nullptr, a, b, c, text, sizeof text); }},
      {"tritri_plan_describe", "a", [&] { return tritri_plan_describe(context, nullptr, nullptr, b, c, text, sizeof text); }},
      {"tritri_plan_describe", "text", [&] { return tritri_plan_describe(context, nullptr, a, b, c, nullptr, sizeof text); }},
      {"tritri_verify", "context", [&] { return tritri_verify(no_context, nullptr, a, b, c, 1, &residual); }},
      {"tritri_verify", "a", [&] { return tritri_verify(context, nullptr, nullptr, b, c, 1, &residual); }},
      {"tritri_verify", "b", [&] { return tritri_verify(context, nullptr, a, nullptr, c, 1, &residual); }},
      {"tritri_verify", "c", [&] { return tritri_verify(context, nullptr, a, b, nullptr, 1, &residual); }},
      {"tritri_verify", "relative_residual", [&] { return tritri_verify(context, nullptr, a, b, c, 1, nullptr); }},
      {"tritri_device_count", "count", [&] { return tritri_device_count(TRITRI_DEVICE_CPU, nullptr); }},
      {"tritri_device_info_get", "info", [&] { return tritri_device_info_get(TRITRI_DEVICE_CPU, 0, nullptr); }},
      {"tritri_host_allocate", "context", [&] { return tritri_host_allocate(no_context, 8, &pointer_out); }},
      {"tritri_host_allocate", "out", [&] { return tritri_host_allocate(context, 8, nullptr); }},
      {"tritri_host_free", "context", [&] { return tritri_host_free(no_context, &bytes); }},
  };
  const ByteSnapshot c_kept(f.c, sizeof f.c), info_kept(&info, sizeof info), desc_kept(&desc, sizeof desc);
  for (const auto &each : calls) require_refused(each.run(), TRITRI_INVALID_ARGUMENT, each.function, std::string(": ") + each.argument + ": must not be NULL");
  CHECK(c_kept.holds());
  CHECK(info_kept.holds());
  CHECK(desc_kept.holds());
  CHECK(context_out == reinterpret_cast<tritri_context *>(0x5a5a));
  CHECK(matrix_out == reinterpret_cast<tritri_matrix *>(0x5a5a));
  CHECK(pointer_out == reinterpret_cast<void *>(0x5a5a));
  CHECK(bytes == 77);
  CHECK(count == 77);
  CHECK(residual == 77);
  CHECK(std::string(text) == "kept");
}

TEST_CASE("destroy and free take NULL") {
  Fixture f;
  tritri_context_destroy(nullptr);
  tritri_matrix_destroy(nullptr);
  CHECK(tritri_host_free(f.context, nullptr) == TRITRI_OK);
}

TEST_CASE("V21 enumerators out of range name their field, in every struct and function") {
  Fixture f;
  tritri_matrix *out = nullptr;
  const int32_t wrongs[] = {-1, 99, 1000, INT32_MIN, INT32_MAX};
  const struct {
    const char *name;
    int32_t tritri_matrix_desc::*field;
  } fields[] = {{"dtype", &tritri_matrix_desc::dtype}, {"fill", &tritri_matrix_desc::fill}, {"diag", &tritri_matrix_desc::diag},
                {"order", &tritri_matrix_desc::order}, {"storage", &tritri_matrix_desc::storage}};
  for (const auto &field : fields) {
    for (const int32_t wrong : wrongs) {
      tritri_matrix_desc desc = f.full;
      desc.*field.field = wrong;
      const std::string got = ", got " + std::to_string(wrong);
      require_refused(tritri_upload(f.context, &desc, f.c, &out), TRITRI_INVALID_ARGUMENT, "tritri_upload", std::string("host_layout: ") + field.name);
      CHECK(std::string(tritri_last_error()).find(got) != std::string::npos);
      require_refused(tritri_matrix_create(f.context, &desc, &out), TRITRI_INVALID_ARGUMENT, "tritri_matrix_create", std::string("desc: ") + field.name);
      require_refused(tritri_matrix_wrap(f.context, &desc, f.c, &out), TRITRI_INVALID_ARGUMENT, "tritri_matrix_wrap", std::string("desc: ") + field.name);
      require_refused(tritri_download(f.context, f.result, &desc, f.c), TRITRI_INVALID_ARGUMENT, "tritri_download", std::string("host_layout: ") + field.name);
      require_refused(tritri_upload_into(f.context, f.result, &desc, f.c), TRITRI_INVALID_ARGUMENT, "tritri_upload_into", std::string("host_layout: ") + field.name);
      require_refused(tritri_multiply_host(f.context, nullptr, &desc, f.u, &f.lower, f.l, &f.full, f.c), TRITRI_INVALID_ARGUMENT, "tritri_multiply_host", std::string("a_desc: ") + field.name);
      require_refused(tritri_multiply_host(f.context, nullptr, &f.upper, f.u, &desc, f.l, &f.full, f.c), TRITRI_INVALID_ARGUMENT, "tritri_multiply_host", std::string("b_desc: ") + field.name);
      require_refused(tritri_multiply_host(f.context, nullptr, &f.upper, f.u, &f.lower, f.l, &desc, f.c), TRITRI_INVALID_ARGUMENT, "tritri_multiply_host", std::string("c_desc: ") + field.name);
    }
  }
  const struct {
    const char *name;
    int32_t tritri_multiply_options::*field;
  } option_fields[] = {{"op_a", &tritri_multiply_options::op_a}, {"op_b", &tritri_multiply_options::op_b}, {"compute", &tritri_multiply_options::compute},
                       {"algorithm", &tritri_multiply_options::algorithm}};
  double residual = 5;
  size_t bytes = 5;
  char text[8] = "kept";
  for (const auto &field : option_fields) {
    for (const int32_t wrong : wrongs) {
      tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
      options.*field.field = wrong;
      const std::string words = std::string("options: ") + field.name;
      require_refused(tritri_multiply(f.context, &options, f.a, f.b, f.result), TRITRI_INVALID_ARGUMENT, "tritri_multiply", words);
      require_refused(tritri_multiply_host(f.context, &options, &f.upper, f.u, &f.lower, f.l, &f.full, f.c), TRITRI_INVALID_ARGUMENT, "tritri_multiply_host", words);
      require_refused(tritri_workspace_size(f.context, &options, f.a, f.b, f.result, &bytes), TRITRI_INVALID_ARGUMENT, "tritri_workspace_size", words);
      require_refused(tritri_plan_describe(f.context, &options, f.a, f.b, f.result, text, sizeof text), TRITRI_INVALID_ARGUMENT, "tritri_plan_describe", words);
      require_refused(tritri_verify(f.context, &options, f.a, f.b, f.result, 1, &residual), TRITRI_INVALID_ARGUMENT, "tritri_verify", words);
    }
  }
  for (const int32_t wrong : wrongs) {
    tritri_context_options options = TRITRI_CONTEXT_OPTIONS_INIT;
    options.device = wrong;
    tritri_context *context = nullptr;
    require_refused(tritri_context_create(&options, &context), TRITRI_INVALID_ARGUMENT, "tritri_context_create", "options: device");
    CHECK(context == nullptr);
    int32_t count = 5;
    require_refused(tritri_device_count(static_cast<tritri_device>(wrong), &count), TRITRI_INVALID_ARGUMENT, "tritri_device_count", "kind: must be");
    CHECK(count == 5);
    tritri_device_info info = TRITRI_DEVICE_INFO_INIT;
    require_refused(tritri_device_info_get(static_cast<tritri_device>(wrong), 0, &info), TRITRI_INVALID_ARGUMENT, "tritri_device_info_get", "kind: must be");
  }
  const double kept[] = {-1, -2, -3, -4};
  CHECK(std::memcmp(f.c, kept, sizeof kept) == 0);
  CHECK(out == nullptr);
  CHECK(residual == 5);
  CHECK(bytes == 5);
  CHECK(std::string(text) == "kept");
}

TEST_CASE("a refused product leaves C's bytes, by handle and by host array") {
  Fixture f;
  const support::Matrix c = support::wrap(f.context, f.full, f.c);
  const ByteSnapshot kept(f.c, sizeof f.c);
  const tritri_matrix_desc wide = support::describe(TRITRI_FLOAT64, TRITRI_FILL_FULL, 2, 3), single = support::describe(TRITRI_FLOAT32, TRITRI_FILL_FULL, 2, 2);
  double six[6] = {};
  float four[4] = {};
  const support::Matrix tall = support::upload(f.context, wide, six), other = support::upload(f.context, single, four);
  tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
  require_refused(tritri_multiply(f.context, nullptr, tall, f.b, c), TRITRI_INVALID_ARGUMENT, "tritri_multiply", "b: op(B) must have as many rows as op(A) has columns, 3, got 2 x 2");
  require_refused(tritri_multiply(f.context, nullptr, f.a, tall, c), TRITRI_INVALID_ARGUMENT, "tritri_multiply", "c: must be 2 x 3 as op(A) op(B) is, got 2 x 2");
  require_refused(tritri_multiply(f.context, nullptr, f.a, other, c), TRITRI_INVALID_ARGUMENT, "tritri_multiply", "b: dtype must be a's float64, got float32");
  options.alpha_im = 0.5;
  require_refused(tritri_multiply(f.context, &options, f.a, f.b, c), TRITRI_INVALID_ARGUMENT, "tritri_multiply", "options: alpha_im must be 0 for float64, got 0.5");
  options = TRITRI_MULTIPLY_OPTIONS_INIT;
  options.compute = TRITRI_COMPUTE_TF32;
  require_refused(tritri_multiply(f.context, &options, f.a, f.b, c), TRITRI_INVALID_ARGUMENT, "tritri_multiply", "options: compute must be TRITRI_COMPUTE_DEFAULT");
  options.compute = TRITRI_COMPUTE_DEFAULT;
  options.algorithm = TRITRI_ALGORITHM_CUBLAS;
  require_refused(tritri_multiply(f.context, &options, f.a, f.b, c), TRITRI_NOT_SUPPORTED, "tritri_multiply", "options: algorithm TRITRI_ALGORITHM_CUBLAS (2) needs a CUDA context");
  size_t bytes = 0;
  require_refused(tritri_workspace_size(f.context, &options, f.a, f.b, c, &bytes), TRITRI_NOT_SUPPORTED, "tritri_workspace_size", "options: algorithm TRITRI_ALGORITHM_CUBLAS (2)");
  tritri_matrix_desc unit = f.full;
  unit.diag = TRITRI_DIAG_UNIT;
  require_refused(tritri_multiply_host(f.context, nullptr, &f.upper, f.u, &f.lower, f.l, &unit, f.c), TRITRI_INVALID_ARGUMENT, "tritri_multiply_host", "c: diag must be TRITRI_DIAG_NON_UNIT");
  CHECK(kept.holds());
  call(tritri_multiply(f.context, nullptr, f.a, f.b, c));
  CHECK(f.c[0] == 14);
  CHECK(f.c[3] == 18);
}

TEST_CASE("matrices of another context are refused") {
  Fixture f, g;
  const char *const who = "must belong to this context";
  double residual = 5;
  require_refused(tritri_multiply(f.context, nullptr, g.a, f.b, f.result), TRITRI_INVALID_ARGUMENT, "tritri_multiply", std::string("a: ") + who);
  require_refused(tritri_multiply(f.context, nullptr, f.a, g.b, f.result), TRITRI_INVALID_ARGUMENT, "tritri_multiply", std::string("b: ") + who);
  require_refused(tritri_multiply(f.context, nullptr, f.a, f.b, g.result), TRITRI_INVALID_ARGUMENT, "tritri_multiply", std::string("c: ") + who);
  require_refused(tritri_verify(f.context, nullptr, f.a, f.b, g.result, 1, &residual), TRITRI_INVALID_ARGUMENT, "tritri_verify", std::string("c: ") + who);
  require_refused(tritri_download(f.context, g.a, nullptr, f.c), TRITRI_INVALID_ARGUMENT, "tritri_download", std::string("matrix: ") + who);
  require_refused(tritri_upload_into(f.context, g.a, &f.upper, f.u), TRITRI_INVALID_ARGUMENT, "tritri_upload_into", std::string("matrix: ") + who);
}

TEST_CASE("verify has rules of its own") {
  Fixture f;
  double residual = 5;
  for (const int32_t probes : {0, -1, 1025})
    require_refused(tritri_verify(f.context, nullptr, f.a, f.b, f.result, probes, &residual), TRITRI_INVALID_ARGUMENT, "tritri_verify", "probes: must be 1 to 1024, got " + std::to_string(probes));
  tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
  options.beta_re = 0.5;
  require_refused(tritri_verify(f.context, &options, f.a, f.b, f.result, 1, &residual), TRITRI_INVALID_ARGUMENT, "tritri_verify", "options: beta must be 0");
  const support::Matrix same = support::wrap(f.context, f.full, f.c);
  require_refused(tritri_verify(f.context, nullptr, same, f.b, same, 1, &residual), TRITRI_INVALID_ARGUMENT, "tritri_verify", "c: must not be a or b");
  CHECK(residual == 5);
  call(tritri_multiply(f.context, nullptr, f.a, f.b, f.result));
  call(tritri_verify(f.context, nullptr, f.a, f.b, f.result, 8, &residual));
  CHECK(residual < 1e-14);
}

TEST_CASE("plan_describe cuts its line to the text it is given") {
  Fixture f;
  char text[512] = "", small[8] = "xxxxxxx";
  call(tritri_plan_describe(f.context, nullptr, f.a, f.b, f.result, text, sizeof text));
  INFO(text);
  CHECK(std::string(text).find("device=cpu") == 0);
  CHECK(std::string(text).find("flops=") != std::string::npos);
  call(tritri_plan_describe(f.context, nullptr, f.a, f.b, f.result, small, sizeof small));
  CHECK(std::string(small) == std::string(text).substr(0, 7));
  require_refused(tritri_plan_describe(f.context, nullptr, f.a, f.b, f.result, small, 0), TRITRI_INVALID_ARGUMENT, "tritri_plan_describe", "text_bytes: must be at least 1, got 0");
  size_t bytes = 5;
  call(tritri_workspace_size(f.context, nullptr, f.a, f.b, f.result, &bytes));
  CHECK(bytes == 0);
}

TEST_CASE("B9 shorter and longer structs of older and newer callers work") {
  Fixture f;
  // An older descriptor that ends before the batch fields: what lies behind it must not be read.
  tritri_matrix_desc older = f.full;
  older.struct_size = offsetof(tritri_matrix_desc, batch_count);
  older.batch_count = -7;
  call(tritri_multiply_host(f.context, nullptr, &f.upper, f.u, &f.lower, f.l, &older, f.c));
  CHECK(f.c[2] == 15);

  tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
  options.alpha_re = 2;
  options.compute = 77;
  options.struct_size = offsetof(tritri_multiply_options, compute);
  call(tritri_multiply_host(f.context, &options, &f.upper, f.u, &f.lower, f.l, &f.full, f.c));
  CHECK(f.c[2] == 30);

  struct {
    tritri_context_options known;
    char future[64];
  } newer = {TRITRI_CONTEXT_OPTIONS_INIT, {}};
  newer.known.struct_size = sizeof newer;
  newer.known.device = TRITRI_DEVICE_CPU;
  support::Context from_newer, from_shortest;
  call(tritri_context_create(&newer.known, from_newer.out()));

  tritri_context_options shortest = TRITRI_CONTEXT_OPTIONS_INIT;
  shortest.struct_size = offsetof(tritri_context_options, device_index);
  shortest.device = TRITRI_DEVICE_CPU;
  shortest.threads = -5;
  call(tritri_context_create(&shortest, from_shortest.out()));

  tritri_matrix_desc out;
  std::memset(&out, 0x55, sizeof out);
  out.struct_size = offsetof(tritri_matrix_desc, ld);
  call(tritri_matrix_desc_get(f.a, &out));
  CHECK(out.rows == 2);
  CHECK(out.ld == 0x5555555555555555);
  tritri_device_info info;
  std::memset(&info, 0x55, sizeof info);
  info.struct_size = offsetof(tritri_device_info, details);
  call(tritri_context_device_info(f.context, &info));
  CHECK(info.kind == TRITRI_DEVICE_CPU);
  CHECK(info.details[0] == 0x55);
  info.struct_size = 0;
  require_refused(tritri_context_device_info(f.context, &info), TRITRI_INVALID_ARGUMENT, "tritri_context_device_info", "info: struct_size must be the struct's size in bytes");
}

TEST_CASE("B3 2^31 + 1 passes through every size of the descriptor") {
  Fixture f;
  const int64_t big = (int64_t{1} << 31) + 1;
  tritri_matrix_desc desc = support::describe(TRITRI_FLOAT32, TRITRI_FILL_LOWER, big, 0), got = TRITRI_MATRIX_DESC_INIT;
  desc.order = TRITRI_ORDER_COLUMN;
  desc.ld = big + 1;
  desc.batch_count = int64_t{1} << 31;
  desc.batch_stride = big + 2;
  const support::Matrix created = support::create(f.context, desc);
  call(tritri_matrix_desc_get(created, &got));
  CHECK(got.rows == big);
  CHECK(got.cols == 0);
  CHECK(got.ld == big + 1);
  CHECK(got.batch_count == int64_t{1} << 31);
  CHECK(got.batch_stride == big + 2);
  // As an inner dimension without elements on either side: C is beta C.
  const tritri_matrix_desc left = support::describe(TRITRI_FLOAT64, TRITRI_FILL_FULL, 0, big), right = support::describe(TRITRI_FLOAT64, TRITRI_FILL_FULL, big, 0),
                           none = support::describe(TRITRI_FLOAT64, TRITRI_FILL_FULL, 0, 0);
  call(tritri_multiply_host(f.context, nullptr, &left, nullptr, &right, nullptr, &none, nullptr));
  tritri_matrix_desc wrong = none;
  wrong.rows = big;
  require_refused(tritri_multiply_host(f.context, nullptr, &left, nullptr, &right, nullptr, &wrong, nullptr), TRITRI_INVALID_ARGUMENT, "tritri_multiply_host", "got 2147483649 x 0");
}

TEST_CASE("nothing is quickly done, however long or often it is") {
  Fixture f;
  const int64_t big = int64_t{1} << 60, most = int64_t{1} << 31;
  for (const int32_t fill : {TRITRI_FILL_FULL, TRITRI_FILL_LOWER, TRITRI_FILL_UPPER}) {
    for (const int32_t order : {TRITRI_ORDER_ROW, TRITRI_ORDER_COLUMN}) {
      for (const bool long_rows : {false, true}) {
        tritri_matrix_desc desc = support::describe(TRITRI_FLOAT32, fill, long_rows ? 0 : big, long_rows ? big : 0), inner = desc;
        desc.order = order;
        const support::Matrix x = support::upload(f.context, desc, nullptr);
        call(tritri_download(f.context, x, nullptr, nullptr));
        desc.order = TRITRI_ORDER_ROW;
        call(tritri_upload_into(f.context, x, &desc, nullptr));
        inner.rows = inner.cols = 0;
        desc.fill = TRITRI_FILL_FULL;
        const support::Matrix none = support::create(f.context, inner), product = support::create(f.context, desc);
        const support::Matrix &left = long_rows ? none : x, &right = long_rows ? x : none;
        char text[400];
        double residual = -1;
        call(tritri_multiply(f.context, nullptr, left, right, product));
        call(tritri_plan_describe(f.context, nullptr, left, right, product, text, sizeof text));
        call(tritri_verify(f.context, nullptr, left, right, product, 1, &residual));
        CHECK(residual == 0);
      }
    }
  }
  tritri_matrix_desc many = support::describe(TRITRI_FLOAT32, TRITRI_FILL_LOWER, 0, 0);
  many.batch_count = most;
  const support::Matrix x = support::upload(f.context, many, nullptr), product = support::create(f.context, many);
  double residual = -1;
  call(tritri_verify(f.context, nullptr, x, x, product, 1024, &residual));
  CHECK(residual == 0);
  call(tritri_download(f.context, x, nullptr, nullptr));
}

TEST_CASE("memory that nobody has is TRITRI_OUT_OF_MEMORY, and the output stays") {
  Fixture f;
  tritri_matrix *out = nullptr;
  void *pointer = nullptr;
  const tritri_matrix_desc huge = support::describe(TRITRI_FLOAT64, TRITRI_FILL_FULL, int64_t{1} << 30, int64_t{1} << 29);
  CHECK(tritri_matrix_create(f.context, &huge, &out) == TRITRI_OUT_OF_MEMORY);
  CHECK(std::string(tritri_last_error()).find("4611686018427387904") != std::string::npos);
  for (const size_t bytes : {SIZE_MAX, SIZE_MAX - 255, SIZE_MAX / 2, size_t{1} << 62}) {
    CHECK(tritri_host_allocate(f.context, bytes, &pointer) == TRITRI_OUT_OF_MEMORY);
    CHECK(std::string(tritri_last_error()).find(std::to_string(bytes)) != std::string::npos);
  }
  CHECK(out == nullptr);
  CHECK(pointer == nullptr);
}

TEST_CASE("misaligned memory is refused") {
  Fixture f;
  alignas(8) char bytes[64] = {};
  tritri_matrix *out = nullptr;
  require_refused(tritri_matrix_wrap(f.context, &f.full, bytes + 4, &out), TRITRI_INVALID_ARGUMENT, "tritri_matrix_wrap", "device_memory: must be aligned to 8 bytes for float64");
  require_refused(tritri_upload(f.context, &f.full, bytes + 1, &out), TRITRI_INVALID_ARGUMENT, "tritri_upload", "host: must be aligned to 8 bytes");
  CHECK(out == nullptr);
}

TEST_CASE("matrices of the library's own memory have no negative batch stride") {
  Fixture f;
  tritri_matrix_desc desc = f.full;
  desc.batch_count = 2;
  desc.batch_stride = -4;
  tritri_matrix *out = nullptr;
  require_refused(tritri_matrix_create(f.context, &desc, &out), TRITRI_INVALID_ARGUMENT, "tritri_matrix_create", "desc: batch_stride must be at least 0 for memory of the library's own, got -4");
  CHECK(out == nullptr);
}
