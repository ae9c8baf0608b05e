/* Rebuilds a kernel matrix from its Cholesky factor.
 *
 *     cholesky_rebuild DIGITS_FILE
 *
 * K = exp(-gamma |x_i - x_j|^2) over the handwritten digits is symmetric positive definite: K = L L^T. The product needs L's lower triangle
 * only and makes K's lower triangle only: n^3/3 flops where GEMM spends 2 n^3. The upper triangles of both arrays hold NaN, to show that
 * nothing there is read or written. The answer is checked against K itself and by tritri_verify. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tritri/tritri.h>

#include "digits.h"

/* Leaves the function through its clean-up, with the library's sentence. */
#define TRY(call)                                           \
  do {                                                      \
    if ((call) != TRITRI_OK) {                              \
      fprintf(stderr, "%s\n", tritri_last_error());         \
      goto done;                                            \
    }                                                       \
  } while (0)

/* Overwrites K's lower triangle with L. Returns 0 if K is not positive definite. */
static int cholesky(double *k, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = k[i * n + j];
      for (size_t p = 0; p < j; ++p) sum -= k[i * n + p] * k[j * n + p];
      if (i == j && !(sum > 0)) return 0;
      k[i * n + j] = i == j ? sqrt(sum) : sum / k[j * n + j];
    }
  }
  return 1;
}

int main(int argc, char **argv) {
  int failed = 1;
  size_t n = 0, written_above = 0;
  double *images = NULL, *kernel = NULL, *factor = NULL, *rebuilt = NULL, worst = 0, residual = 0;
  tritri_context *context = NULL;
  tritri_matrix *l = NULL, *k = NULL;
  tritri_device_info device = TRITRI_DEVICE_INFO_INIT;
  tritri_matrix_desc lower = TRITRI_MATRIX_DESC_INIT;
  tritri_multiply_options options = TRITRI_MULTIPLY_OPTIONS_INIT;

  if (argc != 2) {
    fprintf(stderr, "usage: cholesky_rebuild DIGITS_FILE\n");
    return 2;
  }
  images = digits_read(argv[1], 1797, &n);
  kernel = malloc(n * n * sizeof *kernel);
  factor = malloc(n * n * sizeof *factor);
  rebuilt = malloc(n * n * sizeof *rebuilt);
  if (!images || !kernel || !factor || !rebuilt) goto done;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      const double value = digits_rbf(images + i * DIGITS_PIXELS, images + j * DIGITS_PIXELS, 0.001);
      kernel[i * n + j] = value;
      factor[i * n + j] = j <= i ? value : NAN;
      rebuilt[i * n + j] = NAN;
    }
  if (!cholesky(factor, n)) {
    fprintf(stderr, "cholesky_rebuild: the kernel matrix is not positive definite\n");
    goto done;
  }

  lower.dtype = TRITRI_FLOAT64;
  lower.fill = TRITRI_FILL_LOWER;
  lower.rows = lower.cols = (int64_t)n;
  options.op_b = TRITRI_OP_TRANSPOSE;
  TRY(tritri_context_create(NULL, &context));
  TRY(tritri_context_device_info(context, &device));
  TRY(tritri_upload(context, &lower, factor, &l));
  TRY(tritri_matrix_create(context, &lower, &k));
  TRY(tritri_multiply(context, &options, l, l, k)); /* K := L L^T */
  TRY(tritri_verify(context, &options, l, l, k, 8, &residual));
  TRY(tritri_download(context, k, &lower, rebuilt));

  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      if (j > i) written_above += !isnan(rebuilt[i * n + j]);
      else if (!(fabs(rebuilt[i * n + j] - kernel[i * n + j]) <= worst)) worst = fabs(rebuilt[i * n + j] - kernel[i * n + j]);
    }
  printf("%s: rebuilt the %zu x %zu kernel matrix; largest error %.1e, residual %.1e, %zu elements written above the diagonal\n", device.name, n, n, worst,
         residual, written_above);
  failed = !(worst < 1e-13 && residual < 1e-13 && written_above == 0); /* K's elements are at most 1 */
done:
  tritri_matrix_destroy(k);
  tritri_matrix_destroy(l);
  tritri_context_destroy(context);
  free(rebuilt);
  free(factor);
  free(kernel);
  free(images);
  return failed;
}
