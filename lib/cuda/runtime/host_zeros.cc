#include "cuda/runtime/host_zeros.h"

#include <algorithm>
#include <cstring>

namespace tritri::cuda {
namespace {

constexpr int64_t block_lines = 16;

}  // namespace

HostZeros::HostZeros(const Layout &layout, Fill held, void *host)
    : all_(layout.lines()), batches_(layout.batch), element_(element_bytes(layout.dtype)), host_(static_cast<char *>(host)) {
  Layout part = layout;
  part.fill = held;
  held_ = part.lines();
  blocks_of_one_ = (all_.count + block_lines - 1) / block_lines;
  batch_bytes_ = layout.batch_stride * element_;
  bytes_ = batches_ * (layout.elements() - part.elements()) * element_;
}

void HostZeros::clear(int64_t block) const {
  char *const matrix = host_ + block / blocks_of_one_ * batch_bytes_;
  const int64_t first = block % blocks_of_one_ * block_lines, last = std::min(first + block_lines, all_.count);
  for (int64_t line = first; line < last; ++line) {
    const Range kept = held_.held(line);
    char *const start = matrix + all_.offset(line, 0) * element_;
    std::memset(start, 0, static_cast<size_t>(kept.begin * element_));
    std::memset(start + kept.end * element_, 0, static_cast<size_t>((all_.length - kept.end) * element_));
  }
}

}  // namespace tritri::cuda
