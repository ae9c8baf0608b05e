// Owners of CUDA resources. They let go without complaint: a context that is destroyed while the process ends finds the driver gone.
#pragma once
#include <cuda_runtime_api.h>

#include <utility>

#include "cuda/runtime/check.h"

namespace tritri::cuda {

// Release functions answer an error, which is dropped together with the runtime's record of it.
inline void drop(cudaError_t error) noexcept {
  if (error != cudaSuccess) (void)cudaGetLastError();
}

// Handles that are pointers: Free(handle) releases.
template <class Handle, auto Free>
class Owner {
 public:
  Owner() = default;
  explicit Owner(Handle handle) : handle_(handle) {}
  Owner(Owner &&other) noexcept : handle_(std::exchange(other.handle_, Handle{})) {}
  Owner &operator=(Owner &&other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owner() {
    if (handle_) drop(Free(handle_));
  }
  Handle get() const { return handle_; }
  void abandon() { handle_ = Handle{}; }

 private:
  Handle handle_{};
};

inline cudaError_t free_device(void *memory) { return cudaFree(memory); }
inline cudaError_t free_pinned(void *memory) { return cudaFreeHost(memory); }
inline cudaError_t free_stream(cudaStream_t stream) { return cudaStreamDestroy(stream); }
inline cudaError_t free_event(cudaEvent_t event) { return cudaEventDestroy(event); }

using DeviceMemory = Owner<void *, free_device>;
using PinnedMemory = Owner<void *, free_pinned>;
using Stream = Owner<cudaStream_t, free_stream>;
using Event = Owner<cudaEvent_t, free_event>;

// With the device current. 0 bytes give NULL.
DeviceMemory allocate_device(size_t bytes);
PinnedMemory allocate_pinned(size_t bytes);

inline Stream make_stream() {
  cudaStream_t stream;
  TRITRI_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Stream(stream);
}

inline Event make_event() {
  cudaEvent_t event;
  TRITRI_CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  return Event(event);
}

}  // namespace tritri::cuda
