/* Libraries that share a process and must not see each other: neighbours LIBRARY COPY STRANGER
 *   a stranger with the same names is loaded first and for everybody to see, then the library and a copy of it. Both compute, each with its own message. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <tritri/tritri.h>

struct library {
  __typeof__(&tritri_context_create) create;
  __typeof__(&tritri_context_destroy) destroy;
  __typeof__(&tritri_multiply_host) multiply_host;
  __typeof__(&tritri_last_error) last_error;
};

static int find(void *handle, const char *name, void *slot) {
  void *const address = dlsym(handle, name);
  *(void **)slot = address;
  return address != NULL;
}

static int load(const char *path, struct library *out) {
  void *const handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (!handle) fprintf(stderr, "%s\n", dlerror());
  return handle && find(handle, "tritri_context_create", &out->create) && find(handle, "tritri_context_destroy", &out->destroy) &&
         find(handle, "tritri_multiply_host", &out->multiply_host) && find(handle, "tritri_last_error", &out->last_error);
}

static int computes(const struct library *library) {
  const double a[4] = {2, 99, 1, 3}, b[4] = {4, 99, 5, 6}, expected[4] = {8, 0, 19, 18};
  double c[4] = {0};
  tritri_context *context = NULL;
  tritri_matrix_desc lower = TRITRI_MATRIX_DESC_INIT, full;
  int right;
  lower.dtype = TRITRI_FLOAT64;
  lower.rows = lower.cols = 2;
  full = lower;
  lower.fill = TRITRI_FILL_LOWER;
  right = library->create(NULL, &context) == TRITRI_OK && library->multiply_host(context, NULL, &lower, a, &lower, b, &full, c) == TRITRI_OK &&
          memcmp(c, expected, sizeof c) == 0;
  library->destroy(context);
  return right;
}

int main(int argc, char **argv) {
  struct library one, two;
  if (argc != 4) return 2;
  if (!dlopen(argv[3], RTLD_NOW | RTLD_GLOBAL)) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  if (!load(argv[1], &one) || !load(argv[2], &two)) return 1;
  if (one.create == two.create) {
    fprintf(stderr, "the loader took the copy for the library\n");
    return 1;
  }
  if (!computes(&one) || !computes(&two)) {
    fprintf(stderr, "a library with neighbours computed something else\n");
    return 1;
  }
  if (one.create(NULL, NULL) != TRITRI_INVALID_ARGUMENT || !*one.last_error() || *two.last_error()) {
    fprintf(stderr, "a message crossed from one library to the other\n");
    return 1;
  }
  return 0;
}
