#include "cuda/runtime/host_zeros.h"

#include <algorithm>
#include <cstring>
#include <exception>

namespace tritri::cuda {
namespace {

constexpr unsigned most_threads = 4;
constexpr int64_t block = 16;  // lines that one thread clears in a row

struct Share {
  Lines held, all;
  int64_t batches, batch_bytes, element;
  char *host;
  int64_t index, count;

  void operator()() const {
    for (int64_t turn = index; turn < batches * blocks(); turn += count) {
      char *const matrix = host + turn / blocks() * batch_bytes;
      const int64_t first = turn % blocks() * block, last = std::min(first + block, all.count);
      for (int64_t line = first; line < last; ++line) {
        const Range kept = held.held(line);
        char *const start = matrix + all.offset(line, 0) * element;
        std::memset(start, 0, static_cast<size_t>(kept.begin * element));
        std::memset(start + kept.end * element, 0, static_cast<size_t>((all.length - kept.end) * element));
      }
    }
  }
  int64_t blocks() const { return (all.count + block - 1) / block; }
};

}  // namespace

HostZeros::HostZeros(const Layout &layout, Fill held, void *host) {
  if (held == Fill::full) return;
  Layout part = layout;
  part.fill = held;
  const int64_t element = element_bytes(layout.dtype), count = std::clamp(std::thread::hardware_concurrency(), 1u, most_threads);
  const auto share = [&](int64_t index) {
    return Share{part.lines(), layout.lines(), layout.batch, layout.batch_stride * element, element, static_cast<char *>(host), index, count};
  };
  helpers_.reserve(static_cast<size_t>(count));
  for (int64_t index = 0; index < count; ++index) {
    try {
      helpers_.emplace_back(share(index));
    } catch (const std::exception &) {
      share(index)();  // no more threads to be had, or no memory for one; those that run must be waited for
    }
  }
}

HostZeros::~HostZeros() {
  for (std::thread &helper : helpers_) helper.join();
}

}  // namespace tritri::cuda
