// What Python needs beyond the C API to work on other libraries' arrays: DLPack read and made (https://dmlc.github.io/dlpack/latest/c_api.html),
// and a product of device memory in one call. tritri.i includes it last.
%{
#include <stdlib.h>
#include <string.h>

typedef struct { int32_t type, id; } dl_device;
typedef struct { uint8_t code, bits; uint16_t lanes; } dl_dtype;
typedef struct {
  void *data;
  dl_device device;
  int32_t ndim;
  dl_dtype dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} dl_tensor;
typedef struct dl_managed {
  dl_tensor tensor;
  void *owner;
  void (*deleter)(struct dl_managed *);
} dl_managed;
typedef struct dl_managed_versioned {
  struct { uint32_t major, minor; } version;
  void *owner;
  void (*deleter)(struct dl_managed_versioned *);
  uint64_t flags;  /* bit 0: read-only */
  dl_tensor tensor;
} dl_managed_versioned;

/* DLPack's C functions of an array type, in the capsule `__dlpack_c_exchange_api__` of that type. tensor_from borrows: the tensor lives as long as the object. */
typedef struct dl_exchange {
  struct { uint32_t major, minor; } version;
  struct dl_exchange *previous;
  void *allocate, *managed_from, *managed_to;
  int (*tensor_from)(void *object, dl_tensor *out);
  int (*current_stream)(int32_t device_type, int32_t device_id, void **out);
} dl_exchange;

static PyObject *tuple_of(const int64_t *numbers, int32_t count) {
  PyObject *tuple = PyTuple_New(count);
  for (int32_t i = 0; tuple && i < count; ++i) {
    PyObject *number = PyLong_FromLongLong(numbers[i]);
    if (!number || PyTuple_SetItem(tuple, i, number) != 0) Py_CLEAR(tuple);
  }
  return tuple;
}

/* One tensor of ours on its way to another library: the block holds shape and strides behind the struct. */
static void release_made(dl_managed *made) {
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_XDECREF((PyObject *)made->owner);
  PyGILState_Release(state);
  free(made);
}

/* What NumPy's __array_struct__ points to (https://numpy.org/doc/stable/reference/arrays.interface.html). */
typedef struct {
  int two, ndim;
  char kind;
  int item_bytes, flags;
  Py_ssize_t *shape, *strides;
  void *data;
  PyObject *description;
} array_struct;
enum { struct_aligned = 0x100, struct_native_order = 0x200, struct_writable = 0x400 };

/* Two or three axes: a matrix or a batch of them. Strides in elements. */
typedef struct { int ndim, dtype; int64_t shape[3], strides[3]; void *address; } plain_array;

static int dtype_of(dl_dtype type) {
  const int code = type.lanes == 1 ? type.code << 8 | type.bits : 0;
  return code == (2 << 8 | 32)    ? TRITRI_FLOAT32
         : code == (2 << 8 | 64)  ? TRITRI_FLOAT64
         : code == (5 << 8 | 64)  ? TRITRI_COMPLEX64
         : code == (5 << 8 | 128) ? TRITRI_COMPLEX128
         : code == (2 << 8 | 16)  ? TRITRI_FLOAT16
         : code == (4 << 8 | 16)  ? TRITRI_BFLOAT16
                                  : -1;
}

static int read_exchanged(const dl_exchange *exchange, PyObject *array, int32_t place, plain_array *out) {
  dl_tensor t;
  if (exchange->tensor_from(array, &t) != 0) {
    PyErr_Clear();
    return 0;
  }
  if (!(place < 0 ? t.device.type == 1 : t.device.type == 2 && t.device.id == place) || !t.strides || (t.ndim != 2 && t.ndim != 3)) return 0;
  out->ndim = t.ndim;
  out->dtype = dtype_of(t.dtype);
  out->address = (char *)t.data + t.byte_offset;
  memcpy(out->shape, t.shape, (size_t)t.ndim * sizeof(int64_t));
  memcpy(out->strides, t.strides, (size_t)t.ndim * sizeof(int64_t));
  return 1;
}

static int read_struct(PyObject *array, int written, plain_array *out) {
  PyObject *capsule = PyObject_GetAttrString(array, "__array_struct__");
  const array_struct *s = capsule ? (const array_struct *)PyCapsule_GetPointer(capsule, NULL) : NULL;
  const int flags = struct_aligned | struct_native_order | (written ? struct_writable : 0);
  int plain = s && s->two == 2 && (s->ndim == 2 || s->ndim == 3) && (s->flags & flags) == flags && (s->kind == 'f' || s->kind == 'c') && s->item_bytes <= 16;
  if (plain) {
    const dl_dtype type = {s->kind == 'f' ? 2 : 5, (uint8_t)(s->item_bytes * 8), 1};
    out->ndim = s->ndim;
    out->dtype = dtype_of(type);
    out->address = s->data;
    for (int i = 0; i < s->ndim; ++i) {
      plain = plain && s->strides[i] % s->item_bytes == 0;
      out->shape[i] = s->shape[i];
      out->strides[i] = s->strides[i] / s->item_bytes;
    }
  }
  PyErr_Clear();
  Py_XDECREF(capsule);
  return plain;
}

/* The dimensions, 2 or 3, of matrices with a unit stride in a row or column, none of them a mere line; else 0. Fills in all of the descriptor but fill and diag. */
static int describe_plain(const plain_array *array, tritri_matrix_desc *desc) {
  const tritri_matrix_desc init = TRITRI_MATRIX_DESC_INIT;
  const int64_t *shape = array->shape + array->ndim - 2, *strides = array->strides + array->ndim - 2;
  const int by_row = strides[1] == 1;
  *desc = init;
  desc->dtype = array->dtype;
  desc->rows = shape[0];
  desc->cols = shape[1];
  desc->order = by_row ? TRITRI_ORDER_ROW : TRITRI_ORDER_COLUMN;
  desc->ld = by_row ? strides[0] : strides[1];
  desc->batch_count = array->ndim == 3 ? array->shape[0] : 1;
  desc->batch_stride = array->ndim == 3 ? array->strides[0] : 0;
  const int lines = by_row ? desc->ld >= desc->cols : strides[0] == 1 && desc->ld >= desc->rows;
  return lines && desc->dtype >= 0 && desc->rows > 1 && desc->cols > 1 && desc->batch_count > 0 && desc->batch_stride >= 0 ? array->ndim : 0;
}

static int transposes(int32_t op) { return op == TRITRI_OP_TRANSPOSE || op == TRITRI_OP_CONJ_TRANSPOSE; }

static void drop_capsule(PyObject *capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor")) {
    dl_managed *made = (dl_managed *)PyCapsule_GetPointer(capsule, "dltensor");
    made->deleter(made);
  }
}
%}

%apply void *ADDRESS { void *device_a, void *device_b, void *device_c };
%typemap(in) PyObject * "$1 = $input;"
%typemap(out) PyObject * "$result = $1; if (!$result) SWIG_fail;"

%rename("%s") dlpack_read;
%rename("%s") dlpack_make;
%rename("%s") multiply_device;
%rename("%s") multiply_plain;
%long_call(multiply_device)

%inline %{
/* (address, shape, strides or None, (code, bits, lanes), (device type, device id), read-only) of a capsule, which stays the owner. */
PyObject *dlpack_read(PyObject *capsule) {
  const dl_tensor *t = NULL;
  int read_only = 0;
  if (PyCapsule_IsValid(capsule, "dltensor")) {
    t = &((dl_managed *)PyCapsule_GetPointer(capsule, "dltensor"))->tensor;
  } else if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    const dl_managed_versioned *managed = (dl_managed_versioned *)PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (managed->version.major == 1) t = &managed->tensor;
    read_only = (int)(managed->flags & 1);
  }
  if (!t) {
    PyErr_SetString(PyExc_TypeError, "__dlpack__ must return an unused capsule of DLPack version 0 or 1");
    return NULL;
  }
  PyObject *shape = tuple_of(t->shape, t->ndim);
  PyObject *strides = t->strides ? tuple_of(t->strides, t->ndim) : Py_BuildValue("");
  PyObject *address = PyLong_FromVoidPtr((char *)t->data + t->byte_offset);
  if (!shape || !strides || !address) {
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    Py_XDECREF(address);
    return NULL;
  }
  return Py_BuildValue("(NNN(iii)(ii)i)", address, shape, strides, t->dtype.code, t->dtype.bits, t->dtype.lanes, t->device.type, t->device.id, read_only);
}

/* A capsule over memory that lives as long as owner does. strides are in elements. */
PyObject *dlpack_make(PyObject *owner, void *pointer, PyObject *shape, PyObject *strides, int code, int bits, int device_type, int device_id) {
  const Py_ssize_t ndim = PyTuple_Size(shape);
  if (ndim < 0 || PyTuple_Size(strides) != ndim) {
    PyErr_SetString(PyExc_TypeError, "dlpack_make: shape and strides must be tuples of one length");
    return NULL;
  }
  dl_managed *made = (dl_managed *)calloc(1, sizeof(dl_managed) + 2 * (size_t)ndim * sizeof(int64_t));
  if (!made) return PyErr_NoMemory();
  int64_t *numbers = (int64_t *)(made + 1);
  for (Py_ssize_t i = 0; i < ndim; ++i) {
    numbers[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
    numbers[ndim + i] = PyLong_AsLongLong(PyTuple_GetItem(strides, i));
  }
  const dl_tensor tensor = {pointer, {device_type, device_id}, (int32_t)ndim, {(uint8_t)code, (uint8_t)bits, 1}, numbers, numbers + ndim, 0};
  made->tensor = tensor;
  made->deleter = release_made;
  PyObject *capsule = PyErr_Occurred() ? NULL : PyCapsule_New(made, "dltensor", drop_capsule);
  if (!capsule) {
    free(made);
    return NULL;
  }
  Py_INCREF(owner);
  made->owner = owner;
  return capsule;
}

/* tritri_multiply over memory of the context's device, wrapped for this call. */
tritri_status multiply_device(tritri_context *context, const tritri_multiply_options *options, const tritri_matrix_desc *a_desc, void *device_a,
                              const tritri_matrix_desc *b_desc, void *device_b, const tritri_matrix_desc *c_desc, void *device_c) {
  tritri_matrix *a = NULL, *b = NULL, *c = NULL;
  tritri_status status = tritri_matrix_wrap(context, a_desc, device_a, &a);
  if (status == TRITRI_OK) status = tritri_matrix_wrap(context, b_desc, device_b, &b);
  if (status == TRITRI_OK) status = tritri_matrix_wrap(context, c_desc, device_c, &c);
  if (status == TRITRI_OK) status = tritri_multiply(context, options, a, b, c);
  tritri_matrix_destroy(a);
  tritri_matrix_destroy(b);
  tritri_matrix_destroy(c);
  return status;
}

/* The product of plain matrices (describe_plain), read without a Python object for each number: True. False, and nothing done, where they are not plain or do
   not fit: the caller says why or finds another way. reader: the capsule with DLPack's C functions of the arrays' type, or None for NumPy arrays.
   properties: the fills of a, b and c, the diags of a and b. */
PyObject *multiply_plain(tritri_context *context, PyObject *reader, const tritri_multiply_options *options, PyObject *properties, int place, PyObject *array_a,
                         PyObject *array_b, PyObject *array_c) {
  plain_array arrays[3];
  PyObject *given[3] = {array_a, array_b, array_c};
  const dl_exchange *exchange = NULL;
  if (PyCapsule_IsValid(reader, "dlpack_exchange_api")) exchange = (const dl_exchange *)PyCapsule_GetPointer(reader, "dlpack_exchange_api");
  while (exchange && exchange->version.major != 1) exchange = exchange->previous;
  for (int i = 0; i < 3; ++i) {
    const int read = exchange && exchange->tensor_from ? read_exchanged(exchange, given[i], place, &arrays[i]) : read_struct(given[i], i == 2, &arrays[i]);
    if (!read) return PyBool_FromLong(0);
  }
  tritri_matrix_desc a, b, c;
  const int a_dims = describe_plain(&arrays[0], &a), b_dims = describe_plain(&arrays[1], &b), c_dims = describe_plain(&arrays[2], &c);
  if (!a_dims || !b_dims || !c_dims) return PyBool_FromLong(0);
  if (!PyArg_ParseTuple(properties, "iiiii", &a.fill, &b.fill, &c.fill, &a.diag, &b.diag)) return NULL;
  const int swap_a = transposes(options->op_a), swap_b = transposes(options->op_b);
  const int64_t m = swap_a ? a.cols : a.rows, k = swap_a ? a.rows : a.cols, n = swap_b ? b.rows : b.cols;
  const int64_t batch = a.batch_count > b.batch_count ? a.batch_count : b.batch_count;
  const int64_t c_lines = c.order == TRITRI_ORDER_ROW ? c.rows : c.cols;
  if (b.dtype != a.dtype || c.dtype != a.dtype || (swap_b ? b.cols : b.rows) != k || c.rows != m || c.cols != n || c_dims != (a_dims > b_dims ? a_dims : b_dims) ||
      c.batch_count != batch || (a.batch_count != 1 && a.batch_count != batch) || (b.batch_count != 1 && b.batch_count != batch) ||
      (batch > 1 && c.batch_stride < c_lines * c.ld))
    return PyBool_FromLong(0);
  tritri_status status;
  Py_BEGIN_ALLOW_THREADS
  status = place < 0 ? tritri_multiply_host(context, options, &a, arrays[0].address, &b, arrays[1].address, &c, arrays[2].address)
                     : multiply_device(context, options, &a, arrays[0].address, &b, arrays[1].address, &c, arrays[2].address);
  Py_END_ALLOW_THREADS
  if (status == TRITRI_OK) return PyBool_FromLong(1);
  raise_status(status);
  return NULL;
}
%}
