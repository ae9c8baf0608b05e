/* The five steps of a program that knows only the header and opens the library at run time: create a context, upload, multiply, download, destroy.
 *
 *   life_cycle LIBRARY                 L1, L2: works without any CUDA library, which neither loading nor a query looks for
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tritri/tritri.h"

/* Every function by its own type: the compiler compares them with the header. */
static struct {
  int32_t (*version)(void);
  const char *(*version_string)(void);
  const char *(*last_error)(void);
  tritri_status (*device_count)(tritri_device, int32_t *);
  tritri_status (*context_create)(const tritri_context_options *, tritri_context **);
  void (*context_destroy)(tritri_context *);
  tritri_status (*upload)(tritri_context *, const tritri_matrix_desc *, const void *, tritri_matrix **);
  tritri_status (*matrix_create)(tritri_context *, const tritri_matrix_desc *, tritri_matrix **);
  void (*matrix_destroy)(tritri_matrix *);
  tritri_status (*multiply)(tritri_context *, const tritri_multiply_options *, const tritri_matrix *, const tritri_matrix *, tritri_matrix *);
  tritri_status (*download)(tritri_context *, const tritri_matrix *, const tritri_matrix_desc *, void *);
} tri;

static int failed = 0, passed = 0;

static void check(int condition, const char *what) {
  if (condition) {
    ++passed;
  } else {
    ++failed;
    printf("FAILED %s\n", what);
  }
}

static void find(void *library, const char *name, void *into) {
  void *symbol = dlsym(library, name);
  check(symbol != NULL, name);
  if (symbol == NULL) exit(1);
  memcpy(into, &symbol, sizeof symbol);
}

static int maps_mention(const char *what) {
  char line[4096];
  int found = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) found = found || strstr(line, what) != NULL;
  if (maps != NULL) fclose(maps);
  return found;
}

/* U L = [[14, 12], [15, 18]] on the CPU; 0 when right. */
static int five_steps(void) {
  const double u[4] = {1, 2, -1000, 3}, l[4] = {4, -1000, 5, 6};
  double c[4] = {0, 0, 0, 0};
  tritri_context_options options = TRITRI_CONTEXT_OPTIONS_INIT;
  tritri_matrix_desc desc = TRITRI_MATRIX_DESC_INIT;
  tritri_context *context = NULL;
  tritri_matrix *a = NULL, *b = NULL, *product = NULL;
  int wrong = 1;
  options.device = TRITRI_DEVICE_CPU;
  desc.dtype = TRITRI_FLOAT64;
  desc.rows = desc.cols = 2;
  if (tri.context_create(&options, &context) == TRITRI_OK) {
    desc.fill = TRITRI_FILL_UPPER;
    if (tri.upload(context, &desc, u, &a) == TRITRI_OK) {
      desc.fill = TRITRI_FILL_LOWER;
      if (tri.upload(context, &desc, l, &b) == TRITRI_OK) {
        desc.fill = TRITRI_FILL_FULL;
        if (tri.matrix_create(context, &desc, &product) == TRITRI_OK && tri.multiply(context, NULL, a, b, product) == TRITRI_OK &&
            tri.download(context, product, NULL, c) == TRITRI_OK)
          wrong = !(c[0] == 14 && c[1] == 12 && c[2] == 15 && c[3] == 18);
      }
    }
  }
  tri.matrix_destroy(a);
  tri.context_destroy(context);
  tri.matrix_destroy(product);
  tri.matrix_destroy(b);
  return wrong;
}

int main(int argc, char **argv) {
  void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  int32_t count = -1;
  int status = -1;
  pid_t child;
  if (library == NULL) {
    fprintf(stderr, "life_cycle: library: must be the path of libtritri.so, got %s: %s\n", argc == 2 ? argv[1] : "nothing", argc == 2 ? dlerror() : "no argument");
    return 2;
  }
  find(library, "tritri_version", &tri.version);
  find(library, "tritri_version_string", &tri.version_string);
  find(library, "tritri_last_error", &tri.last_error);
  find(library, "tritri_device_count", &tri.device_count);
  find(library, "tritri_context_create", &tri.context_create);
  find(library, "tritri_context_destroy", &tri.context_destroy);
  find(library, "tritri_upload", &tri.upload);
  find(library, "tritri_matrix_create", &tri.matrix_create);
  find(library, "tritri_matrix_destroy", &tri.matrix_destroy);
  find(library, "tritri_multiply", &tri.multiply);
  find(library, "tritri_download", &tri.download);

  check(tri.version() == TRITRI_VERSION, "L2 the version is the header's");
  check(strlen(tri.version_string()) >= 5, "L2 the version as text");
  check(strcmp(tri.last_error(), "") == 0, "no error so far");
  check(!maps_mention("libcuda") && !maps_mention("libcublas"), "L2 loading and asking the version load no CUDA library");
  child = fork();
  if (child == 0) _exit(five_steps());
  check(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0, "L2 load, ask the version, fork, compute in the child");
  check(tri.device_count(TRITRI_DEVICE_CUDA, &count) == TRITRI_OK && count >= 0, "L1 counting CUDA devices succeeds where there are none");
  check(five_steps() == 0, "L1 the product is right on the CPU");
  check(!maps_mention("libcublas"), "L1 a CPU product loads no cuBLAS");
  check(dlclose(library) == 0, "the library can be closed");
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
