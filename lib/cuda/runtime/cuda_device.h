// The CUDA device, as core sees it: no CUDA header here.
#pragma once
#include <memory>
#include <string>

#include "core/device.h"

namespace tritri::cuda {

int32_t device_count();        // 0 without card or driver
std::string why_no_device();   // what the driver answered, for messages
tritri_device_info device_info(int32_t index);
std::shared_ptr<Device> make_device(const tritri_context_options &options);

}  // namespace tritri::cuda
