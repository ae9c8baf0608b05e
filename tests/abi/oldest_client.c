/* B9: a program whose structs end before fields that were appended later. The functions are declared with these shorter structs, as its header did; each stands at
 * the end of a page behind which nothing may be read or written. */
#define _DEFAULT_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct { /* without ld, batch_count and batch_stride */
  size_t struct_size;
  int32_t dtype, fill, diag, order, storage;
  int64_t rows, cols;
} oldest_desc;
typedef struct { /* without beta, compute and algorithm */
  size_t struct_size;
  int32_t op_a, op_b;
  double alpha_re, alpha_im;
} oldest_multiply_options;
typedef struct {
  size_t struct_size;
  int32_t device;
} oldest_context_options;
typedef struct {
  size_t struct_size;
  int32_t kind, index;
} oldest_info;

int tritri_context_create(const oldest_context_options *, void **);
void tritri_context_destroy(void *);
int tritri_context_device_info(void *, oldest_info *);
int tritri_upload(void *, const oldest_desc *, const void *, void **);
int tritri_matrix_desc_get(const void *, oldest_desc *);
void tritri_matrix_destroy(void *);
int tritri_multiply_host(void *, const oldest_multiply_options *, const oldest_desc *, const void *, const oldest_desc *, const void *, const oldest_desc *, void *);
const char *tritri_last_error(void);

static int passed = 0, failed = 0;

static void check(int condition, const char *what) {
  if (condition) {
    ++passed;
  } else {
    ++failed;
    printf("FAILED %s: %s\n", what, tritri_last_error());
  }
}

/* Memory whose last byte is the last of a page, with a page after it that traps. */
static void *at_the_edge(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory + page, page, PROT_NONE) != 0) return NULL;
  return memory + page - bytes;
}

int main(void) {
  const double u[4] = {1, 2, 0, 3}, l[4] = {4, 0, 5, 6};
  double c[4] = {0, 0, 0, 0};
  void *context = NULL, *matrix = NULL;
  oldest_context_options *context_options = at_the_edge(sizeof *context_options);
  oldest_multiply_options *options = at_the_edge(sizeof *options);
  oldest_desc *upper = at_the_edge(sizeof *upper), *lower = at_the_edge(sizeof *lower), *full = at_the_edge(sizeof *full), *got = at_the_edge(sizeof *got);
  oldest_info *info = at_the_edge(sizeof *info);
  if (!context_options || !options || !upper || !lower || !full || !got || !info) return 2;

  memset(upper, 0, sizeof *upper);
  upper->struct_size = sizeof *upper;
  upper->dtype = 1; /* float64 */
  upper->rows = upper->cols = 2;
  *lower = *full = *got = *upper;
  upper->fill = 2;
  lower->fill = 1;
  memset(options, 0, sizeof *options);
  options->struct_size = sizeof *options;
  options->alpha_re = 2;
  context_options->struct_size = 12; /* the last field's end: without the padding behind it */
  context_options->device = 1;
  info->struct_size = sizeof *info;

  check(tritri_context_create(context_options, &context) == 0, "context options that end after device");
  check(tritri_context_device_info(context, info) == 0 && info->kind == 1 && info->struct_size == sizeof *info, "device info that ends after index");
  check(tritri_multiply_host(context, options, upper, u, lower, l, full, c) == 0 && c[0] == 28 && c[1] == 24 && c[2] == 30 && c[3] == 36, "options that end after alpha");
  check(tritri_upload(context, upper, u, &matrix) == 0, "a descriptor that ends after cols");
  got->rows = -1;
  check(tritri_matrix_desc_get(matrix, got) == 0 && got->rows == 2 && got->fill == 2 && got->struct_size == sizeof *got, "a descriptor written to its own end");
  tritri_matrix_destroy(matrix);
  tritri_context_destroy(context);
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
