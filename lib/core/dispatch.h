// Which device a request comes to.
#pragma once
#include "core/device.h"

namespace tritri {

int32_t device_count(const char *function, int32_t kind);
tritri_device_info device_info(const char *function, int32_t kind, int32_t index);

// Resolves AUTO (TRITRI_DEVICE, else CUDA device 0, else the CPU) and starts the device up.
std::shared_ptr<Device> make_device(const char *function, tritri_context_options options);

}  // namespace tritri
