// Large pages for large memory: over many small matrices, or down a column, looking up small ones costs more than the products.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace tritri::cpu {

// Of the whole pages in it. Advice: nothing depends on it.
inline void prefer_huge_pages(void *memory, size_t bytes) {
  constexpr uintptr_t page = 4096;
  const uintptr_t at = reinterpret_cast<uintptr_t>(memory), begin = (at + page - 1) / page * page;
  madvise(reinterpret_cast<void *>(begin), at + bytes - begin, MADV_HUGEPAGE);
}

}  // namespace tritri::cpu
