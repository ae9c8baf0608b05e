// What Python needs beyond the C API to work on other libraries' arrays: DLPack read and made (https://dmlc.github.io/dlpack/latest/c_api.html),
// and a product of device memory in one call. tritri.i includes it last.
%{
#include <stdlib.h>

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
%}
