// The choice of how to compute a product, as data: made by pure functions of each device, printed by tritri_plan_describe, tested on the CPU.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/canonical.h"

namespace tritri {

struct Plan {
  int32_t algorithm = TRITRI_ALGORITHM_KERNEL;  // never AUTO
  int kernel = 0;                               // which of the device's kernels; the device names it
  const char *kernel_name = "";
  int64_t tile_m = 0, tile_n = 0, tile_k = 0;
  int64_t pieces = 1;       // parts that the longest sums over k are cut into
  size_t workspace = 0;     // bytes of the context's workspace
  size_t copied = 0;        // of those, for inputs that are copied first: at most, what is larger comes in strips
  double flops = 0;         // useful ones
  double seconds = 0;       // what the cost model expects; 0: no model
  std::string reason;       // why this one

  std::string describe(const char *device) const;
};

}  // namespace tritri
