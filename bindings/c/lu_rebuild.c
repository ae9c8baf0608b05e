/* Rebuilds a matrix from its LU factors.
 *
 *     lu_rebuild DIGITS_FILE
 *
 * Factors P A = L U in place, as LAPACK does: one array holds the unit lower L (its ones are not stored) and the upper U. The same array is then passed
 * twice, once as "unit lower" and once as "upper": 2 n^3/3 flops and no copy. A holds the RBF kernel between two halves of the handwritten digits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tritri/tritri.h>

#include "digits.h"

/* P A = L U with partial pivoting: `a` becomes the two factors, pivot[i] the row of A that came to stand in row i. */
static void lu(double *a, size_t *pivot, size_t n) {
  for (size_t i = 0; i < n; ++i) pivot[i] = i;
  for (size_t k = 0; k < n; ++k) {
    size_t best = k;
    for (size_t i = k + 1; i < n; ++i)
      if (fabs(a[i * n + k]) > fabs(a[best * n + k])) best = i;
    if (best != k) {
      const size_t row = pivot[k];
      pivot[k] = pivot[best];
      pivot[best] = row;
      for (size_t j = 0; j < n; ++j) {
        const double value = a[k * n + j];
        a[k * n + j] = a[best * n + j];
        a[best * n + j] = value;
      }
    }
    for (size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] /= a[k * n + k];
      for (size_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
}

int main(int argc, char **argv) {
  int failed = 1;
  size_t count = 0, n, *pivot = NULL;
  double *images = NULL, *a = NULL, *factors = NULL, *product = NULL, worst = 0;
  tritri_context *context = NULL;
  tritri_matrix_desc l = TRITRI_MATRIX_DESC_INIT, u, full;

  if (argc != 2) {
    fprintf(stderr, "usage: lu_rebuild DIGITS_FILE\n");
    return 2;
  }
  images = digits_read(argv[1], 1200, &count);
  n = count / 2;
  a = malloc(n * n * sizeof *a);
  factors = malloc(n * n * sizeof *factors);
  product = malloc(n * n * sizeof *product);
  pivot = malloc(n * sizeof *pivot);
  if (!images || !a || !factors || !product || !pivot) goto done;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      factors[i * n + j] = a[i * n + j] = digits_rbf(images + i * DIGITS_PIXELS, images + (n + j) * DIGITS_PIXELS, 0.001);
  lu(factors, pivot, n);

  l.dtype = TRITRI_FLOAT64;
  l.rows = l.cols = (int64_t)n;
  u = full = l;
  l.fill = TRITRI_FILL_LOWER;
  l.diag = TRITRI_DIAG_UNIT;
  u.fill = TRITRI_FILL_UPPER;
  if (tritri_context_create(NULL, &context) != TRITRI_OK ||
      tritri_multiply_host(context, NULL, &l, factors, &u, factors, &full, product) != TRITRI_OK) { /* P A := L U */
    fprintf(stderr, "%s\n", tritri_last_error());
    goto done;
  }

  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      const double error = fabs(product[i * n + j] - a[pivot[i] * n + j]);
      if (!(error <= worst)) worst = error;
    }
  printf("rebuilt a %zu x %zu matrix from its LU factors in one buffer; largest error %.1e\n", n, n, worst);
  failed = !(worst < 1e-12); /* A's elements are at most 1; partial pivoting grows them a little */
done:
  tritri_context_destroy(context);
  free(pivot);
  free(product);
  free(factors);
  free(a);
  free(images);
  return failed;
}
