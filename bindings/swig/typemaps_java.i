// Typemaps of README.md's table for Java. What crosses is plain: handles and addresses as long, structs as long[] (values.i), host memory
// as a primitive array, a direct buffer or an address in a Long, results through arrays of length 1. org.tritri checks and dresses it.
%include "enumsimple.swg"
%include "values.i"
%javaconst(1);

%pragma(java) moduleclassmodifiers="public final class"
%pragma(java) jniclassclassmodifiers="final class"
%pragma(java) jniclasscode=%{
  static {
    Loader.load();
  }
%}

%{
#include <stdlib.h>

namespace {

void throw_new(JNIEnv *env, const char *exception, const char *message) {
  const jclass type = env->FindClass(exception);
  if (type) env->ThrowNew(type, message);
}

void throw_status(JNIEnv *env, tritri_status status, const char *message) {
  if (status == TRITRI_INVALID_ARGUMENT) return throw_new(env, "java/lang/IllegalArgumentException", message);
  const jclass type = env->FindClass("org/tritri/TritriException");
  const jmethodID make = type ? env->GetMethodID(type, "<init>", "(ILjava/lang/String;)V") : nullptr;
  const jstring text = make ? env->NewStringUTF(message) : nullptr;
  const jobject exception = text ? env->NewObject(type, make, static_cast<jint>(status), text) : nullptr;
  if (exception) env->Throw(static_cast<jthrowable>(exception));
}

// Host memory for the length of one call. An address (a Long) and a direct buffer are used where they are. An array is copied out and back in bulk: the collector may not
// be held during a long call, so that GetPrimitiveArrayCritical serves the copy only. An array that is given twice is copied
// once, which keeps "C may be A or B itself" true.
class HostMemory {
 public:
  HostMemory() : outer_(innermost) { innermost = this; }
  ~HostMemory() {
    innermost = outer_;
    if (owned_) free(data_);
  }
  HostMemory(const HostMemory &) = delete;
  HostMemory &operator=(const HostMemory &) = delete;

  // False with a Java exception pending.
  bool open(JNIEnv *env, jobject object) {
    if (!object) return true;
    const jclass number = env->FindClass("java/lang/Long");
    if (env->IsInstanceOf(object, number)) {
      data_ = reinterpret_cast<void *>(static_cast<intptr_t>(env->CallLongMethod(object, env->GetMethodID(number, "longValue", "()J"))));
      return !env->ExceptionCheck();
    }
    data_ = env->GetDirectBufferAddress(object);
    if (data_) return true;
    array_ = static_cast<jarray>(object);
    for (const HostMemory *other = outer_; other; other = other->outer_) {
      if (!other->array_ || !env->IsSameObject(other->array_, array_)) continue;
      data_ = other->data_;
      bytes_ = other->bytes_;
      return true;
    }
    bytes_ = static_cast<size_t>(env->GetArrayLength(array_)) * element_bytes(env);
    void *copy = nullptr;
    if (posix_memalign(&copy, 64, bytes_ ? bytes_ : 1) != 0) {
      throw_status(env, TRITRI_OUT_OF_MEMORY, "array: the native copy of a Java array must fit in memory; use direct buffers, which are not copied");
      return false;
    }
    data_ = copy;
    owned_ = true;
    return move(env, false);
  }

  bool write_back(JNIEnv *env) { return !array_ || move(env, true); }
  void *data() const { return data_; }

 private:
  size_t element_bytes(JNIEnv *env) const {
    const jclass doubles = env->FindClass("[D"), floats = env->FindClass("[F");
    return env->IsInstanceOf(array_, doubles) ? sizeof(jdouble) : env->IsInstanceOf(array_, floats) ? sizeof(jfloat) : sizeof(jshort);
  }

  bool move(JNIEnv *env, bool back) {
    void *const elements = env->GetPrimitiveArrayCritical(array_, nullptr);
    if (!elements) {
      env->ExceptionClear();
      throw_status(env, TRITRI_OUT_OF_MEMORY, "array: the virtual machine must give access to the array's elements, got NULL");
      return false;
    }
    memcpy(back ? elements : data_, back ? data_ : elements, bytes_);
    env->ReleasePrimitiveArrayCritical(array_, elements, back ? 0 : JNI_ABORT);
    return true;
  }

  static thread_local HostMemory *innermost;
  HostMemory *const outer_;
  jarray array_ = nullptr;
  void *data_ = nullptr;
  size_t bytes_ = 0;
  bool owned_ = false;
};
thread_local HostMemory *HostMemory::innermost = nullptr;

// False with an exception pending: the array is shorter than the struct.
template <class Struct>
bool read_struct(JNIEnv *env, jlongArray array, int count, Struct &out) {
  int64_t values[desc_values];
  env->GetLongArrayRegion(array, 0, count, reinterpret_cast<jlong *>(values));
  if (env->ExceptionCheck()) return false;
  from_values(values, out);
  return true;
}

}  // namespace
%}

// Nothing of Java's has to be let go of: HostMemory holds no array during the call.
%define %long_call(name)
%enddef

// A call that returns has returned TRITRI_OK.
%typemap(jni) tritri_status "jint"
%typemap(jtype) tritri_status "int"
%typemap(jstype) tritri_status "int"
%typemap(javain) tritri_status "$javainput"
%typemap(javaout) tritri_status { return $jnicall; }
%typemap(in) tritri_status %{ $1 = static_cast<tritri_status>($input); %}
%typemap(out, null="0") tritri_status %{
  $result = static_cast<jint>($1);
  if ($1 != TRITRI_OK) throw_status(jenv, $1, tritri_last_error());
%}

%typemap(jni) tritri_context *, tritri_matrix *, const tritri_matrix *, void *ADDRESS "jlong"
%typemap(jtype) tritri_context *, tritri_matrix *, const tritri_matrix *, void *ADDRESS "long"
%typemap(jstype) tritri_context *, tritri_matrix *, const tritri_matrix *, void *ADDRESS "long"
%typemap(javain) tritri_context *, tritri_matrix *, const tritri_matrix *, void *ADDRESS "$javainput"
%typemap(in) tritri_context *, tritri_matrix *, const tritri_matrix *, void *ADDRESS
  %{ $1 = reinterpret_cast<$1_ltype>(static_cast<intptr_t>($input)); %}

%typemap(jni) tritri_context **HANDLE_OUT, tritri_matrix **HANDLE_OUT, void **ADDRESS_OUT, size_t *NUMBER_OUT "jlongArray"
%typemap(jtype) tritri_context **HANDLE_OUT, tritri_matrix **HANDLE_OUT, void **ADDRESS_OUT, size_t *NUMBER_OUT "long[]"
%typemap(jstype) tritri_context **HANDLE_OUT, tritri_matrix **HANDLE_OUT, void **ADDRESS_OUT, size_t *NUMBER_OUT "long[]"
%typemap(javain) tritri_context **HANDLE_OUT, tritri_matrix **HANDLE_OUT, void **ADDRESS_OUT, size_t *NUMBER_OUT "$javainput"
%typemap(in) tritri_context **HANDLE_OUT ($*1_ltype value), tritri_matrix **HANDLE_OUT ($*1_ltype value), void **ADDRESS_OUT ($*1_ltype value),
             size_t *NUMBER_OUT ($*1_ltype value)
  %{ value = 0; $1 = &value; %}
%typemap(argout) tritri_context **HANDLE_OUT, tritri_matrix **HANDLE_OUT, void **ADDRESS_OUT, size_t *NUMBER_OUT %{
  if (result == TRITRI_OK) {
    const jlong number = (jlong)*$1;
    jenv->SetLongArrayRegion($input, 0, 1, &number);
  }
%}

%typemap(jni) int32_t *NUMBER_OUT "jintArray"
%typemap(jtype) int32_t *NUMBER_OUT "int[]"
%typemap(jstype) int32_t *NUMBER_OUT "int[]"
%typemap(jni) double *NUMBER_OUT "jdoubleArray"
%typemap(jtype) double *NUMBER_OUT "double[]"
%typemap(jstype) double *NUMBER_OUT "double[]"
%typemap(javain) int32_t *NUMBER_OUT, double *NUMBER_OUT "$javainput"
%typemap(in) int32_t *NUMBER_OUT ($*1_ltype value), double *NUMBER_OUT ($*1_ltype value) %{ value = 0; $1 = &value; %}
%typemap(argout) int32_t *NUMBER_OUT %{ if (result == TRITRI_OK) jenv->SetIntArrayRegion($input, 0, 1, $1); %}
%typemap(argout) double *NUMBER_OUT %{ if (result == TRITRI_OK) jenv->SetDoubleArrayRegion($input, 0, 1, $1); %}

%typemap(jni) const tritri_matrix_desc *, const tritri_multiply_options *, const tritri_context_options *, tritri_matrix_desc *out,
              tritri_device_info *info "jlongArray"
%typemap(jtype) const tritri_matrix_desc *, const tritri_multiply_options *, const tritri_context_options *, tritri_matrix_desc *out,
                tritri_device_info *info "long[]"
%typemap(jstype) const tritri_matrix_desc *, const tritri_multiply_options *, const tritri_context_options *, tritri_matrix_desc *out,
                 tritri_device_info *info "long[]"
%typemap(javain) const tritri_matrix_desc *, const tritri_multiply_options *, const tritri_context_options *, tritri_matrix_desc *out,
                 tritri_device_info *info "$javainput"
%define %struct_in(type, count)
%typemap(in) const type * (type fields) %{
  if ($input) {
    if (!read_struct(jenv, $input, count, fields)) return $null;
    $1 = &fields;
  }
%}
%enddef
%struct_in(tritri_matrix_desc, desc_values)
%struct_in(tritri_multiply_options, multiply_values)
%struct_in(tritri_context_options, context_values)
%typemap(in) tritri_matrix_desc *out (tritri_matrix_desc fields) %{ fields = TRITRI_MATRIX_DESC_INIT; $1 = &fields; %}
%typemap(in) tritri_device_info *info (tritri_device_info fields) %{ fields = TRITRI_DEVICE_INFO_INIT; $1 = &fields; %}
%define %struct_out(type, name, count)
%typemap(argout) type *name %{
  if (result == TRITRI_OK) {
    int64_t values[count];
    to_values(*$1, values);
    jenv->SetLongArrayRegion($input, 0, count, reinterpret_cast<const jlong *>(values));
  }
%}
%enddef
%struct_out(tritri_matrix_desc, out, desc_values)
%struct_out(tritri_device_info, info, info_values)

%typemap(jni) size_t "jlong"
%typemap(jtype) size_t "long"
%typemap(jstype) size_t "long"
%typemap(javain) size_t "$javainput"
%typemap(in, fragment="<stdio.h>") size_t %{
  if ($input < 0) {
    char message[80];
    snprintf(message, sizeof message, "$symname: $1_name: must be at least 0, got %lld", static_cast<long long>($input));
    throw_new(jenv, "java/lang/IllegalArgumentException", message);
    return $null;
  }
  $1 = static_cast<size_t>($input);
%}

%typemap(jni) const void *HOST_IN, void *HOST_OUT "jobject"
%typemap(jtype) const void *HOST_IN, void *HOST_OUT "Object"
%typemap(jstype) const void *HOST_IN, void *HOST_OUT "Object"
%typemap(javain) const void *HOST_IN, void *HOST_OUT "$javainput"
%typemap(in) const void *HOST_IN (HostMemory memory), void *HOST_OUT (HostMemory memory) %{
  if (!memory.open(jenv, $input)) return $null;
  $1 = memory.data();
%}
%typemap(argout) void *HOST_OUT %{ if (result == TRITRI_OK && !memory$argnum.write_back(jenv)) return $null; %}

%typemap(jni) (char *TEXT_OUT, size_t TEXT_BYTES) "jobjectArray"
%typemap(jtype) (char *TEXT_OUT, size_t TEXT_BYTES) "String[]"
%typemap(jstype) (char *TEXT_OUT, size_t TEXT_BYTES) "String[]"
%typemap(javain) (char *TEXT_OUT, size_t TEXT_BYTES) "$javainput"
%typemap(in) (char *TEXT_OUT, size_t TEXT_BYTES) (char text[4096]) %{ $1 = text; $2 = sizeof text; %}
%typemap(argout) (char *TEXT_OUT, size_t TEXT_BYTES) %{ if (result == TRITRI_OK) jenv->SetObjectArrayElement($input, 0, jenv->NewStringUTF($1)); %}

// Memory outside Java's heap as a direct buffer, which does not own it.
%rename("%s") host_window;
%typemap(jni) void *host_window "jobject"
%typemap(jtype) void *host_window "java.nio.ByteBuffer"
%typemap(jstype) void *host_window "java.nio.ByteBuffer"
%typemap(javaout) void *host_window { return $jnicall; }
%typemap(out, null="nullptr") void *host_window %{ $result = jenv->NewDirectByteBuffer($1, static_cast<jlong>(arg2)); %}
%apply void *ADDRESS { void *first_byte };
%inline %{
static void *host_window(void *first_byte, int64_t bytes) { return static_cast<void>(bytes), first_byte; }
%}
