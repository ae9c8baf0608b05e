/* B9: a program compiled against the header of 0.1.0, run with the library of today: every function once. */
#include "tritri-0.1.0.h"

#include <stdio.h>
#include <string.h>

static int passed = 0, failed = 0;

static void check(int condition, const char *what) {
  if (condition) {
    ++passed;
  } else {
    ++failed;
    printf("FAILED %s: %s\n", what, tritri_last_error());
  }
}

int main(void) {
  tritri_context_options context_options = TRITRI_CONTEXT_OPTIONS_INIT;
  tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;
  tritri_matrix_desc upper = TRITRI_MATRIX_DESC_INIT, lower, full, got = TRITRI_MATRIX_DESC_INIT;
  tritri_device_info info = TRITRI_DEVICE_INFO_INIT;
  tritri_context *context = NULL;
  tritri_matrix *a = NULL, *b = NULL, *c = NULL, *wrapped = NULL;
  const double u[4] = {1, 2, 0, 3}, l[4] = {4, 0, 5, 6};
  double x[4] = {0, 0, 0, 0}, residual = -1;
  char text[256] = "";
  size_t bytes = 1;
  int32_t count = 0;
  void *memory = NULL;

  upper.dtype = TRITRI_FLOAT64;
  upper.rows = upper.cols = 2;
  lower = full = upper;
  upper.fill = TRITRI_FILL_UPPER;
  lower.fill = TRITRI_FILL_LOWER;
  context_options.device = TRITRI_DEVICE_CPU;

  check(tritri_version() >= TRITRI_VERSION, "the library is no older than the header");
  check(strlen(tritri_version_string()) > 0, "tritri_version_string");
  check(strcmp(tritri_status_name(TRITRI_OK), "TRITRI_OK") == 0, "tritri_status_name");
  check(tritri_device_count(TRITRI_DEVICE_CPU, &count) == TRITRI_OK && count == 1, "tritri_device_count");
  check(tritri_device_info_get(TRITRI_DEVICE_CPU, 0, &info) == TRITRI_OK && info.kind == TRITRI_DEVICE_CPU, "tritri_device_info_get");
  check(tritri_context_create(&context_options, &context) == TRITRI_OK, "tritri_context_create");
  check(tritri_context_device_info(context, &info) == TRITRI_OK, "tritri_context_device_info");
  check(tritri_context_set_stream(context, NULL) == TRITRI_OK, "tritri_context_set_stream");
  check(tritri_upload(context, &upper, u, &a) == TRITRI_OK, "tritri_upload");
  check(tritri_upload(context, &lower, l, &b) == TRITRI_OK, "tritri_upload");
  check(tritri_matrix_create(context, &full, &c) == TRITRI_OK, "tritri_matrix_create");
  check(tritri_matrix_wrap(context, &full, x, &wrapped) == TRITRI_OK, "tritri_matrix_wrap");
  check(tritri_upload_into(context, a, &upper, u) == TRITRI_OK, "tritri_upload_into");
  check(tritri_matrix_desc_get(a, &got) == TRITRI_OK && got.fill == TRITRI_FILL_UPPER && got.rows == 2, "tritri_matrix_desc_get");
  check(tritri_matrix_data(wrapped, &memory) == TRITRI_OK && memory == x, "tritri_matrix_data");
  check(tritri_workspace_size(context, &options, a, b, c, &bytes) == TRITRI_OK, "tritri_workspace_size");
  check(tritri_plan_describe(context, &options, a, b, c, text, sizeof text) == TRITRI_OK && strlen(text) > 0, "tritri_plan_describe");
  check(tritri_multiply(context, &options, a, b, c) == TRITRI_OK, "tritri_multiply");
  check(tritri_context_synchronize(context) == TRITRI_OK, "tritri_context_synchronize");
  check(tritri_verify(context, &options, a, b, c, 4, &residual) == TRITRI_OK && residual >= 0 && residual < 1e-14, "tritri_verify");
  check(tritri_download(context, c, &full, x) == TRITRI_OK && x[0] == 14 && x[1] == 12 && x[2] == 15 && x[3] == 18, "tritri_download");
  options.op_b = TRITRI_OP_TRANSPOSE;
  check(tritri_multiply_host(context, &options, &upper, u, &upper, u, &full, x) == TRITRI_OK && x[0] == 5 && x[1] == 6 && x[2] == 6 && x[3] == 9, "tritri_multiply_host");
  check(tritri_host_allocate(context, 64, &memory) == TRITRI_OK && memory != NULL, "tritri_host_allocate");
  check(tritri_host_free(context, memory) == TRITRI_OK, "tritri_host_free");
  full.dtype = 1000;
  check(tritri_upload(context, &full, x, &wrapped) == TRITRI_INVALID_ARGUMENT && strstr(tritri_last_error(), "dtype") != NULL, "a wrong dtype is refused");
  tritri_context_destroy(context);
  tritri_matrix_destroy(a);
  tritri_matrix_destroy(b);
  tritri_matrix_destroy(c);
  tritri_matrix_destroy(wrapped);
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
