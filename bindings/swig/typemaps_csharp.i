// Typemaps of README.md's table for C#. What crosses is blittable: contexts and matrices as SafeHandles, which P/Invoke keeps alive for the
// length of a call, structs as long[] (values.i), host memory as the address of pinned memory. Namespace Tritri checks and dresses it.
// SWIG's own helpers for exceptions and strings call back into managed code and are left out: a status is looked at in C#.
%include "enumsimple.swg"
%include "values.i"
%csconst(1);

%pragma(csharp) moduleclassmodifiers="internal static class"
%pragma(csharp) imclassclassmodifiers="internal static class"

// A P/Invoke call blocks no other thread and does not hold the collector.
%define %long_call(name)
%enddef

// Read by Status.Check, on the same thread directly after the call that failed.
%rename("%s") tritri_last_error;

// SafeHandle.ReleaseHandle has the bare address only.
%typemap(ctype) void *RELEASED, void *OWNER "void *"
%typemap(imtype) void *RELEASED, void *OWNER "global::System.IntPtr"
%typemap(cstype) void *RELEASED, void *OWNER "global::System.IntPtr"
%typemap(csin) void *RELEASED, void *OWNER "$csinput"
%typemap(in) void *RELEASED, void *OWNER %{ $1 = $input; %}
%inline %{
static void release_context(void *RELEASED) { tritri_context_destroy(static_cast<tritri_context *>(RELEASED)); }
static void release_matrix(void *RELEASED) { tritri_matrix_destroy(static_cast<tritri_matrix *>(RELEASED)); }
static void release_host(void *OWNER, void *RELEASED) { tritri_host_free(static_cast<tritri_context *>(OWNER), RELEASED); }
%}

%typemap(ctype) tritri_status "int"
%typemap(imtype) tritri_status "int"
%typemap(cstype) tritri_status "int"
%typemap(csin) tritri_status "$csinput"
%typemap(csout) tritri_status { return Status.Check($imcall); }
%typemap(in) tritri_status %{ $1 = static_cast<tritri_status>($input); %}
%typemap(out, null="0") tritri_status %{ $result = static_cast<int>($1); %}

%typemap(ctype) const char * "const char *"
%typemap(imtype) const char * "global::System.IntPtr"
%typemap(cstype) const char * "string"
%typemap(csout) const char * { return Text.At($imcall); }
%typemap(out, null="nullptr") const char * %{ $result = $1; %}

// Host memory is pinned by the caller; memory of the library's own is a HostHandle, kept alive as the others are: class HostMemory passes its address and holds it.
%typemap(ctype) tritri_context *, tritri_matrix *, const tritri_matrix *, const void *HOST_IN, void *HOST_OUT, void *ADDRESS "void *"
%typemap(imtype) tritri_context * "ContextHandle"
%typemap(cstype) tritri_context * "ContextHandle"
%typemap(imtype) tritri_matrix *, const tritri_matrix * "MatrixHandle"
%typemap(cstype) tritri_matrix *, const tritri_matrix * "MatrixHandle"
%typemap(imtype) const void *HOST_IN, void *HOST_OUT, void *ADDRESS "global::System.IntPtr"
%typemap(cstype) const void *HOST_IN, void *HOST_OUT, void *ADDRESS "global::System.IntPtr"
%typemap(csin) tritri_context *, tritri_matrix *, const tritri_matrix *, const void *HOST_IN, void *HOST_OUT, void *ADDRESS "$csinput"
%typemap(in) tritri_context *, tritri_matrix *, const tritri_matrix *, const void *HOST_IN, void *HOST_OUT, void *ADDRESS
  %{ $1 = static_cast<$1_ltype>($input); %}

%typemap(ctype) tritri_context **HANDLE_OUT, tritri_matrix **HANDLE_OUT, void **ADDRESS_OUT "void **"
%typemap(imtype) tritri_context **HANDLE_OUT "out ContextHandle"
%typemap(cstype) tritri_context **HANDLE_OUT "out ContextHandle"
%typemap(imtype) tritri_matrix **HANDLE_OUT "out MatrixHandle"
%typemap(cstype) tritri_matrix **HANDLE_OUT "out MatrixHandle"
%typemap(imtype) void **ADDRESS_OUT "out global::System.IntPtr"
%typemap(cstype) void **ADDRESS_OUT "out global::System.IntPtr"
%typemap(csin) tritri_context **HANDLE_OUT, tritri_matrix **HANDLE_OUT, void **ADDRESS_OUT "out $csinput"
%typemap(in) tritri_context **HANDLE_OUT, tritri_matrix **HANDLE_OUT, void **ADDRESS_OUT %{
  *$input = nullptr;
  $1 = reinterpret_cast<$1_ltype>($input);
%}

%typemap(ctype) int32_t *NUMBER_OUT "int32_t *"
%typemap(imtype) int32_t *NUMBER_OUT "out int"
%typemap(cstype) int32_t *NUMBER_OUT "out int"
%typemap(ctype) double *NUMBER_OUT "double *"
%typemap(imtype) double *NUMBER_OUT "out double"
%typemap(cstype) double *NUMBER_OUT "out double"
%typemap(ctype) size_t *NUMBER_OUT "uint64_t *"
%typemap(imtype) size_t *NUMBER_OUT "out ulong"
%typemap(cstype) size_t *NUMBER_OUT "out ulong"
%typemap(csin) int32_t *NUMBER_OUT, double *NUMBER_OUT, size_t *NUMBER_OUT "out $csinput"
%typemap(in) int32_t *NUMBER_OUT, double *NUMBER_OUT %{
  *$input = 0;
  $1 = $input;
%}
%typemap(in) size_t *NUMBER_OUT (size_t value) %{
  *$input = 0;
  value = 0;
  $1 = &value;
%}
%typemap(argout) size_t *NUMBER_OUT %{ *$input = *$1; %}

// Unsigned: a negative number cannot be given.
%typemap(ctype) size_t "uint64_t"
%typemap(imtype) size_t "ulong"
%typemap(cstype) size_t "ulong"
%typemap(csin) size_t "$csinput"
%typemap(in) size_t %{ $1 = static_cast<size_t>($input); %}

%typemap(ctype) const tritri_matrix_desc *, const tritri_multiply_options *, const tritri_context_options *, tritri_matrix_desc *out,
                tritri_device_info *info "int64_t *"
%typemap(imtype) const tritri_matrix_desc *, const tritri_multiply_options *, const tritri_context_options * "long[]"
%typemap(imtype, inattributes="[global::System.Runtime.InteropServices.Out]") tritri_matrix_desc *out, tritri_device_info *info "long[]"
%typemap(cstype) const tritri_matrix_desc *, const tritri_multiply_options *, const tritri_context_options *, tritri_matrix_desc *out,
                 tritri_device_info *info "long[]"
%typemap(csin) const tritri_matrix_desc *, const tritri_multiply_options *, const tritri_context_options *, tritri_matrix_desc *out,
               tritri_device_info *info "$csinput"
%define %struct_in(type)
%typemap(in) const type * (type fields) %{
  if ($input) {
    from_values($input, fields);
    $1 = &fields;
  }
%}
%enddef
%struct_in(tritri_matrix_desc)
%struct_in(tritri_multiply_options)
%struct_in(tritri_context_options)
%typemap(in) tritri_matrix_desc *out (tritri_matrix_desc fields) %{ fields = TRITRI_MATRIX_DESC_INIT; $1 = &fields; %}
%typemap(in) tritri_device_info *info (tritri_device_info fields) %{ fields = TRITRI_DEVICE_INFO_INIT; $1 = &fields; %}
%typemap(argout) tritri_matrix_desc *out, tritri_device_info *info %{ if (result == TRITRI_OK) to_values(*$1, $input); %}

// The caller gives a buffer of TEXT_BYTES bytes.
%typemap(ctype) (char *TEXT_OUT, size_t TEXT_BYTES) "char *"
%typemap(imtype, inattributes="[global::System.Runtime.InteropServices.Out]") (char *TEXT_OUT, size_t TEXT_BYTES) "byte[]"
%typemap(cstype) (char *TEXT_OUT, size_t TEXT_BYTES) "byte[]"
%typemap(csin) (char *TEXT_OUT, size_t TEXT_BYTES) "$csinput"
%typemap(in) (char *TEXT_OUT, size_t TEXT_BYTES) %{ $1 = $input; $2 = 4096; %}
