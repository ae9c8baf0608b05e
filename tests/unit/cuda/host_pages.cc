#include "cuda/runtime/host_pages.h"

#include <sys/mman.h>

#include "support/catch.h"

#include <vector>

using namespace tritri;

TEST_CASE("pages are made present in their regions, and what they hold stays") {
  constexpr int64_t page = 4096, bytes = 5 * (int64_t{1} << 20);
  char *const memory = static_cast<char *>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(memory != MAP_FAILED);
  memory[page + 5] = 'x';
  const cuda::HostPages pages(memory + 7, bytes - 9);  // all but the first and the last
  CHECK(pages.regions() >= 3);
  CHECK(pages.regions() <= 4);
  for (int64_t region = pages.regions(); region-- > 0;) pages.populate(region);
  CHECK(memory[page + 5] == 'x');
  int64_t others = 0;
  for (int64_t at = 0; at < bytes; ++at) others += memory[at] != 0;
  CHECK(others == 1);
  munmap(memory, bytes);
}

TEST_CASE("less than a page has no regions") {
  std::vector<char> memory(4096);
  CHECK(cuda::HostPages(memory.data() + 1, 4000).regions() <= 1);
  CHECK(cuda::HostPages(memory.data(), 0).regions() == 0);
  CHECK(cuda::HostPages().regions() == 0);
}
