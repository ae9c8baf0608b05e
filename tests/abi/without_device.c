/* Run where the driver is a stand-in that is too old: no device, a sentence that says why, and the CPU computes. */
#include <stdio.h>
#include <string.h>
#include <tritri/tritri.h>

int main(void) {
  tritri_context_options options = TRITRI_CONTEXT_OPTIONS_INIT;
  tritri_context *context = NULL;
  tritri_matrix_desc one = TRITRI_MATRIX_DESC_INIT;
  const float a = 3, b = 5;
  float c = 0;
  int32_t count = -1;
  one.rows = one.cols = 1;
  if (tritri_device_count(TRITRI_DEVICE_CUDA, &count) != TRITRI_OK || count != 0) {
    fprintf(stderr, "expected no CUDA device, got %d\n", (int)count);
    return 1;
  }
  options.device = TRITRI_DEVICE_CUDA;
  if (tritri_context_create(&options, &context) != TRITRI_NO_DEVICE || !strstr(tritri_last_error(), "driver")) {
    fprintf(stderr, "expected a sentence about the driver, got '%s'\n", tritri_last_error());
    return 1;
  }
  printf("%s\n", tritri_last_error());
  if (tritri_context_create(NULL, &context) != TRITRI_OK || tritri_multiply_host(context, NULL, &one, &a, &one, &b, &one, &c) != TRITRI_OK || c != 15) {
    fprintf(stderr, "the CPU device gave %g: %s\n", c, tritri_last_error());
    return 1;
  }
  tritri_context_destroy(context);
  return 0;
}
