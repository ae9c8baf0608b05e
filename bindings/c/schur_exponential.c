/* The exponential of a complex Schur factor by scaling and squaring.
 *
 *     schur_exponential
 *
 * Every function of a matrix A = Z T Z^H is computed from its Schur factor T, which is upper triangular: e^A = Z e^T Z^H. Here e^T = (e^(T / 2^s))^(2^s): a Taylor
 * polynomial by Horner's rule, then s squarings in place on the device, all of them upper times upper, cut to the upper triangle: a sixth of a full product's
 * work. What lies below the diagonals is NaN, to show that nothing there is read. The answer is checked by e^T e^-T = I and by the eigenvalues on the diagonal. */
#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tritri/tritri.h>

enum { N = 256, SQUARINGS = 8, DEGREE = 8 };

/* Leaves the function through its clean-up, with the library's sentence. */
#define TRY(call)                                           \
  do {                                                      \
    if ((call) != TRITRI_OK) {                              \
      fprintf(stderr, "%s\n", tritri_last_error());         \
      goto done;                                            \
    }                                                       \
  } while (0)

/* Decaying oscillations on the diagonal, couplings above it. */
static void schur_factor(double complex *t) {
  uint64_t state = 11;
  for (size_t i = 0; i < N; ++i)
    for (size_t j = 0; j < N; ++j) {
      double parts[2];
      for (int p = 0; p < 2; ++p) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        parts[p] = (double)(state >> 33) / (double)(UINT64_C(1) << 31) - 0.5;
      }
      t[i * N + j] = j < i ? NAN + NAN * I : j == i ? -0.5 * (double)i / N + 3 * I * (double)(N - i) / N : (parts[0] + parts[1] * I) / N;
    }
}

/* result := e^(sign T). identity is the identity matrix in host memory; scratch is a matrix as result is. */
static int exponential(tritri_context *context, double sign, const tritri_matrix *t, const tritri_matrix_desc *upper, const double complex *identity,
                       tritri_matrix *scratch, tritri_matrix *result) {
  tritri_multiply_options step = TRITRI_MULTIPLY_OPTIONS_INIT;
  int failed = 1;
  step.beta_re = 1;
  TRY(tritri_upload_into(context, result, upper, identity));
  for (int k = DEGREE; k > 0; --k) { /* P := I + (T / 2^s / k) P */
    step.alpha_re = sign / ldexp(k, SQUARINGS);
    TRY(tritri_upload_into(context, scratch, upper, identity));
    TRY(tritri_multiply(context, &step, t, result, scratch));
    tritri_matrix *const swap = result;
    result = scratch;
    scratch = swap;
  }
  for (int k = 0; k < SQUARINGS; ++k) TRY(tritri_multiply(context, NULL, result, result, result));
  failed = 0;
done:
  return failed;
}

int main(void) {
  int failed = 1;
  double complex *factor = malloc(N * N * sizeof *factor), *identity = malloc(N * N * sizeof *identity), *grown = malloc(N * N * sizeof *grown),
                 *product = malloc(N * N * sizeof *product);
  double worst = 0, eigenvalues = 0, residual = 0;
  tritri_context *context = NULL;
  tritri_matrix *t = NULL, *forth = NULL, *back = NULL, *scratch = NULL;
  tritri_device_info device = TRITRI_DEVICE_INFO_INIT;
  tritri_matrix_desc upper = TRITRI_MATRIX_DESC_INIT;

  _Static_assert(DEGREE % 2 == 0, "an even number of swaps in exponential() leaves the result where the caller expects it");
  if (!factor || !identity || !grown || !product) goto done;
  schur_factor(factor);
  for (size_t i = 0; i < N; ++i)
    for (size_t j = 0; j < N; ++j) {
      identity[i * N + j] = i == j;
      product[i * N + j] = grown[i * N + j] = NAN;
    }

  upper.dtype = TRITRI_COMPLEX128;
  upper.fill = TRITRI_FILL_UPPER;
  upper.rows = upper.cols = N;
  TRY(tritri_context_create(NULL, &context));
  TRY(tritri_context_device_info(context, &device));
  TRY(tritri_upload(context, &upper, factor, &t));
  TRY(tritri_matrix_create(context, &upper, &forth));
  TRY(tritri_matrix_create(context, &upper, &back));
  TRY(tritri_matrix_create(context, &upper, &scratch));
  if (exponential(context, 1, t, &upper, identity, scratch, forth) || exponential(context, -1, t, &upper, identity, scratch, back)) goto done;
  TRY(tritri_multiply(context, NULL, forth, back, scratch)); /* e^T e^-T */
  TRY(tritri_verify(context, NULL, forth, back, scratch, 8, &residual));
  TRY(tritri_download(context, forth, NULL, grown));
  TRY(tritri_download(context, scratch, NULL, product));

  for (size_t i = 0; i < N; ++i) {
    eigenvalues = fmax(eigenvalues, cabs(grown[i * N + i] - cexp(factor[i * N + i])));
    for (size_t j = 0; j < N; ++j) {
      if (j < i) worst += !isnan(creal(product[i * N + j]));
      else worst = fmax(worst, cabs(product[i * N + j] - (i == j)));
    }
  }
  printf("%s: exponential of a %d x %d Schur factor, %d squarings; e^T e^-T is I to %.1e, eigenvalues right to %.1e, residual %.1e\n", device.name, N, N, SQUARINGS,
         worst, eigenvalues, residual);
  failed = !(worst < 1e-11 && eigenvalues < 1e-12 && residual < 1e-13);
done:
  tritri_matrix_destroy(scratch);
  tritri_matrix_destroy(back);
  tritri_matrix_destroy(forth);
  tritri_matrix_destroy(t);
  tritri_context_destroy(context);
  free(product);
  free(grown);
  free(identity);
  free(factor);
  return failed;
}
