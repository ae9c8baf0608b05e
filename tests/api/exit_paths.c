/* L7: a process may end without destroying anything, or destroy from atexit. argv[1]: leave, atexit, exit-in-thread */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tritri/tritri.h"

enum { n = 300 };

static tritri_context *context = NULL;
static tritri_matrix *a = NULL, *c = NULL;
static float host[n * n], result[n * n];

static void destroy(void) {
  tritri_context_destroy(context);
  tritri_matrix_destroy(a);
  tritri_matrix_destroy(c);
}

static void *end_process(void *unused) {
  (void)unused;
  exit(0);
}

int main(int argc, char **argv) {
  tritri_context_options options = TRITRI_CONTEXT_OPTIONS_INIT;
  tritri_matrix_desc desc = TRITRI_MATRIX_DESC_INIT;
  pthread_t thread;
  void *memory = NULL;
  int i;
  const char *way = argc > 1 ? argv[1] : "leave";
  options.device = TRITRI_DEVICE_CPU;
  desc.fill = TRITRI_FILL_LOWER;
  desc.rows = desc.cols = n;
  for (i = 0; i < n * n; ++i) host[i] = 1;
  if (strcmp(way, "atexit") == 0) atexit(destroy); /* before the first call: runs after whatever the library registers */
  if (tritri_context_create(&options, &context) != TRITRI_OK || tritri_upload(context, &desc, host, &a) != TRITRI_OK || tritri_matrix_create(context, &desc, &c) != TRITRI_OK ||
      tritri_multiply(context, NULL, a, a, c) != TRITRI_OK || tritri_download(context, c, NULL, result) != TRITRI_OK || tritri_host_allocate(context, 100, &memory) != TRITRI_OK) {
    fprintf(stderr, "exit_paths: %s\n", tritri_last_error());
    return 1;
  }
  if (result[(n - 1) * n] != n) return 1; /* a row of ones times a column of ones */
  if (strcmp(way, "exit-in-thread") == 0 && pthread_create(&thread, NULL, end_process, NULL) == 0) pthread_join(thread, NULL);
  return 0;
}
