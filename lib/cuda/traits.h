// A card's figures, as choices see them. No CUDA header.
#pragma once
#include <cstddef>

namespace tritri::cuda {

constexpr size_t default_workspace = size_t{512} << 20;  // of a context

// What a choice may depend on. Read off the card once, when a context is made.
struct GpuTraits {
  int compute_major = 9, compute_minor = 0;
  int multiprocessors = 132;
  size_t shared_bytes = 232448;      // the most that one block may opt in to
  size_t l2_bytes = 60u << 20;
  double fma32_per_second = 31e12;   // multiply-adds of IEEE float32 outside the tensor cores, whole card
  double bytes_per_second = 4.0e12;  // device memory, read or written
  int cublas_version = 0;            // as CUDA counts; 0: not found

  bool at_least(int major, int minor) const { return compute_major > major || (compute_major == major && compute_minor >= minor); }
};

}  // namespace tritri::cuda
