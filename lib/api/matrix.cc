#include <memory>

#include "api/guard.h"
#include "api/handles.h"
#include "core/validate.h"

using namespace tritri;
using api::guard;
using api::need;

namespace {

std::unique_ptr<tritri_matrix> allocate(const char *function, const std::shared_ptr<Device> &device, const Layout &layout) {
  if (layout.batch_stride < 0)
    fail(TRITRI_INVALID_ARGUMENT, function, ": desc: batch_stride must be at least 0 for memory of the library's own, got ", layout.batch_stride);
  auto matrix = std::make_unique<tritri_matrix>(device, layout);
  matrix->data = device->allocate(static_cast<size_t>(layout.bytes()));
  matrix->owned = true;
  return matrix;
}

void check_context(const char *function, const tritri_context *context, const tritri_matrix *matrix) {
  if (context->device != matrix->device)
    fail(TRITRI_INVALID_ARGUMENT, function, ": matrix: must belong to this context, got a matrix of another one");
}

}  // namespace

extern "C" {

tritri_status tritri_upload(tritri_context *context, const tritri_matrix_desc *host_layout, const void *host, tritri_matrix **out) {
  return guard(__func__, [&, f = __func__] {
    need(f, "context", context);
    need(f, "out", out);
    const Layout from = read_layout(f, "host_layout", host_layout);
    check_data(f, "host", from, host);
    Device &device = *context->device;
    auto matrix = allocate(f, context->device, tight(from, device.line_alignment(from.dtype)));
    device.upload(matrix->layout, matrix->data, from, host);
    device.uploaded(matrix->layout);
    *out = matrix.release();
  });
}

tritri_status tritri_matrix_create(tritri_context *context, const tritri_matrix_desc *desc, tritri_matrix **out) {
  return guard(__func__, [&, f = __func__] {
    need(f, "context", context);
    need(f, "out", out);
    auto matrix = allocate(f, context->device, read_layout(f, "desc", desc));
    context->device->created(matrix->layout);
    *out = matrix.release();
  });
}

tritri_status tritri_matrix_wrap(tritri_context *context, const tritri_matrix_desc *desc, void *device_memory, tritri_matrix **out) {
  return guard(__func__, [&, f = __func__] {
    need(f, "context", context);
    need(f, "out", out);
    const Layout layout = read_layout(f, "desc", desc);
    check_data(f, "device_memory", layout, device_memory);
    auto matrix = std::make_unique<tritri_matrix>(context->device, layout);
    matrix->data = device_memory;
    *out = matrix.release();
  });
}

tritri_status tritri_upload_into(tritri_context *context, tritri_matrix *matrix, const tritri_matrix_desc *host_layout, const void *host) {
  return guard(__func__, [&, f = __func__] {
    need(f, "context", context);
    need(f, "matrix", matrix);
    check_context(f, context, matrix);
    const Layout from = read_layout(f, "host_layout", host_layout);
    check_same_matrix(f, "host_layout", matrix->layout, from);
    check_data(f, "host", from, host);
    context->device->upload(matrix->layout, matrix->data, from, host);
  });
}

tritri_status tritri_download(tritri_context *context, const tritri_matrix *matrix, const tritri_matrix_desc *host_layout, void *host) {
  return guard(__func__, [&, f = __func__] {
    need(f, "context", context);
    need(f, "matrix", matrix);
    check_context(f, context, matrix);
    Layout to = tight(matrix->layout);
    if (host_layout) {
      to = read_layout(f, "host_layout", host_layout);
      check_same_matrix(f, "host_layout", matrix->layout, to);
      const bool one_for_all = matrix->layout.batch_stride == 0 && to.batch_stride == 0;
      if (!one_for_all) check_apart(f, "host_layout", to);
    }
    check_data(f, "host", to, host);
    context->device->download(matrix->layout, matrix->data, to, host);
  });
}

tritri_status tritri_matrix_desc_get(const tritri_matrix *matrix, tritri_matrix_desc *out) {
  return guard(__func__, [&, f = __func__] { write_struct(f, "out", describe(need(f, "matrix", matrix)->layout), out); });
}

tritri_status tritri_matrix_data(const tritri_matrix *matrix, void **device_memory) {
  return guard(__func__, [&, f = __func__] {
    need(f, "matrix", matrix);
    *need(f, "device_memory", device_memory) = matrix->data;
  });
}

void tritri_matrix_destroy(tritri_matrix *matrix) { delete matrix; }

}  // extern "C"
