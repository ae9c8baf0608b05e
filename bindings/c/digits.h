/* Real data for the examples: handwritten digits and the RBF kernel between them. */
#ifndef TRITRI_EXAMPLES_DIGITS_H
#define TRITRI_EXAMPLES_DIGITS_H

#include <stddef.h>

enum { DIGITS_PIXELS = 64 };

/* Reads up to `limit` images from a file of one line an image, one of 0-9a-g a pixel. Gives a malloc'ed array of *count rows of
 * DIGITS_PIXELS grey values; NULL and a line on stderr if the file is not like that. */
double *digits_read(const char *path, size_t limit, size_t *count);

/* exp(-gamma |x - y|^2) for two images. */
double digits_rbf(const double *x, const double *y, double gamma);

#endif
