// The device under test and the ways in which a product reaches it.
#pragma once
#include <map>
#include <memory>

#include "support/api.h"
#include "support/check.h"

namespace conformance {

enum class Route {
  wrap,    // whole buffers, poison and all, into device memory; matrices wrapped over it
  upload,  // tritri_upload, tritri_matrix_create in the other order, tritri_download
  host     // tritri_multiply_host
};

class Device {
 public:
  Device(int32_t kind, int32_t algorithm) : kind_(kind), algorithm_(algorithm) {}

  int32_t kind() const { return kind_; }
  int32_t algorithm() const { return algorithm_; }
  // Kept for the whole run; threads 0: all.
  tritri_context *context(int32_t threads = 0);

  // Computes the product; its buffers then hold what the device's memory holds.
  void multiply(const support::Product &product, Route route, int32_t threads = 0);
  tritri_multiply_options options_of(const support::Product &product) const;

 private:
  int32_t kind_, algorithm_;
  std::map<int32_t, support::Context> contexts_;
};

// A buffer's copy in device memory.
class DeviceBuffer {
 public:
  DeviceBuffer(tritri_context *context, support::Buffer &buffer);
  support::Matrix wrap(const support::Operand &operand) const;
  void fetch() const;  // back into the buffer

 private:
  tritri_context *context_;
  support::Buffer &buffer_;
  support::Matrix flat_;
};

}  // namespace conformance
