// Pages of memory that nobody has touched yet, as a new array's are. The system fills them when they are first written to, one thread at a time and, where pages are large, once for each thread
// that comes for the same one: threads that write results there would wait for each other.
#pragma once
#include <cstdint>

namespace tritri::cuda {

// In regions as large as a large page, that any thread can have made present, in any order. What they hold stays as it is.
class HostPages {
 public:
  HostPages() = default;
  HostPages(void *memory, int64_t bytes);

  int64_t regions() const { return (end_ - begin_ + region_bytes - 1) / region_bytes; }
  void populate(int64_t region) const;

 private:
  static constexpr int64_t region_bytes = int64_t{2} << 20;
  int64_t begin_ = 0, end_ = 0;  // addresses: whole pages, from the large page that the first one is in
  int64_t first_ = 0;
};

}  // namespace tritri::cuda
