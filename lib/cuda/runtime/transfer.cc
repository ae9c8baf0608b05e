#include "cuda/runtime/transfer.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include "cuda/kernels/copy.h"

namespace tritri::cuda {
namespace {

constexpr int64_t slot_bytes = int64_t{2} << 20;
constexpr size_t most_slots = 8;
constexpr int64_t single_thread_bytes = int64_t{1} << 20;  // below this, starting threads costs more than they save

// The host's lines one after the other with nothing in between: what crosses the bus.
Lines compact(const Lines &lines) {
  Lines stream = lines;
  stream.packed = lines.profile != Fill::full;
  stream.ld = lines.length;
  return stream;
}

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

CopySide device_side(const Job &job) {
  return {static_cast<char *>(job.device_data), job.device.lines(), job.device.batch_stride, 0, job.device.order != job.host.order};
}

}  // namespace

// Hands out the stream in chunks of at most a slot: whole matrices, else lines, else pieces of a line.
struct Chunks {
  Lines lines, stream;
  int64_t batches, each, most;  // elements of one matrix, and of the largest chunk
  int64_t batch = 0, line = 0, position = 0;
  std::mutex mutex;

  struct Chunk { CopyBox box; int64_t origin, elements; };

  Chunks(const Lines &host, int64_t matrices, int64_t element)
      : lines(host), stream(compact(host)), batches(matrices), each(stream.extent()), most(slot_bytes / element) {}

  bool next(Chunk *chunk) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (each == 0 || batch >= batches) return false;
    const Range all_lines{0, lines.count}, all_positions{0, lines.length};
    if (each <= most) {
      const int64_t count = std::min(most / each, batches - batch);
      *chunk = {{{batch, batch + count}, all_lines, all_positions}, batch * each, count * each};
      batch += count;
      return true;
    }
    while (lines.held(line).empty()) ++line;  // empty lines are a matrix's last ones or first ones, never all of them
    const Range held = lines.held(line);
    const int64_t begin = std::max(position, held.begin), start = stream.offset(line, begin);
    if (held.end - begin > most) {
      *chunk = {{{batch, batch + 1}, {line, line + 1}, {begin, begin + most}}, batch * each + start, most};
      position = begin + most;
      return true;
    }
    int64_t end = line + 1, elements = held.end - begin;
    while (begin == held.begin && end < lines.count && elements + lines.held(end).size() <= most) elements += lines.held(end++).size();
    *chunk = {{{batch, batch + 1}, {line, end}, begin == held.begin ? all_positions : Range{begin, held.end}}, batch * each + start, elements};
    line = end;
    position = 0;
    while (line < lines.count && lines.held(line).empty()) ++line;
    if (line == lines.count) {
      line = 0;
      ++batch;
    }
    return true;
  }

  void stop() {
    const std::lock_guard<std::mutex> lock(mutex);
    batch = batches;
  }
};

Transfer::Transfer(int device) : device_(device), stream_(make_stream()), down_(make_stream()), ready_(make_event()) {
  const size_t threads = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, most_slots);
  for (size_t i = 0; i < threads; ++i) {
    Slot slot;
    slot.host = allocate_pinned(static_cast<size_t>(slot_bytes));
    slot.device = allocate_device(static_cast<size_t>(slot_bytes));
    slot.done = make_event();
    slots_.push_back(std::move(slot));
  }
}

void Transfer::abandon() noexcept {
  for (Slot &slot : slots_) {
    slot.host.abandon();
    slot.device.abandon();
    slot.done.abandon();
  }
  ready_.abandon();
  stream_.abandon();
  down_.abandon();
}

// One thread's share: chunk after chunk through its own slot.
void Transfer::work(const Job &job, Slot &slot, Chunks &chunks) {
  const int64_t element = job.element();
  const CopySide device = device_side(job);
  const auto each_line = [&](const Chunks::Chunk &chunk, auto &&move) {
    for (int64_t batch = chunk.box.batch.begin; batch < chunk.box.batch.end; ++batch) {
      char *matrix = job.host_data + batch * job.host.batch_stride * element;
      for (int64_t line = chunk.box.line.begin; line < chunk.box.line.end; ++line) {
        const Range held = chunks.lines.held(line);
        const int64_t begin = std::max(held.begin, chunk.box.position.begin), end = std::min(held.end, chunk.box.position.end);
        if (begin >= end) continue;
        char *in_slot = static_cast<char *>(slot.host.get()) + (batch * chunks.each + chunks.stream.offset(line, begin) - chunk.origin) * element;
        move(in_slot, matrix + chunks.lines.offset(line, begin) * element, static_cast<size_t>((end - begin) * element));
      }
    }
  };
  for (Chunks::Chunk chunk; chunks.next(&chunk);) {
    const CopySide stream{static_cast<char *>(slot.device.get()), chunks.stream, chunks.each, chunk.origin};
    const size_t bytes = static_cast<size_t>(chunk.elements * element);
    if (job.to_device) {
      TRITRI_CUDA_CHECK(cudaEventSynchronize(slot.done.get()));  // the slot's former chunk has left it
      each_line(chunk, [](char *in_slot, char *in_matrix, size_t size) { std::memcpy(in_slot, in_matrix, size); });
      TRITRI_CUDA_CHECK(cudaMemcpyAsync(slot.device.get(), slot.host.get(), bytes, cudaMemcpyHostToDevice, stream_.get()));
      copy_fill(job.device.dtype, device, stream, chunks.lines, chunk.box, stream_.get());
      TRITRI_CUDA_CHECK(cudaEventRecord(slot.done.get(), stream_.get()));
    } else {
      copy_fill(job.device.dtype, stream, device, chunks.lines, chunk.box, stream_.get());
      TRITRI_CUDA_CHECK(cudaMemcpyAsync(slot.host.get(), slot.device.get(), bytes, cudaMemcpyDeviceToHost, stream_.get()));
      TRITRI_CUDA_CHECK(cudaEventRecord(slot.done.get(), stream_.get()));
      TRITRI_CUDA_CHECK(cudaEventSynchronize(slot.done.get()));
      each_line(chunk, [](char *in_slot, char *in_matrix, size_t size) { std::memcpy(in_matrix, in_slot, size); });
    }
  }
}

bool Transfer::enqueue(const Job &job, cudaStream_t stream) {
  char *const pinned = device_view(job.host, job.host_data);
  if (!pinned) return false;
  const Lines lines = job.host.lines();
  const CopySide host{pinned, lines, job.host.batch_stride}, device = device_side(job);
  const CopyBox all{{0, job.batches()}, {0, lines.count}, {0, lines.length}};
  copy_fill(job.device.dtype, job.to_device ? device : host, job.to_device ? host : device, lines, all, stream);
  return true;
}

void Transfer::stage(const Job &job, cudaStream_t after) {
  TRITRI_CUDA_CHECK(cudaEventRecord(ready_.get(), after));
  TRITRI_CUDA_CHECK(cudaStreamWaitEvent(stream_.get(), ready_.get(), 0));
  Chunks chunks(job.host.lines(), job.batches(), job.element());
  const bool alone = chunks.each * chunks.batches * job.element() <= single_thread_bytes;
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto share = [&](Slot &slot) {
    try {
      work(job, slot, chunks);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(failure_mutex);
      failure = std::current_exception();
      chunks.stop();
    }
  };
  std::vector<std::thread> helpers;
  helpers.reserve(slots_.size());
  for (size_t i = 1; i < slots_.size() && !alone; ++i) {
    try {
      helpers.emplace_back([&, i] {
        // A failure shows in this thread's first call.
        drop(cudaSetDevice(device_));
        share(slots_[i]);
      });
    } catch (const std::exception &) {
      break;  // no more threads to be had, or no memory for one: fewer do
    }
  }
  share(slots_[0]);
  for (std::thread &helper : helpers) helper.join();
  if (failure) {
    drop(cudaStreamSynchronize(stream_.get()));
    std::rethrow_exception(failure);
  }
  TRITRI_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));
}

void Transfer::run(const Job &job, cudaStream_t stream) {
  const bool enqueued = job.host.elements() == 0 || enqueue(job, stream);
  if (enqueued) TRITRI_CUDA_CHECK(cudaStreamSynchronize(stream));
  else stage(job, stream);
}

void Transfer::upload(const Layout &to, void *device_memory, const Layout &from, const void *host, cudaStream_t stream) {
  run({true, to, from, device_memory, const_cast<char *>(static_cast<const char *>(host))}, stream);
}

void Transfer::begin_upload(const Job &job, cudaStream_t stream) {
  if (job.host.elements() != 0 && !enqueue(job, stream)) stage(job, stream);
}

void Transfer::download(const Layout &from, const void *device_memory, const Layout &to, void *host, cudaStream_t stream) {
  run({false, from, to, const_cast<void *>(device_memory), static_cast<char *>(host)}, stream);
}

bool Transfer::pinned(const Layout &host, const void *data) { return device_view(host, data) != nullptr; }

void Transfer::begin(cudaStream_t after) {
  TRITRI_CUDA_CHECK(cudaEventRecord(ready_.get(), after));
  for (const cudaStream_t mine : {stream_.get(), down_.get()}) TRITRI_CUDA_CHECK(cudaStreamWaitEvent(mine, ready_.get(), 0));
}

void Transfer::corners(const Job &job) {
  char *const mapped = device_view(job.host, job.host_data);
  const Lines lines = job.host.lines();
  const int64_t whole = lines.count / strip;
  // A batch of small triangles, and a smaller one where the lines end.
  const auto move = [&](int64_t first, int64_t batch, int64_t edge) {
    const auto side = [&](char *data, int64_t ld) {
      return CopySide{data + first * (ld + 1) * job.element(), {lines.profile, false, edge, edge, ld}, edge * (ld + 1)};
    };
    const CopySide host = side(mapped, job.host.ld), device = side(static_cast<char *>(job.device_data), job.device.ld);
    copy_fill(job.device.dtype, job.to_device ? device : host, job.to_device ? host : device, host.lines, {{0, batch}, {0, edge}, {0, edge}}, stream_of(job));
  };
  if (whole > 0) move(0, whole, strip);
  if (whole * strip < lines.count) move(whole * strip, 1, lines.count - whole * strip);
}

void Transfer::beside_corners(const Job &job, Range lines) {
  const Lines all = job.host.lines();
  const int64_t element = job.element(), host_pitch = job.host.ld * element, device_pitch = job.device.ld * element;
  for (int64_t line = lines.begin; line < lines.end; line += strip) {
    const int64_t end = std::min(line + strip, lines.end);
    const Range beside = all.profile == Fill::lower ? Range{0, line} : Range{end, all.length};
    if (beside.empty()) continue;
    char *const host = job.host_data + line * host_pitch + beside.begin * element;
    char *const device = static_cast<char *>(job.device_data) + line * device_pitch + beside.begin * element;
    const size_t width = static_cast<size_t>(beside.size() * element), height = static_cast<size_t>(end - line);
    if (job.to_device)
      TRITRI_CUDA_CHECK(cudaMemcpy2DAsync(device, static_cast<size_t>(device_pitch), host, static_cast<size_t>(host_pitch), width, height, cudaMemcpyHostToDevice, stream_.get()));
    else
      TRITRI_CUDA_CHECK(cudaMemcpy2DAsync(host, static_cast<size_t>(host_pitch), device, static_cast<size_t>(device_pitch), width, height, cudaMemcpyDeviceToHost, down_.get()));
  }
}

Event Transfer::uploaded() {
  Event event = make_event();
  TRITRI_CUDA_CHECK(cudaEventRecord(event.get(), stream_.get()));
  return event;
}

void Transfer::downloads_after(cudaStream_t stream) {
  TRITRI_CUDA_CHECK(cudaEventRecord(ready_.get(), stream));
  TRITRI_CUDA_CHECK(cudaStreamWaitEvent(down_.get(), ready_.get(), 0));
}

void Transfer::settle() {
  const cudaError_t up = cudaStreamSynchronize(stream_.get()), down = cudaStreamSynchronize(down_.get());
  TRITRI_CUDA_CHECK(up);
  TRITRI_CUDA_CHECK(down);
}

void Transfer::settle_quietly() noexcept {
  drop(cudaStreamSynchronize(stream_.get()));
  drop(cudaStreamSynchronize(down_.get()));
}

}  // namespace tritri::cuda
