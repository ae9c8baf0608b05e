// The random-probe check behind tritri_verify, on host memory.
#pragma once
#include "core/canonical.h"

namespace tritri {

// The largest over probes x and rows i of |(C x)_i - alpha (op(A) op(B) x)_i| / scale_i, both sums over the columns that C holds in row i.
// scale_i is the 2-norm of row i of C, or of the product as the probe sees it, whichever is larger. O(m k + k n + m n) per probe. The answer does not
// depend on how many threads find it.
double verify(const Problem &problem, int32_t probes, int threads = 1);

}  // namespace tritri
