// RAII over the C API for tests: statuses become exceptions that carry the message.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

#include "tritri/tritri.h"

namespace support {

struct CallFailed : std::runtime_error {
  tritri_status status;
  explicit CallFailed(tritri_status code) : std::runtime_error(std::string(tritri_status_name(code)) + ": " + tritri_last_error()), status(code) {}
};

inline void call(tritri_status status) {
  if (status != TRITRI_OK) throw CallFailed(status);
}

template <class Handle, void (*destroy)(Handle *)>
class Owned {
 public:
  Owned() = default;
  Owned(Owned &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned &operator=(Owned &&other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() { destroy(handle_); }
  Handle **out() { return &handle_; }
  operator Handle *() const { return handle_; }

 private:
  Handle *handle_ = nullptr;
};

using Context = Owned<tritri_context, tritri_context_destroy>;
using Matrix = Owned<tritri_matrix, tritri_matrix_destroy>;

inline Context make_context(int32_t device, int32_t threads = 0) {
  tritri_context_options options = TRITRI_CONTEXT_OPTIONS_INIT;
  options.device = device;
  options.threads = threads;
  Context context;
  call(tritri_context_create(&options, context.out()));
  return context;
}

inline Matrix upload(tritri_context *context, const tritri_matrix_desc &desc, const void *host) {
  Matrix matrix;
  call(tritri_upload(context, &desc, host, matrix.out()));
  return matrix;
}

inline Matrix create(tritri_context *context, const tritri_matrix_desc &desc) {
  Matrix matrix;
  call(tritri_matrix_create(context, &desc, matrix.out()));
  return matrix;
}

inline Matrix wrap(tritri_context *context, const tritri_matrix_desc &desc, void *memory) {
  Matrix matrix;
  call(tritri_matrix_wrap(context, &desc, memory, matrix.out()));
  return matrix;
}

}  // namespace support
