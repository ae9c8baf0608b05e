#include <cstdio>
#include <memory>
#include <vector>

#include "api/guard.h"
#include "api/handles.h"
#include "core/validate.h"
#include "core/verify.h"

using namespace tritri;
using api::guard;
using api::need;

namespace {

struct Product {
  tritri_multiply_options options;
  Operands operands;
};

// Checks everything about a product of matrices that are on the device.
Product check(const char *function, const tritri_context *context, const tritri_multiply_options *options, const tritri_matrix *a, const tritri_matrix *b,
              const tritri_matrix *c) {
  need(function, "context", context);
  const char *const names[] = {"a", "b", "c"};
  const tritri_matrix *const matrices[] = {a, b, c};
  for (int i = 0; i < 3; ++i) {
    if (need(function, names[i], matrices[i])->device != context->device)
      fail(TRITRI_INVALID_ARGUMENT, function, ": ", names[i], ": must belong to this context, got a matrix of another one");
  }
  const Product product{read_options(function, options), {a->layout, b->layout, c->layout, a->data, b->data, c->data}};
  check_multiply(function, product.options, a->layout, b->layout, c->layout);
  check_overlap(function, product.operands);
  return product;
}

}  // namespace

extern "C" {

tritri_status tritri_multiply(tritri_context *context, const tritri_multiply_options *options, const tritri_matrix *a, const tritri_matrix *b, tritri_matrix *c) {
  return guard(__func__, [&, f = __func__] {
    const Product product = check(f, context, options, a, b, c);
    context->device->multiply(canonical(product.options, product.operands), product.options.algorithm);
  });
}

tritri_status tritri_multiply_host(tritri_context *context, const tritri_multiply_options *options, const tritri_matrix_desc *a_desc, const void *a,
                                   const tritri_matrix_desc *b_desc, const void *b, const tritri_matrix_desc *c_desc, void *c) {
  return guard(__func__, [&, f = __func__] {
    need(f, "context", context);
    const tritri_multiply_options wish = read_options(f, options);
    const Operands operands{read_layout(f, "a_desc", a_desc), read_layout(f, "b_desc", b_desc), read_layout(f, "c_desc", c_desc), a, b, c};
    check_multiply(f, wish, operands.a, operands.b, operands.c);
    check_data(f, "a", operands.a, a);
    check_data(f, "b", operands.b, b);
    check_data(f, "c", operands.c, c);
    check_overlap(f, operands);
    context->device->multiply_host(wish, operands);
  });
}

tritri_status tritri_workspace_size(tritri_context *context, const tritri_multiply_options *options, const tritri_matrix *a, const tritri_matrix *b,
                                    const tritri_matrix *c, size_t *bytes) {
  return guard(__func__, [&, f = __func__] {
    const Product product = check(f, context, options, a, b, c);
    *need(f, "bytes", bytes) = context->device->plan(canonical(product.options, product.operands), product.options.algorithm).workspace;
  });
}

tritri_status tritri_plan_describe(tritri_context *context, const tritri_multiply_options *options, const tritri_matrix *a, const tritri_matrix *b,
                                   const tritri_matrix *c, char *out, size_t text_bytes) {
  return guard(__func__, [&, f = __func__] {
    const Product product = check(f, context, options, a, b, c);
    need(f, "text", out);
    if (text_bytes == 0) fail(TRITRI_INVALID_ARGUMENT, f, ": text_bytes: must be at least 1, got 0");
    const Plan plan = context->device->plan(canonical(product.options, product.operands), product.options.algorithm);
    std::snprintf(out, text_bytes, "%s", plan.describe(context->device->kind() == TRITRI_DEVICE_CPU ? "cpu" : "cuda").c_str());
  });
}

tritri_status tritri_verify(tritri_context *context, const tritri_multiply_options *options, const tritri_matrix *a, const tritri_matrix *b, const tritri_matrix *c,
                            int32_t probes, double *relative_residual) {
  return guard(__func__, [&, f = __func__] {
    const Product product = check(f, context, options, a, b, c);
    need(f, "relative_residual", relative_residual);
    if (probes < 1 || probes > 1024) fail(TRITRI_INVALID_ARGUMENT, f, ": probes: must be 1 to 1024, got ", probes);
    if (product.options.beta_re != 0 || product.options.beta_im != 0)
      fail(TRITRI_INVALID_ARGUMENT, f, ": options: beta must be 0, since C's former values are gone, got ", product.options.beta_re, " + ",
           product.options.beta_im, "i");
    if (product.operands.c_data && (product.operands.c_data == product.operands.a_data || product.operands.c_data == product.operands.b_data))
      fail(TRITRI_INVALID_ARGUMENT, f, ": c: must not be a or b, since the input's values are gone, got the same memory");
    Device &device = *context->device;
    if (device.kind() == TRITRI_DEVICE_CPU) {
      *relative_residual = verify(canonical(product.options, product.operands), probes, device.host_threads());
      return;
    }
    Operands host = product.operands;
    std::vector<std::unique_ptr<unsigned char[]>> copies;
    const auto fetch = [&](Layout &layout, const void *data) {
      const Layout from = layout;
      layout = tight(from);
      copies.emplace_back(new unsigned char[static_cast<size_t>(layout.bytes())]);  // left as it comes: the threads of the download touch it first
      device.download(from, data, layout, copies.back().get());
      return copies.back().get();
    };
    host.a_data = fetch(host.a, product.operands.a_data);
    if (a == b) {
      host.b = host.a;
      host.b_data = host.a_data;
    } else {
      host.b_data = fetch(host.b, product.operands.b_data);
    }
    host.c_data = fetch(host.c, product.operands.c_data);
    *relative_residual = verify(canonical(product.options, host), probes, device.host_threads());
  });
}

}  // extern "C"
