// What a context keeps between calls: scratch memory, so that only the first large product pays for fresh pages, and a team.
#pragma once
#include <cstdlib>
#include <memory>
#include <new>

#include "cpu/huge_pages.h"
#include "cpu/team.h"

namespace tritri::cpu {

class Workspace {
 public:
  // At least `bytes`, aligned to a page; contents unspecified, valid until the next call.
  void *reserve(size_t bytes) {
    if (bytes <= size_) return memory_.get();
    memory_.reset();
    size_ = 0;
    const size_t align = bytes < huge ? page : huge, rounded = (bytes + align - 1) / align * align;
    memory_.reset(std::aligned_alloc(align, rounded));
    if (!memory_) throw std::bad_alloc();
    if (align == huge) prefer_huge_pages(memory_.get(), rounded);
    size_ = rounded;
    return memory_.get();
  }

  Team &team() { return team_; }

 private:
  static constexpr size_t page = 4096, huge = size_t{2} << 20;
  struct Free {
    void operator()(void *memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
  size_t size_ = 0;
  Team team_;
};

}  // namespace tritri::cpu
