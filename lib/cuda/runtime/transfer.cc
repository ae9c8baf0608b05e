#include "cuda/runtime/transfer.h"

#include <algorithm>
#include <cstring>

#include "cuda/runtime/past_caches.h"
#include "cuda/runtime/relay.h"
#include "cuda/schedule/pieces.h"

namespace tritri::cuda {
namespace {

constexpr int64_t slot_bytes = int64_t{2} << 20;
constexpr int64_t least_piece = slot_bytes / 4;             // below that the bus loses more between pieces than by waiting for the first
constexpr int64_t share_bytes = int64_t{64} << 10;          // of a piece, for one thread at a time
constexpr int64_t worth_a_thread = int64_t{384} << 10;      // what a thread moves while another one wakes up
constexpr int64_t worth_passing_caches = int64_t{8} << 20;  // results that would leave little else in them
constexpr int64_t enough_for_zeros = 4;                     // threads, where nothing else needs any
constexpr int most_threads = 16;

// The memory that a pinned host matrix has in the device's eyes, or NULL where it is ordinary memory.
char *device_view(const Layout &x, const void *host) {
  const int64_t element = element_bytes(x.dtype), reach = (x.batch - 1) * x.batch_stride * element;
  char *base = const_cast<char *>(static_cast<const char *>(host));
  char *first = base + std::min<int64_t>(reach, 0), *last = base + std::max<int64_t>(reach, 0) + x.lines().extent() * element - 1;
  const auto mapped = [](char *address) -> char * {
    cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, address) != cudaSuccess) {
      (void)cudaGetLastError();
      return nullptr;
    }
    return attributes.type == cudaMemoryTypeHost ? static_cast<char *>(attributes.devicePointer) : nullptr;
  };
  char *const from = mapped(first), *const to = mapped(last);
  return from && to && to - from == last - first ? from + (base - first) : nullptr;
}

CopyBox all_of(const Region &region) { return {{0, region.batches}, {0, region.walk.count}, {0, region.walk.length}}; }
CopyBox box_of(const Piece &piece) { return {piece.batch, piece.line, piece.position}; }

CopySide slot_side(const Region &region, const Piece &piece, char *slot) {
  const int64_t matrix = piece.line.size() * piece.pitch;
  return {slot, {region.walk.profile, false, region.walk.count, region.walk.length, piece.pitch}, matrix,
          piece.batch.begin * matrix + piece.line.begin * piece.pitch + piece.position.begin};
}

char *at(const CopySide &side, const CopyBox &box, int64_t element) {
  return side.data + side.offset(box.batch.begin, box.line.begin, box.position.begin) * element;
}

// Between the device and memory that it can reach.
void enqueue(const Region &region, const CopySide &host, const CopyBox &box, cudaStream_t stream) {
  const CopySide &to = region.to_device ? region.device : host, &from = region.to_device ? host : region.device;
  if (!region.engine) return copy_fill(region.dtype, to, from, region.walk, box, stream);
  const int64_t element = element_bytes(region.dtype);
  const auto bytes = [&](int64_t elements) { return static_cast<size_t>(elements * element); };
  TRITRI_CUDA_CHECK(cudaMemcpy2DAsync(at(to, box, element), bytes(to.lines.ld), at(from, box, element), bytes(from.lines.ld), bytes(box.position.size()),
                                      static_cast<size_t>(box.line.size()), region.to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream));
}

// Between ordinary memory and a slot.
void copy_lines(const Region &region, const Piece &piece, const CopySide &slot, bool past_caches) {
  const int64_t element = element_bytes(region.dtype);
  const auto copy = [&](int64_t batch, int64_t line, int64_t position, int64_t elements) {
    char *const there = slot.data + slot.offset(batch, line, position) * element, *const here = region.host.data + region.host.offset(batch, line, position) * element;
    const size_t bytes = static_cast<size_t>(elements * element);
    if (region.to_device) std::memcpy(there, here, bytes);
    else if (past_caches) copy_past_caches(here, there, bytes);
    else std::memcpy(here, there, bytes);
  };
  // Small matrices, one after the other on both sides.
  if (region.walk.profile == Fill::full && piece.pitch == piece.position.size() && region.host.lines.ld == piece.pitch && !region.host.lines.packed &&
      (piece.batch.size() == 1 || region.host.batch_stride == slot.batch_stride))
    return copy(piece.batch.begin, piece.line.begin, piece.position.begin, piece.elements());
  for (int64_t batch = piece.batch.begin; batch < piece.batch.end; ++batch) {
    for (int64_t line = piece.line.begin; line < piece.line.end; ++line) {
      const Range held = region.walk.held(line), some{std::max(held.begin, piece.position.begin), std::min(held.end, piece.position.end)};
      if (!some.empty()) copy(batch, line, some.begin, some.size());
    }
  }
}

}  // namespace

Job::Job(bool to_device, const Layout &device, const void *device_data, const Layout &host, const void *host_data)
    : to_device(to_device), device(device), host(host), device_data(const_cast<void *>(device_data)), host_data(static_cast<char *>(const_cast<void *>(host_data))), pinned(false) {
  if (host.elements() == 0) return;
  char *const mapped = device_view(host, host_data);
  pinned = mapped != nullptr;
  if (pinned) this->host_data = mapped;
}

// What threads do of a call's steps, piece by piece.
class Transfer::Crew {
 public:
  Crew(Transfer &transfer, const std::vector<Step> &steps, cudaStream_t stream, const HostZeros &zeros, const HostPages &pages)
      : device_(transfer.device_), up_(transfer.up_.get()), down_(transfer.down_.get()), ready_(transfer.ready_.get()), up_slots_(transfer.up_slots_),
        down_slots_(transfer.down_slots_), steps_(steps), zeros_(zeros), pages_(pages), stream_(stream), overlap_(steps.size() > 1), arrived_(steps.size()), launched_(steps.size()) {
    int64_t bytes = 0, coming = 0;
    const auto each_staged = [&](auto &&use) {
      for (size_t step = 0; step < steps.size(); ++step)
        for (const std::vector<Region> *regions : {&steps[step].up, &steps[step].down})
          for (const Region &region : *regions)
            if (!region.pinned) use(step, region);
    };
    each_staged([&](size_t, const Region &region) {
      bytes += held_bytes(region);
      if (!region.to_device) coming += held_bytes(region);
    });
    past_caches_ = coming >= worth_passing_caches;
    const int64_t wanted = std::max(bytes / worth_a_thread, std::min(zeros.bytes() / worth_a_thread, enough_for_zeros));
    threads_ = static_cast<int>(std::clamp<int64_t>(wanted, 1, transfer.threads_));
    // Small matrices are cut finer, so that the bus does not wait long for the first piece.
    const int64_t most = std::clamp(bytes / 8, least_piece, slot_bytes);
    each_staged([&](size_t step, const Region &region) {
      std::vector<Staged> &all = region.to_device ? sent_ : fetched_;
      const int64_t element = element_bytes(region.dtype);
      for (const Piece &piece : pieces(region.walk, region.batches, element, most / element)) all.push_back({step, &region, piece, piece.shares(share_bytes / element)});
    });
  }

  int threads() const { return threads_; }
  Relay relay() const {
    const auto outline = [](const std::vector<Staged> &all) {
      std::vector<Relay::Piece> pieces;
      for (const Staged &staged : all) pieces.push_back({staged.step, static_cast<size_t>(staged.shares)});
      return pieces;
    };
    return Relay(steps_.size(), outline(sent_), outline(fetched_), static_cast<size_t>(pages_.regions() + zeros_.blocks()), slots);
  }

  // Pinned memory needs no thread.
  void begin() {
    if (overlap_ || !sent_.empty()) TRITRI_CUDA_CHECK(cudaEventRecord(ready_, stream_));
    if (overlap_) TRITRI_CUDA_CHECK(cudaStreamWaitEvent(up_, ready_, 0));
    for (size_t piece = 0; piece < std::min(sent_.size(), slots); ++piece) TRITRI_CUDA_CHECK(cudaStreamWaitEvent(up_slot(piece).stream.get(), ready_, 0));
    for (size_t step = 0; step < steps_.size(); ++step) {
      bool any = false;
      for (const Region &region : steps_[step].up) {
        if (!region.pinned) continue;
        enqueue(region, region.host, all_of(region), overlap_ ? up_ : stream_);
        any = true;
      }
      if (any && overlap_) arrived_[step] = record(up_);
    }
  }

  void enter(int thread) {
    if (thread != 0) TRITRI_CUDA_CHECK(cudaSetDevice(device_));
  }

  void open(size_t piece) { TRITRI_CUDA_CHECK(cudaEventSynchronize(up_slot(piece).done.get())); }
  void fill(size_t piece, size_t share) { copy_share(sent_[piece], share, up_slot(piece), false); }
  void send(size_t piece) { move(sent_[piece], up_slot(piece)); }

  void launch(size_t step) {
    // A slot's event stands for its earlier pieces too.
    const size_t from = sent_before_;
    while (sent_before_ < sent_.size() && sent_[sent_before_].step <= step) ++sent_before_;
    for (size_t piece = std::max(from, sent_before_ - std::min(sent_before_, slots)); piece < sent_before_; ++piece)
      TRITRI_CUDA_CHECK(cudaStreamWaitEvent(stream_, up_slot(piece).done.get(), 0));
    if (arrived_[step].get()) TRITRI_CUDA_CHECK(cudaStreamWaitEvent(stream_, arrived_[step].get(), 0));
    if (steps_[step].launch) steps_[step].launch();
    if (steps_[step].down.empty()) return;
    if (overlap_ || !fetched_.empty()) launched_[step] = record(stream_);
    if (overlap_) TRITRI_CUDA_CHECK(cudaStreamWaitEvent(down_, launched_[step].get(), 0));
    for (const Region &region : steps_[step].down)
      if (region.pinned) enqueue(region, region.host, all_of(region), overlap_ ? down_ : stream_);
  }

  void chore(size_t index) {
    const int64_t chore = static_cast<int64_t>(index), regions = pages_.regions();
    if (chore < regions) pages_.populate(chore);
    else zeros_.clear(chore - regions);
  }

  void fetch(size_t piece) {
    TRITRI_CUDA_CHECK(cudaStreamWaitEvent(down_slot(piece).stream.get(), launched_[fetched_[piece].step].get(), 0));
    move(fetched_[piece], down_slot(piece));
  }
  void await(size_t piece) { TRITRI_CUDA_CHECK(cudaEventSynchronize(down_slot(piece).done.get())); }
  void empty(size_t piece, size_t share) {
    copy_share(fetched_[piece], share, down_slot(piece), past_caches_);
    if (past_caches_) finish_past_caches();
  }

  // Nothing reads or writes the caller's memory, ours or the slots any more.
  cudaError_t settle() noexcept {
    cudaError_t worst = cudaSuccess;
    const auto wait = [&](cudaStream_t stream) {
      const cudaError_t error = cudaStreamSynchronize(stream);
      if (worst == cudaSuccess) worst = error;
    };
    for (size_t piece = 0; piece < std::min(sent_.size(), slots); ++piece) wait(up_slot(piece).stream.get());
    for (size_t piece = 0; piece < std::min(fetched_.size(), slots); ++piece) wait(down_slot(piece).stream.get());
    wait(stream_);
    if (overlap_) {
      wait(up_);
      wait(down_);
    }
    return worst;
  }

 private:
  struct Staged { size_t step; const Region *region; Piece piece; int64_t shares; };

  static int64_t held_bytes(const Region &region) { return region.walk.elements() * region.batches * element_bytes(region.dtype); }
  static Event record(cudaStream_t stream) {
    Event event = make_event();
    TRITRI_CUDA_CHECK(cudaEventRecord(event.get(), stream));
    return event;
  }

  Slot &up_slot(size_t piece) { return up_slots_[piece % slots]; }
  Slot &down_slot(size_t piece) { return down_slots_[piece % slots]; }
  static void move(const Staged &staged, const Slot &slot) {
    enqueue(*staged.region, slot_side(*staged.region, staged.piece, slot.host), box_of(staged.piece), slot.stream.get());
    TRITRI_CUDA_CHECK(cudaEventRecord(slot.done.get(), slot.stream.get()));
  }
  static void copy_share(const Staged &staged, size_t share, const Slot &slot, bool past_caches) {
    copy_lines(*staged.region, staged.piece.share(static_cast<int64_t>(share), staged.shares), slot_side(*staged.region, staged.piece, slot.host), past_caches);
  }

  int device_;
  cudaStream_t up_, down_;
  cudaEvent_t ready_;
  Slot *up_slots_, *down_slots_;
  const std::vector<Step> &steps_;
  const HostZeros &zeros_;
  const HostPages &pages_;
  cudaStream_t stream_;
  bool overlap_;
  std::vector<Event> arrived_, launched_;
  std::vector<Staged> sent_, fetched_;
  size_t sent_before_ = 0;  // the steps that have been launched
  int threads_ = 1;
  bool past_caches_ = false;
};

Transfer::Transfer(int device, int threads) : device_(device), threads_(std::clamp(threads, 1, most_threads)), up_(make_stream()), down_(make_stream()), ready_(make_event()) {
  memory_ = allocate_pinned(2 * slots * static_cast<size_t>(slot_bytes));
  char *next = static_cast<char *>(memory_.get());  // the device knows pinned memory by the host's addresses
  for (Slot *way : {up_slots_, down_slots_}) {
    for (size_t i = 0; i < slots; ++i) {
      way[i].host = std::exchange(next, next + slot_bytes);
      way[i].stream = make_stream();
      way[i].done = make_event();
    }
  }
}

void Transfer::abandon() noexcept {
  for (Slot *way : {up_slots_, down_slots_}) {
    for (size_t i = 0; i < slots; ++i) {
      way[i].stream.abandon();
      way[i].done.abandon();
    }
  }
  memory_.abandon();
  ready_.abandon();
  up_.abandon();
  down_.abandon();
}

std::vector<Region> Transfer::whole(const Job &job) {
  if (job.host.elements() == 0) return {};
  const Lines lines = job.host.lines();
  return {{job.device.dtype, job.to_device, job.pinned, false,
           {static_cast<char *>(job.device_data), job.device.lines(), job.device.batch_stride, 0, job.device.order != job.host.order},
           {job.host_data, lines, job.host.batch_stride}, lines, job.batches()}};
}

std::vector<Region> Transfer::corners(const Job &job) {
  const Lines lines = job.host.lines();
  const int64_t strips = lines.count / strip;
  std::vector<Region> regions;
  // A batch of small triangles, and a smaller one where the lines end.
  const auto add = [&](int64_t first, int64_t batch, int64_t edge) {
    const auto side = [&](char *data, int64_t ld) {
      return CopySide{data + first * (ld + 1) * job.element(), {lines.profile, false, edge, edge, ld}, edge * (ld + 1)};
    };
    const CopySide host = side(job.host_data, job.host.ld);
    regions.push_back({job.device.dtype, job.to_device, job.pinned, false, side(static_cast<char *>(job.device_data), job.device.ld), host, host.lines, batch});
  };
  if (strips > 0) add(0, strips, strip);
  if (strips * strip < lines.count) add(strips * strip, 1, lines.count - strips * strip);
  return regions;
}

std::vector<Region> Transfer::beside_corners(const Job &job, Range lines) {
  const Lines all = job.host.lines();
  std::vector<Region> regions;
  for (int64_t line = lines.begin; line < lines.end; line += strip) {
    const int64_t end = std::min(line + strip, lines.end);
    const Range beside = all.profile == Fill::lower ? Range{0, line} : Range{end, all.length};
    if (beside.empty()) continue;
    const auto side = [&](void *data, int64_t ld) {
      return CopySide{static_cast<char *>(data) + (line * ld + beside.begin) * job.element(), {Fill::full, false, end - line, beside.size(), ld}, 0};
    };
    const CopySide host = side(job.host_data, job.host.ld);
    regions.push_back({job.device.dtype, job.to_device, job.pinned, true, side(job.device_data, job.device.ld), host, host.lines, 1});
  }
  return regions;
}

void Transfer::run(const std::vector<Step> &steps, cudaStream_t stream, const HostZeros &zeros, const HostPages &pages) {
  Crew crew(*this, steps, stream, zeros, pages);
  try {
    crew.begin();
    Relay relay = crew.relay();
    team_.run(crew.threads(), [&](int thread) { relay.work(crew, thread); });
    relay.rethrow();
  } catch (...) {
    drop(crew.settle());
    throw;
  }
  TRITRI_CUDA_CHECK(crew.settle());
}

}  // namespace tritri::cuda
