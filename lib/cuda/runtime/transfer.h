// Moves a fill's elements between host memory and the device, and nothing else: neither side's other bytes are read or written, and only the fill
// crosses the bus. Ordinary host memory goes through pinned slots that several threads fill or empty; pinned memory, and the slots, are read and written
// by the copy kernel itself, or by the copy engines where a product needs the multiprocessors meanwhile.
#pragma once
#include <functional>
#include <vector>

#include "core/operand.h"
#include "cpu/team.h"
#include "cuda/kernels/copy.h"
#include "cuda/runtime/host_pages.h"
#include "cuda/runtime/host_zeros.h"
#include "cuda/runtime/resource.h"

namespace tritri::cuda {

// One matrix on both sides.
struct Job {
  bool to_device;
  Layout device, host;
  void *device_data;
  char *host_data;
  bool pinned;  // host_data is memory that the device can reach, at the address that it has there

  Job(bool to_device, const Layout &device, const void *device_data, const Layout &host, const void *host_data);

  int64_t element() const { return element_bytes(device.dtype); }
  // A matrix that the target holds once is moved once.
  int64_t batches() const { return target().batch > 1 && target().batch_stride == 0 ? 1 : target().batch; }
  const Layout &target() const { return to_device ? device : host; }
};

// What is moved as one: all of a job, or a part of it.
struct Region {
  Dtype dtype;
  bool to_device, pinned;
  bool engine;  // a rectangle, by the copy engines
  CopySide device, host;
  Lines walk;
  int64_t batches;
};

// Part of a call: what goes up, then something that enqueues work on the stream, then what comes down.
struct Step {
  std::vector<Region> up;
  std::function<void()> launch;
  std::vector<Region> down;
};

class Transfer {
 public:
  Transfer(int device, int threads);  // with the device current

  static std::vector<Region> whole(const Job &job);

  // A triangle in parts while a product runs: a strided matrix in the same order on both sides. The copy kernel would wait for multiprocessors that a
  // product holds to its end, so it moves no more than the corners that strips of lines have on the diagonal, before the product or after it.
  static constexpr int64_t strip = 256;  // lines; parts begin and end on its multiples, or where the matrix ends
  static std::vector<Region> corners(const Job &job);
  static std::vector<Region> beside_corners(const Job &job, Range lines);

  // Synchronous; the device must be current. Starts when everything enqueued on `stream` so far has finished, and moves what is wanted first, first. Where there is more
  // than one step, they overlap with each other. Meanwhile `zeros` are cleared and `pages` made present.
  void run(const std::vector<Step> &steps, cudaStream_t stream, const HostZeros &zeros = {}, const HostPages &pages = {});

  void abandon() noexcept;  // the driver is gone: nothing may be freed any more

 private:
  class Crew;
  struct Slot {
    char *host = nullptr;
    Stream stream;  // its own: copies overlap with each other
    Event done;
  };
  static constexpr size_t slots = 4;  // each way

  int device_, threads_;
  Stream up_, down_;  // of pinned memory, where steps overlap
  Event ready_;
  PinnedMemory memory_;
  Slot up_slots_[slots], down_slots_[slots];
  cpu::Team team_;
};

}  // namespace tritri::cuda
