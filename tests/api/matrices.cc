// Handles, layouts and overlaps.
#include <cstring>

#include "api/fixture.h"
#include "support/check.h"
#include "support/random.h"

using namespace api_tests;
using support::call;

TEST_CASE("contexts and matrices may go in any order") {
  double u[4] = {1, 2, 0, 3};
  const tritri_matrix_desc desc = support::describe(TRITRI_FLOAT64, TRITRI_FILL_UPPER, 2, 2);
  for (int order = 0; order < 6; ++order) {
    tritri_context *context = nullptr;
    tritri_matrix *first = nullptr, *second = nullptr;
    tritri_context_options options = TRITRI_CONTEXT_OPTIONS_INIT;
    options.device = TRITRI_DEVICE_CPU;
    call(tritri_context_create(&options, &context));
    call(tritri_upload(context, &desc, u, &first));
    call(tritri_matrix_wrap(context, &desc, u, &second));
    const auto drop = [&](int what) {
      if (what == 0) tritri_context_destroy(context);
      if (what == 1) tritri_matrix_destroy(first);
      if (what == 2) tritri_matrix_destroy(second);
    };
    const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    drop(orders[order][0]);
    if (order < 2) {  // the context is gone, its matrices are not
      void *data = nullptr;
      call(tritri_matrix_data(first, &data));
      CHECK(static_cast<double *>(data)[3] == 3);
    }
    drop(orders[order][1]);
    drop(orders[order][2]);
  }
  CHECK(u[3] == 3);
}

TEST_CASE("a wrapped matrix is the caller's memory, an uploaded one a copy") {
  Fixture f;
  void *data = nullptr;
  const support::Matrix wrapped = support::wrap(f.context, f.full, f.c);
  call(tritri_matrix_data(wrapped, &data));
  CHECK(data == f.c);
  call(tritri_multiply(f.context, nullptr, f.a, f.b, wrapped));
  CHECK(f.c[1] == 12);
  call(tritri_matrix_data(f.a, &data));
  CHECK(data != f.u);
  f.u[0] = 100;
  call(tritri_multiply(f.context, nullptr, f.a, f.b, wrapped));
  CHECK(f.c[0] == 14);
  call(tritri_upload_into(f.context, f.a, &f.upper, f.u));
  call(tritri_multiply(f.context, nullptr, f.a, f.b, wrapped));
  CHECK(f.c[0] == 410);
}

TEST_CASE("desc_get tells the layout in memory") {
  Fixture f;
  tritri_matrix_desc desc = support::describe(TRITRI_COMPLEX64, TRITRI_FILL_UPPER, 3, 5, TRITRI_ORDER_COLUMN), got = TRITRI_MATRIX_DESC_INIT;
  desc.diag = TRITRI_DIAG_UNIT;
  desc.ld = 7;
  desc.batch_count = 2;
  desc.batch_stride = 40;
  call(tritri_matrix_desc_get(support::create(f.context, desc), &got));
  CHECK(got.dtype == TRITRI_COMPLEX64);
  CHECK(got.fill == TRITRI_FILL_UPPER);
  CHECK(got.diag == TRITRI_DIAG_UNIT);
  CHECK(got.order == TRITRI_ORDER_COLUMN);
  CHECK(got.storage == TRITRI_STORAGE_STRIDED);
  CHECK(got.rows == 3);
  CHECK(got.cols == 5);
  CHECK(got.ld == 7);
  CHECK(got.batch_count == 2);
  CHECK(got.batch_stride == 40);
  desc.ld = 0;
  desc.batch_count = 0;
  call(tritri_matrix_desc_get(support::create(f.context, desc), &got));
  CHECK(got.ld == 3);
  CHECK(got.batch_count == 1);
}

TEST_CASE("a download must describe the same matrix") {
  Fixture f;
  double host[6] = {1, 1, 1, 1, 1, 1};
  const auto refused = [&](const tritri_matrix_desc &desc, const char *words) {
    require_refused(tritri_download(f.context, f.a, &desc, host), TRITRI_INVALID_ARGUMENT, "tritri_download", std::string("host_layout: ") + words);
    require_refused(tritri_upload_into(f.context, f.a, &desc, host), TRITRI_INVALID_ARGUMENT, "tritri_upload_into", std::string("host_layout: ") + words);
  };
  refused(f.lower, "fill must be the matrix's UPPER, got LOWER");
  refused(support::describe(TRITRI_FLOAT64, TRITRI_FILL_UPPER, 2, 3), "shape must be the matrix's 2 x 2, got 2 x 3");
  refused(support::describe(TRITRI_FLOAT32, TRITRI_FILL_UPPER, 2, 2), "dtype must be the matrix's float64, got float32");
  tritri_matrix_desc batch = f.upper;
  batch.batch_count = 2;
  batch.batch_stride = 2;
  refused(batch, "batch_count must be the matrix's 1, got 2");
  for (const double value : host) CHECK(value == 1);
  call(tritri_download(f.context, f.a, nullptr, host));
  CHECK(host[1] == 2);
  CHECK(host[2] == 1);  // outside the fill
}

TEST_CASE("B2 a result inside a larger array leaves the rest of it alone") {
  Fixture f;
  double big[5][6];
  for (auto &row : big) for (double &x : row) x = -9;
  tritri_matrix_desc part = f.full;
  part.ld = 6;
  call(tritri_multiply_host(f.context, nullptr, &f.upper, f.u, &f.lower, f.l, &part, &big[1][2]));
  CHECK(big[1][2] == 14);
  CHECK(big[1][3] == 12);
  CHECK(big[2][2] == 15);
  CHECK(big[2][3] == 18);
  int survivors = 0;
  for (const auto &row : big) for (const double x : row) survivors += x == -9;
  CHECK(survivors == 5 * 6 - 4);
}

TEST_CASE("A, B and C may be the columns of one wide matrix") {
  Fixture f;
  double wide[2][6] = {{1, 2, 4, -7, -1, -1}, {-7, 3, 5, 6, -1, -1}};
  tritri_matrix_desc upper = f.upper, lower = f.lower, full = f.full;
  upper.ld = lower.ld = full.ld = 6;
  call(tritri_multiply_host(f.context, nullptr, &upper, &wide[0][0], &lower, &wide[0][2], &full, &wide[0][4]));
  const double want[2][6] = {{1, 2, 4, -7, 14, 12}, {-7, 3, 5, 6, 15, 18}};
  CHECK(std::memcmp(wide, want, sizeof wide) == 0);
  require_refused(tritri_multiply_host(f.context, nullptr, &upper, &wide[0][0], &lower, &wide[0][2], &full, &wide[0][3]), TRITRI_INVALID_ARGUMENT, "tritri_multiply_host",
                  "c: must be b itself (same memory and layout) or lie apart from it, got memory that starts 8 bytes from b and overlaps it");
  require_refused(tritri_multiply_host(f.context, nullptr, &upper, &wide[0][0], &lower, &wide[0][2], &full, &wide[0][1]), TRITRI_INVALID_ARGUMENT, "tritri_multiply_host",
                  "c: must be a itself (same memory and layout) or lie apart from it, got memory that starts 8 bytes from a and overlaps it");
  CHECK(std::memcmp(wide, want, sizeof wide) == 0);
  const support::Matrix a = support::wrap(f.context, upper, &wide[0][0]), b = support::wrap(f.context, lower, &wide[0][2]), c = support::wrap(f.context, full, &wide[0][1]);
  require_refused(tritri_multiply(f.context, nullptr, a, b, c), TRITRI_INVALID_ARGUMENT, "tritri_multiply", "c: must be a itself");
}

TEST_CASE("in place through two handles of the same memory") {
  Fixture f;
  double x[4] = {1, 3, 0, 4};
  const support::Matrix input = support::wrap(f.context, f.full, x), output = support::wrap(f.context, f.full, x);
  tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
  options.op_b = TRITRI_OP_TRANSPOSE;
  options.alpha_re = 0.5;
  call(tritri_multiply(f.context, &options, input, input, output));
  const double want[4] = {5, 6, 6, 8};
  CHECK(std::memcmp(x, want, sizeof x) == 0);
  tritri_matrix_desc column = f.full;
  column.order = TRITRI_ORDER_COLUMN;
  const support::Matrix other = support::wrap(f.context, column, x);
  require_refused(tritri_multiply(f.context, nullptr, input, f.b, other), TRITRI_INVALID_ARGUMENT, "tritri_multiply", "c: must be a itself (same memory and layout)");
}
