/* The five steps of a product (context, upload, multiply, download, destroy) through a library that is opened at run time.
 *
 *     load_at_run_time [LIBRARY]      default: libtritri.so.0 from the loader's search path
 *
 * For programs that must also run where libtritri is not installed: nothing links against it, and a missing library is a sentence. */
#include <dlfcn.h>
#include <stdio.h>
#include <tritri/tritri.h>

/* The functions in use, each with the type that the header declares. */
static struct {
  __typeof__(&tritri_version_string) version_string;
  __typeof__(&tritri_last_error) last_error;
  __typeof__(&tritri_context_create) context_create;
  __typeof__(&tritri_upload) upload;
  __typeof__(&tritri_matrix_create) matrix_create;
  __typeof__(&tritri_multiply) multiply;
  __typeof__(&tritri_download) download;
  __typeof__(&tritri_matrix_destroy) matrix_destroy;
  __typeof__(&tritri_context_destroy) context_destroy;
} api;

/* Stores the address of a function in *slot; POSIX lets a void * hold it. */
static int find(void *library, const char *name, void *slot) {
  void *const address = dlsym(library, name);
  if (!address) fprintf(stderr, "load_at_run_time: %s\n", dlerror());
  *(void **)slot = address;
  return address != NULL;
}

static int find_all(void *library) {
  return find(library, "tritri_version_string", &api.version_string) && find(library, "tritri_last_error", &api.last_error) &&
         find(library, "tritri_context_create", &api.context_create) && find(library, "tritri_upload", &api.upload) &&
         find(library, "tritri_matrix_create", &api.matrix_create) && find(library, "tritri_multiply", &api.multiply) &&
         find(library, "tritri_download", &api.download) && find(library, "tritri_matrix_destroy", &api.matrix_destroy) &&
         find(library, "tritri_context_destroy", &api.context_destroy);
}

int main(int argc, char **argv) {
  static const double a[4] = {2, 99, 1, 3}, b[4] = {4, 99, 5, 6}; /* [2 .; 1 3] and [4 .; 5 6]: the 99s are outside the fill */
  double c[4] = {0};
  int done = 0;
  tritri_context *context = NULL;
  tritri_matrix *a_matrix = NULL, *b_matrix = NULL, *c_matrix = NULL;
  tritri_matrix_desc lower = TRITRI_MATRIX_DESC_INIT, full;
  void *const library = dlopen(argc > 1 ? argv[1] : "libtritri.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "load_at_run_time: %s\n", dlerror());
    return 1;
  }
  if (!find_all(library)) return 1;

  lower.dtype = TRITRI_FLOAT64;
  lower.rows = lower.cols = 2;
  full = lower;
  lower.fill = TRITRI_FILL_LOWER;
  done = api.context_create(NULL, &context) == TRITRI_OK && api.upload(context, &lower, a, &a_matrix) == TRITRI_OK &&
         api.upload(context, &lower, b, &b_matrix) == TRITRI_OK && api.matrix_create(context, &full, &c_matrix) == TRITRI_OK &&
         api.multiply(context, NULL, a_matrix, b_matrix, c_matrix) == TRITRI_OK && api.download(context, c_matrix, NULL, c) == TRITRI_OK;
  if (!done) fprintf(stderr, "%s\n", api.last_error());
  api.matrix_destroy(c_matrix);
  api.matrix_destroy(b_matrix);
  api.matrix_destroy(a_matrix);
  api.context_destroy(context);
  if (!done) return 1;

  printf("libtritri %s: [2 .; 1 3] [4 .; 5 6] = [%g %g; %g %g]\n", api.version_string(), c[0], c[1], c[2], c[3]);
  dlclose(library);
  return !(c[0] == 8 && c[1] == 0 && c[2] == 19 && c[3] == 18);
}
