// Makes a device current and gives the thread back exactly as it was, also when an exception passes.
#pragma once

namespace tritri::cuda {

class DeviceGuard {
 public:
  explicit DeviceGuard(int device);  // throws tritri::Error
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard &) = delete;
  DeviceGuard &operator=(const DeviceGuard &) = delete;

 private:
  void *former_ = nullptr;  // the driver's context, NULL included: the caller may use another copy of the CUDA runtime, or none
};

}  // namespace tritri::cuda
