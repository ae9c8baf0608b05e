/* libtritri: products of triangular matrices.  SPDX-License-Identifier: Apache-2.0
 *
 *     C := alpha * op(A) * op(B) + beta * C
 *
 * Each matrix says what it holds: its *fill* is LOWER, UPPER or FULL. No element outside a fill is read, written or
 * computed with, so that lower * lower costs n^3/3 flops instead of GEMM's 2 n^3.
 *
 * This header is the whole ABI and its manual, simple things first:
 *   1. status and version           4. context, matrix, upload, multiply, download
 *   2. the enumerations             5. one call on host arrays
 *   3. descriptors and options      6. devices, memory, workspace, checking
 *
 * What holds for every function, unless its own comment says otherwise:
 *   Errors    Whatever can fail returns a tritri_status; results leave through the last pointers. On any failure the outputs are
 *             untouched and tritri_last_error() says why in one sentence: "function: argument: rule, got value". Nothing throws, prints,
 *             aborts or exits across this boundary.
 *   Threads   A context and its matrices serve one thread at a time; different contexts run in parallel. Functions that take
 *             no context may be called from any thread.
 *   Order     On a CUDA context tritri_multiply is stream-ordered: it only enqueues. Functions that touch host memory are
 *             synchronous: when they return, the host memory may be reused. On a CPU context everything is synchronous.
 *   Device    The caller's current CUDA device is the same after every call as before it.
 *   Structs   Begin with struct_size; initialise them with their _INIT macro. Fields are only ever appended, and a shorter struct from a
 *             program built against an older header keeps working.
 *   Since     Every declaration is here since 0.1 unless it says otherwise.
 */
#ifndef TRITRI_TRITRI_H
#define TRITRI_TRITRI_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define TRITRI_API __declspec(dllimport)
#elif defined(__GNUC__)
#define TRITRI_API __attribute__((visibility("default")))
#else
#define TRITRI_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------ 1. status and version */

#define TRITRI_VERSION_MAJOR 0
#define TRITRI_VERSION_MINOR 1
#define TRITRI_VERSION_PATCH 0
/* major * 10000 + minor * 100 + patch; compare with tritri_version() to tell header and library apart. */
#define TRITRI_VERSION (TRITRI_VERSION_MAJOR * 10000 + TRITRI_VERSION_MINOR * 100 + TRITRI_VERSION_PATCH)

typedef enum tritri_status {
  TRITRI_OK = 0,
  TRITRI_INVALID_ARGUMENT = 1, /* an argument breaks a rule; the message names it */
  TRITRI_OUT_OF_MEMORY = 2,    /* host or device memory, or the context's workspace, is too small */
  TRITRI_NO_DEVICE = 3,        /* the device that was asked for is not there */
  TRITRI_NOT_SUPPORTED = 4,    /* a valid request that this build or device cannot serve */
  TRITRI_DEVICE_ERROR = 5,     /* CUDA or cuBLAS failed, possibly in an earlier stream-ordered call */
  TRITRI_INTERNAL_ERROR = 6    /* a fault of this library: please report the message */
} tritri_status;

/* The enumerator's own name, such as "TRITRI_OK"; "TRITRI_UNKNOWN_STATUS" for any other number. Static storage, never NULL. */
TRITRI_API const char *tritri_status_name(tritri_status status);

/* This thread's last failure as one sentence, "" if there was none. Valid until the next failing call on this thread.
 * A call that succeeds does not clear it. */
TRITRI_API const char *tritri_last_error(void);

/* TRITRI_VERSION of the library that was loaded. Does not initialise CUDA. */
TRITRI_API int32_t tritri_version(void);

/* The same as text, such as "0.1.0". Static storage. Does not initialise CUDA. */
TRITRI_API const char *tritri_version_string(void);

/* ------------------------------------------------------------------------------------------------ 2. the enumerations */

/* Values are fixed for ever. Structs hold them as int32_t; a number that is not listed is TRITRI_INVALID_ARGUMENT. */

/* Element type. Complex elements are two reals, real part first (C99 _Complex, std::complex, NumPy). FLOAT16 is IEEE binary16,
 * BFLOAT16 the upper half of a float32; products of both accumulate in float32 and round once at the end. */
typedef enum tritri_dtype {
  TRITRI_FLOAT32 = 0,
  TRITRI_FLOAT64 = 1,
  TRITRI_COMPLEX64 = 2,
  TRITRI_COMPLEX128 = 3,
  TRITRI_FLOAT16 = 4,
  TRITRI_BFLOAT16 = 5
} tritri_dtype;

/* Which elements of a rows x cols matrix exist. LOWER: element (i, j) where i >= j. UPPER: where i <= j. A rectangular triangular
 * matrix is a trapezoid. Fill speaks of the matrix as it is stored, before op. */
typedef enum tritri_fill { TRITRI_FILL_FULL = 0, TRITRI_FILL_LOWER = 1, TRITRI_FILL_UPPER = 2 } tritri_fill;

/* UNIT: the stored diagonal is never read and counts as 1. Inputs only; a result's diagonal is computed. */
typedef enum tritri_diag { TRITRI_DIAG_NON_UNIT = 0, TRITRI_DIAG_UNIT = 1 } tritri_diag;

/* What the product does to an operand after its fill has been applied. CONJ conjugates without transposing; on real types
 * CONJ is NONE and CONJ_TRANSPOSE is TRANSPOSE. */
typedef enum tritri_op {
  TRITRI_OP_NONE = 0,
  TRITRI_OP_TRANSPOSE = 1,
  TRITRI_OP_CONJ_TRANSPOSE = 2,
  TRITRI_OP_CONJ = 3
} tritri_op;

/* ROW: a line is a row, element (i, j) at i * ld + j. COLUMN: a line is a column, element (i, j) at i + j * ld. */
typedef enum tritri_order { TRITRI_ORDER_ROW = 0, TRITRI_ORDER_COLUMN = 1 } tritri_order;

/* STRIDED: lines stand ld elements apart. PACKED: only the triangle is stored, line after line without gaps in the stated order,
 * as BLAS calls TP; needs fill LOWER or UPPER and ld 0. On a GPU some products copy packed inputs into the workspace first. For many products of one
 * matrix a STRIDED one is faster: tritri_upload_into fills it from a packed host_layout, and moves the triangle alone. */
typedef enum tritri_storage { TRITRI_STORAGE_STRIDED = 0, TRITRI_STORAGE_PACKED = 1 } tritri_storage;

/* How float32 products are computed; the other types accept DEFAULT only.
 *   DEFAULT   as accurate as IEEE float32 FMA accumulation, by whatever route is fastest
 *   PEDANTIC  IEEE float32 FMA and nothing else
 *   TF32      both inputs rounded to nearest TF32 (10 explicit mantissa bits), float32 accumulation */
typedef enum tritri_compute {
  TRITRI_COMPUTE_DEFAULT = 0,
  TRITRI_COMPUTE_PEDANTIC = 1,
  TRITRI_COMPUTE_TF32 = 2
} tritri_compute;

/* AUTO picks the fastest; KERNEL forces this library's own kernels; CUBLAS forces cuBLAS (CUDA contexts only). */
typedef enum tritri_algorithm {
  TRITRI_ALGORITHM_AUTO = 0,
  TRITRI_ALGORITHM_KERNEL = 1,
  TRITRI_ALGORITHM_CUBLAS = 2
} tritri_algorithm;

/* AUTO: what the environment variable TRITRI_DEVICE says ("cpu", "cuda", "cuda:1"), else CUDA device 0 if there is one, else the CPU. */
typedef enum tritri_device { TRITRI_DEVICE_AUTO = 0, TRITRI_DEVICE_CPU = 1, TRITRI_DEVICE_CUDA = 2 } tritri_device;

/* ------------------------------------------------------------------------------------------------ 3. descriptors and options */

/* What a matrix holds and how its elements lie in memory. */
typedef struct tritri_matrix_desc {
  size_t struct_size;
  int32_t dtype;        /* tritri_dtype */
  int32_t fill;         /* tritri_fill */
  int32_t diag;         /* tritri_diag */
  int32_t order;        /* tritri_order */
  int32_t storage;      /* tritri_storage */
  int64_t rows, cols;   /* from 0 */
  int64_t ld;           /* elements from one line to the next, >= the line's length; 0: tight */
  int64_t batch_count;  /* 0 or 1: one matrix */
  int64_t batch_stride; /* elements from one matrix to the next, read only if batch_count > 1; 0 on an input broadcasts it */
} tritri_matrix_desc;

/* A float32, FULL, row-major 0 x 0 matrix: set what differs. */
#define TRITRI_MATRIX_DESC_INIT \
  { sizeof(tritri_matrix_desc), TRITRI_FLOAT32, TRITRI_FILL_FULL, TRITRI_DIAG_NON_UNIT, TRITRI_ORDER_ROW, TRITRI_STORAGE_STRIDED, 0, 0, 0, 0, 0 }

typedef struct tritri_multiply_options {
  size_t struct_size;
  int32_t op_a, op_b;         /* tritri_op */
  double alpha_re, alpha_im;  /* rounded to the product's type; the imaginary part must be 0 for real types */
  double beta_re, beta_im;    /* beta 0: C is not read. alpha 0: A and B are not read */
  int32_t compute;            /* tritri_compute */
  int32_t algorithm;          /* tritri_algorithm */
} tritri_multiply_options;

/* C := A B */
#define TRITRI_MULTIPLY_OPTIONS_INIT \
  { sizeof(tritri_multiply_options), TRITRI_OP_NONE, TRITRI_OP_NONE, 1.0, 0.0, 0.0, 0.0, TRITRI_COMPUTE_DEFAULT, TRITRI_ALGORITHM_AUTO }

typedef struct tritri_context_options {
  size_t struct_size;
  int32_t device;          /* tritri_device */
  int32_t device_index;    /* which CUDA device; 0 for the CPU */
  void *stream;            /* a cudaStream_t to work on, which must outlive its use here; NULL: the context's own stream */
  int32_t threads;         /* CPU threads per call, at most 1024; 0: as many as this process may run on */
  size_t workspace_bytes;  /* device memory set aside for tritri_multiply; 0: 512 MiB, or 1/32 of the card if that is less.
                              Large packed inputs come through it in strips: the more there is, the fewer */
} tritri_context_options;

#define TRITRI_CONTEXT_OPTIONS_INIT { sizeof(tritri_context_options), TRITRI_DEVICE_AUTO, 0, NULL, 0, 0 }

typedef struct tritri_device_info {
  size_t struct_size;
  int32_t kind;                         /* TRITRI_DEVICE_CPU or TRITRI_DEVICE_CUDA */
  int32_t index;
  char name[128];                       /* such as "NVIDIA H200" */
  char details[512];                    /* one sentence: what computes there, and which cuBLAS was found where, or what was tried */
  int64_t memory_total, memory_free;    /* bytes */
  int32_t compute_major, compute_minor; /* CUDA compute capability; 0 for the CPU */
  int32_t multiprocessors;              /* SMs, or hardware threads that this process may use */
  int32_t driver_version;               /* as CUDA counts: 13000 is 13.0; 0 for the CPU */
  int32_t runtime_version;              /* of the CUDA runtime inside this library; 0 for the CPU */
  int32_t blas_version;                 /* cuBLAS as CUDA counts, 0: not found; 0 for the CPU, which needs none */
} tritri_device_info;

#define TRITRI_DEVICE_INFO_INIT { sizeof(tritri_device_info), 0, 0, {0}, {0}, 0, 0, 0, 0, 0, 0, 0, 0 }

/* ------------------------------------------------------------------------------------------------ 4. context, matrix, multiply */

typedef struct tritri_context tritri_context; /* a device, its stream and its workspace */
typedef struct tritri_matrix tritri_matrix;   /* memory on a context's device and what it holds */

/* Makes a context. All slow start-up happens here (driver, kernels, cuBLAS handle, workspace): the first multiply runs like the tenth.
 * With TRITRI_WARM_UP=0 in the environment a CUDA context is made sooner, and kernels and cuBLAS load at their first use, which a graph capture may
 * refuse: for debuggers, sanitizers and programs of a single product. options NULL: the best device. The caller owns *out. */
TRITRI_API tritri_status tritri_context_create(const tritri_context_options *options, tritri_context **out);

/* Releases the caller's hold; takes NULL. Matrices of the context stay usable: contexts and matrices may go in any order.
 * Waits for nothing that the caller's own stream still runs. */
TRITRI_API void tritri_context_destroy(tritri_context *context);

/* Waits until everything that this context enqueued has finished and reports what went wrong in it. */
TRITRI_API tritri_status tritri_context_synchronize(tritri_context *context);

/* Work enqueued from now on goes to this cudaStream_t (NULL: back to the context's own stream), ordered after what the context enqueued
 * before. On a CPU context a non-NULL stream is TRITRI_INVALID_ARGUMENT. */
TRITRI_API tritri_status tritri_context_set_stream(tritri_context *context, void *cuda_stream);

/* Copies the elements inside host_layout's fill to the device, into a new matrix of the same shape, dtype, fill, diag, order, storage
 * and batch. Its ld is chosen by the library (ask tritri_matrix_desc_get). Synchronous. The caller owns *out. */
TRITRI_API tritri_status tritri_upload(tritri_context *context, const tritri_matrix_desc *host_layout, const void *host, tritri_matrix **out);

/* A new matrix for results, laid out as desc says; contents unspecified. The caller owns *out. */
TRITRI_API tritri_status tritri_matrix_create(tritri_context *context, const tritri_matrix_desc *desc, tritri_matrix **out);

/* A matrix over memory of the context's device (host memory on a CPU context), aligned to the element: no copy, the caller keeps ownership
 * and keeps it alive until the matrix is destroyed and the work on it is done. */
TRITRI_API tritri_status tritri_matrix_wrap(tritri_context *context, const tritri_matrix_desc *desc, void *device_memory, tritri_matrix **out);

/* Refills an existing matrix from host memory; shape, dtype, fill and batch count must agree, the rest of the layout may differ and is
 * converted. Elements outside the fill are neither read nor written. Allocates nothing on the device. Synchronous. */
TRITRI_API tritri_status tritri_upload_into(tritri_context *context, tritri_matrix *matrix, const tritri_matrix_desc *host_layout, const void *host);

/* The matrix's descriptor, with ld and batch_stride as they are in memory. out->struct_size must be set. */
TRITRI_API tritri_status tritri_matrix_desc_get(const tritri_matrix *matrix, tritri_matrix_desc *out);

/* The address of the first element, in device memory on a CUDA context. It lives as long as the matrix. */
TRITRI_API tritri_status tritri_matrix_data(const tritri_matrix *matrix, void **device_memory);

/* Frees the matrix, or forgets the wrapped memory; takes NULL. */
TRITRI_API void tritri_matrix_destroy(tritri_matrix *matrix);

/* C := alpha op(A) op(B) + beta C, with op(A) m x k, op(B) k x n and C m x n, all of one dtype and on this context's device; options NULL: C := A B.
 *   - C's fill decides what is written. FULL: every element, an exact +0 where the product is structurally zero (beta 0). LOWER or UPPER: that
 *     triangle only; the bytes outside it keep their values. A product that does not fit C's fill is cut to it.
 *   - Inf and NaN inside a fill propagate as IEEE arithmetic says; those outside cannot leak; a structural zero times Inf is not computed.
 *   - C may be A or B itself (same memory and layout); any other overlap is TRITRI_INVALID_ARGUMENT.
 *   - batch counts must agree; an input with batch count 1 or batch stride 0 is broadcast.
 *   - the same inputs on the same device with the same library give the same bits.
 * Stream-ordered on CUDA: no allocation, no synchronisation, can be captured into a graph. If the context's workspace is smaller
 * than tritri_workspace_size says: TRITRI_OUT_OF_MEMORY. */
TRITRI_API tritri_status tritri_multiply(tritri_context *context, const tritri_multiply_options *options, const tritri_matrix *a, const tritri_matrix *b,
                                         tritri_matrix *c);

/* Copies the elements inside the matrix's fill to host memory; host_layout must agree in shape, dtype, fill and batch count, the rest of the layout
 * may differ and is converted. Host bytes outside the fill keep their values. host_layout NULL: the matrix's own descriptor with tight lines
 * and matrices. Synchronous; reports earlier stream-ordered failures. */
TRITRI_API tritri_status tritri_download(tritri_context *context, const tritri_matrix *matrix, const tritri_matrix_desc *host_layout, void *host);

/* ------------------------------------------------------------------------------------------------ 5. one call on host arrays */

/* tritri_multiply with host arrays in and out, under the same rules: on a CPU context without a copy, on a CUDA context through device memory that
 * is allocated for the call. There a large triangle times a triangle on the same side moves and computes at the same time where all three arrays lie in
 * pinned memory (tritri_host_allocate): in smaller products, which round otherwise than one does, and the same way each time. Synchronous. */
TRITRI_API tritri_status tritri_multiply_host(tritri_context *context, const tritri_multiply_options *options, const tritri_matrix_desc *a_desc, const void *a,
                                              const tritri_matrix_desc *b_desc, const void *b, const tritri_matrix_desc *c_desc, void *c);

/* ------------------------------------------------------------------------------------------------ 6. devices, memory, checking */

/* How many devices of a kind there are: 1 for the CPU; for CUDA 0 (and TRITRI_OK) where there is no card or no driver. AUTO counts both. */
TRITRI_API tritri_status tritri_device_count(tritri_device kind, int32_t *count);

/* Describes a device; info->struct_size must be set (TRITRI_DEVICE_INFO_INIT), and only that many bytes are written. */
TRITRI_API tritri_status tritri_device_info_get(tritri_device kind, int32_t index, tritri_device_info *info);

/* Describes the device of a context: what AUTO came to. */
TRITRI_API tritri_status tritri_context_device_info(tritri_context *context, tritri_device_info *info);

/* Host memory from which transfers run fastest: pinned on a CUDA context. The caller owns *out and gives it to tritri_host_free of the
 * same context, or of any other on the same device. 0 bytes give a pointer that may be freed and must not be read. */
TRITRI_API tritri_status tritri_host_allocate(tritri_context *context, size_t bytes, void **out);

/* Frees memory of tritri_host_allocate; takes NULL. A pointer that it did not give out is TRITRI_INVALID_ARGUMENT. */
TRITRI_API tritri_status tritri_host_free(tritri_context *context, void *pointer);

/* Device memory that this product takes in the context's workspace; a larger workspace may be used further. More than there is: tritri_multiply answers
 * TRITRI_OUT_OF_MEMORY. 0 on a CPU context, which allocates as it goes. */
TRITRI_API tritri_status tritri_workspace_size(tritri_context *context, const tritri_multiply_options *options, const tritri_matrix *a, const tritri_matrix *b,
                                               const tritri_matrix *c, size_t *bytes);

/* How this product would be computed, as one line of key=value pairs (device, algorithm, kernel, tile, flops, workspace...), cut to text_bytes
 * with the terminating 0. For people and logs: the keys may grow. */
TRITRI_API tritri_status tritri_plan_describe(tritri_context *context, const tritri_multiply_options *options, const tritri_matrix *a, const tritri_matrix *b,
                                              const tritri_matrix *c, char *text, size_t text_bytes);

/* Checks a finished product C = alpha op(A) op(B) in O(n^2) per probe: for random +-1 vectors x (fixed seed) it compares C x with alpha op(A) (op(B) x) row by row
 * in float64, within C's fill, and gives the largest |difference| over the 2-norm scale of its row. Rounding alone gives a small multiple of the dtype's epsilon; NaN or
 * Inf where the other side has none gives Inf. probes from 1 to 1024. beta must be 0, since C's former values are gone. Synchronous;
 * on a CUDA context it downloads the three matrices. */
TRITRI_API tritri_status tritri_verify(tritri_context *context, const tritri_multiply_options *options, const tritri_matrix *a, const tritri_matrix *b,
                                       const tritri_matrix *c, int32_t probes, double *relative_residual);

#ifdef __cplusplus
}
#endif

#endif /* TRITRI_TRITRI_H */
