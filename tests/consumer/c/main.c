/* [2 .; 1 3] [4 .; 5 6] = [8 0; 19 18], with the header, the installed library and nothing else. */
#include <stdio.h>
#include <tritri/tritri.h>

int main(void) {
  const float a[4] = {2, 99, 1, 3}, b[4] = {4, 99, 5, 6};
  float c[4] = {0};
  tritri_context *context = NULL;
  tritri_matrix_desc lower = TRITRI_MATRIX_DESC_INIT, full = TRITRI_MATRIX_DESC_INIT;
  tritri_status status;
  full.rows = full.cols = lower.rows = lower.cols = 2;
  lower.fill = TRITRI_FILL_LOWER;
  if (tritri_version() != TRITRI_VERSION) {
    fprintf(stderr, "the header is of version %d, the library of %d\n", TRITRI_VERSION, (int)tritri_version());
    return 1;
  }
  status = tritri_context_create(NULL, &context);
  if (status == TRITRI_OK) status = tritri_multiply_host(context, NULL, &lower, a, &lower, b, &full, c);
  tritri_context_destroy(context);
  if (status != TRITRI_OK) fprintf(stderr, "%s\n", tritri_last_error());
  return !(status == TRITRI_OK && c[0] == 8 && c[1] == 0 && c[2] == 19 && c[3] == 18);
}
