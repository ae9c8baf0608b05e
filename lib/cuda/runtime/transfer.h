// Moves a fill's elements between host memory and the device, and nothing else: neither side's other bytes are read or written, and only the fill
// crosses the bus. Ordinary host memory goes through pinned slots that several threads fill or empty; pinned memory is read and written
// by the copy kernel itself, or by the copy engines where a product needs the multiprocessors meanwhile.
#pragma once
#include <vector>

#include "core/operand.h"
#include "cuda/runtime/resource.h"

namespace tritri::cuda {

struct Chunks;

// One matrix on both sides.
struct Job {
  bool to_device;
  Layout device, host;
  void *device_data;
  char *host_data;

  int64_t element() const { return element_bytes(device.dtype); }
  // A matrix that the target holds once is moved once.
  int64_t batches() const { return target().batch > 1 && target().batch_stride == 0 ? 1 : target().batch; }
  const Layout &target() const { return to_device ? device : host; }
};

class Transfer {
 public:
  explicit Transfer(int device);  // with the device current

  // Synchronous; the device must be current. Transfers start when everything enqueued on `stream` so far has finished.
  void upload(const Layout &to, void *device_memory, const Layout &from, const void *host, cudaStream_t stream);
  void download(const Layout &from, const void *device_memory, const Layout &to, void *host, cudaStream_t stream);
  // The same upload, but from pinned memory it is only enqueued on `stream`.
  void begin_upload(const Job &job, cudaStream_t stream);

  // A triangle in parts, from or to pinned memory while a product runs: a strided matrix in the same order on both sides. All are only enqueued,
  // uploads on one stream of our own and downloads on another. The copy kernel would wait for multiprocessors that a product holds to its end, so it
  // moves no more than the corners that strips of lines have on the diagonal, before the product or after it.
  static constexpr int64_t strip = 256;  // lines; parts begin and end on its multiples, or where the matrix ends
  static bool pinned(const Layout &host, const void *data);
  void begin(cudaStream_t after);        // both streams wait for what was enqueued there
  void corners(const Job &job);
  void beside_corners(const Job &job, Range lines);
  Event uploaded();                           // passes when what is to be uploaded so far is there
  void downloads_after(cudaStream_t stream);  // downloads wait for what was enqueued on `stream`
  void settle();                              // waits for both streams
  void settle_quietly() noexcept;             // the same where a failure is already under way

  void abandon() noexcept;  // the driver is gone: nothing may be freed any more

 private:
  struct Slot { PinnedMemory host; DeviceMemory device; Event done; };

  bool enqueue(const Job &job, cudaStream_t stream);  // false: ordinary host memory
  void stage(const Job &job, cudaStream_t after);
  void run(const Job &job, cudaStream_t stream);
  void work(const Job &job, Slot &slot, Chunks &chunks);
  cudaStream_t stream_of(const Job &job) const { return job.to_device ? stream_.get() : down_.get(); }

  int device_;
  Stream stream_, down_;
  Event ready_;
  std::vector<Slot> slots_;
};

}  // namespace tritri::cuda
