// What the library knows of the OpenBLAS inside it.
#pragma once
#include <cstdint>
#include <string>

namespace tritri::cpu {

int32_t openblas_version();         // major * 10000 + minor * 100 + patch
std::string openblas_description();  // "OpenBLAS 0.3.21 (Haswell)"

}  // namespace tritri::cpu
