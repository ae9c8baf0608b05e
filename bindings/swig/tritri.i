// SWIG interface of libtritri, shared by every language. What a language does with an argument is in its typemaps_<language>.i;
// README.md lists what that file must supply. Nothing is wrapped unless it is named here.
#if defined(SWIGPYTHON)
%module _tritri
#elif defined(SWIGJAVA)
%module TritriNative
#elif defined(SWIGCSHARP)
%module TritriNative
#endif

%{
#include "tritri/tritri.h"
%}

// int64_t is `long long` here, which is 64 bits wide in every language; `long` is 32 in Java and C#.
#ifdef SWIGWORDSIZE64
#error "build the wrappers without SWIGWORDSIZE64: it makes int64_t a long"
#endif
%include <stdint.i>

#if defined(SWIGPYTHON)
%include "typemaps_python.i"
#elif defined(SWIGJAVA)
%include "typemaps_java.i"
#elif defined(SWIGCSHARP)
%include "typemaps_csharp.i"
#else
#error "tritri.i: no typemaps for this language"
#endif

// Which argument is of which kind.
%apply tritri_context **HANDLE_OUT { tritri_context **out };
%apply tritri_matrix **HANDLE_OUT { tritri_matrix **out };
%apply const void *HOST_IN { const void *host, const void *a, const void *b };
%apply void *HOST_OUT { void *host, void *c };
%apply void *ADDRESS { void *device_memory, void *cuda_stream, void *pointer, void *stream };
%apply void **ADDRESS_OUT { void **device_memory, void **out };
%apply int32_t *NUMBER_OUT { int32_t *count };
%apply size_t *NUMBER_OUT { size_t *bytes };
%apply double *NUMBER_OUT { double *relative_residual };
%apply (char *TEXT_OUT, size_t TEXT_BYTES) { (char *text, size_t text_bytes) };

// Wrap nothing by default.
%rename("$ignore") "";

%rename("%s", %$isenum) "";
%rename("%s", %$isenumitem) "";
%rename("%s") TRITRI_VERSION;

%define %wrap(name)
%rename("%s") name;
%enddef

%wrap(tritri_status_name)
%wrap(tritri_version)
%wrap(tritri_version_string)
%wrap(tritri_context_destroy)
%wrap(tritri_context_set_stream)
%wrap(tritri_context_device_info)
%wrap(tritri_matrix_create)
%wrap(tritri_matrix_wrap)
%wrap(tritri_matrix_desc_get)
%wrap(tritri_matrix_data)
%wrap(tritri_matrix_destroy)
%wrap(tritri_device_count)
%wrap(tritri_device_info_get)
%wrap(tritri_host_allocate)
%wrap(tritri_host_free)
%wrap(tritri_workspace_size)
%wrap(tritri_plan_describe)

// These may take long: each language lets its other threads go on meanwhile (%long_call is in its typemaps file).
%define %wrap_long(name)
%rename("%s") name;
%long_call(name)
%enddef

%wrap_long(tritri_context_create)
%wrap_long(tritri_context_synchronize)
%wrap_long(tritri_upload)
%wrap_long(tritri_upload_into)
%wrap_long(tritri_multiply)
%wrap_long(tritri_download)
%wrap_long(tritri_multiply_host)
%wrap_long(tritri_verify)

%include "tritri/tritri.h"

#ifdef SWIGPYTHON
%include "python_arrays.i"
#endif
