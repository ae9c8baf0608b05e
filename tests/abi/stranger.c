/* Another version of the library, as far as the loader can tell: the same names under another symbol version, and every call is a fault. */
#include <stdlib.h>

#define STRANGER(name) \
  void name(void);     \
  void name(void) { abort(); }
STRANGER(tritri_context_create)
STRANGER(tritri_context_destroy)
STRANGER(tritri_last_error)
STRANGER(tritri_matrix_create)
STRANGER(tritri_matrix_destroy)
STRANGER(tritri_multiply)
STRANGER(tritri_multiply_host)
STRANGER(tritri_version)
