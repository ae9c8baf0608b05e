// What the opaque handles hold. The device is shared, so that contexts and matrices may be destroyed in any order.
#pragma once
#include <memory>

#include "core/device.h"

struct tritri_context {
  std::shared_ptr<tritri::Device> device;
};

struct tritri_matrix {
  std::shared_ptr<tritri::Device> device;
  tritri::Layout layout;
  void *data = nullptr;
  bool owned = false;

  tritri_matrix(std::shared_ptr<tritri::Device> on, const tritri::Layout &as) : device(std::move(on)), layout(as) {}
  tritri_matrix(const tritri_matrix &) = delete;
  tritri_matrix &operator=(const tritri_matrix &) = delete;
  ~tritri_matrix() {
    if (owned) device->release(data);
  }
};
