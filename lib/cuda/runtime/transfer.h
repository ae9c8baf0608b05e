// Moves a fill's elements between host memory and the device, and nothing else: neither side's other bytes are read or written, and only the fill
// crosses the bus. Ordinary host memory goes through pinned slots that several threads fill or empty; pinned memory is read and written
// by the copy kernel itself.
#pragma once
#include <vector>

#include "core/operand.h"
#include "cuda/runtime/resource.h"

namespace tritri::cuda {

struct Chunks;

class Transfer {
 public:
  explicit Transfer(int device);  // with the device current

  // Synchronous; the device must be current. Transfers start when everything enqueued on `stream` so far has finished.
  void upload(const Layout &to, void *device_memory, const Layout &from, const void *host, cudaStream_t stream);
  void download(const Layout &from, const void *device_memory, const Layout &to, void *host, cudaStream_t stream);
  // The same upload, but from pinned memory it is only enqueued on `stream`.
  void begin_upload(const Layout &to, void *device_memory, const Layout &from, const void *host, cudaStream_t stream);

  void abandon() noexcept;  // the driver is gone: nothing may be freed any more

 private:
  struct Slot { PinnedMemory host; DeviceMemory device; Event done; };
  struct Job;

  bool enqueue(const Job &job, cudaStream_t stream);  // false: ordinary host memory
  void stage(const Job &job, cudaStream_t after);
  void run(const Job &job, cudaStream_t stream);
  void work(const Job &job, Slot &slot, Chunks &chunks);

  int device_;
  Stream stream_;
  Event ready_;
  std::vector<Slot> slots_;
};

}  // namespace tritri::cuda
