#include "digits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double *digits_read(const char *path, size_t limit, size_t *count) {
  static const char greys[] = "0123456789abcdefg";
  char line[DIGITS_PIXELS + 8];
  double *images = malloc((limit > 0 ? limit : 1) * DIGITS_PIXELS * sizeof *images);
  FILE *file = fopen(path, "r");
  size_t rows = 0;
  if (!file || !images) {
    fprintf(stderr, "digits_read: path: must be a readable file, got '%s'\n", path);
    goto failed;
  }
  while (rows < limit && fgets(line, sizeof line, file)) {
    if (strspn(line, greys) != DIGITS_PIXELS || line[DIGITS_PIXELS] != '\n') {
      fprintf(stderr, "digits_read: path: every line must hold %d pixels 0-9a-g, line %zu of '%s' does not\n", DIGITS_PIXELS, rows + 1, path);
      goto failed;
    }
    for (size_t k = 0; k < DIGITS_PIXELS; ++k) images[rows * DIGITS_PIXELS + k] = (double)(strchr(greys, line[k]) - greys);
    ++rows;
  }
  fclose(file);
  *count = rows;
  return images;
failed:
  if (file) fclose(file);
  free(images);
  return NULL;
}

double digits_rbf(const double *x, const double *y, double gamma) {
  double distance = 0;
  for (size_t k = 0; k < DIGITS_PIXELS; ++k) distance += (x[k] - y[k]) * (x[k] - y[k]);
  return exp(-gamma * distance);
}
