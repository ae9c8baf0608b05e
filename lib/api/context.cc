#include "api/guard.h"
#include "api/handles.h"
#include "core/dispatch.h"
#include "core/validate.h"

using namespace tritri;
using api::guard;
using api::need;

extern "C" {

tritri_status tritri_context_create(const tritri_context_options *options, tritri_context **out) {
  return guard(__func__, [&, f = __func__] {
    need(f, "out", out);
    const tritri_context_options wish = read_options(f, options);
    *out = new tritri_context{make_device(f, wish)};
  });
}

void tritri_context_destroy(tritri_context *context) { delete context; }

tritri_status tritri_context_synchronize(tritri_context *context) {
  return guard(__func__, [&, f = __func__] { need(f, "context", context)->device->synchronize(); });
}

tritri_status tritri_context_set_stream(tritri_context *context, void *cuda_stream) {
  return guard(__func__, [&, f = __func__] { need(f, "context", context)->device->set_stream(cuda_stream); });
}

tritri_status tritri_context_device_info(tritri_context *context, tritri_device_info *info) {
  return guard(__func__, [&, f = __func__] { write_struct(f, "info", need(f, "context", context)->device->info(), info); });
}

tritri_status tritri_device_count(tritri_device kind, int32_t *count) {
  return guard(__func__, [&, f = __func__] {
    need(f, "count", count);
    *count = device_count(f, kind);
  });
}

tritri_status tritri_device_info_get(tritri_device kind, int32_t index, tritri_device_info *info) {
  return guard(__func__, [&, f = __func__] {
    need(f, "info", info);
    write_struct(f, "info", device_info(f, kind, index), info);
  });
}

tritri_status tritri_host_allocate(tritri_context *context, size_t bytes, void **out) {
  return guard(__func__, [&, f = __func__] {
    need(f, "context", context);
    need(f, "out", out);
    *out = context->device->host_allocate(bytes);
  });
}

tritri_status tritri_host_free(tritri_context *context, void *pointer) {
  return guard(__func__, [&, f = __func__] {
    need(f, "context", context);
    if (pointer && !context->device->host_release(pointer))
      fail(TRITRI_INVALID_ARGUMENT, f, ": pointer: must come from tritri_host_allocate and not be freed yet, got ", pointer);
  });
}

}  // extern "C"
