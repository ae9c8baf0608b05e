// Every kernel of this build. Plan::kernel is the index in this table.
#pragma once
#include <vector>

#include "cuda/kernels/kernel.h"

namespace tritri::cuda {

const std::vector<const Kernel *> &kernels();

}  // namespace tritri::cuda
