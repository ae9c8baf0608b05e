// The oracle: the definition as loops, in a wider type than the data's. Slow, and meant to be read.
#pragma once
#include "core/canonical.h"

namespace tritri::cpu {

void reference(const Problem &problem);

}  // namespace tritri::cpu
