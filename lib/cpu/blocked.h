// The CPU device's product: panels packed inside k_range, register-sized tiles, threads for the call.
#pragma once
#include "core/plan.h"
#include "cpu/kernel.h"
#include "cpu/workspace.h"

namespace tritri::cpu {

struct BlockedSettings {
  int threads = 1;                             // at most; small products take fewer
  const KernelSet *kernels = &best_kernels();
  int64_t small = 768;                         // k up to which products take the short way, where that is faster
  int64_t pack_bytes = int64_t{160} << 20;     // packed memory per operand, about
  int64_t far_bytes = int64_t{8} << 20;        // from which a batch of small matrices is taken for one that no cache holds
  double seconds_to_wake = 8e-6;               // a helper: 4 us of the caller's time, 11 after a pause
};

// Memory is reserved before anything in C is written: std::bad_alloc leaves C as it was. The bits depend on the kernels alone.
void blocked(const Problem &problem, const BlockedSettings &settings, Workspace &workspace);

Plan blocked_plan(const Problem &problem, const BlockedSettings &settings);

}  // namespace tritri::cpu
