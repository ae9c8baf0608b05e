// What core asks of a device. One object belongs to one context and, by shared ownership, to its matrices.
#pragma once
#include <memory>

#include "core/canonical.h"
#include "core/plan.h"

namespace tritri {

class Device {
 public:
  virtual ~Device() = default;

  virtual tritri_device kind() const = 0;
  virtual tritri_device_info info() const = 0;
  virtual int host_threads() const = 0;  // that a call may keep busy on the host

  // Matrix memory, aligned to 256 bytes; 0 bytes give NULL.
  virtual void *allocate(size_t bytes) = 0;
  virtual void release(void *memory) noexcept = 0;

  // A matrix was made, filled by an upload or for results: what its first product will ask of the host may be worked out now. Never fails.
  virtual void uploaded(const Layout &) noexcept {}
  virtual void created(const Layout &) noexcept {}

  // Host memory for fast transfers; host_release answers false for a pointer that is not from host_allocate.
  virtual void *host_allocate(size_t bytes) = 0;
  virtual bool host_release(void *memory) = 0;

  // Copies the elements inside the fill between host memory and this device's. Both layouts describe the same matrix.
  virtual void upload(const Layout &to, void *device_memory, const Layout &from, const void *host) = 0;
  virtual void download(const Layout &from, const void *device_memory, const Layout &to, void *host) = 0;

  // Alignment in elements of the lines that tritri_upload lays out.
  virtual int64_t line_alignment(Dtype dtype) const = 0;

  virtual Plan plan(const Problem &problem, int32_t algorithm) = 0;
  virtual void multiply(const Problem &problem, int32_t algorithm) = 0;

  // Host arrays in and out.
  virtual void multiply_host(const tritri_multiply_options &options, const Operands &operands) = 0;

  virtual void synchronize() = 0;
  virtual void set_stream(void *stream) = 0;
};

}  // namespace tritri
