// What the kinds of argument become in Python; README.md has the table. The generated module `_tritri` is private: tritri/*.py calls it with plain
// numbers and tuples, so that a product costs no proxy objects.
//   addresses, streams   int, None for NULL; tritri/arrays keeps the owners alive
//   descriptors          (dtype, fill, diag, order, storage, rows, cols, ld, batch_count, batch_stride)
//   multiply options     (op_a, op_b, alpha_re, alpha_im, beta_re, beta_im, compute, algorithm), None for NULL
//   context options      (device, device_index, stream, threads, workspace_bytes)

%{
// Raises what a status means in Python, with this thread's message. The exception class is Python's own: tritri/errors.py.
static void raise_status(tritri_status status) {
  const char *message = tritri_last_error();
  if (status == TRITRI_INVALID_ARGUMENT) {
    PyErr_SetString(PyExc_ValueError, message);
  } else if (status == TRITRI_OUT_OF_MEMORY) {
    PyErr_SetString(PyExc_MemoryError, message);
  } else {
    PyObject *module = PyImport_ImportModule("tritri.errors");
    PyObject *type = module ? PyObject_GetAttrString(module, "TritriError") : NULL;
    PyObject *error = type ? PyObject_CallFunction(type, "is", (int)status, message) : NULL;
    if (error) PyErr_SetObject(type, error);
    Py_XDECREF(error);
    Py_XDECREF(type);
    Py_XDECREF(module);
  }
}

static int read_address(PyObject *value, void **address) {
  *address = value == Py_None ? NULL : PyLong_AsVoidPtr(value);
  return !PyErr_Occurred();
}

static int read_matrix_desc(PyObject *value, tritri_matrix_desc *d) {
  long long rows, cols, ld, batch_count, batch_stride;
  if (!PyArg_ParseTuple(value, "iiiiiLLLLL", &d->dtype, &d->fill, &d->diag, &d->order, &d->storage, &rows, &cols, &ld, &batch_count, &batch_stride))
    return 0;
  d->struct_size = sizeof *d;
  d->rows = rows;
  d->cols = cols;
  d->ld = ld;
  d->batch_count = batch_count;
  d->batch_stride = batch_stride;
  return 1;
}

static int read_multiply_options(PyObject *value, tritri_multiply_options *o) {
  o->struct_size = sizeof *o;
  return PyArg_ParseTuple(value, "iiddddii", &o->op_a, &o->op_b, &o->alpha_re, &o->alpha_im, &o->beta_re, &o->beta_im, &o->compute, &o->algorithm);
}

static int read_context_options(PyObject *value, tritri_context_options *o) {
  PyObject *stream;
  Py_ssize_t workspace_bytes;
  if (!PyArg_ParseTuple(value, "iiOin", &o->device, &o->device_index, &stream, &o->threads, &workspace_bytes) || !read_address(stream, &o->stream)) return 0;
  if (workspace_bytes < 0) {
    PyErr_Format(PyExc_ValueError, "Context: workspace_bytes: must be at least 0, got %zd", workspace_bytes);
    return 0;
  }
  o->struct_size = sizeof *o;
  o->workspace_bytes = (size_t)workspace_bytes;
  return 1;
}
%}

// Other Python threads run while the library works. The status and its message stay on this thread.
%define %long_call(name)
%exception name {
  Py_BEGIN_ALLOW_THREADS
  $action
  Py_END_ALLOW_THREADS
}
%enddef
%long_call(tritri_context_destroy)
%long_call(tritri_matrix_destroy)

%typemap(out) tritri_status {
  if ($1 != TRITRI_OK) {
    raise_status($1);
    SWIG_fail;
  }
  $result = SWIG_Py_Void();
}

// Every call has at most one result: it takes the place of None.
%define %result_is(value)
  PyObject *result_value = value;
  if (!result_value) SWIG_fail;
  Py_DECREF($result);
  $result = result_value;
%enddef

%typemap(in, numinputs=0) tritri_context **HANDLE_OUT (tritri_context *handle = NULL), tritri_matrix **HANDLE_OUT (tritri_matrix *handle = NULL)
  "$1 = &handle;"
%typemap(argout) tritri_context **HANDLE_OUT, tritri_matrix **HANDLE_OUT { %result_is(SWIG_NewPointerObj(*$1, $*1_descriptor, 0)) }

%define %address_argument(TYPE)
%typemap(in) TYPE (void *address) {
  if (!read_address($input, &address)) SWIG_fail;
  $1 = address;
}
%enddef
%address_argument(const void *HOST_IN)
%address_argument(void *HOST_OUT)
%address_argument(void *ADDRESS)

%typemap(in, numinputs=0) void **ADDRESS_OUT (void *address = NULL) "$1 = &address;"
%typemap(argout) void **ADDRESS_OUT { %result_is(PyLong_FromVoidPtr(*$1)) }

%define %number_result(TYPE, number, make)
%typemap(in, numinputs=0) TYPE *NUMBER_OUT (TYPE number = 0) "$1 = &number;"
%typemap(argout) TYPE *NUMBER_OUT { %result_is(make(*$1)) }
%enddef
%number_result(int32_t, number, PyLong_FromLong)
%number_result(size_t, number, PyLong_FromSize_t)
%number_result(double, number, PyFloat_FromDouble)

%typemap(in, numinputs=0) (char *TEXT_OUT, size_t TEXT_BYTES) (char text[2048]) {
  $1 = text;
  $2 = sizeof text;
}
%typemap(argout) (char *TEXT_OUT, size_t TEXT_BYTES) { %result_is(PyUnicode_FromString($1)) }

%typemap(in) const tritri_matrix_desc * (tritri_matrix_desc desc) {
  $1 = NULL;
  if ($input != Py_None) {
    if (!read_matrix_desc($input, &desc)) SWIG_fail;
    $1 = &desc;
  }
}
%typemap(in) const tritri_multiply_options * (tritri_multiply_options options) {
  $1 = NULL;
  if ($input != Py_None) {
    if (!read_multiply_options($input, &options)) SWIG_fail;
    $1 = &options;
  }
}
%typemap(in) const tritri_context_options * (tritri_context_options options) {
  if (!read_context_options($input, &options)) SWIG_fail;
  $1 = &options;
}

%typemap(in, numinputs=0) tritri_matrix_desc *out (tritri_matrix_desc desc) {
  desc.struct_size = sizeof desc;
  $1 = &desc;
}
%typemap(argout) tritri_matrix_desc *out {
  %result_is(Py_BuildValue("(iiiiiLLLLL)", $1->dtype, $1->fill, $1->diag, $1->order, $1->storage, (long long)$1->rows, (long long)$1->cols,
                           (long long)$1->ld, (long long)$1->batch_count, (long long)$1->batch_stride))
}

%typemap(in, numinputs=0) tritri_device_info *info (tritri_device_info device_info) {
  device_info.struct_size = sizeof device_info;
  $1 = &device_info;
}
%typemap(argout) tritri_device_info *info {
  %result_is(Py_BuildValue("{s:i,s:i,s:s,s:s,s:L,s:L,s:(ii),s:i,s:i,s:i,s:i}", "kind", $1->kind, "index", $1->index, "name", $1->name, "details", $1->details,
                           "memory_total", (long long)$1->memory_total, "memory_free", (long long)$1->memory_free, "compute_capability",
                           $1->compute_major, $1->compute_minor, "multiprocessors", $1->multiprocessors, "driver_version", $1->driver_version,
                           "runtime_version", $1->runtime_version, "blas_version", $1->blas_version))
}
