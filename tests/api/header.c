/* The header alone, as plain C11: compiled with -std=c11 -Wall -Wextra -Werror -pedantic, and again as C++17 (header.cc). */
#include "tritri/tritri.h"

#if !defined(TRITRI_VERSION) || TRITRI_VERSION < 100
#error "TRITRI_VERSION counts major * 10000 + minor * 100 + patch and can be asked by the preprocessor"
#endif

#include <stdio.h>

int main(void) {
  tritri_context_options context_options = TRITRI_CONTEXT_OPTIONS_INIT;
  const tritri_matrix_desc empty = TRITRI_MATRIX_DESC_INIT;
  const tritri_multiply_options product = TRITRI_MULTIPLY_OPTIONS_INIT;
  tritri_device_info info = TRITRI_DEVICE_INFO_INIT;
  tritri_matrix_desc upper = empty, lower = empty, full = empty;
  tritri_context *context = NULL;
  const float u[4] = {1, 2, 0, 3}, l[4] = {4, 0, 5, 6};
  float c[4] = {0, 0, 0, 0};
  int right;

  upper.rows = upper.cols = lower.rows = lower.cols = full.rows = full.cols = 2;
  upper.fill = TRITRI_FILL_UPPER;
  lower.fill = TRITRI_FILL_LOWER;
  context_options.device = TRITRI_DEVICE_CPU;
  if (tritri_context_create(&context_options, &context) != TRITRI_OK || tritri_context_device_info(context, &info) != TRITRI_OK ||
      tritri_multiply_host(context, &product, &upper, u, &lower, l, &full, c) != TRITRI_OK) {
    printf("%s\n0 passed, 1 failed\n", tritri_last_error());
    return 1;
  }
  tritri_context_destroy(context);
  right = c[0] == 14 && c[1] == 12 && c[2] == 15 && c[3] == 18 && empty.struct_size == sizeof empty && tritri_version() == TRITRI_VERSION;
  printf("%d passed, %d failed\n", right, !right);
  return !right;
}
