#include "cuda/runtime/host_pages.h"

#include <sys/mman.h>

#include <algorithm>

namespace tritri::cuda {
namespace {

constexpr int64_t page = 4096;
constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, since Linux 5.14; earlier ones refuse it, and the first writes do the same as ever

}  // namespace

HostPages::HostPages(void *memory, int64_t bytes) {
  const int64_t at = static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory));
  first_ = (at + page - 1) / page * page;
  end_ = (at + bytes) / page * page;
  if (end_ <= first_) first_ = end_ = 0;
  begin_ = first_ / region_bytes * region_bytes;
}

void HostPages::populate(int64_t region) const {
  const int64_t from = std::max(first_, begin_ + region * region_bytes), to = std::min(begin_ + (region + 1) * region_bytes, end_);
  void *const start = reinterpret_cast<void *>(static_cast<uintptr_t>(from));
  const size_t bytes = static_cast<size_t>(to - from);
  unsigned char present[region_bytes / page];
  if (mincore(start, bytes, present) == 0 && std::all_of(present, present + bytes / page, [](unsigned char flags) { return flags & 1; })) return;
  madvise(start, bytes, populate_write);
}

}  // namespace tritri::cuda
