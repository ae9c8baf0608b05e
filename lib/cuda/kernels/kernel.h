// What a kernel offers to the device. Families (simt, hopper, sm80...) fill in this struct; table.cc lists them; heuristics chooses by modelled time.
#pragma once
#include <cstddef>

#include "cuda/heuristics.h"

struct CUstream_st;  // cudaStream_t, without a CUDA header

namespace tritri::cuda {

struct Kernel {
  const char *name;

  // Pure functions on the host, called without a GPU in tests. The problem they see, and launch() too, has m, n, k > 0 and alpha != 0, and
  // its C lies apart from A and B: in-place inputs have been copied. Pointers are aligned to the element alone; ld, strides and batch are
  // anything valid, so can() looks at whatever the kernel relies on (of pointers their alignment up to 256 bytes, and whether A is B: choices are remembered by those).
  bool (*can)(const Problem &problem, const GpuTraits &traits);

  // tile_m, tile_n, tile_k, pieces, workspace (bytes of its own; `room` is what it should do with), copied (if launch() goes by it) and seconds (modelled, what the
  // choice goes by; never 0).
  Plan (*plan)(const Problem &problem, const GpuTraits &traits, size_t room);

  // Called once per context with its device current: loads every instantiation for this device (cudaFuncGetAttributes), raises shared
  // memory limits. Must do nothing on a device that can() never serves. Called under a lock.
  void (*load)(const GpuTraits &traits);

  // Enqueues on the stream and returns: no allocation, no synchronisation, nothing else that graph capture forbids. `workspace` is aligned
  // to 256 bytes, holds plan.workspace bytes of anything (NaN, say), and belongs to this call until the stream has passed it; what it holds
  // afterwards does not matter, and no call may rely on what an earlier one left there.
  // Kernels launched here report through TRITRI_CUDA_CHECK(cudaGetLastError()) (runtime/check.h).
  void (*launch)(const Problem &problem, const Plan &plan, void *workspace, const GpuTraits &traits, CUstream_st *stream);

  // Where there is one: works out and remembers what this thread's first launch() of such a problem takes the host, and launches without anything to do, which
  // makes the way there warm. Of addresses only the alignment is right: nothing may be read or written.
  void (*prepare)(const Problem &problem, const Plan &plan, const GpuTraits &traits, CUstream_st *stream) = nullptr;
};

}  // namespace tritri::cuda
