// The CPU device: host memory is its device memory, everything is synchronous.
#pragma once
#include <memory>

#include "core/device.h"

namespace tritri::cpu {

tritri_device_info device_info();
std::shared_ptr<Device> make_device(const tritri_context_options &options);

}  // namespace tritri::cpu
