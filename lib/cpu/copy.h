// Moves the elements inside a fill from one layout of host memory to another.
#pragma once
#include "core/operand.h"

namespace tritri::cpu {

void copy(const Layout &to, void *to_data, const Layout &from, const void *from_data);

}  // namespace tritri::cpu
